"""The user's own keys: laid over the table, with every conflict told in one line."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from session.setup.config import Flags
from session.setup.opening import open_project
from tests.checkout import ROOT
from tui.app.run import run_app
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
        ("F14", "f14"),
        ("ALT+SHIFT+PAGEUP", "alt+shift+pageup"),
        ("Ctrl+B ", "ctrl+b"),
        ("super+Q", "super+q"),
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
    assert keys_of(own_keys(default_keymap(), {"review": {"keep": "R"}}), "review", "keep") == ("R",)


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


IN_THE_APP = """
import asyncio, os, sys
from pathlib import Path
from session.setup.config import Flags
from session.setup.opening import open_project
from tui.app.run import use_own_keys

async def press(folder):
    from tests.tui.stage import stage
    async with stage(folder, server=False) as it:
        await it.until(lambda: "F14 keys" in it.screen, "the key for help")
        await it.pilot.press("ctrl+b")
        await it.until(lambda: "Open a file" in it.screen, "the list of files")

folder = Path(sys.argv[1])
(folder / "project").mkdir()
use_own_keys(open_project(folder / "project", Flags(), os.environ))
asyncio.run(press(folder))
"""
"""An app of a process of its own: keys are bound when the classes of the screen are made."""


def configure(config: Path, text: str) -> None:
    """Write the user's settings into the folder ``config``."""
    (config / "spark").mkdir(parents=True)
    (config / "spark" / "config.toml").write_text(text)


def test_the_keys_of_the_settings_work_and_are_shown(tmp_path: Path, own_folders: Path) -> None:
    configure(own_folders / "config", '[keymap.app]\nhelp = "f14"\nopen_file = "ctrl+b"\n')
    child = [sys.executable, "-c", IN_THE_APP, str(tmp_path)]
    ran = subprocess.run(child, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr


def test_a_conflict_is_told_before_there_is_a_screen(
    tmp_path: Path, own_folders: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    configure(own_folders / "config", '[keymap.app]\nhelp = "ctrl+o"\n')
    main, terminal = pty.openpty()
    monkeypatch.setenv("TERM", "xterm")
    with os.fdopen(main, "rb", 0), os.fdopen(terminal) as keys, os.fdopen(os.dup(terminal), "w") as screen:
        monkeypatch.setattr(sys, "stdin", keys)
        monkeypatch.setattr(sys, "stdout", screen)
        with pytest.raises(SystemExit) as left:
            run_app(open_project(tmp_path, Flags(), os.environ))
    assert left.value.code == 3
    told = capsys.readouterr().err
    assert "config.toml: [keymap]: ctrl+o would be both help" in told and told.count("\n") == 1
