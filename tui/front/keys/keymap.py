"""The table of keys, ``keymap.toml``, from which the bindings and the help are made."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from textual.binding import BindingType

UNBOUND = "no key"
"""Shown for an action from which the user took its keys."""


@dataclass(frozen=True, slots=True)
class Key:
    """An entry: its keys by Textual's names, the action they run, and one line of help."""

    keys: tuple[str, ...]
    action: str
    help: str
    harmless: bool = False
    """Whether it only goes somewhere, shows, folds or copies, so that nothing is lost where it is pressed by
    accident."""

    @property
    def shown(self) -> str:
        """The keys as people write them."""
        return ", ".join(_shown(key) for key in self.keys) or UNBOUND


@dataclass(frozen=True, slots=True)
class Scope:
    """A set of keys, and where they work."""

    name: str
    title: str
    keys: tuple[Key, ...]


class _InUse:
    """The table of this process, where the user has keys of their own."""

    scopes: tuple[Scope, ...] | None = None
    vi = False


def use(scopes: tuple[Scope, ...], *, vi: bool) -> None:
    """Use these keys from now on. Textual binds keys when its classes are made, so this comes before the
    screen is imported; ``vi``: the composer has the modes of vi."""
    _InUse.scopes, _InUse.vi = scopes, vi


def vi_keys() -> bool:
    """Whether the composer has the modes of vi."""
    return _InUse.vi


def keymap() -> tuple[Scope, ...]:
    """All scopes, in the order the help shows them."""
    return _InUse.scopes if _InUse.scopes is not None else default_keymap()


@lru_cache(maxsize=1)
def default_keymap() -> tuple[Scope, ...]:
    """The table as it is in ``keymap.toml``."""
    data = tomllib.loads(Path(__file__).with_name("keymap.toml").read_text("utf-8"))
    return tuple(
        Scope(
            scope["name"],
            scope["title"],
            tuple(
                Key(tuple(key["keys"].split(",")), key["action"], key["help"], key.get("harmless", False))
                for key in scope["keys"]
            ),
        )
        for scope in data["scope"]
    )


def scope(name: str) -> Scope:
    """The scope called ``name``. Raises KeyError when there is none."""
    for each in keymap():
        if each.name == name:
            return each
    raise KeyError(name)


def is_alt_letter(key: str) -> bool:
    """Whether a key is Alt and a letter: many terminals send the same for Esc and that letter."""
    held, _, letter = key.rpartition("+")
    return held == "alt" and len(letter) == 1


def harmless_letters() -> frozenset[str]:
    """The letters whose Alt+letter does no harm anywhere: terminals may send them for Esc and the letter."""
    found: dict[str, bool] = {}
    for each in keymap():
        for entry in each.keys:
            for key in entry.keys:
                if is_alt_letter(key):
                    found[key[-1]] = entry.harmless and found.get(key[-1], True)
    return frozenset(letter for letter, harmless in found.items() if harmless)


def bindings(name: str) -> list[BindingType]:
    """The bindings of one scope. Those of ``app`` work wherever the focus is."""
    # Commands without a screen name keys, too, and have no need of Textual.
    from textual.binding import Binding

    return [
        Binding(key, textual_action(name, entry.action), entry.help, show=False, priority=name == "app")
        for entry in scope(name).keys
        for key in entry.keys
    ]


def textual_action(scope_name: str, action: str) -> str:
    """The action as Textual runs it: those of the app are all run by ``SparkApp.action_do``."""
    of_app = action.removeprefix("app.")
    if of_app == action and scope_name != "app":
        return action
    name, _, arguments = of_app.removesuffix(")").partition("(")
    return f"app.do({name!r}, {arguments})" if arguments else f"app.do({name!r})"


def shown(action: str, where: str = "app") -> str:
    """The first key of ``action`` as people write it, for hints on the screen."""
    for key in scope(where).keys:
        if key.action == action:
            return _shown(key.keys[0]) if key.keys else UNBOUND
    raise KeyError(action)


def key_line(where: str, *named: tuple[str, str]) -> str:
    """The keys of a screen as its foot tells them, ``y keep · n reject``: each action of the scope ``where``,
    and the word for it."""
    return " · ".join(f"{shown(action, where)} {word}" for action, word in named)


def unfolds() -> str:
    """The key that shows the rest of what the chat shows the beginning or the end of."""
    return key_line("chat", ("read('fold')", "unfolds"))


def save_first() -> str:
    """What the user has to do before the session can be left for another one."""
    return f"save the file in the editor first ({shown('save')})"


_NAMES = {
    "underscore": "_",
    "escape": "Esc",
    "question_mark": "?",
    "backslash": "\\",
    "left_square_bracket": "[",
    "right_square_bracket": "]",
    "left_curly_bracket": "{",
    "right_curly_bracket": "}",
    "dollar_sign": "$",
    "pageup": "PgUp",
    "pagedown": "PgDn",
    "slash": "/",
    "@": "Space",
    "left": "←",
    "right": "→",
    "up": "↑",
    "down": "↓",
}


def _shown(key: str) -> str:
    *held, pressed = key.split("+")
    if held and len(pressed) == 1:
        pressed = pressed.upper()
    return "+".join(
        _NAMES.get(part) or (part if len(part) == 1 else part.capitalize()) for part in (*held, pressed)
    )
