"""The theme at the start: chosen, configured, or by the terminal's background."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.bench.pty_spark import Launch
from tests.bench.pty_spark import stage as pty_stage
from tests.tui.stage import stage
from tui.screen.theme_choice import AUTO, ThemeChoice, is_dark, is_dark_by


@pytest.mark.parametrize(
    ("answer", "dark"),
    [
        ("\x1b]11;rgb:1e1e/1e1e/1e1e\x1b\\", True),
        ("\x1b]11;rgb:fafa/fafa/f8f8\a", False),
        ("\x1b]11;rgb:ff/ff/ff\a", False),
        ("\x1b]11;rgba:0000/0000/0000/ffff\a", True),
        ("\x1b]11;rgb:zz/00/00\a", None),
        ("\x1b]10;rgb:ff/ff/ff\a", None),
    ],
)
def test_the_terminals_answer(answer: str, dark: bool | None) -> None:
    assert is_dark(answer) is dark


@pytest.mark.parametrize(
    ("value", "dark"), [("15;0", True), ("0;15", False), ("0;default", None), ("", None)]
)
def test_the_variable_that_some_terminals_set(value: str, dark: bool | None) -> None:
    assert is_dark_by({"COLORFGBG": value}) is dark


def test_a_choice_is_kept_until_the_settings_name_another_theme(tmp_path: Path) -> None:
    ThemeChoice(tmp_path, "dark", {}).choose("dusk")
    assert ThemeChoice(tmp_path, "dark", {}).first == "dusk"
    assert ThemeChoice(tmp_path, "light", {}).first == "light"
    assert ThemeChoice(tmp_path, AUTO, {}).first == "dark"


def test_auto_follows_the_terminal_and_remembers_its_answer(tmp_path: Path) -> None:
    choice = ThemeChoice(tmp_path, AUTO, {})
    assert choice.first == "dark" and choice.answered(dark=False) == "light"
    assert ThemeChoice(tmp_path, AUTO, {}).first == "light"
    assert ThemeChoice(tmp_path, AUTO, {"COLORFGBG": "15;0"}).first == "dark"
    choice.choose("contrast")
    assert choice.answered(dark=True) is None and choice.first == "contrast"


@pytest.mark.parametrize(
    "text", ["", "{", "[1]", '{"theme": 3, "dark": "x"}', '{"theme": "gone", "instead_of": "dark"}']
)
def test_a_damaged_choice_is_none(tmp_path: Path, text: str) -> None:
    (tmp_path / "theme.json").write_text(text)
    assert ThemeChoice(tmp_path, "dark", {}).first == "dark"


async def test_a_theme_is_seen_while_it_is_chosen_and_esc_goes_back(tmp_path: Path) -> None:
    async with stage(tmp_path) as it:
        await it.pilot.press(*"/theme", "enter")
        await it.until(lambda: "colour-safe" in it.screen, "the list")
        assert it.app.themes.palette.theme.name == "dark"
        await it.pilot.press("down")
        await it.until(lambda: it.app.themes.palette.theme.name == "light", "the next theme")
        await it.pilot.press("escape")
        await it.until(lambda: it.app.themes.palette.theme.name == "dark", "the theme before")
        await it.pilot.press(*"/theme", "enter")
        await it.until(lambda: "colour-safe" in it.screen, "the list")
        await it.pilot.press(*"dusk", "enter")
        await it.until(lambda: it.app.themes.palette.theme.name == "dusk", "the theme")
        await it.pilot.press(*"/theme none", "enter")
        await it.until(lambda: "there is no theme 'none'" in it.screen, "the answer")


@pytest.mark.parametrize("split", [9, 100])
def test_the_answer_changes_the_theme_and_is_never_typed(split: int, launch: Launch) -> None:
    answer = b"\x1b]11;rgb:fafa/fafa/f8f8\x1b\\"
    with pty_stage("500", launch=launch) as at, at.spark() as pane:
        pane.until("ready")
        assert "\x1b]11;?" in pane.raw
        pane.type("before ")
        pane.forget()
        for start in range(0, len(answer), split):
            pane.write(answer[start : start + split])
            pane.read(0.002)
        pane.type("after")
        pane.until("before after")
        for _ in range(100):
            if "48;2;251;251;249" in pane.raw:  # the light theme's surface
                break
            pane.read(0.1)
        else:
            raise AssertionError("the theme did not change")
        assert "rgb" not in pane.text and "fafa" not in pane.text
        pane.type("\x11")
