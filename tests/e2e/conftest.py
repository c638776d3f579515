"""What the end-to-end tests have in common: started programs read the bytecode that an earlier one wrote."""

from __future__ import annotations

import os

import pytest

from tests.bench.pty_spark import BYTECODE


@pytest.fixture(autouse=True)
def kept_bytecode(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have programs keep bytecode outside of the checkout where the environment lets them write none there:
    compiling all of spark is half of the CPU time of a start."""
    if os.environ.get("PYTHONDONTWRITEBYTECODE"):
        monkeypatch.delenv("PYTHONDONTWRITEBYTECODE")
        monkeypatch.setenv("PYTHONPYCACHEPREFIX", str(BYTECODE))
