"""A sandbox of Linux namespaces: the project at its own path under an overlay, walls around it."""

from __future__ import annotations

import marshal
import os
import signal
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from session.checks.sandbox.command import Command, Edits, End, Outcome, SandboxRefused, Walls, write
from session.checks.sandbox.namespaces import PLAN, REPORT
from session.checks.sandbox.plan import View, plan
from session.checks.sandbox.sandbox_folder import Box, to_the_end
from session.checks.sandbox.syscall_filter import NoFilterError, namespace_filter
from session.checks.sandbox.written import Written, next_tick, written_in_layer
from session.tools.command.process import run_group

_WALLS = Path(__file__).with_name("namespaces.py")
_PACKAGES = Path(__file__).parents[3]
WRITTEN = Path("project", "upper")
"""The folder of the box that holds what is written to the project (``tree.py``)."""
_GRACE = 5.0
"""Seconds for the kernel to end what is in the sandbox; it takes milliseconds."""
_FILE_TOO_LARGE = 128 + signal.SIGXFSZ


def _filter() -> bytes:
    """The filter of system calls; empty for a machine without a table of them."""
    try:
        return namespace_filter()
    except NoFilterError:
        return b""


class OverlaySandbox:
    """Runs commands on ``project``; what they write lands in ``box``. One command at a time."""

    def __init__(self, project: Path, box: Box, view: View) -> None:
        self.root = project
        self.walls: Walls = "namespaces"
        self.note = ""
        self._box = box
        self._view = view
        self._began = 0
        self._gone: set[str] = set()
        """The files that are deleted in the sandbox, which its first process does before each command."""

    async def put(self, edits: Edits) -> None:
        """See :class:`Sandbox`. The overlay's upper layer is written, which no command has mounted now."""
        written = {path: content for path, content in edits.items() if content is not None}
        await to_the_end(partial(write, written, self._box.path / WRITTEN, self.root))
        self._gone = (self._gone | edits.keys()) - written.keys()

    async def run(self, command: Command, take: Callable[[bytes], bool]) -> Outcome:
        """See :class:`Sandbox`."""
        told = {"filter": _filter()} | plan(
            self._view,
            command.limits,
            project=self.root,
            box=self._box.path,
            network=command.network,
            gone=self._gone,
        )
        if command.keeps:
            self._began = await to_the_end(next_tick)
        plan_file = self._box.path / PLAN
        await to_the_end(partial(plan_file.write_bytes, marshal.dumps(told)))
        line = [sys.executable, "-I", "-S", str(_WALLS), str(_PACKAGES), str(plan_file), *command.line]
        seconds = command.seconds
        began = time.monotonic()
        control, held = os.pipe()
        try:
            with os.fdopen(control, "rb", buffering=0) as stdin:
                ended = await run_group(
                    line,
                    folder=Path("/"),
                    environ=command.environ,
                    seconds=seconds,
                    take=take,
                    stdin=stdin,
                    grace=_GRACE,
                )
        finally:
            os.close(held)
        took = time.monotonic() - began
        if ended.timed_out:
            return Outcome(End.TIME, ended.code, took, f"did not end within {seconds:g} s")
        if ended.cut:
            return Outcome(End.CUT, ended.code, took)
        return self._outcome(ended.code, took)

    async def written(self) -> Written:
        """See :class:`Sandbox`."""
        return await to_the_end(partial(written_in_layer, self._box.path / WRITTEN, self.root, self._began))

    def _outcome(self, code: int, took: float) -> Outcome:
        try:
            end, _, why = (self._box.path / REPORT).read_text("utf-8").partition("\n")
        except (OSError, ValueError) as problem:
            raise SandboxRefused(f"the sandbox ended without a report: {problem}") from problem
        if not end:
            raise SandboxRefused("the sandbox was ended before its command")
        if end == "failed":
            raise SandboxRefused(why)
        if code == _FILE_TOO_LARGE:
            return Outcome(End.DISK, code, took, "wrote a file that is larger than its limit")
        return Outcome(End(end), code, took, why)

    async def remove(self) -> None:
        """See :class:`Sandbox`."""
        await to_the_end(self._box.remove)
