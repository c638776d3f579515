"""Running shell lines in a sandbox."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from session.base.storage.folders import state_folder
from session.checks.sandbox import kernel
from session.checks.sandbox.command import Command, Outcome
from session.checks.sandbox.fenced_copy import CopySandbox
from session.checks.sandbox.plan import Limits, view
from session.checks.sandbox.sandbox import Sandbox, Sandboxes
from session.checks.sandbox.sandbox_folder import Box


@dataclass(frozen=True, slots=True)
class Ran:
    """How a command ended, and its output."""

    outcome: Outcome
    output: str


Shell = Callable[..., Awaitable[Ran]]


def shell(sandbox: Sandbox) -> Shell:
    """A function that runs a line in ``sandbox`` and reads at most 1 MB of its output."""

    async def run(
        line: str, *, limits: Limits | None = None, seconds: float = 60.0, network: bool = False
    ) -> Ran:
        output = bytearray()

        def take(piece: bytes) -> bool:
            output.extend(piece)
            return len(output) < 1_000_000

        command = Command(["/bin/sh", "-c", line], seconds, dict(os.environ), limits or Limits(), network)
        outcome = await sandbox.run(command, take)
        return Ran(outcome, output.decode("utf-8", "replace"))

    return run


def has_landlock() -> bool:
    """Whether a fence can be put up here."""
    try:
        return sys.platform == "linux" and kernel.landlock_version() > 0
    except OSError:
        return False


def has_bubblewrap() -> bool:
    """Whether ``bwrap`` is installed and makes a namespace here."""
    program = shutil.which("bwrap")
    line = [str(program), "--unshare-all", "--ro-bind", "/", "/", "true"]
    return program is not None and subprocess.run(line, check=False, capture_output=True).returncode == 0


needs_bubblewrap = pytest.mark.skipif(
    not has_bubblewrap(), reason="bubblewrap is not installed, or makes no namespaces here"
)
needs_landlock = pytest.mark.skipif(not has_landlock(), reason="this kernel has no Landlock")


def a_copy(root: Path) -> CopySandbox:
    """A sandbox of ``root`` that is a copy, and is not filled yet. Without a fence here, it runs all the same
    what these tests give it."""
    seen = view(root, Path.home(), os.environ, [state_folder()])
    return CopySandbox(root, Box(state_folder() / "sandboxes"), "for the test", seen, lambda: True)


@asynccontextmanager
async def sandbox_of(root: Path) -> AsyncIterator[Shell]:
    """A sandbox of ``root`` with all its walls, as a function that runs lines in it."""
    made = await Sandboxes(root, os.environ).make()
    try:
        await made.run(Command(["/bin/true"], 60.0, dict(os.environ)), lambda _: True)
        if made.note:
            pytest.skip(f"this system makes no overlays in namespaces: {made.note}")
        yield shell(made)
    finally:
        await made.remove()
