from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from context.disk.git import Git
from context.text.tokens import Counter


class Repo:
    """A real git repository in a temporary folder, made there unless it is ``begun``."""

    def __init__(self, root: Path, *, begun: bool = False) -> None:
        self.root = root
        if begun:
            return
        self.git("init", "-q", "-b", "main")
        with (root / ".git" / "config").open("a") as config:
            config.write("[user]\n\temail = a@example.org\n\tname = A\n")

    def git(self, *arguments: str, stdin: str | None = None) -> str:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        done = subprocess.run(
            ["git", *arguments],
            cwd=self.root,
            env=environment,
            input=stdin,
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout

    def write(self, path: str, text: str | bytes) -> None:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode() if isinstance(text, str) else text)

    def commit(self, **files: str) -> None:
        for path, text in files.items():
            self.write(path, text)
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "step")


@pytest.fixture
def git_asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The commands that git is asked from now on, such as ``status``, the newest last."""
    asked: list[str] = []
    run = Git.run

    def noted(self: Git, *arguments: str, **more: Any) -> bytes:
        asked.append(arguments[0])
        return run(self, *arguments, **more)

    monkeypatch.setattr(Git, "run", noted)
    return asked


@pytest.fixture(scope="session")
def empty_repo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository without a commit, of which that of each test is a copy."""
    if shutil.which("git") is None:
        pytest.skip("git is not installed: these tests are about git repositories")
    return Repo(tmp_path_factory.mktemp("empty")).root


@pytest.fixture
def repo(empty_repo: Path, tmp_path: Path) -> Repo:
    root = tmp_path / "project"
    shutil.copytree(empty_repo, root, symlinks=True)
    return Repo(root, begun=True)


@pytest.fixture(scope="session")
def counter() -> Counter:
    counter = Counter()
    counter.load()
    return counter
