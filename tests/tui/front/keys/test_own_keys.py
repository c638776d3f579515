"""The user's own keys: laid over the table, with every conflict told in one line."""

from __future__ import annotations

from typing import Any

import pytest

from tests.bench.pty_spark import stage
from tui.front.keys.keymap import default_keymap
from tui.front.keys.own_keys import PRESETS, KeymapError, OwnKeys, own_keys


def keys_of(own: OwnKeys, scope: str, action: str) -> tuple[str, ...]:
    return next(
        entry.keys
        for each in own.scopes
        if each.name == scope
        for entry in each.keys
        if entry.action == action
    )


@pytest.mark.parametrize(
    ("written", "key"),
    [
        ("f14", "f14"),
        ("Ctrl+B", "ctrl+b"),
        ("ctrl-b", "ctrl+b"),
        ("shift+ctrl+f5", "ctrl+shift+f5"),
        ("alt+PgUp", "alt+pageup"),
        ("alt+?", "alt+question_mark"),
        ("alt+del", "alt+delete"),
        ("Shift-Alt-Ctrl-Up", "ctrl+alt+shift+up"),
        ("super+alt+f2", "alt+super+f2"),
    ],
)
def test_keys_are_written_as_people_write_them(written: str, key: str) -> None:
    own = own_keys(default_keymap(), {"app": {"zoom": written}})
    assert keys_of(own, "app", "zoom") == (key,)


def test_an_action_may_have_several_keys_or_none() -> None:
    own = own_keys(default_keymap(), {"app": {"mouse": [], "go_hunk(1)": ["f8", "ctrl+b"]}})
    assert keys_of(own, "app", "mouse") == ()
    assert keys_of(own, "app", "go_hunk(1)") == ("f8", "ctrl+b")


@pytest.mark.parametrize("preset", PRESETS)
def test_the_presets_have_no_conflicts(preset: str) -> None:
    own = own_keys(default_keymap(), {"preset": preset})
    assert own.vi == (preset == "vi")


def test_a_character_alone_is_a_key_where_nothing_is_typed() -> None:
    own = own_keys(default_keymap(), {"review": {"keep": "r"}, "chat": {"read('copy')": "c"}})
    assert keys_of(own, "review", "keep") == ("r",)
    assert keys_of(own, "chat", "read('copy')") == ("c",)


def test_a_preset_can_be_changed_too() -> None:
    own = own_keys(default_keymap(), {"preset": "emacs", "composer": {"later": "down"}})
    assert keys_of(own, "composer", "later") == ("down",)
    assert keys_of(own, "composer", "earlier") == ("up", "ctrl+p")
    assert keys_of(own, "app", "open_file") == ("ctrl+o",)
    assert keys_of(own, "composer", "cursor_right") == ("ctrl+f",)


@pytest.mark.parametrize(
    ("table", "told"),
    [
        ({"app": {"zoom": "f1"}}, "f1 would be both help [keymap.app] and zoom [keymap.app]"),
        ({"chat": {"scroll_page(1)": "f1"}}, "f1 would be both help [keymap.app] and scroll_page(1)"),
        ({"app": {"zoom": "ctrl+y"}}, "ctrl+y would be both yank [keymap.composer] and zoom [keymap.app]"),
        ({"app": {"zom": "f14"}}, "did you mean 'zoom'"),
        ({"app": {"zoom": "hyper+x"}}, "'hyper+x' is not a key"),
        ({"app": {"zoom": "f25"}}, "'f25' is not a key"),
        ({"app": {"zoom": "x"}}, "[keymap.app] zoom: 'x' types a character there; hold Ctrl or Alt with it"),
        ({"composer": {"yank": "?"}}, "types a character there"),
        ({"editor": {"lines('comment')": "shift+space"}}, "types a character there"),
        ({"app": {"zoom": "ctrl+i"}}, "most terminals send 'tab' for 'ctrl+i'; choose another key"),
        ({"composer": {"send": "Ctrl-M"}}, "most terminals send 'enter' for 'Ctrl-M'"),
        ({"app": {"zoom": 5}}, "must be a key, or a list of keys"),
        ({"app": {"interrupt": []}}, "interrupt needs a key"),
        ({"app": "f1"}, "must be a table"),
        ({"apps": {}}, "has no 'apps'"),
        ({"text": {}}, "has no 'text'"),
        ({"preset": "nano"}, "preset must be one of default, emacs, vi"),
    ],
)
def test_what_cannot_be_is_told_in_a_line(table: dict[str, Any], told: str) -> None:
    with pytest.raises(KeymapError) as problem:
        own_keys(default_keymap(), table)
    assert told in str(problem.value) and "\n" not in str(problem.value)


def test_the_keys_of_the_settings_work_and_are_shown() -> None:
    with stage("500") as at:
        config = at.folder / "config" / "spark"
        config.mkdir(parents=True, exist_ok=True)
        (config / "config.toml").write_text('[keymap.app]\nhelp = "f14"\nopen_file = "ctrl+b"\n')
        at.environ["XDG_CONFIG_HOME"] = str(at.folder / "config")
        with at.spark() as pane:
            pane.until("F14 keys")
            pane.until("ready")
            pane.type("\x02")
            pane.until("Open a file")
            pane.type("\x1b")
            pane.type("\x11")


def test_a_conflict_is_told_before_there_is_a_screen() -> None:
    with stage("500") as at:
        config = at.folder / "config" / "spark"
        config.mkdir(parents=True, exist_ok=True)
        (config / "config.toml").write_text('[keymap.app]\nhelp = "ctrl+o"\n')
        at.environ["XDG_CONFIG_HOME"] = str(at.folder / "config")
        with at.spark() as pane:
            pane.until("config.toml: [keymap]: ctrl+o would be both help")
