"""Runs the model's commands within walls, and makes hunks of what they wrote to the project.

Each command has a sandbox of its own, of the project as it is then. A command that ended by itself lands what
it wrote, whatever its exit code: formatters and linters end with one. Of a command that passed a limit, or
that was interrupted, nothing is taken over: what it wrote may be half of something.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping

from edits.files.text import FileError
from edits.hunk import Hunk
from edits.placing.made_hunks import made_hunks, moved_hunk
from session.checks.sandbox.command import Command, End, SandboxRefused
from session.checks.sandbox.sandbox import Sandboxes
from session.checks.sandbox.written import Written, WrittenFile
from session.tools.command.run import SHELL, TERMINAL, NoWallsError, WalledEnd

MOST_LEFT = 20
"""Paths that were not taken over that are named."""


class WalledCommands:
    """Runs commands in ``sandboxes``. ``environ`` is what they get, and must hold no keys."""

    def __init__(self, sandboxes: Sandboxes, environ: Mapping[str, str]) -> None:
        self._sandboxes = sandboxes
        self._environ = {**environ, **TERMINAL, "PYTHONDONTWRITEBYTECODE": "1"}

    async def run(self, command: str, seconds: int, take: Callable[[bytes], bool]) -> WalledEnd:
        """See :class:`session.tools.command.run.Walls`."""
        try:
            sandbox = await self._sandboxes.make()
        except SandboxRefused as problem:
            raise NoWallsError(str(problem)) from problem
        try:
            line = Command([SHELL, "-c", command], seconds, self._environ, keeps=True)
            try:
                outcome = await sandbox.run(line, take)
            except SandboxRefused as problem:
                raise NoWallsError(str(problem)) from problem
            if outcome.end is not End.EXIT:
                nothing = ("nothing of what it wrote, since it was ended",)
                return WalledEnd(f"ended: it {outcome.why}", ok=False, left=nothing)
            written = await sandbox.written()
            hunks, left = await asyncio.to_thread(_hunks, written)
            how = f"exit {outcome.code}" if outcome.code <= 128 else f"ended by signal {outcome.code - 128}"
            return WalledEnd(how, outcome.code == 0, hunks, left)
        finally:
            await sandbox.remove()


def _hunks(written: Written) -> tuple[tuple[Hunk, ...], tuple[str, ...]]:
    """The hunks of what was written, and what of it was left, in words."""
    moves = _moves(written.files)
    gone = set(moves.values())
    hunks: list[Hunk] = []
    left = list(written.left)
    # What is deleted makes room for what comes.
    for file in sorted(written.files, key=lambda each: (each.after is not None, each.path)):
        if file.path in moves:
            hunks.append(moved_hunk(moves[file.path], file.path))
        elif file.path not in gone:
            try:
                hunks += made_hunks(file.path, file.before, file.after)
            except FileError as problem:
                left.append(problem.message)
    if written.ignored:
        left.append(f"{written.ignored:,} ignored files" if written.ignored > 1 else "one ignored file")
    more = len(left) - MOST_LEFT
    return tuple(hunks), tuple([*left[:MOST_LEFT], f"{more:,} more"] if more > 0 else left)


def _moves(files: Iterable[WrittenFile]) -> dict[str, str]:
    """The files that are only in another place now, with where they were."""
    by_text: dict[bytes, tuple[list[str], list[str]]] = {}
    for file in files:
        if file.after is None and file.before:
            by_text.setdefault(file.before, ([], []))[0].append(file.path)
        elif file.before is None and file.after:
            by_text.setdefault(file.after, ([], []))[1].append(file.path)
    return {new[0]: old[0] for old, new in by_text.values() if len(old) == len(new) == 1}
