"""Random histories of hunks around each other's points: no line comes back out of order.

What is known without the code under test: a line shows when the hunk that put it is landed and no
landed hunk took it, and all the states that a file has had agree on one order of its lines.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from pathlib import Path

from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

from edits.hunk import Action, Format, Hunk, HunkLine, Landed, LineKind, RefusalCode, Refused
from tests.edits.helpers import Project
from tests.thorough import share

PLACES = st.integers(0, 8)
LANDS = st.tuples(PLACES, st.integers(0, 3), st.sampled_from((0, 0, 1, 2)))
"""Where, how many lines go, and how many come."""
TURNS = st.integers(0, 6)
"""Which hunk is undone or redone."""
LATER = st.lists(st.one_of(TURNS, TURNS, TURNS, TURNS, LANDS, st.tuples(PLACES)), min_size=4, max_size=14)
ORIGINAL = tuple("abcdefgh")


class History:
    """A file of distinct lines, and the hunks that put and took them."""

    def __init__(self, folder: Path) -> None:
        self.project = Project(folder)
        self.put: dict[str, tuple[str, ...]] = {}
        self.took: dict[str, tuple[str, ...]] = {}
        self.landed: dict[str, bool] = {}
        self.orders: set[tuple[str, str]] = set()
        self.users: set[str] = set(ORIGINAL)
        self.project.write({"a.txt": text(ORIGINAL)})
        self.check()

    def lines(self) -> list[str]:
        return self.project.read()["a.txt"].splitlines()

    def land(self, at: int, gone: int, come: int) -> None:
        """Replace ``gone`` lines by ``come`` new ones; the rest of the file is context, so it is unique."""
        lines = self.lines()
        at = min(at, len(lines))
        name = f"h{len(self.put)}"
        old, new = tuple(lines[at : at + gone]), tuple(f"{name}.{number}" for number in range(come))
        if not (old or new) or not lines:
            return
        body = [
            *(HunkLine(LineKind.CONTEXT, line) for line in lines[:at]),
            *(HunkLine(LineKind.OLD, line) for line in old),
            *(HunkLine(LineKind.NEW, line) for line in new),
            *(HunkLine(LineKind.CONTEXT, line) for line in lines[at + len(old) :]),
        ]
        result = self.project.landing.land(
            Hunk("a.txt", Action.UPDATE, Format.V4A, tuple(body)), hunk_id=name
        )
        assert isinstance(result, Landed), result
        self.put[name], self.took[name], self.landed[name] = new, old, True
        self.check()

    def turn(self, which: int) -> None:
        """Undo a hunk, or redo it; where that is refused, nothing changes."""
        if not self.put:
            return
        name = list(self.put)[which % len(self.put)]
        before = self.lines()
        act = self.project.landing.undo if self.landed[name] else self.project.landing.redo
        result = act(name)
        if isinstance(result, Refused):
            assert result.code is RefusalCode.CONFLICT
            assert self.lines() == before
        else:
            self.landed[name] = not self.landed[name]
        self.check()

    def write(self, at: int) -> None:
        """The user adds a line of their own."""
        lines = self.lines()
        own = f"user.{len(self.users)}"
        self.users.add(own)
        lines.insert(min(at, len(lines)), own)
        (self.project.root / "a.txt").write_text(text(lines))
        self.check()

    def check(self) -> None:
        lines = self.lines()
        shown = self.users.union(*(self.put[name] for name, landed in self.landed.items() if landed))
        shown -= set().union(*(self.took[name] for name, landed in self.landed.items() if landed))
        assert sorted(lines) == sorted(shown)
        self.orders |= set(pairwise(lines))
        follows: dict[str, set[str]] = {}
        for one, other in self.orders:
            follows.setdefault(other, set()).add(one)
        try:
            TopologicalSorter(follows).prepare()
        except CycleError as error:
            raise AssertionError(f"two states disagree on the order of {error.args[1]}") from error


def text(lines: Sequence[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


@seed(1)
@settings(max_examples=share(150, 20), deadline=None, database=None, suppress_health_check=list(HealthCheck))
@given(st.lists(LANDS, min_size=3, max_size=6), LATER)
def test_no_line_comes_back_out_of_order(
    first: list[tuple[int, int, int]], later: list[int | tuple[int, ...]]
) -> None:
    with tempfile.TemporaryDirectory(dir=os.environ.get("PYTEST_DEBUG_TEMPROOT")) as folder:
        history = History(Path(folder))
        for one in (*first, *later):
            match one:
                case int(which):
                    history.turn(which)
                case (at, gone, come):
                    history.land(at, gone, come)
                case (at,):
                    history.write(at)


@seed(1)
@settings(max_examples=share(60, 8), deadline=None, database=None, suppress_health_check=list(HealthCheck))
@given(st.lists(LANDS, min_size=3, max_size=6), st.lists(TURNS, max_size=10))
def test_all_hunks_can_be_undone_after_any_undoing_and_landing_again(
    first: list[tuple[int, int, int]], turns: list[int]
) -> None:
    with tempfile.TemporaryDirectory(dir=os.environ.get("PYTEST_DEBUG_TEMPROOT")) as folder:
        history = History(Path(folder))
        for one in first:
            history.land(*one)
        for which in turns:
            history.turn(which)
        while any(history.landed.values()):
            landed = dict(history.landed)
            for number, name in reversed(list(enumerate(history.put))):
                if history.landed[name]:
                    history.turn(number)
            assert history.landed != landed, "none of the hunks left can be undone"
        assert history.lines() == list(ORIGINAL)
