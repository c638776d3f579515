"""One undo history for the user's typing and the model's hunks: disk, editor, chat and ledger agree."""

from __future__ import annotations

import asyncio
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from edits.hunk import Action, Format, Hunk, HunkLine, Landed, LineKind
from session.turn.hunk_life import landed_event
from tests.thorough import share
from tests.tui.stage import GREETER, Stage, stage


async def test_ctrl_z_takes_a_hunk_back_everywhere_and_goes_there(tmp_path: Path) -> None:
    text = GREETER + "\n\n# filler\n" * 60
    async with stage(tmp_path, files={"greeter.py": text}, size=(120, 30)) as it:
        assert await it.app.shown_file.open("greeter.py")
        await it.ask("make it polite")
        await it.done()
        landed = (it.root / "greeter.py").read_text()
        editor = it.app.editor
        await it.pilot.press("f2", "ctrl+end")
        assert editor.scroll_offset.y > 50, "the hunks are not in view"
        await it.pilot.press("ctrl+z")
        await it.until(lambda: "↶ h2" in it.chat, "the undo in the chat")
        now = (it.root / "greeter.py").read_text()
        assert now != landed and editor.buffer.text == now and not it.app.shown_file.dirty
        assert "h2 undone: greeter.py" in it.app.status.status.message
        row = editor.cursor_location[0]
        assert "Bye" in editor.document.get_line(row)
        assert editor.scroll_offset.y <= row < editor.scroll_offset.y + editor.size.height
        await it.pilot.press("ctrl+z")
        await it.until(lambda: "↶ h1" in it.chat, "the undo in the chat")
        assert editor.buffer.text == (it.root / "greeter.py").read_text() == text
        await it.pilot.press("ctrl+y", "ctrl+y")
        await it.until(lambda: "✓ h2" in it.chat, "the redo in the chat")
        assert editor.buffer.text == (it.root / "greeter.py").read_text() == landed


async def test_typing_after_a_hunk_is_taken_back_first(tmp_path: Path) -> None:
    async with stage(tmp_path) as it:
        assert await it.app.shown_file.open("greeter.py")
        await it.ask("make it polite")
        await it.done()
        landed = it.app.editor.buffer.text
        it.app.editor.move_cursor((0, 0))
        await it.pilot.press("f2", "x", "y", "ctrl+z")
        assert it.app.editor.buffer.text == landed and "✓ h2" in it.chat
        await it.pilot.press("ctrl+z", "ctrl+z")
        await it.until(lambda: "↶ h1" in it.chat, "the undo")
        await it.pilot.press("ctrl+z")
        assert it.app.editor.buffer.text == GREETER == (it.root / "greeter.py").read_text()
        assert "nothing to undo" in it.screen


async def test_keys_behind_ctrl_z_wait_for_the_hunk_to_be_undone(tmp_path: Path) -> None:
    async with stage(tmp_path) as it:
        assert await it.app.shown_file.open("greeter.py")
        await it.ask("make it polite")
        await it.done()
        await it.pilot.press("f2")
        for key in ("ctrl+z", "ctrl+z", "x"):
            it.key(key, key if len(key) == 1 else None)
        await it.until(lambda: "x" in it.app.editor.buffer.text.replace("text", ""), "the letter")
        assert (it.root / "greeter.py").read_text() == GREETER
        assert it.app.editor.buffer.text.replace("x", "", 1) == GREETER


async def test_a_hunk_that_cannot_be_undone_says_why_and_changes_nothing(tmp_path: Path) -> None:
    async with stage(tmp_path) as it:
        assert await it.app.shown_file.open("greeter.py")
        await it.ask("make it polite")
        await it.done()
        row = next(row for row, line in enumerate(it.app.editor.buffer.lines) if "Good-bye" in line)
        it.app.editor.move_cursor((row, 4))
        await it.pilot.press("f2", "q", "ctrl+s")
        await it.until(lambda: not it.app.shown_file.dirty, "the save")
        saved = (it.root / "greeter.py").read_text()
        await it.pilot.press("ctrl+z", "ctrl+z")
        await it.until(lambda: "its lines were changed since" in it.screen, "why not")
        told = "h2 greeter.py: its lines were changed since; nothing was touched; greeter.py has unsaved text"
        assert it.app.status.status.message == f"{told}: save it and try again"
        assert (it.root / "greeter.py").read_text() == saved and "✓ h2" in it.chat
        await it.pilot.press("ctrl+s")
        await it.until(lambda: not it.app.shown_file.dirty, "the save")
        await it.pilot.press("ctrl+z")
        await it.until(lambda: "↶ h2" in it.chat, "the undo")
        assert it.app.editor.buffer.text == (it.root / "greeter.py").read_text()


