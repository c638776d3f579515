"""Taking hunks out: what depends on them goes too, the rest stays byte for byte, and redo brings all back."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from edits.hunk import Action, Format, Hunk, HunkLine, Landed, LineKind
from session.assist.surgery import Cut, Left, Surgery, SurgeryError, Used, defined, dependents
from session.base.events import HunkLanded
from session.commands.hunk_commands import HunkCommands
from session.project.edit_thread import EditThread
from session.record.journal.recorder import Recorder
from session.turn.hunk_life import landed_event
from session.turn.turn_memory import TurnMemory
from tests.edits.helpers import Project
from tests.thorough import share


class Theatre:
    """Surgery on a project of ``files``, and the requests that it sent."""

    def __init__(self, folder: Path, files: dict[str, str]) -> None:
        self.project = Project(folder)
        self.project.write(files)
        self.thread = EditThread()
        self.recorder = Recorder(None)
        self.sent: list[str] = []
        workspace: Any = SimpleNamespace(
            root=self.project.root, landing=self.project.landing, ledger=self.project.ledger
        )
        self.hunks = HunkCommands(workspace, "s", TurnMemory(), self.thread, self.recorder, [])
        turns: Any = SimpleNamespace(submit=lambda text, typed: self.sent.append(text))
        self.surgery = Surgery(workspace, self.thread, self.hunks, turns)

    def land(self, name: str, path: str, old: str, *new: str) -> None:
        """Land a hunk that replaces the line ``old`` by the lines ``new``."""
        body = (HunkLine(LineKind.OLD, old), *(HunkLine(LineKind.NEW, line) for line in new))
        hunk = Hunk(path, Action.UPDATE, Format.V4A, body)
        event = landed_event(self.project.landing.land(hunk, hunk_id=name, session="s", turn="t1"), "t1")
        assert isinstance(event, HunkLanded)
        self.recorder.publish(event)


@dataclass
class Line:
    """A line that is or was in the file, with the hunks that put it there and took it away."""

    text: str
    by: str = ""
    gone: str = ""


@dataclass
class Patient:
    """A project with one file, hunks landed in it, and a model of every line that ever was there."""

    folder: Path
    lines: list[Line] = field(default_factory=list)
    sent: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        theatre = Theatre(self.folder, {"a.txt": "".join(f"line {number}\n" for number in range(12))})
        self.project, self.thread, self.sent = theatre.project, theatre.thread, theatre.sent
        self.hunks, self.surgery, self.publish = theatre.hunks, theatre.surgery, theatre.recorder.publish
        self.lines = [Line(f"line {number}") for number in range(12)]

    @property
    def text(self) -> str:
        return (self.project.root / "a.txt").read_text()

    def kept(self, without: set[str]) -> str:
        """The file with all hunks but these, by the model."""
        return "".join(
            f"{line.text}\n"
            for line in self.lines
            if line.by not in without and (not line.gone or line.gone in without)
        )

    def land(self, start: int, count: int, new: int, number: int) -> bool:
        """Replace ``count`` visible lines by ``new`` ones; false where their place would be open."""
        shown = [at for at, line in enumerate(self.lines) if not line.gone]
        start = min(start, len(shown) - count)
        if start < 1 or start + count >= len(shown) or not (count or new):
            return False
        span = range(shown[start - 1], shown[start + count] + 1)
        if any(self.lines[at].gone for at in span):
            return False  # lines taken away lie next to it: where a new one belongs is a matter of taste
        name = f"h{number}"
        added = [f"new {number}.{each}" for each in range(new)]
        kinds = [
            (LineKind.CONTEXT, [self.lines[shown[start - 1]].text]),
            (LineKind.OLD, [self.lines[at].text for at in shown[start : start + count]]),
            (LineKind.NEW, added),
            (LineKind.CONTEXT, [self.lines[shown[start + count]].text]),
        ]
        body = tuple(HunkLine(kind, text) for kind, texts in kinds for text in texts)
        result = self.project.landing.land(
            Hunk("a.txt", Action.UPDATE, Format.V4A, body), hunk_id=name, session="s", turn="t1"
        )
        assert isinstance(result, Landed), result
        event = landed_event(result, "t1")
        assert isinstance(event, HunkLanded)
        self.publish(event)
        for at in shown[start : start + count]:
            self.lines[at].gone = name
        at = shown[start - 1] + count + 1
        self.lines[at:at] = [Line(text, by=name) for text in added]
        return True


@pytest.fixture
def patient(tmp_path: Path) -> Iterator[Patient]:
    patient = Patient(tmp_path)
    yield patient
    asyncio.run(patient.thread.close())


STEPS = st.lists(st.tuples(st.integers(1, 14), st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=9)


@settings(max_examples=share(60, 15), deadline=None)
@given(STEPS, st.data())
def test_after_any_surgery_the_file_is_what_the_kept_hunks_give(
    steps: list[tuple[int, int, int]], data: st.DataObject
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        patient = Patient(Path(folder))
        for number, step in enumerate(steps, 1):
            patient.land(*step, number)
        before = patient.text
        assert before == patient.kept(set())
        landed = list(patient.hunks.undoable.landed)
        if not landed:
            asyncio.run(patient.thread.close())
            return
        hunk = data.draw(st.sampled_from(landed))

        async def operate() -> None:
            found = {each.hunk for each in await patient.surgery.dependents(hunk)}
            await patient.surgery.drop(Cut(hunk, with_dependents=True))
            gone = {hunk, *found}
            assert patient.text == patient.kept(gone)
            assert set(patient.hunks.undoable.landed) == set(landed) - gone
            for _ in gone:
                await patient.hunks.redo()
            assert patient.text == before, "redo brings all back"
            assert set(patient.hunks.undoable.landed) == set(landed)
            await patient.thread.close()

        asyncio.run(operate())


def test_a_hunk_with_dependents_is_not_dropped_unasked(patient: Patient) -> None:
    async def operate() -> None:
        assert patient.land(4, 1, 3, 1)
        assert patient.land(5, 1, 1, 2), "in the middle of what h1 wrote"
        assert patient.land(9, 1, 1, 3)
        before = patient.text
        with pytest.raises(SurgeryError, match=r"h2 a.txt: changes lines of h1\. /drop h1 all takes"):
            await patient.surgery.drop(Cut("h1"))
        assert patient.text == before
        told = await patient.surgery.drop(Cut("h1", with_dependents=True, again=True, why="too long"))
        assert told == "dropped h1 and h2; /redo 2 times brings them back"
        assert patient.text == patient.kept({"h1", "h2"}) and "new 3.0" in patient.text
        (sent,) = patient.sent
        assert "I took h1 out because: too long" in sent and "- h2 a.txt: changes lines of h1" in sent
        assert "+new 2.0" in sent and "Change nothing else" in sent

    asyncio.run(operate())


def test_an_edited_hunk_stays_and_its_dependents_are_asked_for_again(tmp_path: Path) -> None:
    theatre = Theatre(tmp_path, {"calc.py": "def add(a, b):\n    return a\n"})
    theatre.project.write({"use.py": "print(1)\n", "other.py": "x = 1\n"})
    root, land, surgery, hunks = theatre.project.root, theatre.land, theatre.surgery, theatre.hunks

    async def operate() -> None:
        land("h1", "calc.py", "    return a", "    return a", "", "", "def total(xs):", "    return sum(xs)")
        land("h2", "use.py", "print(1)", "print(total([1]))")
        land("h3", "other.py", "x = 1", "x = 2")
        file = root / "calc.py"
        edited = file.read_text().replace("def total(xs):", "def total(xs, start):")
        file.write_text(edited)
        with pytest.raises(SurgeryError, match=r"uses total of h1\. /amend h1 all takes them out too"):
            await surgery.drop(Cut("h1", amended=True))
        told = await surgery.drop(Cut("h1", True, True, "it needs a start", amended=True))
        assert told == "dropped h2; /redo brings it back"
        assert file.read_text() == edited and (root / "other.py").read_text() == "x = 2\n"
        assert (root / "use.py").read_text() == "print(1)\n"
        (request,) = theatre.sent
        assert request.startswith("I edited h1 by hand because: it needs a start.")
        assert "- h2 use.py: uses total of h1" in request and "+print(total([1]))" in request
        assert "Do again, to go with h1 as it is now, what h2 were for. Change nothing else." in request
        assert list(hunks.undoable.landed) == ["h1", "h3"]
        assert await surgery.drop(Cut("h3", amended=True)) == "nothing depends on h3"
        await theatre.thread.close()

    asyncio.run(operate())


@pytest.mark.parametrize(
    ("path", "first", "added", "use"),
    [
        ("use.py", "import os", "from calc import total", "print(total([1]))"),
        ("use.ts", 'import { a } from "./a";', 'import { total } from "./calc";', "show(total([1]));"),
        ("use.go", 'import "os"', 'import "example.org/total"', "total.Print()"),
        ("use.rs", "use std::io;", "use crate::calc::total;", "show(total(1));"),
    ],
)
def test_a_use_depends_on_the_import_in_its_own_file(
    tmp_path: Path, path: str, first: str, added: str, use: str
) -> None:
    other = f"other{Path(path).suffix}"
    theatre = Theatre(tmp_path, {path: f"{first}\n\n// one\n", other: "// one\n"})
    land = theatre.land

    async def operate() -> None:
        land("h1", path, first, first, added)
        land("h2", path, "// one", use)
        land("h3", other, "// one", use)
        found = await theatre.surgery.dependents("h1")
        assert [str(each) for each in found] == [f"h2 {path}: uses total of h1"]
        await theatre.thread.close()

    asyncio.run(operate())


def test_words_of_prose_comments_and_strings_and_what_git_took_out_are_no_dependents(tmp_path: Path) -> None:
    files = {
        "calc.py": "# one\n",
        "use.py": "# one\n",
        "notes.md": "one\n",
        "old.py": "# one\n",
        "told.py": "# one\n",
    }
    theatre = Theatre(tmp_path, files)

    async def operate() -> None:
        theatre.land("h1", "calc.py", "# one", "def total(values):", "    return 1")
        theatre.land("h2", "notes.md", "one", "The total is told at the end.")
        theatre.land("h3", "told.py", "# one", "# the total", "print('total')")
        theatre.land("h4", "old.py", "# one", "print(total([1]))")
        theatre.land("h5", "use.py", "# one", "print(total([1]))")
        (theatre.project.root / "old.py").write_text(files["old.py"])  # as git checkout does
        assert [each.hunk for each in await theatre.surgery.dependents("h1")] == ["h5"]
        await theatre.thread.close()

    asyncio.run(operate())


def test_one_of_several_dependents_is_taken_out_by_its_name(tmp_path: Path) -> None:
    theatre = Theatre(tmp_path, dict.fromkeys(("a.py", "b.py", "c.py"), "# one\n"))

    async def operate() -> None:
        theatre.land("h1", "a.py", "# one", "def total(values):", "    return 1")
        theatre.land("h2", "b.py", "# one", "print(total([2]))")
        theatre.land("h3", "c.py", "# one", "print(total([3]))")
        cut = theatre.surgery.parsed("h1 h3 it is too much")
        assert cut == Cut("h1", True, why="it is too much", chosen=("h3",))
        with pytest.raises(SurgeryError, match="h9 does not depend on h1"):
            await theatre.surgery.drop(Cut("h1", True, chosen=("h9",)))
        assert (await theatre.surgery.drop(cut)).startswith("dropped h1 and h3;")
        assert list(theatre.hunks.undoable.landed) == ["h2"]
        await theatre.thread.close()

    asyncio.run(operate())


def test_where_one_cannot_be_undone_nothing_is_dropped(patient: Patient) -> None:
    async def operate() -> None:
        assert patient.land(4, 1, 3, 1)
        assert patient.land(5, 1, 1, 2)
        file = patient.project.root / "a.txt"
        file.write_text(patient.text.replace("new 1.0", "my own words"))
        before = patient.text
        with pytest.raises(SurgeryError, match="h1 cannot be undone, so nothing was dropped"):
            await patient.surgery.drop(Cut("h1", with_dependents=True))
        assert patient.text == before
        assert list(patient.hunks.undoable.landed) == ["h1", "h2"]

    asyncio.run(operate())


def test_what_is_named_is_a_hunk_or_no_hunk_at_all(patient: Patient) -> None:
    assert patient.land(4, 1, 1, 3)
    parsed = patient.surgery.parsed
    assert parsed("3") == parsed("h3") == Cut("h3")
    assert parsed("h3 all") == Cut("h3", with_dependents=True)
    assert parsed("3 again use a set") == Cut("h3", True, True, "use a set")
    assert parsed("3 too long") == Cut("h3", why="too long")
    assert parsed("h3 again", amended=True) == Cut("h3", True, True, amended=True)
    assert parsed("src/a.py") is None and parsed("7") is None and parsed("") is None
    for named, amended in (("h7", False), ("7", True)):
        with pytest.raises(SurgeryError, match="h7 is not a landed hunk of this session"):
            parsed(named, amended=amended)
    with pytest.raises(SurgeryError, match=r"src/a\.py is not a hunk: /amend h3"):
        parsed("src/a.py", amended=True)


def test_names_lead_from_one_hunk_to_the_next() -> None:
    words = {"h1": "total", "h2": "", "h3": "total sum_of", "h4": "report_all", "h5": "other", "h6": "xy"}
    used = {name: Used(f"{name}.py", frozenset(text.split())) for name, text in words.items()}
    defines = {"h2": "total", "h3": "report_all", "h6": "xy"}
    leaning = {"h5": "h6"}

    def left(name: str) -> Left:
        return Left(frozenset(leaning.get(name, "").split()), frozenset(defines.get(name, "").split()))

    assert [str(each) for each in dependents("h2", used, left)] == [
        "h1 h1.py: uses total of h2",
        "h3 h3.py: uses total of h2",
        "h4 h4.py: uses report_all of h3",
    ]
    assert [each.hunk for each in dependents("h5", used, left)] == ["h6"]
    assert dependents("h6", used, left) == () and dependents("h4", used, left) == ()


def test_only_new_names_that_people_chose_are_defined() -> None:
    assert defined(["Store", "Store.add"], ["Store", "Store.add", "Store.drop", "Store.__init__"]) == {"drop"}
