"""Completes what is typed by what a session has: the files and names of its project, its commands, and the
arguments that a command can have here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tui.front.slash.completion import Candidates, Completer, Kind, fitting, typed
from tui.front.slash.table import slashes

if TYPE_CHECKING:
    from session.session import Session


def completer(session: Session) -> Completer:
    """A completer for the files and names of the project of ``session``, and for its commands."""

    def complete(before: str) -> Candidates | None:
        now = typed(before)
        if now is None:
            return None
        if now.kind is Kind.FILE:
            edited = set(session.hunks.undoable.landed.values())
            found = [(text.removeprefix("@"), told) for text, told in session.context.complete(now.word)]
            found.sort(key=lambda each: each[0] not in edited)  # what was edited in this session first
            return Candidates(now.word, [text for text, _ in found], [told for _, told in found])
        if now.kind is Kind.COMMAND:
            fit = [slash for slash in slashes() if slash.name.startswith(now.word)]
            return Candidates(now.word, [slash.name for slash in fit], [slash.help for slash in fit])
        texts = fitting(now.word, values(session, now.command))
        return Candidates(now.word, texts, [value_told(session, now.command, each) for each in texts])

    return complete


def prefetch_models(session: Session, draft: str) -> None:
    """Ask the server for its models early, so that they are there when Tab needs them."""
    now = typed(draft)
    if now is not None and now.command == "model":
        session.models.served.names()


def values(session: Session, name: str) -> tuple[str, ...]:
    """The possible arguments of the command ``name``; empty where they are not a fixed set."""
    slash = next((each for each in slashes() if each.name == name), None)
    match slash.completes if slash is not None else "":
        case "models":
            known: Sequence[str] = session.models.served.names()
        case "efforts":
            known = session.models.efforts
        case "tiers":
            known = ["on" if tier == "fast" else tier for tier in session.models.tiers if tier]
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


def value_told(session: Session, name: str, value: str) -> str:
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
