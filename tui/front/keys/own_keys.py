"""The user's own keys: the table ``[keymap]`` of ``config.toml`` laid over the table of keys.

    [keymap]
    preset = "emacs"

    [keymap.app]
    zoom = "ctrl+b"
    mouse = []

A key that two actions would have is an error: nobody should find out by pressing it.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tui.front.keys.keymap import Key, Scope

PRESETS = ("default", "emacs", "vi")
NEEDED = frozenset({"interrupt", "cancel", "quit_spark"})
"""Actions of the app that always have a key."""
MOVES = tuple(f"cursor_{where}" for where in ("left", "right", "up", "down", "word_left", "word_right"))
"""Textual's own actions that a pane's keys may run besides those of the table."""
_FIXED = frozenset({"text"})
_COVERED = ("composer", "chat", "editor", "text")
"""The panes in which the keys of the app work."""
_HELD = frozenset({"ctrl", "alt", "shift", "super"})
_OTHER_NAMES = {
    "esc": "escape",
    "return": "enter",
    "pgup": "pageup",
    "pgdn": "pagedown",
    "del": "delete",
    "?": "question_mark",
    "/": "slash",
    "_": "underscore",
    "\\": "backslash",
    " ": "space",
}
_NAMED = frozenset(
    [
        "escape",
        "enter",
        "tab",
        "space",
        "backspace",
        "delete",
        "insert",
        "home",
        "end",
        "pageup",
        "pagedown",
        "up",
        "down",
        "left",
        "right",
        "question_mark",
        "slash",
        "underscore",
        "backslash",
        "@",
    ]
)
_CHARACTERS = frozenset({"space", "question_mark", "slash", "underscore", "backslash"})
"""Characters that Textual has names for."""
_SAME_TO_TERMINALS = {"ctrl+i": "tab", "ctrl+m": "enter", "ctrl+[": "escape"}
"""Keys that most terminals send as another one."""
_TYPED_IN = frozenset({"app", "composer", "editor"})
"""The scopes in which a character alone is typed."""
_FUNCTION = re.compile(r"f([1-9]|1\d|2[0-4])\Z")


class KeymapError(Exception):
    """The user's keys cannot be used; the message says which, why, and what to write instead."""


@dataclass(frozen=True, slots=True)
class OwnKeys:
    """The table of keys as the user has it; ``vi``: whether the composer has the modes of vi."""

    scopes: tuple[Scope, ...]
    vi: bool = False


def own_keys(scopes: Sequence[Scope], table: Mapping[str, Any]) -> OwnKeys:
    """``scopes`` with the preset and the keys that ``table`` asks for. Raises KeymapError."""
    name = table.get("preset", "default")
    if name not in PRESETS:
        raise KeymapError(f"[keymap] preset must be one of {', '.join(PRESETS)}, not {name!r}")
    preset = _preset(name)
    vi = bool(preset.pop("vi", False))
    rest = {key: value for key, value in table.items() if key != "preset"}
    changed = _laid_over(_laid_over(tuple(scopes), preset), rest)
    _check(changed, scopes)
    return OwnKeys(changed, vi)


def _preset(name: str) -> dict[str, Any]:
    if name == "default":
        return {}
    return tomllib.loads(Path(__file__).with_name("presets").joinpath(f"{name}.toml").read_text("utf-8"))


def _laid_over(scopes: tuple[Scope, ...], table: Mapping[str, Any]) -> tuple[Scope, ...]:
    known = {scope.name: scope for scope in scopes if scope.name not in _FIXED}
    for name, keys in table.items():
        if name not in known:
            raise KeymapError(f"[keymap] has no {name!r}; it has preset, {', '.join(known)}")
        if not isinstance(keys, Mapping):
            raise KeymapError(f"[keymap.{name}] must be a table of actions and keys")
        known[name] = _with_keys(known[name], keys)
    return tuple(known.get(scope.name, scope) for scope in scopes)


