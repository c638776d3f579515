"""What keys and commands do to prompts, as tables: what is going on, the key, and what is called."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from tests.tui.app.control.noting import Noted, started
from tui.app.control import prompt_control, quit_control, suggestion_control
from tui.app.control.prompt_control import PromptControl
from tui.app.control.quit_control import QuitControl
from tui.app.control.suggestion_control import SuggestionControl
from tui.app.panes.held_bar import DROP, READ_ALL, TRUST
from tui.front.slash.completion import Candidates, Completer, nothing
from tui.front.slash.running import SlashError
from tui.front.words.check_lines import command_ends


class Prompts:
    """A prompt control of which all calls are noted."""

    def __init__(
        self,
        *,
        running: bool = False,
        draft: str = "",
        queued: tuple[str, ...] = (),
        command: bool = False,
        covered: bool = False,
        cut: bool = False,
        last_turn: dict[str, str] | None = None,
        meant: object = None,
    ) -> None:
        self.log: list[str] = []
        self.tasks = started()
        note: Any = Noted(self.log)
        session: Any = Noted(
            self.log,
            running=running,
            unqueue=note.unqueue.answers(list(queued)),
            shell=SimpleNamespace(running=command),
            hunks=SimpleNamespace(
                undoable=SimpleNamespace(last_turn=last_turn or {}), undo_all=note.undo_all.gives([])
            ),
        )
        self.status = Noted(self.log, "status", cut=cut, status=SimpleNamespace(message=""))
        history = note.history
        composer = Noted(self.log, "composer", draft=draft, history_of_prompts=history)
        panes: Any = SimpleNamespace(
            status=self.status, composer=composer, chat=note.chat, find=note.find, held=note.held
        )
        app: Any = SimpleNamespace(
            screen_stack=[note.screen],
            run_action=note.run_action.gives(),
            set_timer=lambda seconds, say: Noted(self.log, "timer"),
        )
        overlays: Any = SimpleNamespace(uncover=note.uncover.answers(covered))
        drops: Any = Noted(self.log, "drops", meant=lambda argument: meant)
        self.control = PromptControl(
            app,
            panes,
            overlays,
            self.tasks,
            session,
            note.feed,
            note.hunks,
            note.quitting,
            note.kept,
            note.suggestions,
            note.trust,
            note.reading,
            drops,
        )


@pytest.mark.parametrize(
    ("text", "queued", "running", "called"),
    [
        ("do it", False, False, ["submit('do it')"]),
        ("do it", False, True, ["feed.stop()", "submit('do it')"]),
        ("do it", True, True, ["queue('do it')"]),
        ("/lock a", True, True, ["queue('/lock a')"]),
    ],
)
def test_a_prompt_is_sent_or_waits(text: str, queued: bool, running: bool, called: list[str]) -> None:
    it = Prompts(running=running)
    it.control.send(text, queued=queued)
    assert it.log == called and not it.tasks.names


NOTHING = ["status.say('type first what to send after the hunk')"]


@pytest.mark.parametrize(
    ("draft", "called"),
    [
        ("", NOTHING),
        (" \n", NOTHING),
        ("soon", ["history.add('soon')", "composer.put('')", "after_hunk('soon')"]),
    ],
)
def test_the_draft_is_sent_after_the_hunk(draft: str, called: list[str]) -> None:
    it = Prompts(draft=draft)
    it.control.send_after_hunk()
    assert it.log == called


STOPPED = ["interrupt()", "feed.stop()", "status.show(phase='stopping')", "unqueue()"]
BACK = "status.say('Queued messages are back in the prompt', 'warning')"
IDLE = ["suggestions.hide()", "chat.let_go()", "find.leave()", "held.confirm(None)", "uncover()"]


@pytest.mark.parametrize(
    ("given", "called"),
    [
        ({"running": True}, [*STOPPED, "held.confirm(None)", "uncover()", "composer.leave_insert_mode()"]),
        ({"running": True, "covered": True}, [*STOPPED, "held.confirm(None)", "uncover()"]),
        (
            {"running": True, "covered": True, "queued": ("a", "b")},
            [*STOPPED, "composer.put_before(['a', 'b'])", BACK, "held.confirm(None)", "uncover()"],
        ),
        ({"covered": True}, ["interrupt()", "status.say('', stays=True)", *IDLE]),
        (
            {"covered": True, "command": True},
            ["interrupt()", f"status.say({command_ends()!r}, stays=True)", *IDLE],
        ),
    ],
)
def test_esc(given: dict[str, Any], called: list[str]) -> None:
    it = Prompts(**given)
    it.control.interrupt()
    assert it.log == called


@pytest.mark.parametrize(
    ("wish", "texts", "called"),
    [
        ("edit", (), ["status.say('that message was sent just now')"]),
        ("remove", ("a",), []),
        ("now", ("a",), ["submit('a')"]),
    ],
)
def test_a_message_that_waits(wish: Any, texts: tuple[str, ...], called: list[str]) -> None:
    it = Prompts(queued=texts)
    it.control.dequeue(2, wish)
    assert it.log == ["unqueue(2)", *called]


def test_a_message_that_waits_is_edited_in_the_prompt() -> None:
    it = Prompts(queued=("a",))
    it.control.dequeue(1, "edit")
    assert it.log[:2] == ["unqueue(1)", "composer.put_before(['a'])"]
    assert it.log[2].startswith("screen.set_focus(") and len(it.log) == 3


COMMANDS: list[tuple[str, dict[str, Any], list[str]]] = [
    ("/context", {}, ["hunks.show_context()"]),
    ("/help", {}, ["run_action(\"app.do('help')\")"]),
    ("/theme", {}, ["run_action(\"app.do('pick_theme')\")"]),
    ("/theme dark", {}, ["run_action(\"app.do('use_theme', 'dark')\")"]),
    ("/lean on", {}, ["run_action(\"app.do('lean', 'on')\")"]),
    ("/trust", {}, ["trust.ask()"]),
    ("/new", {}, ["run_action(\"app.do('begin_new')\")"]),
    ("/resume abc", {}, ["run_action(\"app.do('resume', 'abc')\")"]),
    ("/quit", {}, ["quitting.quit()"]),
    ("/review", {}, ["run_action(\"app.do('review')\")"]),
    ("/drop h1", {"meant": "h1"}, ["drops.ask('h1')"]),
    ("/land all", {}, ["hunks.answer('apply all')"]),
    ("/land h2", {}, ["hunks.answer('apply', 'h2')"]),
    ("/land", {}, ["hunks.answer('apply', '')"]),
    ("/decline h2", {}, ["hunks.answer('reject', 'h2')"]),
]


@pytest.mark.parametrize(("text", "given", "called"), COMMANDS)
async def test_a_command_of_the_app(text: str, given: dict[str, Any], called: list[str]) -> None:
    it = Prompts(**given)
    it.control.send(text, queued=False)
    await it.tasks.run()
    assert it.log == [*called, "timer.stop()"]
    assert it.tasks.names == [f"running {text.split()[0]}"]


ONE_LINE, LINES = "a line", "one\ntwo"


@pytest.mark.parametrize(
    ("text", "answer", "given", "called"),
    [
        ("/lock a", ONE_LINE, {}, ["status.say('a line', 'info')"]),
        (
            "/lock a",
            ONE_LINE,
            {"cut": True},
            ["status.say('a line', 'info')", "chat.remark('a line', 'info')"],
        ),
        ("/lock a", LINES, {}, ["chat.remark('one\\ntwo', 'info')"]),
        ("/lock a", "", {}, []),
        ("/drop h1", "dropped", {}, ["status.say('dropped', 'info')"]),
        ("/run ls", ONE_LINE, {}, ["status.say('a line', 'info')"]),
        (
            "/lock a",
            SlashError("no"),
            {},
            ["status.say('no', 'error')", "composer.put('/lock a')", "composer.select_all()"],
        ),
        ("/lock a", SlashError("no"), {"draft": "mine"}, ["status.say('no', 'error')"]),
        (
            "/diff h1",
            "+``` x",
            {},
            [
                "chat.close_run()",
                "chat.action_to_end()",
                "chat.text('````diff\\n+``` x\\n````\\n')",
                "chat.close_run()",
            ],
        ),
        (
            "/diff h1",
            "+x",
            {},
            [
                "chat.close_run()",
                "chat.action_to_end()",
                "chat.text('```diff\\n+x\\n```\\n')",
                "chat.close_run()",
            ],
        ),
        (
            "/diff h1",
            SlashError("no hunk"),
            {},
            ["status.say('no hunk', 'error')", "composer.put('/diff h1')", "composer.select_all()"],
        ),
    ],
)
async def test_any_other_command_tells_its_answer(
    text: str, answer: Any, given: dict[str, Any], called: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    it = Prompts(**given)

    async def run(session: object, name: str, argument: str) -> str:
        assert text == f"/{name} {argument}"
        if isinstance(answer, Exception):
            raise answer
        return answer  # type: ignore[no-any-return] # A row gives what it should.

    monkeypatch.setattr(prompt_control, "run_command", run)
    it.control.send(text, queued=False)
    await it.tasks.run()
    remembered = ["kept.remember('/run ls')"] if text == "/run ls" else []
    at = next((at for at, call in enumerate(called) if call.startswith("composer.")), len(called))
    assert it.log == [*called[:at], "timer.stop()", *remembered, *called[at:]]


async def test_undoing_a_turn_is_asked_about_first() -> None:
    it = Prompts()
    it.control.ask_to_undo_turn()
    assert it.log == ["status.say('no turn of this session has a landed hunk')"]
    it = Prompts(last_turn={"h1": "a.py", "h2": "b.py"})
    for verdict, undone in (("reject", []), ("apply", ["undo_all(('h1', 'h2'))"])):
        it.control.ask_to_undo_turn()
        assert "text='h1  a.py\\nh2  b.py'" in it.log[0] and it.log[1].startswith("screen.set_focus(")
        it.log.clear()
        it.control.answer("undo-turn", verdict)  # type: ignore[arg-type] # As a key gives it.
        await it.tasks.run()
        assert it.log[: 1 + len(undone)] == ["held.confirm(None)", *undone]
        it.log.clear()


@pytest.mark.parametrize(
    ("name", "called"),
    [
        (READ_ALL, "reading.answer('apply')"),
        (DROP, "drops.answer('apply')"),
        (TRUST, "trust.answer('apply')"),
        ("h1", "hunks.answer('apply', 'h1')"),
    ],
)
def test_an_answer_goes_to_who_asked(name: str, called: str) -> None:
    it = Prompts()
    it.control.answer(name, "apply")
    assert it.log == [called]


class Quits:
    """A quit control of which all calls are noted."""

    def __init__(
        self,
        *,
        closes: asyncio.Event | None = None,
        kept: str = "",
        covered: bool = False,
        fails: bool = False,
    ) -> None:
        self.log: list[str] = []
        self.tasks = started()
        note: Any = Noted(self.log)

        async def close() -> None:
            note.close()
            if closes is not None:
                await closes.wait()
            if fails:
                raise OSError("the disk")

        composer = Noted(self.log, "composer", draft="draft", set_aside=lambda: kept)
        panes: Any = SimpleNamespace(composer=composer, status=note.status)
        app: Any = Noted(self.log, "app", focused=None)
        overlays: Any = SimpleNamespace(uncover=lambda: covered)
        self.control = QuitControl(
            app,
            panes,
            overlays,
            self.tasks,
            close,
            note.closing,
            note.file,
            note.files,
            note.clipboard,
            note.kept,
        )


LEFT = ["files.flush()", "kept.keep_draft('draft')", "close()"]


@pytest.mark.parametrize("slow", [False, True])
async def test_a_session_that_closes_slowly_is_hurried(slow: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quit_control, "CLOSING", 0.01)
    closes = asyncio.Event()
    it = Quits(closes=closes if slow else None)
    leaving = asyncio.create_task(it.control._leave(3))
    await asyncio.sleep(0.03)
    hurried = ["closing.hurry()"] if slow else []
    assert it.log[:3] == LEFT and leaving.done() != slow and it.control.leaving
    await it.control._leave(4)
    closes.set()
    await leaving
    await asyncio.sleep(0.02)
    assert it.log == [*LEFT, *hurried, "app.exit(return_code=3, message=None)"], (
        "once, and not hurried afterwards"
    )
    it.control.quit()
    it.control.cancel()
    assert it.log[-2:] == ["closing.hurry()"] * 2 and not it.tasks.names, "another key hurries what waits"


async def test_a_session_that_fails_to_close_is_left_too() -> None:
    it = Quits(fails=True)
    with pytest.raises(OSError, match="the disk"):
        await it.control._leave(0)
    assert it.log == [*LEFT, "app.exit(return_code=0, message=None)"]


@pytest.mark.parametrize(
    ("kept", "covered", "called"),
    [
        ("", False, ["status.say('Ctrl+C again quits')"]),
        (
            "words",
            False,
            [
                "status.say('draft set aside (↑ brings it back); Ctrl+C again quits')",
                "kept.remember('words')",
            ],
        ),
        ("", True, []),
    ],
)
async def test_ctrl_c_once(kept: str, covered: bool, called: list[str]) -> None:
    it = Quits(kept=kept, covered=covered)
    await it.control._cancel()
    assert it.log == called and not it.tasks.names


@pytest.mark.parametrize(("between", "quits"), [(1.4, True), (1.6, False)])
async def test_ctrl_c_twice_quits_where_it_comes_soon(
    between: float, quits: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    it, loop = Quits(), asyncio.get_running_loop()
    now = loop.time() + 100
    called: list[str] = []
    monkeypatch.setattr(it.control, "quit", lambda: called.append("quit"))
    monkeypatch.setattr(loop, "time", lambda: now)
    await it.control._cancel()
    now += between
    await it.control._cancel()
    assert bool(called) == quits


class Suggests:
    """A suggestion control of which all calls are noted."""

    def __init__(
        self,
        before: str,
        look: Completer = nothing,
        *,
        focus: bool = True,
        message: str = "",
        kept: bool = False,
        completed: bool = False,
    ) -> None:
        self.log: list[str] = []
        note: Any = Noted(self.log)
        composer = SimpleNamespace(
            cursor_location=(0, len(before)),
            document=SimpleNamespace(get_line=lambda row: before),
            has_focus=focus,
        )
        status = Noted(self.log, "status", status=SimpleNamespace(message=message))
        suggestions = Noted(self.log, "suggestions", choose=lambda word: kept, display=False)
        panes: Any = SimpleNamespace(composer=composer, status=status, suggestions=suggestions)
        tasks: Any = Noted(self.log, restart=self._restart)
        self.started: list[Any] = []
        self.control = SuggestionControl(note, panes, tasks, look)
        if completed:
            self.control.completed("")
            self.log.clear()

    def _restart(self, work: Any, name: str) -> None:
        self.started.append(work)
        self.log.append("look")


HIDDEN = ["suggestions.typed()", "cancel('looking for suggestions')", "suggestions.hide()"]


@pytest.mark.parametrize(
    ("before", "given", "told", "called"),
    [
        ("plain words", {}, "", HIDDEN),
        ("plain words", {"message": "hint"}, "hint", [*HIDDEN, "status.show(message='')"]),
        ("plain words", {"message": "other"}, "hint", HIDDEN),
        ("plain words", {"message": ""}, "", HIDDEN),
        ("/lo", {"focus": False, "message": "hint"}, "hint", [*HIDDEN, "status.show(message='')"]),
        ("/lo", {}, "", ["suggestions.typed()", "look"]),
        ("/lo", {"kept": True}, "", ["suggestions.typed()", "look"]),
        ("/lo", {"kept": True, "completed": True}, "", ["suggestions.typed()"]),
        ("see @a", {}, "", ["suggestions.typed()", "look"]),
    ],
)
def test_suggestions_follow_the_text(
    before: str, given: dict[str, Any], told: str, called: list[str]
) -> None:
    it = Suggests(before, **given)
    it.control._told = told
    it.control.update()
    assert it.log == called
    for work in it.started:
        work.close()


async def test_files_are_looked_for_once_the_typing_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[str] = []

    def look(before: str) -> Candidates | None:
        looked.append(before)
        return None

    monkeypatch.setattr(suggestion_control, "BETWEEN_LETTERS", 0.05)
    it = Suggests("see @a", look)
    it.control.update()
    search = asyncio.create_task(it.started[0])
    await asyncio.sleep(0.01)
    assert looked == []
    await search
    assert looked == ["see @a"] and it.log[-1] == "suggestions.hide()"
    it = Suggests("/lo", look)
    it.control.update()
    await it.started[0]
    assert looked == ["see @a", "/lo"], "commands are looked for at once"
