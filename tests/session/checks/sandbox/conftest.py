"""A small project, and a sandbox of it."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from tests.session.checks.sandbox.shell import Shell, sandbox_of


@pytest.fixture(scope="session")
def tmp_path_factory(request: pytest.FixtureRequest) -> Iterator[pytest.TempPathFactory]:
    """Folders below /tmp, which are hidden in a sandbox unless shown: /dev is replaced as a whole, so that
    nothing of a folder in /dev/shm would be tried."""
    with tempfile.TemporaryDirectory(prefix="spark-walls-", dir="/tmp") as folder:
        yield pytest.TempPathFactory(
            Path(folder) / "tests", 3, "all", request.config.trace.get("tmpdir"), _ispytest=True
        )


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
