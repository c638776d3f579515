"""What the editor's and the chat's keys do beyond their panes, and the work behind them, as tables."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from textual.screen import ModalScreen

from tests.tui.app.control.noting import Noted, started
from tui.app.control import hands
from tui.app.control.background import BackgroundTasks
from tui.app.control.hands import ChatControl, EditorHands
from tui.app.control.overlay_control import OverlayControl
from tui.screen.terminal.lending import EditorProblem


class Hands:
    """The hands of the editor, of which all calls are noted."""

    def __init__(self, *, path: str = "a.py", read_only: bool = False, found: tuple[Any, ...] = ()) -> None:
        self.log: list[str] = []
        self.tasks = started()
        note: Any = Noted(self.log)
        self.picked: Callable[[str | None], None] = lambda label: None

        def pick(labels: tuple[str, ...], picked: Callable[[str | None], None]) -> None:
            note.pick(*labels)
            self.picked = picked

        self.buffer: Any = SimpleNamespace(path=path, text="one\ntwo\n", read_only=read_only, put=note.put)
        self.editor: Any = Noted(
            self.log,
            "editor",
            path=path,
            buffer=self.buffer,
            document=SimpleNamespace(line_count=9),
            cursor_location=(3, 0),
        )
        files: Any = SimpleNamespace(
            definitions=note.definitions.gives(found), merge=note.merge.gives(SimpleNamespace(text="merged"))
        )
        panes: Any = SimpleNamespace(editor=self.editor, status=note)
        overlays: Any = SimpleNamespace(pick_symbol=pick)
        session: Any = SimpleNamespace(files=files, root=Path("/project"))
        self.hands = EditorHands(note, panes, overlays, self.tasks, session, note.files, note.find, note)


FOUND = tuple(
    SimpleNamespace(name=name, kind=kind, head=head)
    for name, kind, head in (("load", "function", 1), ("Box", "class", 40))
)


async def test_a_definition_is_picked_in_the_file_that_is_shown() -> None:
    it = Hands(path="")
    await it.hands.symbol()
    assert it.log == []
    it = Hands()
    await it.hands.symbol()
    assert it.log[-1] == "say('no definitions are known in a.py')"
    it = Hands(found=FOUND)
    await it.hands.symbol()
    assert it.log[-1] == "pick('load  function :2', 'Box  class :41')"
    rows: list[tuple[str | None, list[str]]] = [
        (None, []),
        ("load  function :2", ["editor.reveal(1)"]),
        ("Box  class :41", ["editor.reveal(8)"]),
    ]
    for label, called in rows:
        it.log.clear()
        it.picked(label)
        assert it.log == called
    it.editor.buffer = SimpleNamespace(path="b.py")
    for label in ("load  function :2", None):
        it.log.clear()
        it.picked(label)
        assert it.log == [], "another file is shown now"


@pytest.mark.parametrize(
    ("given", "edited", "called"),
    [
        ({"path": ""}, "", ["say('no file is open')"]),
        ({"read_only": True}, "", ["say('cannot edit a.py: it is read-only', 'warning')"]),
        ({}, EditorProblem("hx ended with 1"), ["say('hx ended with 1', 'error')"]),
        ({}, "one\ntwo\n", ["say('nothing was changed')"]),
        (
            {},
            "three\n",
            [
                "merge('one\\ntwo\\n', 'three\\n', 'one\\ntwo\\n')",
                "put('merged')",
                "say('edited in hx, unsaved: Ctrl+S saves')",
            ],
        ),
    ],
)
async def test_a_file_is_edited_outside(
    given: dict[str, Any], edited: Any, called: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hands, "editor_command", lambda root: ["/bin/hx", "-w"])
    monkeypatch.setattr(hands, "given_back", lambda app: nullcontext())

    async def outside(command: list[str], path: str, text: str, line: int) -> str:
        assert (command, path, text, line) == (["/bin/hx", "-w"], "a.py", "one\ntwo\n", 4)
        if isinstance(edited, Exception):
            raise edited
        return str(edited)

    monkeypatch.setattr(hands, "edit_outside", outside)
    it = Hands(**given)
    await it.hands.outside()
    await it.tasks.run()
    assert it.log == called and it.tasks.names == ["editing in another editor"]


@pytest.mark.parametrize(
    ("text", "called"),
    [
        (None, ["say('its output is not kept any more: outputs are kept while spark runs')"]),
        (" \n", ["say('it printed nothing')"]),
        ("out\n", ["shown('out\\n')"]),
    ],
)
async def test_an_output_is_shown(text: str | None, called: list[str]) -> None:
    log: list[str] = []
    note: Any = Noted(log)
    tasks = started()
    session: Any = SimpleNamespace(outputs=SimpleNamespace(text=lambda call: text))
    control = ChatControl(note.clipboard, note.hunks.show, note.say, session, note.chat, tasks)
    control.output("c1", note.shown)
    await tasks.run()
    assert log == called
    control.copy("x")
    control.go_to_hunk("h1")
    control.say("y")
    assert log[len(called) :] == ["clipboard.copy('x')", "hunks.show('h1')", "say('y')"]


async def test_landed_hunks_are_named_once() -> None:
    log: list[str] = []
    note: Any = Noted(log)
    entries = (None, SimpleNamespace(symbol=None), SimpleNamespace(symbol=""), SimpleNamespace(symbol=None))
    shown = dict(zip(("h1", "h2", "h3", "h4"), entries, strict=True))
    chat: Any = SimpleNamespace(hunk_named=shown.get, name_hunk=note.name_hunk)
    undoable = SimpleNamespace(landed=list(shown))
    hunks = SimpleNamespace(undoable=undoable, symbols=note.symbols.gives({"h2": "load"}))
    session: Any = SimpleNamespace(hunks=hunks)
    await ChatControl(note, note, note, session, chat, note).name_hunks()
    assert log == ["symbols(['h2', 'h4'])", "name_hunk('h2', 'load')", "name_hunk('h4', '')"]


async def waits(ended: list[str], name: str) -> None:
    try:
        await asyncio.Event().wait()
    finally:
        ended.append(name)


async def calm() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def test_work_is_replaced_cancelled_and_stopped_by_its_name() -> None:
    told: list[tuple[str, str]] = []
    ended: list[str] = []
    tasks = BackgroundTasks(lambda line, level: told.append((line, level)))
    for name in ("a", "b", "c"):
        tasks.start(waits(ended, name), name)
    await calm()
    tasks.restart(waits(ended, "second a"), "a")
    await calm()
    assert ended == ["a"]
    tasks.cancel("b")
    tasks.cancel("nothing")
    await calm()
    assert ended == ["a", "b"]

    async def stops() -> None:
        tasks.stop()
        await calm()
        ended.append("it stopped the others")

    tasks.start(stops(), "stopping")
    await calm()
    await calm()
    assert sorted(ended[2:4]) == ["c", "second a"] and ended[4:] == ["it stopped the others"]
    tasks.start(waits(ended, "late"), "late")
    await tasks.close()
    assert len(ended) == 5 and told == [], "nothing starts after the end, and no end is a fault"


async def test_a_fault_is_told_to_who_needs_to_know() -> None:
    told: list[tuple[str, str]] = []
    failed: list[str] = []

    async def fails() -> None:
        raise ValueError("x")

    tasks = BackgroundTasks(lambda line, level: told.append((line, level)))
    tasks.start(fails(), "reading")
    tasks.start(fails(), "starting", failed=failed.append)
    await calm()
    with tasks.guarding("drawing"):
        int("x")
    assert [level for _, level in told] == ["error", "error"]
    assert "while reading" in told[0][0] and "while drawing" in told[1][0]
    assert len(failed) == 1 and "while starting" in failed[0]
    await tasks.close()


class Shown(ModalScreen[None]):
    """A screen over the panes."""


class Stack:
    """The screens of an app, of which all calls are noted."""

    def __init__(self, *over: Any) -> None:
        self.log: list[str] = []
        note: Any = Noted(self.log)
        app: Any = SimpleNamespace(
            screen_stack=["panes", *over], screen=over[-1] if over else "panes", push_screen=note.push
        )
        self.overlays, self.app = OverlayControl(app, note), app


def test_nothing_opens_over_a_screen() -> None:
    note: Any = Noted([])
    for over, opens in (((), True), ((Shown(),), False)):
        it = Stack(*over)
        overlays: Any = it.overlays
        assert overlays.covered != opens
        screen: Any = SimpleNamespace()
        overlays.open(screen, note)
        assert len(it.log) == opens
        overlays.pick("Title", (), note)
        assert len(it.log) == 2 * opens
        overlays.pick_file("", (), note, note)
        assert len(it.log) == 3 * opens
        assert overlays.toggle_context() == opens


@pytest.mark.parametrize(("value", "called"), [("s1", ["taken('s1')"]), (None, [])])
def test_what_is_picked_is_handed_on(value: str | None, called: list[str]) -> None:
    it, log = Stack(), list[str]()
    note: Any = Noted(log)
    screen: Any = SimpleNamespace()
    it.overlays.open(screen, note.taken)
    screen.on_closed(value)
    assert log == called


@pytest.mark.parametrize(
    ("running", "action", "hint"),
    [
        (False, "", "Esc closes"),
        (False, "open_file", "Esc closes"),
        (True, "", "Esc stops the turn and leaves"),
        (True, "open_file", "Ctrl+P leaves, Esc stops the turn"),
    ],
)
def test_how_a_list_is_left(running: bool, action: str, hint: str) -> None:
    it = Stack()
    it.overlays.running = lambda: running
    assert it.overlays.how_to_leave(action) == hint


def test_the_list_of_files_shows_how_far_the_project_is_read() -> None:
    it = Stack()
    pushed: list[Any] = []
    it.app.push_screen = pushed.append
    note: Any = Noted(it.log)
    it.overlays.themes = SimpleNamespace(palette=note)  # type: ignore[assignment] # Of it only the palette is needed.
    it.overlays.reading = lambda: True
    it.overlays.pick_file("a.py", ("b.py",), note.opened, note.made)
    (picker,) = pushed
    assert picker._reading()
    picker.on_closed(None)
    assert it.log == []
    picker.on_closed("c.py")
    picker.new = True
    picker.on_closed("d.py")
    assert it.log == ["opened('c.py', None)", "made('d.py')"]
