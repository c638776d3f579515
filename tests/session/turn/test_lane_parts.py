"""The parts of a lane one by one: its tasks, the lines that a hunk aims at, and the writer of hunks."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path

import pytest

from edits.guards.protection import Locks, Protection
from edits.hunk import Action, Format, Guard, Held, Hunk, HunkLine, Landed, LineKind, Refused, Rung, Status
from edits.landing import Landing
from edits.ledger.ledger import Ledger
from session.base.events import Event, HunkAimed, HunkLanded, HunkRefused
from session.project.edit_thread import EditThread
from session.project.open_files import OuterTexts
from session.turn.failures import INTERNAL, LaneTasks, TurnFailedError
from session.turn.hunk_writer import HunkWriter
from session.turn.lane import ANSWER, About, TargetLines
from session.turn.turn_memory import EditedFiles
from tests.session.turn.lane_rig import LaneRig, SteppedThread

OLD, NEW, CONTEXT = LineKind.OLD, LineKind.NEW, LineKind.CONTEXT


class Searched(HunkWriter):
    """Finds hunks where the test says, and notes what it was asked for."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, tuple[str, ...]]] = []
        self.place: tuple[int, int] | None = (3, 5)

    def lines_of(self, path: str, old: tuple[str, ...]) -> tuple[int, int] | None:
        self.asked.append((path, old))
        return self.place

    def place_of(self, edit: Hunk) -> tuple[int, int] | None:
        return self.place if edit.path == "a.py" else None


class Aiming:
    """The target lines of one turn, whose searches are done when a test says so."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.writer, self._thread = Searched(), SteppedThread()
        self._tasks = LaneTasks(EditThread(self._thread))
        self.targets = TargetLines("t1", self.writer, self._tasks, self)

    def publish(self, event: Event) -> None:
        self.events.append(event)

    async def search(self) -> None:
        """Do every search that was begun."""
        await asyncio.sleep(0)
        while self._thread.step():
            await asyncio.sleep(0)
        await self._tasks.settled()


def aimed(start: int, end: int) -> HunkAimed:
    return HunkAimed("t1", "h1", "a␇.py", start, end)


Typed = tuple[LineKind, str]
SEARCHES: dict[str, tuple[list[Typed], list[tuple[str, ...]]]] = {
    "a line that is not whole is not looked for": ([(OLD, "on")], []),
    "whole lines are": ([(OLD, "one\ntwo\nth")], [("one", "two")]),
    "pieces of a line are put together": ([(OLD, "o"), (OLD, "ne"), (CONTEXT, "\ntwo\n")], [("one", "two")]),
    "new lines are not looked for": ([(NEW, "one\n")], []),
    "new lines before the old ones do not end them": ([(NEW, "x\n"), (OLD, "one\n")], [("one",)]),
    "the first new line after old ones ends them": (
        [(OLD, "one\n"), (NEW, "x\n"), (OLD, "two\n")],
        [("one",)],
    ),
}


@pytest.mark.parametrize("case", SEARCHES)
async def test_the_old_lines_of_a_hunk_are_looked_for(case: str) -> None:
    typed, searches = SEARCHES[case]
    rig = Aiming()
    rig.targets.opened("h1", "a\x07.py")
    for kind, text in typed:
        rig.targets.typed("h1", kind, text)
    await rig.search()
    assert rig.writer.asked == [("a\x07.py", old) for old in searches]
    assert rig.events == ([aimed(3, 5)] if searches else [])


async def test_nothing_is_looked_for_again_before_another_line_is_whole() -> None:
    rig = Aiming()
    rig.targets.opened("h1", "a.py")
    for text, searches in (("one\n", 1), ("two", 1), (" and", 1), ("\n", 2)):
        rig.targets.typed("h1", OLD, text)
        await rig.search()
        assert len(rig.writer.asked) == searches, text


async def test_a_hunk_is_aimed_anew_only_where_its_place_changed() -> None:
    rig = Aiming()
    rig.targets.opened("h1", "a\x07.py")
    rows: list[tuple[tuple[int, int] | None, list[Event]]] = [
        ((3, 5), [aimed(3, 5)]),
        ((3, 5), [aimed(3, 5)]),
        (None, [aimed(3, 5)]),
        ((7, 9), [aimed(3, 5), aimed(7, 9)]),
    ]
    for number, (place, events) in enumerate(rows, 1):
        rig.writer.place = place
        rig.targets.typed("h1", OLD, f"line {number}\n")
        rig.targets.typed("h1", OLD, "more\n")
        await rig.search()
        assert rig.events == events
        assert len(rig.writer.asked) == number, "one search at a time"
    assert rig.writer.asked[-1] == ("a\x07.py", (
        "line 1", "more", "line 2", "more", "line 3", "more", "line 4",
    ))  # fmt: skip


async def test_nothing_is_told_of_a_hunk_that_was_closed_or_begun_again_meanwhile() -> None:
    rig = Aiming()
    rig.targets.typed("h1", OLD, "one\n")
    rig.targets.closed("h1")
    for again in (False, True):
        rig.targets.opened("h1", "a.py")
        rig.targets.typed("h1", OLD, "one\n")
        rig.targets.closed("h1")
        if again:
            rig.targets.opened("h1", "a.py")
        await rig.search()
    assert rig.events == [] and len(rig.writer.asked) == 2


async def test_the_place_of_a_whole_hunk_is_found_in_the_edit_thread() -> None:
    rig = Aiming()
    for path, place in (("a.py", (3, 5)), ("b.py", None)):
        finding = asyncio.ensure_future(rig.targets.find(Hunk(path, Action.UPDATE, Format.V4A)))
        await asyncio.sleep(0)
        assert not finding.done()
        await rig.search()
        assert await finding == place


# The tasks.


async def fail(problem: BaseException) -> None:
    raise problem


async def test_the_first_fault_is_kept_each_is_logged_and_the_watched_task_ends(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.ERROR)
    tasks = LaneTasks(EditThread(SteppedThread()))
    tasks.check()
    watched = asyncio.create_task(asyncio.sleep(3_600))
    watching = asyncio.create_task(tasks.watch(watched))
    tasks.start(fail(KeyError("first")))
    tasks.start(fail(KeyError("second")))
    with pytest.raises(TurnFailedError, match=r"landing edits \(KeyError: 'first'\)") as caught:
        await watching
    assert caught.value.code == INTERNAL and watched.cancelled()
    assert str(tasks.fault.result()) == "'first'"
    await tasks.settled()
    assert len([record for record in caplog.records if record.exc_info]) == 2


async def test_a_task_that_ends_well_or_is_cancelled_is_no_fault() -> None:
    tasks = LaneTasks(EditThread(SteppedThread()))
    tasks.start(asyncio.sleep(0))
    tasks.start(fail(asyncio.CancelledError()))
    await tasks.watch(asyncio.create_task(asyncio.sleep(0)))
    await tasks.settled()
    assert not tasks.fault.done()


async def test_settled_waits_for_tasks_that_others_begin() -> None:
    tasks, done = LaneTasks(EditThread(SteppedThread())), []

    async def second() -> None:
        await asyncio.sleep(0)
        done.append("second")

    async def first() -> None:
        await asyncio.sleep(0)
        tasks.start(second())

    tasks.start(first())
    await tasks.settled()
    assert done == ["second"]


# The writer.


class Noted(OuterTexts):
    """An outer editor's texts that only note what they are told."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def before(self, path: str) -> None:
        self.told.append(f"before {path}")

    def after(self, path: str) -> None:
        self.told.append(f"after {path}")


