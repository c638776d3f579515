"""Running a check in a sandbox of its own, and judging how it ended."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from context.text.secrets import redact, without_cut_beginning
from session.base.text.sanitize import clean
from session.checks.check import Check
from session.checks.finding import Status, Verdict
from session.checks.output import MOST_PLACES, Failure, ProjectPaths, read_failure
from session.checks.sandbox.command import Command, Edits, End, Outcome, SandboxRefused
from session.checks.sandbox.plan import Limits
from session.checks.sandbox.sandbox import Sandbox, Sandboxes
from session.record.outputs import KeptOutput, overwritten, without_escapes

SHELL = "/bin/sh"
KEPT = 1_000_000
"""Bytes of output kept from the beginning, and as many from the end."""
MOST_OUTPUT = 200_000_000
"""Bytes of output after which a check is ended."""
LAST_LINES, LONGEST_LAST = 12, 300
PLAIN = {
    "TERM": "dumb", "NO_COLOR": "1", "CI": "1", "PAGER": "cat", "GIT_PAGER": "cat",
    "GIT_TERMINAL_PROMPT": "0", "PYTHONDONTWRITEBYTECODE": "1", "PYTHONUNBUFFERED": "1",
}  # fmt: skip
"""Variables with which programs print plain text and ask nothing."""
_CANNOT_RUN = {126: "cannot be run", 127: "is not installed"}
_SAYS_NOTHING = {
    ("pytest", 4): "pytest does not know these arguments",
    ("pytest", 5): "pytest found no tests",
}
"""Exit codes with which a program says that it has not judged anything."""


class RunsChecks(Protocol):
    """Runs the checks of attempts, wherever that is."""

    async def run(
        self, check: Check, changed: Sequence[str] | None = None, *, edits: Edits | None = None
    ) -> Verdict:
        """Run ``check`` on the project with ``edits``, or as it is where that is None."""
        ...

    async def close(self) -> None:
        """End everything that was begun and that nobody waits for."""
        ...


class CheckRunner:
    """Runs checks on ``project``. ``environ`` is what they get; ``files`` gives the project's files."""

    def __init__(
        self,
        project: Path,
        sandboxes: Sandboxes,
        environ: Mapping[str, str],
        files: Callable[[], Iterable[str]],
    ) -> None:
        self._project = project
        self._sandboxes = sandboxes
        self._environ = {**environ, **PLAIN}
        self._files = files

    async def run(
        self,
        check: Check,
        changed: Sequence[str] | None = None,
        limits: Limits | None = None,
        edits: Edits | None = None,
    ) -> Verdict:
        """Run ``check`` for the files in ``changed``, or for the whole project, in a new sandbox with
        ``edits``.

        What cannot be run gets an unclear verdict. Nothing the check started is left when this returns.
        """
        try:
            sandbox = await self._sandboxes.make()
        except (SandboxRefused, OSError) as problem:
            return _not_run(check, f"no sandbox could be made: {problem}")
        command = Command(
            [SHELL, "-c", check.line(changed)],
            check.seconds,
            self._environ,
            limits or Limits(),
            check.network,
        )
        try:
            return await self._run(check, command, edits or {}, sandbox)
        finally:
            await sandbox.remove()

    async def close(self) -> None:
        """See :class:`RunsChecks`. Nothing outlives :meth:`run`."""

    async def _run(self, check: Check, command: Command, edits: Edits, sandbox: Sandbox) -> Verdict:
        output = KeptOutput(KEPT, KEPT)

        def take(piece: bytes) -> bool:
            output.take(piece)
            return output.total <= MOST_OUTPUT

        try:
            await sandbox.put(edits)
            outcome = await sandbox.run(command, take)
        except (SandboxRefused, OSError) as problem:
            return _not_run(check, f"it could not be started: {problem}")
        status, why = judge(check, outcome)
        resolve = self._paths(sandbox, edits).resolve

        def read() -> tuple[Failure | None, str]:
            text = output.text()
            red = status is Status.RED
            failure = read_failure(check.name, outcome.code, text, resolve) if red else None
            return failure, "" if status is Status.GREEN else _last_lines(text)

        failure, last = await asyncio.to_thread(read)  # reading two megabytes takes up to two seconds
        ran = outcome.end is not End.EXIT or outcome.code not in _CANNOT_RUN
        verdict = Verdict(check, status, outcome.seconds, (), why, last, sandbox.note, ran, sandbox.walls)
        if failure is None:
            return replace(verdict, hung=outcome.end is End.TIME)
        return replace(
            verdict, findings=failure.findings, excerpt=failure.excerpt, places=failure.places[:MOST_PLACES]
        )

    def _paths(self, sandbox: Sandbox, edits: Edits) -> ProjectPaths:
        files = {*self._files(), *(path for path, content in edits.items() if content is not None)}
        return ProjectPaths(self._project, [sandbox.root], files)


def _not_run(check: Check, why: str) -> Verdict:
    return Verdict(check, Status.UNCLEAR, 0.0, why=why, ran=False)


def judge(check: Check, outcome: Outcome) -> tuple[Status, str]:
    """The status that follows from the end of a command, and in words how it ended; empty for green."""
    if outcome.end is End.CUT:
        return Status.UNCLEAR, f"it was ended: it printed more than {MOST_OUTPUT // 1_000_000} MB"
    if outcome.end is not End.EXIT:
        return Status.UNCLEAR, f"it was ended: it {outcome.why}"
    if outcome.code == 0:
        return Status.GREEN, ""
    if outcome.code in _CANNOT_RUN:
        return Status.UNCLEAR, f"its command {_CANNOT_RUN[outcome.code]}"
    for (program, code), why in _SAYS_NOTHING.items():
        if code == outcome.code and program in check.command.split():
            return Status.UNCLEAR, why
    if outcome.code > 128:
        return Status.UNCLEAR, f"it was ended by signal {outcome.code - 128}"
    return Status.RED, f"exit {outcome.code}"


def _last_lines(text: str) -> str:
    most = LAST_LINES * 10_000
    last = without_escapes(text if len(text) <= most else without_cut_beginning(text[-most:]))
    last = overwritten(last)
    lines = [line.rstrip()[:LONGEST_LAST] for line in redact(clean(last)).text.splitlines()]
    return "\n".join([line for line in lines if line][-LAST_LINES:])
