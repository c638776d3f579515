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
    """A real git repository in a temporary folder."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.git("init", "-q", "-b", "main")
        self.git("config", "user.email", "a@example.org")
        self.git("config", "user.name", "A")

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


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    if shutil.which("git") is None:
        pytest.skip("git is not installed: these tests are about git repositories")
    root = tmp_path / "project"
    root.mkdir()
    return Repo(root)


@pytest.fixture(scope="session")
def counter() -> Counter:
    counter = Counter()
    counter.load()
    return counter