class Writing:
    """A writer with a real landing in a folder with one file."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "project"
        self.root.mkdir()
        (self.root / "a.py").write_text("one\ntwo\nthree\n")
        self.ledger = Ledger(folder / "ledger")
        self.edited = EditedFiles()
        self.landing = Landing(self.root, self.ledger, protection=Protection(locks=Locks(paths=("b.py",))))
        self.writer = HunkWriter("s1", self.landing, self.ledger, self.edited)
        self.outer = self.writer.outer = Noted()

    def write(self, edit: Hunk, *allow: Guard) -> Landed | Refused:
        hunk = self.writer.next_id()
        return self.writer.write(hunk, "t1", edit, frozenset(allow))


def change(old: str, new: str, path: str = "a.py", move_to: str | None = None) -> Hunk:
    lines = (HunkLine(OLD, old), HunkLine(NEW, new))
    action = Action.MOVE if move_to else Action.UPDATE
    return Hunk(path, action, Format.V4A, lines, move_to=move_to)


def test_a_hunk_is_written_recorded_and_shown_in_the_outer_editor(tmp_path: Path) -> None:
    rig = Writing(tmp_path)
    landed = rig.write(change("two", "2"))
    assert isinstance(landed, Landed) and (rig.root / "a.py").read_text() == "one\n2\nthree\n"
    assert rig.outer.told == ["before a.py", "after a.py"]
    assert list(rig.edited.paths) == ["a.py"]
    assert rig.writer.recorded(landed.hunk) == landed
    assert rig.writer.recorded("h99") is None
    (undone,) = rig.landing.undo_turn("s1", "t1")
    assert isinstance(undone, Landed) and undone.hunk == landed.hunk
    assert rig.writer.recorded(landed.hunk) is None, "it is not landed any more"


def test_a_moved_file_is_shown_and_recorded_where_it_is(tmp_path: Path) -> None:
    rig = Writing(tmp_path)
    moved = rig.write(change("two", "2", move_to="c.py"))
    assert isinstance(moved, Landed)
    assert rig.outer.told == ["before a.py", "after c.py"]
    recorded = rig.writer.recorded(moved.hunk)
    assert recorded == moved and (moved.path, moved.moved_to) == ("a.py", "c.py")


@pytest.mark.parametrize(
    ("edit", "told"),
    [
        (change("nowhere", "2"), ["before a.py"]),
        (change("one", "1", "b.py"), ["before b.py"]),
    ],
    ids=["not found", "locked"],
)
def test_a_hunk_that_does_not_land_is_not_shown_and_the_model_knows_of_no_edit(
    edit: Hunk, told: list[str], tmp_path: Path
) -> None:
    rig = Writing(tmp_path)
    (rig.root / "b.py").write_text("one\n")
    assert isinstance(rig.write(edit), Refused)
    assert rig.outer.told == told and list(rig.edited.paths) == []
    rig.writer.outer = None
    assert isinstance(rig.write(edit), Refused)


def test_a_hunk_that_is_there_already_is_shown_and_no_edit(tmp_path: Path) -> None:
    rig = Writing(tmp_path)
    landed = rig.write(change("2", "two"))
    assert isinstance(landed, Landed) and landed.status is Status.ALREADY_APPLIED
    assert rig.outer.told == ["before a.py", "after a.py"] and list(rig.edited.paths) == []


def test_a_guard_that_the_user_allows_is_passed(tmp_path: Path) -> None:
    rig = Writing(tmp_path)
    (rig.root / "b.py").write_text("one\n")
    rig.writer.outer = None
    held = rig.writer.held_by_path("b.py")
    assert isinstance(held, Held) and held.guards == (Guard.LOCKED,)
    assert rig.writer.held_by_path("a.py") is None
    assert isinstance(rig.write(change("one", "1", "b.py"), Guard.LOCKED), Landed)


def test_a_check_writes_nothing_and_says_what_would_be(tmp_path: Path) -> None:
    rig = Writing(tmp_path)
    checked = rig.writer.check("h7", change("two", "2"))
    assert isinstance(checked, Landed) and (checked.hunk, checked.rung) == ("h7", Rung.EXACT)
    assert (rig.root / "a.py").read_text() == "one\ntwo\nthree\n" and rig.outer.told == []
    assert rig.writer.place_of(change("two", "2")) == (2, 3)
    assert rig.writer.lines_of("a.py", ("two", "three")) == (2, 4)
    assert rig.writer.lines_of("a.py", ()) is None


CONFLICT = "The lines are now:\n```\n<<<<<<< HEAD\nold\n=======\nnew\n>>>>>>> main\n```\n"


@pytest.mark.parametrize("request_", ["Change it.", "How are conflicts solved?"])
async def test_an_answer_that_only_looks_like_an_edit_is_refused_unless_it_answers_a_question(
    tmp_path: Path, request_: str
) -> None:
    spark = LaneRig(tmp_path, files=["a.py"])
    spark.lane.begin(About(request_, ("a.py",)))
    spark.lane.feed(ANSWER, CONFLICT)
    spark.lane.finish(ANSWER, clean_end=True)
    await spark.work()
    await spark.end()
    said = [event.message for event in spark.all(HunkRefused)]
    assert said == ([] if request_.endswith("?") else [said[0]]) and spark.text("a.py") == "old\n"


@pytest.mark.parametrize(("above", "lands"), [("new a.txt", False), ("my new a.txt", False), ("a.txt", True)])
async def test_a_whole_file_below_a_name_that_may_be_another_lands_nothing(
    tmp_path: Path, above: str, lands: bool
) -> None:
    spark = LaneRig(tmp_path, files=["a.txt"], text="one\ntwo\nthree\nfour\n")
    spark.lane.begin(About("Change it.", ("a.txt",), whole=False))
    spark.lane.feed(ANSWER, f"{above}\n```\none\ntwo\nthree\nfour\nfive\n```\n")
    spark.lane.finish(ANSWER, clean_end=True)
    await spark.work()
    await spark.end()
    assert spark.text("a.txt").endswith("five\n") is lands
    assert len(spark.all(HunkLanded)) == lands
    assert all("may be one name" in event.message for event in spark.all(HunkRefused))
    assert len(spark.all(HunkRefused)) == (above == "new a.txt")
