"""The one table of keys: all bound, all in the help, none twice."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.binding import Binding
from textual.dom import DOMNode
from textual.widgets import TextArea

from tests.tui.stage import stage
from tui.app.actions import Actions
from tui.app.app import SparkApp
from tui.app.overlays.context_panel import ContextScreen
from tui.app.panes.held_bar import HeldBar
from tui.app.picking.palette_control import NOT_WHILE_A_TURN_RUNS, PANES, choices
from tui.chat.chat import ChatView
from tui.chat.composer.composer import Composer
from tui.editor.editor import EditorPane
from tui.front.keys.keymap import (
    Key,
    Scope,
    bindings,
    default_keymap,
    harmless_letters,
    is_alt_letter,
    key_line,
    keymap,
    shown,
    textual_action,
    use,
    vi_keys,
)
from tui.front.keys.keymap import scope as scope_named
from tui.front.slash.table import slashes

OWNERS: dict[str, type[DOMNode]] = {
    "app": SparkApp,
    "chat": ChatView,
    "composer": Composer,
    "editor": EditorPane,
    "held": HeldBar,
}


def test_the_table_is_read_with_all_its_keys() -> None:
    read = default_keymap.__wrapped__()  # what was read first is kept
    assert {scope.name for scope in read} >= OWNERS.keys() | {"review", "queue", "context"}
    (interrupt,) = [entry for entry in read[0].keys if entry.action == "interrupt"]
    assert read[0].name == "app" and "escape" in interrupt.keys and interrupt.help


@pytest.mark.parametrize("one", keymap(), ids=lambda one: one.name)
def test_no_key_stands_twice_in_a_scope(one: Scope) -> None:
    keys = [key for each in keymap() if each is one for entry in each.keys for key in entry.keys]
    assert len(keys) == len(set(keys))


def test_no_pane_hides_a_key_that_works_anywhere() -> None:
    scopes = {scope.name: {key for entry in scope.keys for key in entry.keys} for scope in keymap()}
    for name in ("composer", "chat", "editor", "text"):
        # Undo there, suspend everywhere else; dedent there, unless there is a question to go to.
        hidden = {"ctrl+z", "shift+tab"} if name == "editor" else set()
        assert scopes[name] & scopes["app"] == hidden, name


TWO_MEANINGS = {
    "ctrl+z": "undoes in the editor and its search; leaves spark for the shell elsewhere, as in vim",
    "shift+tab": "goes to the question while there is one; else dedents in the editor",
    "ctrl+underscore": "undoes in the composer, where Ctrl+Z is the shell's; comments in the editor",
    "ctrl+slash": "the same key on other terminals",
    "ctrl+y": "yanks in the composer, as in the shell; redoes in the editor, where nothing is killed",
}
"""The keys that are pressed together and mean two things in two panes, and why."""
SAME = [
    {"app.scroll_chat", "to_end"},
    {"outside", "hand('outside')"},
    {"read('search')", "hand('find')"},
    {"accept('word')", "cursor_word_right"},
]
"""Actions that are the same wish in two panes."""


def test_a_key_means_one_thing_in_all_panes() -> None:
    meanings: dict[str, set[str]] = {}
    for scope in keymap():
        for entry in scope.keys if scope.name in ("app", "composer", "chat", "editor", "text") else ():
            for key in entry.keys:
                if "+" in key or key[1:].isdigit():
                    meanings.setdefault(key, set()).add(entry.action)
    two = {key for key, actions in meanings.items() if len(actions) > 1 and actions not in SAME}
    assert two == set(TWO_MEANINGS)


def test_what_hangs_on_alt_alone_is_run_from_the_help_too() -> None:
    runs = {choice.value for choice in choices(tells_alt=True)}
    for scope in keymap():
        for entry in scope.keys:
            if entry.keys and all(key.startswith("alt+") for key in entry.keys):
                assert scope.name in ("app", *PANES) and f"{scope.name}\n{entry.action}" in runs


@pytest.mark.parametrize("name", OWNERS)
def test_every_key_is_bound_and_its_action_is_there(name: str) -> None:
    owner = OWNERS[name]
    (scope,) = (scope for scope in keymap() if scope.name == name)
    bound = {b.key: b.action for b in owner.BINDINGS if isinstance(b, Binding)}
    for entry in scope.keys:
        action = entry.action.partition("(")[0]
        if name == "app" or action.startswith("app."):
            assert callable(getattr(Actions, action.removeprefix("app.")))
        else:
            assert callable(getattr(owner, "action_" + action))
        for key in entry.keys:
            assert bound[key] == textual_action(name, entry.action)


@pytest.mark.parametrize(
    ("scope", "action", "run"),
    [
        ("app", "undo_hunk", "app.do('undo_hunk')"),
        ("app", "focus_pane('chat')", "app.do('focus_pane', 'chat')"),
        ("chat", "app.next_pane", "app.do('next_pane')"),
        ("composer", "app.scroll_chat(-1)", "app.do('scroll_chat', -1)"),
        ("composer", "send", "send"),
    ],
)
def test_actions_of_the_app_go_through_one_method(scope: str, action: str, run: str) -> None:
    assert textual_action(scope, action) == run


def test_every_key_of_the_context_panel_has_its_action() -> None:
    (scope,) = (scope for scope in keymap() if scope.name == "context")
    for entry in scope.keys:
        assert callable(getattr(ContextScreen, "action_" + entry.action.partition("(")[0]))


def test_the_editing_keys_are_those_the_text_area_has() -> None:
    (scope,) = (scope for scope in keymap() if scope.name == "text")
    bound = {
        key: binding.action
        for binding in TextArea.BINDINGS
        if isinstance(binding, Binding)
        for key in binding.key.split(",")
    }
    for entry in scope.keys:
        for key in entry.keys:
            assert bound[key] == entry.action


def test_the_help_lists_every_key_and_every_command() -> None:
    shown_keys = {(each.name, each.detail) for each in choices(tells_alt=True)}
    for scope in keymap():
        assert {(entry.shown, entry.help) for entry in scope.keys} <= shown_keys
    assert {(slash.shown, slash.help) for slash in slashes()} <= shown_keys


async def test_the_help_opens_from_the_composer_and_shows_the_table(tmp_path: Path) -> None:
    async with stage(tmp_path, size=(100, 60)) as it:
        await it.pilot.press("f1")
        await it.until(lambda: "stop the turn at once" in it.screen, "the table")
        assert shown("undo_hunk") in it.screen
        assert it.screen.count("stop the turn at once") == 1, "what is drawn whole is not drawn cut as well"
        await it.pilot.press("x", "escape")
        await it.until(lambda: "stop the turn at once" not in it.screen, "the panes")
        assert it.app.composer.text == ""
        await it.pilot.press("f3", "question_mark")
        await it.until(lambda: "stop the turn at once" in it.screen, "the table again")


def test_nothing_that_lands_undoes_runs_or_declines_hangs_on_alt_and_a_letter() -> None:
    """ESC and a letter in one read are Alt and that letter on most terminals."""
    harmless = {
        "focus_pane", "zoom", "resize", "context", "attempts", "go_hunk", "go_finding",
            "reasoning", "copy", "side", "lean",
        "findings", "review_on_save", "next_edit", "hand('refactor')",
        "next_theme", "mouse", "kill_word_right", "yank_earlier", "cursor_word_left", "cursor_word_right",
    }  # fmt: skip
    for scope in keymap():
        for entry in scope.keys:
            for key in entry.keys:
                if key.startswith("alt+") and len(key) == len("alt+x"):
                    assert {entry.action, entry.action.partition("(")[0]} & harmless, entry


@pytest.mark.parametrize("name", ["app", "chat"])
def test_bindings_are_not_shown_by_textual_and_those_of_the_app_come_first(name: str) -> None:
    found = [each for each in bindings(name) if isinstance(each, Binding)]
    entries = [(key, entry.help) for entry in scope_named(name).keys for key in entry.keys]
    assert [(each.key, each.description) for each in found] == entries
    assert {(each.show, each.priority) for each in found} == {(False, name == "app")}


@pytest.mark.parametrize(
    ("keys", "told"),
    [
        (("f8",), "F8"),
        (("ctrl+b", "f5"), "Ctrl+B, F5"),
        (("alt+pageup",), "Alt+PgUp"),
        (("question_mark",), "?"),
        (("x",), "x"),
        (("shift+left",), "Shift+←"),
        (("ctrl+shift+f5",), "Ctrl+Shift+F5"),
        ((), "no key"),
    ],
)
def test_keys_are_shown_as_people_write_them(keys: tuple[str, ...], told: str) -> None:
    assert Key(keys, "act", "does it").shown == told


def test_hints_name_the_first_key_of_an_action() -> None:
    assert shown("interrupt") == "Esc" and shown("keep", "review") == "y"
    assert key_line("review", ("keep", "keep"), ("keep", "again")) == "y keep · y again"
    for action, where in (("nothing", "app"), ("keep", "nowhere")):
        with pytest.raises(KeyError):
            shown(action, where)


def test_keys_that_are_used_take_the_place_of_the_table() -> None:
    before = keymap()
    try:
        use((Scope("app", "App", (Key((), "interrupt", "stop"),)),), vi=True)
        assert shown("interrupt") == "no key" and vi_keys() and len(keymap()) == 1
    finally:
        use(before, vi=False)
    assert shown("interrupt") == "Esc" and not vi_keys()


def test_the_help_tells_which_keys_a_terminal_takes_for_a_stop() -> None:
    told = {each.value: each.detail for each in choices(tells_alt=False)}
    stopped = {"side": True, "attempts": False, "copy('code')": False, "save": False}
    for action, stops in stopped.items():
        assert told[f"app\n{action}"].endswith(NOT_WHILE_A_TURN_RUNS) is stops, action
    assert not any(NOT_WHILE_A_TURN_RUNS in each.detail for each in choices(tells_alt=True))


def test_what_is_needed_while_a_turn_runs_has_a_key_that_every_terminal_tells() -> None:
    """What is left to Alt and a letter goes somewhere, shows or copies, or can wait for the turn's end."""
    waits = {"next_theme", "side", "review_on_save", "yank_earlier", "hand('refactor')"}
    alone = {
        entry.action: entry.harmless
        for each in default_keymap()
        for entry in each.keys
        if all(map(is_alt_letter, entry.keys))
    }
    assert {action for action, harmless in alone.items() if not harmless} == waits
    assert not harmless_letters() & {"s", "t", "u", "y", "o", "d"}
    assert harmless_letters() >= {"e", "a", "i", "x", "c", "k"}
