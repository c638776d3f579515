"""The files of one attempt: its hunks are placed as they would be in the project, and nothing is written.

The checks of a race run on them, each in a sandbox of its own.
"""

from __future__ import annotations

import asyncio
import difflib
import hashlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from edits.files.text import FileError, decode, split
from edits.files.tree import Tree
from edits.hunk import Guard, Held, Hunk, Landed, Refused, Status
from edits.landing import Landing
from session.checks.check import Check
from session.checks.finding import Status as CheckStatus
from session.checks.finding import Verdict
from session.checks.runner import RunsChecks
from session.checks.sandbox.command import Edits
from session.race.attempt_life import Result, Standing, judge

_CONTEXT = 3
TIMES_BEFORE = 10.0
"""How many times as long as before any change a check of an attempt may take."""
LEAST_SECONDS, LEAST_IF_RED = 15.0, 60.0
TIMES_SLOW, LEAST_SLOW = 3.0, 5.0
"""How many times as long as before any change, and seconds, after which a check is slow."""


class AttemptFiles:
    """Takes the hunks of one attempt in the place of a project's writer. All but :meth:`next_id` is called in
    the edit thread while hunks come, and in any thread afterwards."""

    def __init__(self, name: str, landing: Landing, root: Path, *, attended: bool) -> None:
        """``landing`` is this attempt's own, for dry runs. With ``attended`` the user is asked about guarded
        edits when they land in the project, so here only locks hold."""
        self._name = name
        self._landing = landing
        self._tree = Tree(root)
        self._allow = frozenset(Guard) - {Guard.LOCKED} if attended else frozenset[Guard]()
        self._count = 0
        self._before: dict[str, bytes | None] = {}
        self._landed: list[tuple[Landed, Hunk, frozenset[Guard]]] = []
        """The hunks that fit, in their order, with the guards that were allowed."""

    @property
    def edits(self) -> list[Hunk]:
        """The hunks that fit, in their order."""
        return [edit for _, edit, _ in self._landed]

    def next_id(self) -> str:
        """See :class:`EditWriter`."""
        self._count += 1
        return f"{self._name}.h{self._count}"

    def held_by_path(self, path: str) -> Held | None:
        """See :class:`EditWriter`. Nothing is asked while an attempt runs."""
        del path
        return None

    def lines_of(self, path: str, old: tuple[str, ...]) -> tuple[int, int] | None:
        """See :class:`EditWriter`. No front end shows where an attempt's hunk would go."""
        del path, old
        return None

    def place_of(self, edit: Hunk) -> tuple[int, int] | None:
        """See :class:`EditWriter`."""
        del edit
        return None

    def divide(self, edit: Hunk, request: str) -> tuple[Hunk, ...]:
        """The hunks that the whole file ``edit`` consists of."""
        return self._landing.divide(edit, request, dry_run=True)

    def meant(self, edit: Hunk) -> str | None:
        """The file whose text the sample ``edit`` is; None where it is not that of one file."""
        return self._landing.meant(edit)

    def check(self, hunk: str, edit: Hunk) -> Landed | Refused:
        """See :class:`EditWriter`."""
        return self._landing.weigh(edit, hunk_id=hunk)

    def write(self, hunk: str, turn: str, edit: Hunk, allow: frozenset[Guard]) -> Landed | Refused:
        """See :class:`EditWriter`."""
        result = self._landing.land(edit, hunk_id=hunk, turn=turn, dry_run=True, allow=self._allow | allow)
        if isinstance(result, Landed) and result.status is not Status.ALREADY_APPLIED:
            # It lands in the file that it was judged in, or not at all.
            judged = replace(edit, path=result.path if result.typed else edit.path, shown=())
            self._landed.append((result, judged, allow))
            for path in self._landing.rehearsed.keys() - self._before.keys():
                self._before[path] = self._tree.read_if_there(path)
        return result

    def recorded(self, hunk: str) -> Landed | None:
        """See :class:`EditWriter`."""
        del hunk
        return None

    def take_back(self, hunk: str) -> Landed | Refused:
        """See :class:`EditWriter`."""
        taken = next(result for result, _, _ in self._landed if result.hunk == hunk)
        others = [each for each in self._landed if each[0].hunk != hunk]
        self._landing.forget()
        self._landed.clear()
        self._before.clear()
        for result, edit, allow in others:
            self.write(result.hunk, "", edit, allow)
        return taken

    @property
    def changed(self) -> Mapping[str, bytes | None]:
        """The files that differ from the project, by path; None for deleted ones."""
        now = dict(self._landing.rehearsed)  # the edit thread may add to it
        return {path: now[path] for path in sorted(now) if now[path] != self._before.get(path)}

    def text(self, path: str) -> str | None:
        """The text of a file that the attempt changed; None for other files."""
        content = self.changed.get(path)
        try:
            return None if content is None else decode(content, path).text
        except FileError:
            return None

    def result(self) -> Result:
        """What the attempt does to the project, to compare it with others."""
        changed = self.changed
        if not changed:
            return Result("", 0)
        digest = hashlib.sha256()
        for path, content in changed.items():
            state = b"gone" if content is None else hashlib.sha256(content).digest()
            digest.update(path.encode("utf-8", "surrogatepass") + b"\0" + state)
        return Result(digest.hexdigest(), changed_lines(self.diff()))

    def diff(self) -> str:
        """The change as a unified diff."""
        return "".join(
            _file_diff(path, self._before.get(path), content) for path, content in self.changed.items()
        )


