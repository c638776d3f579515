"""Themes: the built-in ones are whole and readable, the user's are checked with care."""

from __future__ import annotations

from pathlib import Path

import pytest

from themes.loader import ANSI_COLOURS, TOKEN_ROLES, UI_ROLES, ThemeError, load_theme, parse, theme_names

BUILT_IN = ("dark", "light", "ansi16")


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


# WCAG 2.2: 4.5 for text, 3 for what is secondary (large text and signs in the standard's words).
PRIMARY = (
    "text",
    "prompt",
    "heading",
    "strong",
    "emphasis",
    "inline_code",
    "muted",
    "error",
    "warning",
    "success",
)
SECONDARY = ("faint", "line_number", "landed", "accent")


@pytest.mark.parametrize("name", ["dark", "light"])
def test_text_can_be_read(name: str) -> None:
    theme = load_theme(name)
    surface = theme.ui["surface"].colour
    for role in PRIMARY:
        assert contrast(theme.ui[role].colour, surface) >= 4.5, role
    for role in SECONDARY:
        assert contrast(theme.ui[role].colour, surface) >= 3, role
    for role, ink in theme.tokens.items():
        for ground in ("surface", "code_background", "landed_background", "added_background", "current_line"):
            least = 3 if role == "comment" else 4.5
            assert contrast(ink.colour, theme.ui[ground].colour) >= least, (role, ground)
    assert contrast(theme.ui["removed"].colour, theme.ui["removed_background"].colour) >= 4.5
    assert contrast(theme.ui["status"].colour, theme.ui["status_background"].colour) >= 4.5
    assert contrast(theme.ui["cursor_text"].colour, theme.ui["cursor"].colour) >= 4.5


def text_of(name: str) -> str:
    return (Path(__file__).parents[2] / "themes" / f"{name}.toml").read_text()


def test_a_users_theme_is_found_and_comes_before_a_built_in_one(config: Path) -> None:
    (config / "mine.toml").write_text(text_of("light"))
    (config / "dark.toml").write_text(text_of("light"))
    assert theme_names() == ("dark", "light", "ansi16", "mine")
    assert not load_theme("mine").dark and not load_theme("dark").dark


@pytest.mark.parametrize("name", ["none", "../dark", "", "a/b", "dark.toml"])
def test_an_unknown_name_is_answered_with_the_known_ones(name: str) -> None:
    with pytest.raises(ThemeError, match="dark, light, ansi16"):
        load_theme(name)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('text = "#d7dce5"', 'text = "#d7dc"', r"mine\.toml: (tokens|ui)\.text.*#d7dc"),
        ('muted = "#8d97a8"', "muted = 3", r"mine\.toml: ui\.muted.*3"),
        ('muted = "#8d97a8"', 'muted = ""', r"mine\.toml: ui\.muted"),
        ('muted = "#8d97a8"', 'muted = "red"', r"mine\.toml: ui\.muted.*ansi = true"),
        ('heading = "bold #8fb8ff"', 'heading = "loud #8fb8ff"', r"mine\.toml: (tokens|ui)\.heading.*'loud'"),
        ('muted = "#8d97a8"\n', "", r"mine\.toml: \[ui\] lacks muted"),
        ('muted = "#8d97a8"', 'muted = "#8d97a8"\nmutted = "#000000"', r"\[ui\] has unknown keys: mutted"),
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
