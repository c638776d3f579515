"""Themes: the built-in ones are whole and readable, the user's are checked with care."""

from __future__ import annotations

from pathlib import Path

import pytest

from themes.loader import ANSI_COLOURS, TOKEN_ROLES, UI_ROLES, ThemeError, load_theme, parse, theme_names

BUILT_IN = (
    "dark",
    "light",
    "contrast",
    "contrast-light",
    "colour-safe",
    "colour-safe-light",
    "dusk",
    "ansi16",
)


@pytest.fixture(autouse=True)
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    folder = tmp_path / "spark" / "themes"
    folder.mkdir(parents=True)
    return folder


def luminance(colour: str) -> float:
    channels = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("name", BUILT_IN)
def test_every_role_is_there(name: str) -> None:
    theme = load_theme(name)
    assert set(theme.ui) == UI_ROLES and set(theme.tokens) == TOKEN_ROLES


def test_ansi16_uses_the_sixteen_colours_alone() -> None:
    theme = load_theme("ansi16")
    assert theme.ansi
    used = {ink.colour for ink in (*theme.ui.values(), *theme.tokens.values())}
    assert used <= ANSI_COLOURS | {"default"}


# WCAG 2.2, level AA: 4.5 for text (1.4.3), 3 for lines that tell something (1.4.11).
GROUNDS = ("background", "surface", "panel", "status_background")
CODE_GROUNDS = ("surface", "panel", "code_background", "current_line", "landed_background",
                "added_background", "removed_background")  # fmt: skip
NO_TEXT = {
    *("background", "surface", "panel", "code_background", "status_background", "selection", "scrollbar"),
    *("cursor", "cursor_text", "current_line", "landed_background", "added_background", "removed_background"),
    *("border", "border_focus"),
}
"""Roles that are grounds, lines or the cursor."""
COLOURS = [name for name in BUILT_IN if name != "ansi16"]


@pytest.mark.parametrize("name", COLOURS)
def test_every_text_can_be_read_on_every_ground(name: str) -> None:
    theme = load_theme(name)
    least = 7.0 if "contrast" in name else 4.5
    ui = {role: ink.colour for role, ink in theme.ui.items()}
    pairs = {(role, ground) for role in UI_ROLES - NO_TEXT - {"added", "removed"} for ground in GROUNDS}
    pairs |= {(role, f"{role}_background") for role in ("added", "removed", "landed", "status")}
    pairs |= {(role, "surface") for role in ("added", "removed")}
    pairs |= {(role, "selection") for role in ("text", "strong", "accent", "muted")}
    pairs |= {(role, "current_line") for role in ("text", "line_number", "faint", "landed", "flight")}
    pairs |= {("cursor_text", "cursor"), ("inline_code", "code_background")}
    pairs |= {("line_number", ground) for ground in CODE_GROUNDS}
    for role, ground in sorted(pairs):
        assert contrast(ui[role], ui[ground]) >= least, (role, ground)
    for token, ink in theme.tokens.items():
        for ground in CODE_GROUNDS:
            assert contrast(ink.colour, ui[ground]) >= least, (token, ground)


@pytest.mark.parametrize("name", COLOURS)
def test_lines_between_things_can_be_seen(name: str) -> None:
    ui = {role: ink.colour for role, ink in load_theme(name).ui.items()}
    for role in ("border", "border_focus", "scrollbar"):
        for ground in ("background", "surface", "panel"):
            assert contrast(ui[role], ui[ground]) >= 3, (role, ground)


def simulated(colour: str, rows: tuple[tuple[float, float, float], ...]) -> tuple[float, ...]:
    """The colour as an eye sees it that lacks a kind of cones (Machado, Oliveira and Fernandes 2009)."""
    linear = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in linear]
    return tuple(sum(part * c for part, c in zip(row, linear, strict=True)) for row in rows)


NO_RED = ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998))
NO_GREEN = ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.01182, 0.04294, 0.968881))


@pytest.mark.parametrize("eye", [NO_RED, NO_GREEN])
@pytest.mark.parametrize("name", ["colour-safe", "colour-safe-light"])
@pytest.mark.parametrize(("one", "other"), [("success", "error"), ("added", "removed"), ("landed", "error")])
def test_what_landed_and_what_failed_differ_for_eyes_without_red_or_green(
    name: str, eye: tuple[tuple[float, float, float], ...], one: str, other: str
) -> None:
    ui = load_theme(name).ui
    seen = [simulated(ui[role].colour, eye) for role in (one, other)]
    assert sum((a - b) ** 2 for a, b in zip(*seen, strict=True)) ** 0.5 > 0.15


def text_of(name: str) -> str:
    return (Path(__file__).parents[2] / "themes" / f"{name}.toml").read_text()


def test_a_users_theme_is_found_and_comes_before_a_built_in_one(config: Path) -> None:
    (config / "mine.toml").write_text(text_of("light"))
    (config / "dark.toml").write_text(text_of("light"))
    assert theme_names() == (*BUILT_IN, "mine")
    assert not load_theme("mine").dark and not load_theme("dark").dark


@pytest.mark.parametrize("name", ["none", "../dark", "", "a/b", "dark.toml"])
def test_an_unknown_name_is_answered_with_the_known_ones(name: str) -> None:
    with pytest.raises(ThemeError, match="dark, light, contrast"):
        load_theme(name)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('text = "#d7dce5"', 'text = "#d7dc"', r"mine\.toml: (tokens|ui)\.text.*#d7dc"),
        ('muted = "#adb5c1"', "muted = 3", r"mine\.toml: ui\.muted.*3"),
        ('muted = "#adb5c1"', 'muted = ""', r"mine\.toml: ui\.muted"),
        ('muted = "#adb5c1"', 'muted = "red"', r"mine\.toml: ui\.muted.*ansi = true"),
        ('heading = "bold #8fb8ff"', 'heading = "loud #8fb8ff"', r"mine\.toml: (tokens|ui)\.heading.*'loud'"),
        ('muted = "#adb5c1"\n', "", r"mine\.toml: \[ui\] lacks muted"),
        ('muted = "#adb5c1"', 'muted = "#adb5c1"\nmutted = "#000000"', r"\[ui\] has unknown keys: mutted"),
        ("dark = true", 'dark = "yes"', r"mine\.toml: dark must be true or false"),
        ("dark = true", "dark = true\nname = 'x'", r"mine\.toml: unknown key 'name'"),
        ("[tokens]", "[tokenz]", r"mine\.toml: unknown key 'tokenz'"),
        ("dark = true", "dark = ", r"mine\.toml: not valid TOML.*line"),
        ("dark = true", f"dark = {'[' * 10_000}", r"mine\.toml: not valid TOML.*too deep"),
    ],
)
def test_a_wrong_file_is_named_with_its_key(config: Path, old: str, new: str, said: str) -> None:
    text = text_of("dark")
    assert old in text
    (config / "mine.toml").write_text(text.replace(old, new))
    with pytest.raises(ThemeError, match=said):
        load_theme("mine")


def test_a_file_that_is_not_text_is_refused(config: Path) -> None:
    (config / "mine.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ThemeError, match="UTF-8"):
        load_theme("mine")


def test_an_ansi_theme_takes_no_other_colours() -> None:
    with pytest.raises(ThemeError, match="not one of the ANSI colours"):
        parse(text_of("dark").replace("dark = true", "dark = true\nansi = true"), name="x", source="x.toml")