def changed_lines(diff: str) -> int:
    """The number of lines that ``diff`` adds and removes."""
    marks = ("+", "-")
    heads = ("+++ ", "--- ")
    return sum(line.startswith(marks) and not line.startswith(heads) for line in diff.splitlines())


def _file_diff(path: str, before: bytes | None, after: bytes | None) -> str:
    try:
        old, new = _lines(before, path), _lines(after, path)
    except FileError:
        return f"--- a/{path}\n+++ b/{path}\n(not text)\n"
    names = ("/dev/null" if before is None else f"a/{path}", "/dev/null" if after is None else f"b/{path}")
    lines = list(difflib.unified_diff(old, new, *names, n=_CONTEXT, lineterm=""))
    if not lines:
        lines = [f"--- {names[0]}", f"+++ {names[1]}"]
    return "".join(f"{line}\n" for line in lines)


def _lines(content: bytes | None, path: str) -> list[str]:
    return [] if content is None else list(split(decode(content, path).text)[0])


class Judge:
    """Runs ``checks``, by their index. ``reaching`` gives the tests of a check that reach changed files."""

    def __init__(
        self,
        runner: RunsChecks,
        checks: Sequence[Check],
        reaching: Callable[[Check, Sequence[str]], Awaitable[Sequence[str]]],
    ) -> None:
        self._runner = runner
        self._checks = tuple(checks)
        self._reaching = reaching
        self._before: dict[int, Verdict] = {}
        self._open: dict[asyncio.Timeout, tuple[int, float]] = {}
        """The runs, each with its check and when it began."""

    async def baseline(self, check: int) -> Verdict:
        """What a check says of the project as it is."""
        verdict = await self._runner.run(self._checks[check])
        self._before[check] = verdict
        for limit in [each for each, (about, _) in self._open.items() if about == check]:
            self._hold(limit)
        return verdict

    def seconds(self, check: int) -> float:
        """The time limit of a check of an attempt: a multiple of what it took before any change, as far as
        that is known. Where it was red then it may have ended early, and has a minute at least."""
        asked, before = self._checks[check], self._before.get(check)
        if before is None or before.status is CheckStatus.UNCLEAR:
            return asked.seconds
        least = LEAST_SECONDS if before.status is CheckStatus.GREEN else LEAST_IF_RED
        return min(asked.seconds, max(least, TIMES_BEFORE * before.seconds))

    def is_slow(self, check: int, seconds: float) -> bool:
        """Whether a run that goes on after ``seconds`` takes much longer than before any change."""
        before = self._before.get(check)
        return before is not None and seconds > max(LEAST_SLOW, TIMES_SLOW * before.seconds)

    async def attempt(self, check: int, files: AttemptFiles) -> Verdict:
        """What a check says of an attempt; green for one that is about none of its files.

        Tests that reach the changed files run first; all run where those find nothing new.
        """
        asked = self._checks[check]
        edits = files.changed
        if not any(asked.takes(path) for path in edits):
            return Verdict(asked, CheckStatus.GREEN, 0.0)
        there = [path for path, content in edits.items() if content is not None]
        if asked.takes_files and not any(asked.takes(path) for path in there):
            return Verdict(asked, CheckStatus.GREEN, 0.0)
        tests = await self._reaching(asked, sorted(edits)) if asked.takes_tests else ()
        if tests:
            first = await self._in_time(check, asked.only(tests), there, edits)
            if first.hung or judge(first, self._before.get(check)).standing is Standing.RED:
                return first
        return await self._in_time(check, asked, there, edits)

    async def _in_time(self, check: int, asked: Check, there: Sequence[str], edits: Edits) -> Verdict:
        """Run it, and end it at its time limit, which may become known only while it runs."""
        began = asyncio.get_running_loop().time()
        try:
            async with asyncio.timeout(None) as limit:
                self._open[limit] = check, began
                self._hold(limit)
                return await self._runner.run(asked, there, edits=edits)
        except TimeoutError:
            took = asyncio.get_running_loop().time() - began
        finally:
            del self._open[limit]
        before = self._before[check].seconds
        why = f"it was ended after {took:.0f} s; before any change it took {before:.1f} s"
        return Verdict(asked, CheckStatus.UNCLEAR, took, why=why, hung=True)

    def _hold(self, limit: asyncio.Timeout) -> None:
        """Hold a run to its time limit, where that is not the check's own."""
        check, began = self._open[limit]
        seconds = self.seconds(check)
        if seconds < self._checks[check].seconds:
            limit.reschedule(began + seconds)

    async def close(self) -> None:
        """End what the checks have begun."""
        await self._runner.close()
