"""Hunks that land in files which an editor outside of spark has open: nothing is lost."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from edits.hunk import Action, Format, Hunk, HunkLine, Landed, LineKind
from session.project.edit_thread import EditThread
from session.project.open_files import OuterTexts, ProjectFiles
from session.project.workspace import Workspace, open_workspace
from session.record.journal.journals import Journal
from session.record.journal.recorder import Recorder
from tests.thorough import share

NAME = "a.txt"


class Buffer:
    """An editor with one file open. It loads what changes on disk only while nothing in it is unsaved."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.text = self.saved = file.read_text()
        self.between: str | None = None
        """A line that the user adds at the end just after the editor was asked for the text."""

    def read(self, path: str) -> str | None:
        assert path == NAME
        if self.text == self.saved:
            self.text = self.saved = self.file.read_text()
        text = self.text
        if self.between is not None:
            self.text, self.between = self.text + self.between, None
        return text

    def write(self, path: str, text: str) -> None:
        assert path == NAME
        self.text = self.saved = text
        self.file.write_text(text)


def workspace_in(folder: Path) -> Workspace:
    root = folder / "project"
    root.mkdir(parents=True)
    (root / NAME).write_text("".join(f"line {number}\n" for number in range(6)))
    names = {f"XDG_{kind}_HOME": str(folder / kind) for kind in ("STATE", "CONFIG", "CACHE")}
    return open_workspace(root, names)


def hunk(old: str, new: str) -> Hunk:
    return Hunk(NAME, Action.UPDATE, Format.V4A, (HunkLine(LineKind.OLD, old), HunkLine(LineKind.NEW, new)))


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return workspace_in(tmp_path)


def texts_of(workspace: Workspace, buffer: Buffer, folder: Path) -> OuterTexts:
    recorder = Recorder(Journal(folder / "journal", "20260101-000000-abcd"))
    return OuterTexts(buffer, ProjectFiles(workspace, EditThread(), recorder))


def land(workspace: Workspace, texts: OuterTexts, edit: Hunk, name: str) -> bool:
    texts.before(NAME)
    landed = isinstance(workspace.landing.land(edit, hunk_id=name), Landed)
    texts.after(NAME)
    return landed


def test_typing_in_the_line_that_a_hunk_changes_keeps_both(workspace: Workspace, tmp_path: Path) -> None:
    buffer = Buffer(workspace.root / NAME)
    texts = texts_of(workspace, buffer, tmp_path)
    buffer.text = buffer.text.replace("line 2", "line 2, mine")
    assert not land(workspace, texts, hunk("line 2", "line two"), "h1"), "the line is not there any more"
    assert buffer.file.read_text() == buffer.text and "line 2, mine" in buffer.text
    assert land(workspace, texts, hunk("line 2, mine", "line two, mine"), "h2")
    assert "line two, mine" in buffer.text == buffer.file.read_text()


def test_a_file_that_changed_on_disk_against_the_editor_is_left_to_it(
    workspace: Workspace, tmp_path: Path
) -> None:
    buffer = Buffer(workspace.root / NAME)
    texts = texts_of(workspace, buffer, tmp_path)
    assert land(workspace, texts, hunk("line 0", "line zero"), "h1")
    buffer.text = mine = buffer.text.replace("line 2", "line 2, mine")
    buffer.file.write_text(buffer.file.read_text().replace("line 2", "line 2, theirs"))
    assert land(workspace, texts, hunk("line 4", "line four"), "h2")
    assert buffer.text == mine, "what the user typed is as it was"
    assert "line 2, theirs" in buffer.file.read_text() and "line four" in buffer.file.read_text()


class Editing(RuleBasedStateMachine):
    """A user who types and saves, a model whose hunks land, in any order."""

    folder: Path

    def __init__(self) -> None:
        super().__init__()
        import tempfile

        folder = Path(tempfile.mkdtemp(dir=self.folder))
        self.workspace = workspace_in(folder)
        self.buffer = Buffer(self.workspace.root / NAME)
        self.texts = texts_of(self.workspace, self.buffer, folder)
        self.typed: list[str] = []
        self.landed: list[str] = []
        self.count = 0

    def _new(self, kind: str) -> str:
        self.count += 1
        return f"{kind} {self.count}"

    @rule(at=st.integers(0, 20))
    def types_a_line(self, at: int) -> None:
        lines = self.buffer.text.splitlines(keepends=True)
        self.typed.append(self._new("typed"))
        lines.insert(at % (len(lines) + 1), self.typed[-1] + "\n")
        self.buffer.text = "".join(lines)

    @rule()
    def saves(self) -> None:
        """An editor asks before it overwrites a file that changed on disk; this user then does not."""
        if self.buffer.file.read_text() == self.buffer.saved:
            self.buffer.write(NAME, self.buffer.text)

    @rule(number=st.integers(0, 5), between=st.booleans())
    def a_hunk_lands(self, number: int, between: bool) -> None:
        if between:
            self.typed.append(self._new("typed"))
            self.buffer.between = self.typed[-1] + "\n"
        name = self._new("hunk")
        old = f"line {number}"
        edit = Hunk(
            NAME, Action.UPDATE, Format.V4A, (HunkLine(LineKind.CONTEXT, old), HunkLine(LineKind.NEW, name))
        )
        if land(self.workspace, self.texts, edit, f"h{self.count}"):
            self.landed.append(name)
        assert self.buffer.between is None

    @invariant()
    def nothing_is_lost(self) -> None:
        shown = self.buffer.text.splitlines()
        assert all(shown.count(line) == 1 for line in self.typed), "every typed line is in the editor, once"
        on_disk = self.buffer.file.read_text().splitlines()
        everywhere = set(shown) | set(on_disk)
        assert all(line in everywhere for line in self.landed)
        assert all(on_disk.count(line) == 1 for line in self.landed)


def test_no_order_of_typing_saving_and_landing_loses_a_line(tmp_path: Path) -> None:
    machine = type("EditingHere", (Editing,), {"folder": tmp_path})
    from hypothesis.stateful import run_state_machine_as_test

    run_state_machine_as_test(
        machine, settings=settings(max_examples=share(60, 15), stateful_step_count=15, deadline=None)
    )
