"""A sandbox of Linux namespaces: the project at its own path under an overlay, walls around it."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from session.sandbox.box import Box
from session.sandbox.plan import Limits, View, plan
from session.sandbox.result import End, Outcome, SandboxRefused
from session.sandbox.walls import REPORT
from session.tools.command.process import run_group

_WALLS = Path(__file__).with_name("walls.py")
_PACKAGES = Path(__file__).parents[2]
_PROBE_SECONDS = 10.0
_GRACE = 5.0
"""Seconds for the kernel to end what is in the sandbox; it takes milliseconds."""
_FILE_TOO_LARGE = 128 + signal.SIGXFSZ


class OverlaySandbox:
    """Runs commands on ``project``; what they write lands in ``box``. One command at a time."""

    def __init__(self, project: Path, box: Box, view: View) -> None:
        self.root = project
        self.note = ""
        self._box = box
        self._view = view

    async def run(
        self,
        command: Sequence[str],
        *,
        environ: Mapping[str, str],
        limits: Limits,
        seconds: float,
        take: Callable[[bytes], bool],
        network: bool = False,
    ) -> Outcome:
        """See :class:`Sandbox`."""
        told = plan(self._view, limits, project=self.root, box=self._box.path, network=network)
        line = [sys.executable, "-I", "-S", str(_WALLS), str(_PACKAGES), json.dumps(told), *command]
        began = time.monotonic()
        control, held = os.pipe()
        try:
            with os.fdopen(control, "rb", buffering=0) as stdin:
                ended = await run_group(
                    line,
                    folder=Path("/"),
                    environ=environ,
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

    def _outcome(self, code: int, took: float) -> Outcome:
        try:
            report = json.loads((self._box.path / REPORT).read_text("utf-8"))
        except (OSError, ValueError) as problem:
            raise SandboxRefused(f"the sandbox ended without a report: {problem}") from problem
        if report["end"] == "failed":
            raise SandboxRefused(report["why"])
        if code == _FILE_TOO_LARGE:
            return Outcome(End.DISK, code, took, "wrote a file that is larger than its limit")
        return Outcome(End(report["end"]), code, took, report["why"])

    async def remove(self) -> None:
        """See :class:`Sandbox`."""
        await asyncio.to_thread(self._box.remove)


async def probe(sandbox: OverlaySandbox) -> None:
    """Try to run a command that does nothing. Raises SandboxRefused with the reason if that fails."""
    done = await sandbox.run(
        ["/bin/sh", "-c", ":"], environ={}, limits=Limits(), seconds=_PROBE_SECONDS, take=lambda _: True
    )
    if done.end is not End.EXIT or done.code:
        raise SandboxRefused(f"a command that does nothing ended with {done.end}, code {done.code}")