async def test_a_hunk_that_stays_is_passed_over_and_those_before_it_are_taken_back(tmp_path: Path) -> None:
    async with stage(tmp_path) as it:
        assert await it.app.shown_file.open("greeter.py")
        await it.ask("make it polite")
        await it.done()
        file = it.root / "greeter.py"
        theirs = file.read_text().replace("Good-bye", "Farewell")
        file.write_text(theirs)
        await it.until(lambda: it.app.editor.buffer.text == theirs, "the change from outside")
        await it.pilot.press("f2", "ctrl+z", "ctrl+z")
        await it.until(lambda: "its lines were changed since" in it.screen, "why not")
        await it.pilot.press("ctrl+z")
        await it.until(lambda: "↶ h1" in it.chat, "the undo of the hunk before")
        assert "Farewell" in file.read_text() and "dear" not in file.read_text()
        assert "✓ h2" in it.chat


# A plain model. Hunks, the user and others have lines of their own, with an untouched line between each.

HUNKS, TYPED, OTHERS = (0, 1, 2), (3, 4), (5, 6)
OPERATIONS = st.one_of(
    st.tuples(st.just("land"), st.sampled_from(HUNKS)),
    st.tuples(st.just("undo hunk"), st.sampled_from(HUNKS)),
    st.tuples(st.just("redo hunk"), st.sampled_from(HUNKS)),
    st.tuples(st.just("type"), st.sampled_from(TYPED)),
    st.tuples(st.just("outside"), st.sampled_from(OTHERS)),
    st.tuples(st.sampled_from(["ctrl+z", "ctrl+y", "save", "other tab"]), st.just(0)),
)


@dataclass
class Model:
    """What must be: the words of each line, in the editor and on disk, and the steps."""

    editor: list[list[str]] = field(default_factory=lambda: [[] for _ in range(7)])
    disk: list[list[str]] = field(default_factory=lambda: [[] for _ in range(7)])
    hunks: dict[int, str] = field(default_factory=dict)
    done: list[tuple[str, int, str]] = field(default_factory=list)
    undone: list[tuple[str, int, str]] = field(default_factory=list)
    words: int = 0

    @staticmethod
    def text(lines: list[list[str]]) -> str:
        return "".join(f"{''.join(words)}line {number}\n-\n" for number, words in enumerate(lines))

    def set_hunk(self, number: int, state: str) -> None:
        words = ["hunk "] if state == "landed" else []
        self.hunks[number], self.editor[number], self.disk[number] = state, words, words

    def take(self, operation: str, at: int, *, record: bool = True) -> bool:
        """What an operation does; false where it must be refused."""
        undone = self.undone
        match operation:
            case "land" if at not in self.hunks:
                self.set_hunk(at, "landed")
                self.done.append(("land", at, ""))
            case "undo hunk" | "redo hunk":
                before, after = ("landed", "undone") if operation == "undo hunk" else ("undone", "landed")
                if self.hunks.get(at) != before:
                    return False
                self.set_hunk(at, after)
                if record:
                    self.done.append((operation, at, ""))
                    same = ("land", "redo hunk") if after == "landed" else ("undo hunk",)
                    self.undone = [step for step in undone if step[1] != at or step[0] not in same]
            case "type":
                self.words += 1
                word = f"t{self.words} "
                self.editor[at] = [word, *self.editor[at]]
                self.done.append(("type", at, word))
                self.undone = []
            case "outside":
                self.words += 1
                word = f"o{self.words} "
                self.disk[at] = [word, *self.disk[at]]
                self.editor[at] = [word, *self.editor[at]]
                self.done.append(("outside", at, word))
            case "save":
                self.disk = [list(words) for words in self.editor]
            case "ctrl+z" if self.done:
                kind, number, word = self.done[-1]
                if kind in ("land", "undo hunk", "redo hunk"):
                    reverse = "redo hunk" if kind == "undo hunk" else "undo hunk"
                    if not self.take(reverse, number, record=False):
                        return False
                else:
                    assert self.editor[number][0] == word
                    self.editor[number] = self.editor[number][1:]
                self.undone.append(self.done.pop())
            case "ctrl+y" if self.undone:
                kind, number, word = self.undone[-1]
                if kind in ("land", "undo hunk", "redo hunk"):
                    again = "undo hunk" if kind == "undo hunk" else "redo hunk"
                    if not self.take(again, number, record=False):
                        return False
                else:
                    self.editor[number] = [word, *self.editor[number]]
                self.done.append(self.undone.pop())
            case _:
                return False
        return True


def new_lines(at: int) -> Hunk:
    lines = (HunkLine(LineKind.OLD, f"line {at}"), HunkLine(LineKind.NEW, f"hunk line {at}"))
    return Hunk("a.txt", Action.UPDATE, Format.V4A, lines)


