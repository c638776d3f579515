"""What the session's tests share: a process for commands, a tiny model, and a home with a project."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import Ran, RunSpark
from tests.session.models.engine.tiny_model import write_tiny_model
from tests.session.shared_spark import SharedSpark


@pytest.fixture(scope="session")
def spark_process() -> Iterator[SharedSpark]:
    """The one process whose forks are the commands that tests run."""
    process = SharedSpark()
    yield process
    process.close()


@pytest.fixture
def shared_spark(spark_process: SharedSpark, tmp_path: Path) -> RunSpark:
    """Run ``spark`` as ``run_spark`` does, in a fork of one process: for tests of what a command does."""

    def run(*arguments: str, cwd: Path = tmp_path, given: str = "", env: dict[str, str] | None = None) -> Ran:
        everything = {**os.environ, **(env or {})}
        return spark_process.run(list(arguments), cwd, given.encode(), everything, tmp_path)

    return run


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("gguf", reason="the package gguf, which writes the tests' model, is not installed")
    return write_tiny_model(tmp_path_factory.mktemp("models") / "tiny.gguf")


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str]:
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "a.py").write_text("def add(a, b):\n    return a + b\n", "utf-8")
    (tmp_path / "config" / "spark").mkdir(parents=True)
    (tmp_path / "config" / "spark" / "config.toml").write_text("[local]\nthreads = 1\n", "utf-8")
    return {f"XDG_{kind}_HOME": str(tmp_path / kind.lower()) for kind in ("CONFIG", "STATE", "CACHE")}
