"""What the session's tests share: a tiny model, and a home with a project."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.session.models.engine.tiny_model import write_tiny_model


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