async def play(it: Stage, operation: str, at: int, model: Model) -> None:
    """Do it in the app."""
    editor, session = it.app.editor, it.session
    match operation:
        case "land":
            landing = session._workspace.landing
            work = lambda: landing.land(new_lines(at), hunk_id=f"h{at}", session=session.name, turn="t1")  # noqa: E731
            result = await session._edit_thread.run(work)
            assert isinstance(result, Landed)
            session._recorder.publish(landed_event(result, "t1"))
        case "undo hunk":
            await session.hunks.undo(f"h{at}")
        case "redo hunk":
            await session.hunks.redo(f"h{at}")
        case "type":
            editor.move_cursor((at * 2, 0))
            editor.insert(f"t{model.words} ")
        case "outside":
            text = Model.text(model.disk)
            new = it.root.parent / "new"
            new.write_text(text)
            new.replace(it.root / "a.txt")  # an earlier change may be read right now: it finds whole files
            it.app.controls.disk.changed(("a.txt",))
        case "other tab":
            await it.pilot.press("ctrl+pageup", "ctrl+pageup")
        case "save":
            await it.pilot.press("ctrl+s")
        case _:
            await it.pilot.press(operation)
    await it.pilot.pause()
    await it.app.shown_file.order.settled()
    await it.pilot.pause()


@settings(max_examples=share(15, 5), deadline=None, suppress_health_check=list(HealthCheck))
@given(operations=st.lists(OPERATIONS, min_size=4, max_size=14))
def test_disk_editor_chat_and_ledger_agree_after_every_step(operations: list[tuple[str, int]]) -> None:
    async def all_of_it(folder: Path) -> None:
        model = Model()
        files = {"a.txt": Model.text(model.disk), "b.txt": "other\n"}
        async with stage(folder, files=files, server=False, size=(100, 24)) as it:
            for path in ("b.txt", "a.txt"):
                assert await it.app.shown_file.open(path)
            it.app.editor.focus()
            for number, (operation, at) in enumerate(operations):
                if operation in ("undo hunk", "redo hunk") and at not in model.hunks:
                    continue
                if operation == "land" and at in model.hunks:
                    continue
                if operation == "outside" and model.editor[at] != model.disk[at]:
                    continue  # a conflict with unsaved text, which is settled by the user
                model.take(operation, at)
                await play(it, operation, at, model)
                so_far = operations[: number + 1]
                await it.until(
                    lambda: it.app.editor.buffer.text == model.text(model.editor), f"{so_far}: editor"
                )
                await it.until(
                    lambda: (it.root / "a.txt").read_text() == model.text(model.disk), f"{so_far}: disk"
                )
                await it.until(
                    lambda: it.app.shown_file.dirty == (model.editor != model.disk), f"{so_far}: dirty"
                )
                ledger = {record.id: record.state for record in it.session._workspace.ledger.hunks()}
                assert ledger == {f"h{at}": state for at, state in model.hunks.items()}, so_far
                for at, state in model.hunks.items():
                    sign = "✓" if state == "landed" else "↶"
                    await it.until(lambda: f"{sign} h{at}" in it.chat, f"{so_far}: the chat")  # noqa: B023

    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(all_of_it(Path(folder)))


ADDING = """
[[scenario]]
id = "add"
match = ["add"]
[[scenario.hunk]]
id = "new"
path = "new.py"
action = "add"
lines = '''
+one = 1
'''
[[scenario.hunk]]
id = "line"
path = "greeter.py"
lines = '''
     \"\"\"A greeting.\"\"\"
+    title = "dear"
'''
[[scenario.step]]
patch = ["new", "line"]
"""


async def test_a_hunk_that_is_redone_is_marked_as_it_was(tmp_path: Path) -> None:
    async with stage(tmp_path, script=ADDING) as it:
        await it.ask("add")
        await it.done()
        marks = it.app.shown_file.marks
        before = marks.of("greeter.py")
        assert [mark.kind for mark in before] == ["added"]
        it.key("f9")
        await it.until(lambda: "↶ h2" in it.chat and not marks.of("greeter.py"), "the undo")
        it.key("f10")
        await it.until(lambda: marks.of("greeter.py"), "the redo")
        assert marks.of("greeter.py") == before


async def test_undoing_the_hunk_that_made_a_file_tells_of_the_undo_alone(tmp_path: Path) -> None:
    async with stage(tmp_path, script=ADDING) as it:
        await it.ask("add")
        await it.done()
        assert await it.app.shown_file.open("new.py")
        await it.pilot.press("f2", "f9")
        await it.until(lambda: it.app.shown_file.buffers.of("new.py") is None, "the end of its tab")
        await it.until(lambda: "↶ h1" in it.chat, "the undo")
        assert it.app.status.status.message == "h1 undone: new.py"
