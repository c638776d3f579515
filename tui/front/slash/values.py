"""The arguments that a command can have here: what Tab completes them to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tui.front.slash.table import slashes

if TYPE_CHECKING:
    from tui.front.port import SessionPort


def values(session: SessionPort, name: str) -> tuple[str, ...]:
    """The possible arguments of the command ``name``; empty where they are not a fixed set."""
    slash = next((each for each in slashes() if each.name == name), None)
    match slash.completes if slash is not None else "":
        case "models":
            known: Sequence[str] = session.models.served.names()
        case "efforts":
            known = session.models.efforts
        case "locks":
            known = session.locks.known
        case "pins":
            known = session.context.pinned
        case "removals":
            known = session.context.removed
        case "themes":
            from themes.loader import theme_names

            known = theme_names()
        case "landed":
            known = list(reversed(session.hunks.undoable.landed))
        case "undone":
            known = list(reversed(session.hunks.undoable.undone))
        case "remembered":
            known = [str(number) for number in session.compaction.lines]
        case _:
            known = ()
    return (*known, *(slash.words if slash is not None else ()))


def value_told(session: SessionPort, name: str, value: str) -> str:
    """A detail that tells ``value`` from the other arguments of the command ``name``; may be empty."""
    match name:
        case "model":
            return session.models.served.told(value)
        case "undo":
            return session.hunks.undoable.landed.get(value, "")
        case "redo":
            return session.hunks.undoable.undone.get(value, "")
        case "forget":
            return session.compaction.line(int(value)) if value.isdecimal() else ""
        case _:
            return ""
