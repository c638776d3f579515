"""Themes are data: one TOML file each, checked here and handed on as frozen values.

A theme gives every *UI role* a colour and every *token role* an ink. A colour is ``#rrggbb``, one of the
sixteen ANSI names, or ``default`` (the terminal's own). An ink is a colour with attributes before it, as in
``"bold italic #82aaff"``. Nothing here knows Textual or Pygments: ``tui.screen.drawing.palette`` turns a
theme into what they need.

The built-in themes stand beside this file. A user's own stand in the XDG config folder as
``spark/themes/NAME.toml``; one of the same name as a built-in theme replaces it.
"""

from __future__ import annotations

import os
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

UI_ROLES = frozenset(
    (
        "background",
        "surface",
        "panel",
        "border",
        "border_focus",
        "text",
        "muted",
        "faint",
        "accent",
        "prompt",
        "heading",
        "strong",
        "emphasis",
        "inline_code",
        "link",
        "quote",
        "code_background",
        "selection",
        "cursor",
        "cursor_text",
        "line_number",
        "current_line",
        "success",
        "warning",
        "error",
        "info",
        "flight",
        "added",
        "added_background",
        "removed",
        "removed_background",
        "landed",
        "landed_background",
        "scrollbar",
        "status",
        "status_background",
        "status_key",
    )
)
"""The roles of everything on the screen; each theme must name them all."""

TOKEN_ROLES = frozenset(
    (
        "text",
        "keyword",
        "string",
        "comment",
        "number",
        "function",
        "type",
        "variable",
        "constant",
        "builtin",
        "decorator",
        "attribute",
        "tag",
        "operator",
        "punctuation",
        "escape",
        "error",
        "heading",
        "inserted",
        "deleted",
    )
)
"""The roles of code; each theme must name them all."""

_EIGHT = ("black", "red", "green", "yellow", "blue", "magenta", "cyan", "white")
ANSI_COLOURS = frozenset((*_EIGHT, *(f"bright_{colour}" for colour in _EIGHT)))
"""The names of the sixteen ANSI colours."""
_ATTRIBUTES = frozenset(("bold", "italic", "underline", "dim", "reverse", "strike"))
_HEX = re.compile(r"#[0-9a-fA-F]{6}\Z")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*\Z")


class ThemeError(Exception):
    """A theme is invalid; the message names the file, the key and what to write instead."""


@dataclass(frozen=True, slots=True)
class Ink:
    """A colour and its attributes, as in the file."""

    colour: str
    attributes: tuple[str, ...] = ()

    def __str__(self) -> str:
        return " ".join((*self.attributes, self.colour))


@dataclass(frozen=True, slots=True)
class Theme:
    """A theme. ``ui`` and ``tokens`` hold every role of :data:`UI_ROLES` and :data:`TOKEN_ROLES`."""

    name: str
    dark: bool
    ansi: bool
    """Whether it uses only the terminal's own sixteen colours."""
    ui: dict[str, Ink]
    tokens: dict[str, Ink]
    about: str = ""
    """What the theme is, in a line."""


def theme_names() -> tuple[str, ...]:
    """The names of the themes, built-in first, then the user's own."""
    own = sorted(path.stem for path in _user_folder().glob("*.toml")) if _user_folder().is_dir() else []
    return tuple(dict.fromkeys([*_BUILT_IN, *own]))


def load_theme(name: str) -> Theme:
    """The theme called ``name``. Raises ThemeError when there is none, or when its file is invalid."""
    if _NAME.match(name):
        own = _user_folder() / f"{name}.toml"
        if own.is_file():
            try:
                text = own.read_text("utf-8")
            except (OSError, UnicodeDecodeError) as error:
                raise ThemeError(f"{own}: cannot be read as UTF-8 text: {error}") from error
            return parse(text, name=name, source=str(own))
        if name in _BUILT_IN:
            text = Path(__file__).with_name(f"{name}.toml").read_text("utf-8")
            return parse(text, name=name, source=f"themes/{name}.toml")
    raise ThemeError(f"there is no theme {name!r}; the themes are: {', '.join(theme_names())}")


def parse(text: str, *, name: str, source: str) -> Theme:
    """A theme from its TOML ``text``; messages call the file ``source``. Raises ThemeError for an incomplete
    or invalid theme."""
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ThemeError(f"{source}: not valid TOML: {error}") from error
    except RecursionError as error:
        raise ThemeError(f"{source}: not valid TOML: its values are nested too deep") from error
    about = data.pop("about", "")
    if not isinstance(about, str):
        raise ThemeError(f"{source}: about must be a line of text, not {about!r}")
    unknown = sorted(set(data) - {"dark", "ansi", "ui", "tokens"})
    if unknown:
        raise ThemeError(
            f"{source}: unknown key {unknown[0]!r}; a theme has about, dark, ansi, [ui] and [tokens]"
        )
    ansi = _flag(data, "ansi", source, default=False)
    return Theme(
        name=name,
        dark=_flag(data, "dark", source, default=True),
        ansi=ansi,
        ui=_inks(data, "ui", UI_ROLES, source, ansi=ansi),
        tokens=_inks(data, "tokens", TOKEN_ROLES, source, ansi=ansi),
        about=" ".join(about.split()),
    )


_BUILT_IN = (
    "dark",
    "light",
    "contrast",
    "contrast-light",
    "colour-safe",
    "colour-safe-light",
    "dusk",
    "ansi16",
)


def _user_folder() -> Path:
    base = os.environ.get("XDG_CONFIG_HOME", "")
    return (Path(base) if base else Path.home() / ".config") / "spark" / "themes"


def _flag(data: dict[str, Any], key: str, source: str, *, default: bool) -> bool:
    value = data.get(key, default)
    if not isinstance(value, bool):
        raise ThemeError(f"{source}: {key} must be true or false, not {value!r}")
    return value


def _inks(
    data: dict[str, Any], table: str, roles: frozenset[str], source: str, *, ansi: bool
) -> dict[str, Ink]:
    values = data.get(table)
    if not isinstance(values, dict):
        raise ThemeError(f"{source}: the table [{table}] is missing")
    missing, unknown = sorted(roles - set(values)), sorted(set(values) - roles)
    if missing:
        raise ThemeError(f"{source}: [{table}] lacks {', '.join(missing)}")
    if unknown:
        raise ThemeError(f"{source}: [{table}] has unknown keys: {', '.join(unknown)}")
    return {role: _ink(values[role], f"{source}: {table}.{role}", ansi=ansi) for role in sorted(roles)}


def _ink(value: Any, where: str, *, ansi: bool) -> Ink:
    if not isinstance(value, str) or not value.split():
        raise ThemeError(f'{where} must be a colour such as "#82aaff" or "bold cyan", not {value!r}')
    *attributes, colour = value.split()
    for attribute in attributes:
        if attribute not in _ATTRIBUTES:
            raise ThemeError(
                f"{where}: {attribute!r} is not an attribute; use {', '.join(sorted(_ATTRIBUTES))}"
            )
    named = colour == "default" or colour in ANSI_COLOURS
    if not named and not _HEX.match(colour):
        raise ThemeError(f"{where}: {colour!r} is not a colour; use #rrggbb, an ANSI name or default")
    if ansi and not named:
        raise ThemeError(f"{where}: {colour!r} is not one of the ANSI colours, and ansi is true")
    if not ansi and named and colour != "default":
        raise ThemeError(f"{where}: {colour!r} is an ANSI name; write #rrggbb, or set ansi = true")
    return Ink(colour.lower(), tuple(attributes))