def _with_keys(scope: Scope, table: Mapping[str, Any]) -> Scope:
    entries = list(scope.keys)
    actions = [entry.action for entry in entries]
    for action, value in table.items():
        where = f"[keymap.{scope.name}] {action}"
        keys = tuple(_key(each, where) for each in _listed(value, where))
        if scope.name in _TYPED_IN and (typed := next((key for key in keys if _is_typed(key)), None)):
            raise KeymapError(f"{where}: {typed!r} types a character there; hold Ctrl or Alt with it")
        if action in actions:
            at = actions.index(action)
            entries[at] = replace(entries[at], keys=keys)
        elif action in MOVES and scope.name in ("composer", "editor"):
            entries.append(Key(keys, action, action.replace("_", " ")))
        else:
            from session.base.text.wording import spelled_like

            like = spelled_like(action, actions, 1)
            meant = f"; did you mean {like[0]!r}?" if like else f"; it has {', '.join(sorted(actions))}"
            raise KeymapError(f"{where}: there is no such action{meant}")
    return replace(scope, keys=tuple(entries))


def _listed(value: Any, where: str) -> list[str]:
    given = [value] if isinstance(value, str) else value
    if not isinstance(given, list) or not all(isinstance(each, str) and each for each in given):
        raise KeymapError(f'{where} must be a key, or a list of keys, such as ["f5", "ctrl+t"]')
    return given


def _key(written: str, where: str) -> str:
    """The key by Textual's name. Raises KeymapError for one that no terminal sends."""
    text = written if len(written) == 1 else written.replace("-", "+").strip()
    *held, pressed = [text] if len(text) == 1 else text.split("+")
    held = [each.lower() for each in held]
    name = pressed if len(pressed) == 1 and pressed.isupper() and not held else pressed.lower()
    name = _OTHER_NAMES.get(name, name)
    single = len(name) == 1 and name.isprintable()
    if not (single or name in _NAMED or _FUNCTION.match(name)) or not _HELD.issuperset(held):
        raise KeymapError(f'{where}: {written!r} is not a key; write "f5", "ctrl+t", "shift+tab" or "?"')
    key = "+".join([*sorted(held, key=["ctrl", "alt", "shift", "super"].index), name])
    if same := _SAME_TO_TERMINALS.get(key):
        raise KeymapError(f"{where}: most terminals send {same!r} for {written!r}; choose another key")
    return key


def _is_typed(key: str) -> bool:
    """Whether a key puts a character into a text."""
    pressed = key.removeprefix("shift+")
    return len(pressed) == 1 or pressed in _CHARACTERS


def _check(scopes: Sequence[Scope], before: Sequence[Scope]) -> None:
    """Raise KeymapError for a key with two meanings, and for an action that must have a key and has none."""
    usual = {(scope.name, key) for scope in before for entry in scope.keys for key in entry.keys}
    app = next(scope for scope in scopes if scope.name == "app")
    anywhere = {key: entry.action for entry in app.keys for key in entry.keys}
    for scope in scopes:
        has: dict[str, str] = {}
        for entry in scope.keys:
            for key in entry.keys:
                taken = has.setdefault(key, entry.action)
                if taken != entry.action:
                    raise KeymapError(_conflict(scope.name, key, taken, scope.name, entry.action))
                if scope.name in _COVERED and key in anywhere and (scope.name, key) not in usual:
                    raise KeymapError(_conflict("app", key, anywhere[key], scope.name, entry.action))
                if scope.name in _COVERED and key in anywhere and ("app", key) not in usual:
                    raise KeymapError(_conflict(scope.name, key, entry.action, "app", anywhere[key]))
    for entry in app.keys:
        if entry.action in NEEDED and not entry.keys:
            raise KeymapError(f"[keymap.app] {entry.action} needs a key")


def _conflict(first: str, key: str, action: str, second: str, other: str) -> str:
    return (
        f"[keymap]: {key} would be both {action} [keymap.{first}] and {other} [keymap.{second}]; "
        "give one of them another key, or [] for none"
    )
