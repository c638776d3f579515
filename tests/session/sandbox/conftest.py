"""A small project, and a sandbox of it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.session.sandbox.shell import Shell, sandbox_of


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "app.py").write_text("print('as it is')\n")
    return folder


@pytest.fixture
async def walled(root: Path) -> AsyncIterator[Shell]:
    """Run shell lines in a sandbox with all its walls."""
    async with sandbox_of(root) as run:
        yield run
