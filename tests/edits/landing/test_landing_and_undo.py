"""Several hunks, their undo, and what the ledger tells of them: dry runs, turns, other writers, errors."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from edits.files.text import digest
from edits.guards.protection import Locks, Protection
from edits.hunk import (
    Action,
    Extent,
    Held,
    Hunk,
    Landed,
    RefusalCode,
    Refused,
)
from edits.landing import Landing
from edits.ledger.entry import Op
from edits.ledger.ledger import Ledger
from tests.edits.helpers import Project
from tests.edits.landing.written import ABC, add, delete, move, update


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def test_dry_runs_see_each_other_and_nothing_else_does(project: Project) -> None:
    project.write({"f": ABC, "g": "x\n"})
    hunks = [
        update("f", "-b", "+B"),
        move("f", "to/h", "-B", "+BB"),
        update("to/h", "-BB", "+BBB"),
        delete("g"),
        add("n", "y"),
        add("f", "again"),
    ]
    for number, hunk in enumerate(hunks):
        assert isinstance(project.landing.land(hunk, hunk_id=f"h{number}", dry_run=True), Landed), hunk
    assert project.landing.rehearsed == {
        "f": b"again\n", "to/h": b"a\nBBB\nc\n", "g": None, "n": b"y\n"
    }  # fmt: skip
    assert project.read() == {"f": ABC, "g": "x\n"} and project.ledger.entries() == []
    assert isinstance(project.landing.weigh(update("to/h", "-BBB"), hunk_id="h9"), Refused)
    assert isinstance(project.landing.land(update("f", "-b", "+B"), hunk_id="h9"), Landed)


def test_the_ledger_tells_all_of_a_change(project: Project) -> None:
    project.write({"f": ABC})
    (project.root / "f").chmod(0o640)
    hunk = move("f", "new/er/g", " a", "-b", "+B")
    landed = project.landing.land(hunk, hunk_id="h1", session="s", turn="t")
    assert isinstance(landed, Landed)
    assert isinstance(project.landing.land(delete("new/er/g"), hunk_id="h2", session="s2"), Landed)
    first, second = project.ledger.entries()
    assert (first.hunk, first.op, first.action, first.root) == ("h1", Op.LAND, Action.MOVE, str(project.root))
    assert (first.path, first.moved_to, first.made) == ("f", "new/er/g", ("new", "new/er"))
    assert (first.before, first.after) == (digest(ABC.encode()), digest(b"a\nB\nc\n"))
    assert (first.session, first.turn, first.in_place, first.reverts) == ("s", "t", False, None)
    assert first.token and first.same and first.time > 0 and first.mode is None
    assert (second.session, second.turn, second.after, second.mode) == ("s2", "", None, 0o640)
    assert second.splices == () and second.same != first.same
    assert isinstance(project.landing.undo("h2"), Landed)
    undone = project.ledger.entries()[-1]
    assert (undone.op, undone.reverts, undone.hunk) == (Op.UNDO, second.seq, "h2")
    assert (undone.session, undone.turn, undone.same) == ("s2", "", second.same)
    assert (project.root / "new/er/g").stat().st_mode & 0o777 == 0o640


def test_a_file_with_two_names_is_written_in_its_place(project: Project) -> None:
    project.write({"f": ABC})
    os.link(project.root / "f", project.root / "g")
    assert isinstance(project.landing.land(update("f", "-b", "+B"), hunk_id="h1"), Landed)
    assert project.read() == {"f": "a\nB\nc\n", "g": "a\nB\nc\n"}
    assert project.ledger.entries()[0].in_place
    assert isinstance(project.landing.land(move("f", "h"), hunk_id="h2"), Landed)
    assert not project.ledger.entries()[1].in_place


def test_a_turn_is_undone_newest_first_and_without_the_others(project: Project) -> None:
    project.write({"f": ABC, "g": ABC})
    for name, hunk, session, turn in (
        ("h1", update("f", "-a", "+A"), "s", "t1"),
        ("h2", update("f", "-A", "+AA"), "s", "t1"),
        ("h3", update("g", "-a", "+A"), "s", "t2"),
        ("h4", update("g", "-b", "+B"), "other", "t1"),
        ("h5", update("f", "-b", "+B"), "s", "t1"),
    ):
        landed = project.landing.land(hunk, hunk_id=name, session=session, turn=turn)
        assert isinstance(landed, Landed)
    assert isinstance(project.landing.undo("h5"), Landed)
    assert [result.hunk for result in project.landing.undo_turn("s", "t1")] == ["h2", "h1"]
    assert project.read() == {"f": ABC, "g": "A\nB\nc\n"}
    assert project.landing.undo_turn("s", "t1") == []


def test_a_refusal_in_the_middle_of_a_turn_does_not_stop_its_undo(project: Project) -> None:
    project.write({"f": ABC, "g": ABC})
    for name, path in (("h1", "f"), ("h2", "g")):
        assert isinstance(project.landing.land(update(path, "-b", "+B"), hunk_id=name, turn="t"), Landed)
    project.write({"g": "mine\n"})
    results = project.landing.undo_turn("", "t")
    assert [(result.hunk, isinstance(result, Landed)) for result in results] == [("h2", False), ("h1", True)]
    assert project.read() == {"f": ABC, "g": "mine\n"}


@dataclass
class Saver:
    """Another program that saves a file at a step of a landing, the first few times."""

    path: Path
    step: str
    times: int
    saved: list[str] = field(default_factory=list)

    def __call__(self, step: str) -> None:
        if step == self.step and len(self.saved) < self.times:
            self.saved.append(step)
            self.path.write_text(f"{len(self.saved)}\n{ABC}")


@pytest.mark.parametrize(("times", "lands"), [(4, True), (5, False)])
def test_a_hunk_is_placed_anew_four_times(project: Project, times: int, lands: bool) -> None:
    project.write({"f": ABC})
    saver = Saver(project.root / "f", "temporary written", times)
    result = Landing(project.root, project.ledger, step=saver).land(update("f", "-b", "+B"), hunk_id="h1")
    assert isinstance(result, Landed) == lands
    if isinstance(result, Refused):
        assert result.code is RefusalCode.CONFLICT and "keeps writing" in result.message
    assert project.read() == {"f": f"{times}\n{ABC.replace('b', 'B') if lands else ABC}"}
    assert [entry.hunk for entry in project.ledger.entries()] == (["h1"] if lands else [])


def test_a_move_whose_source_is_saved_meanwhile_takes_what_was_saved(project: Project) -> None:
    project.write({"f": ABC})
    saver = Saver(project.root / "f", "replaced", 1)
    landing = Landing(project.root, project.ledger, step=saver)
    landed = landing.land(move("f", "to/g", "-b", "+B"), hunk_id="h1")
    assert saver.saved and isinstance(landed, Landed)
    assert project.read() == {"to/g": "1\na\nB\nc\n"}
    assert isinstance(landing.undo("h1"), Landed) and project.read() == {"f": f"1\n{ABC}"}
    assert not (project.root / "to").exists()


@pytest.mark.parametrize("step", ["temporary written", "replaced", "folder synced"])
def test_a_landing_that_is_interrupted_is_settled_by_what_the_file_shows(project: Project, step: str) -> None:
    project.write({"f": ABC})

    def interrupt(name: str) -> None:
        if name == step:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Landing(project.root, project.ledger, step=interrupt).land(update("f", "-b", "+B"), hunk_id="h1")
    wrote = step in ("replaced", "folder synced")
    assert project.read() == {"f": ABC.replace("b", "B") if wrote else ABC}
    assert project.ledger.recover() == []
    assert [entry.hunk for entry in project.ledger.entries()] == (["h1"] if wrote else [])


def test_an_error_of_the_system_refuses_a_landing_and_an_undo(project: Project) -> None:
    project.write({"f": ABC})
    assert isinstance(project.landing.land(update("f", "-b", "+B"), hunk_id="h1"), Landed)

    def fail(step: str) -> None:
        if step == "intent":
            raise OSError(28, "No space left on device")

    landing = Landing(project.root, project.ledger, step=fail)
    for result in (landing.land(update("f", "-c", "+C"), hunk_id="h2"), landing.undo("h1")):
        assert isinstance(result, Refused) and result.code is RefusalCode.IO
        assert result.message == "system error: No space left on device"
        assert project.read() == {"f": "a\nB\nc\n"}
    assert landing.undo("h1").hunk == "h1" and landing.undo().hunk == ""


def test_a_name_that_cannot_be_written_refuses_the_hunk(project: Project) -> None:
    project.write({"f": ABC})
    result = project.landing.land(update("f", "-b", "+B"), hunk_id="h1", turn="\ud800")
    assert isinstance(result, Refused) and (result.code, result.path) == (RefusalCode.MALFORMED, "f")
    assert "lone surrogates" in result.message and project.read() == {"f": ABC}


def test_a_landing_reserves_ids_where_ids_are_reserved(project: Project) -> None:
    project.write({"f": "".join(f"line {number}\n" for number in range(20))})
    project.ledger.reserve_ids()
    counter = project.folder / "ledger/counter"
    for _ in range(20):
        project.ledger.next_id()
    before = counter.read_text()
    assert isinstance(project.landing.land(update("f", "-line 3", "+x"), hunk_id="h1"), Landed)
    assert int(counter.read_text()) > int(before)


@pytest.mark.parametrize(
    ("before", "hunk", "extent"),
    [
        (ABC, update("f", "-b", "+B", "+BB"), Extent(2, 1, "+B")),
        (ABC, delete("f"), Extent(0, 3)),
        ("a\nb", delete("f"), Extent(0, 2)),
        ("a\n\n", delete("f"), Extent(0, 2)),
        (ABC, move("f", "g"), Extent(0, 0)),
    ],
)
def test_how_much_a_hunk_changes_is_told(project: Project, before: str, hunk: Hunk, extent: Extent) -> None:
    project.write({"f": before})
    landed = project.landing.land(hunk, hunk_id="h1")
    assert isinstance(landed, Landed)
    assert (landed.extent.added, landed.extent.removed) == (extent.added, extent.removed)


def test_a_hunk_is_not_undone_in_a_file_that_became_read_only(project: Project) -> None:
    project.write({"f": ABC})
    assert isinstance(project.landing.land(update("f", "-b", "+B"), hunk_id="h1"), Landed)
    (project.root / "f").chmod(0o444)
    refused = project.landing.undo("h1")
    assert isinstance(refused, Refused) and refused.code is RefusalCode.LOCKED
    assert project.read() == {"f": "a\nB\nc\n"}


def test_a_file_is_held_by_the_lock_on_its_other_name(project: Project) -> None:
    project.write({"kept": ABC})
    os.link(project.root / "kept", project.root / "other")
    landing = Landing(project.root, project.ledger, protection=Protection(Locks(paths=("kept",))))
    held = landing.land(update("other", "-b", "+B"), hunk_id="h1")
    assert isinstance(held, Held) and "other is kept, which is locked" in held.message
    assert project.read() == {"kept": ABC, "other": ABC}


@pytest.mark.parametrize(
    ("hunk", "dies_at"), [(update("f", "-b", "+B"), "exchanged"), (delete("f"), "taken out")]
)
@pytest.mark.parametrize("taken", [f"theirs\n{ABC}", ABC])
def test_a_save_that_a_dying_process_took_is_put_back(
    project: Project, hunk: Hunk, dies_at: str, taken: str
) -> None:
    project.write({"f": ABC})

    def die(step: str) -> None:
        if step == dies_at:
            (temporary,) = project.root.glob(".f.*.spark")
            temporary.write_text(taken)  # another program's save at the moment before
            os._exit(0)

    child = os.fork()
    if not child:
        Landing(project.root, project.ledger, step=die).land(hunk, hunk_id="h1")
        os._exit(1)
    assert os.waitpid(child, 0)[1] == 0, "it died at that step"
    Ledger(project.folder / "ledger").recover()
    landed = {"f": ABC.replace("b", "B")} if dies_at == "exchanged" else {}
    assert project.read() == (landed if taken == ABC else {"f": taken})
