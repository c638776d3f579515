"""The hunks and tool calls that need the user's OK, in the order in which they came."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

from session.base.events import (
    Event,
    HunkDropped,
    HunkHeld,
    HunkLanded,
    HunkRefused,
    ToolEnded,
    ToolHeld,
    TurnEnded,
)

Verdict = Literal[
    "apply", "reject", "apply all", "session", "discard", "keep", "mine", "theirs", "both", "edit", "later"
]
"""An answer in the bar. The first three are for what is held, the others where a question offers them."""

BARE_ANSWERS: dict[str, Verdict] = {
    **dict.fromkeys(("y", "yes", "ok"), "apply"),
    **dict.fromkeys(("n", "no"), "reject"),
    **dict.fromkeys(("a", "all", "always"), "apply all"),
    **dict.fromkeys(("s", "session"), "session"),
    "later": "later",
}
"""What a line means that is nothing but an answer."""


def is_bare_answer(text: str) -> bool:
    """Whether a line is no prompt while something needs the user's OK."""
    return text.strip().lower() in BARE_ANSWERS


class TakesAnswers(Protocol):
    """The session, which is told what the user agreed to."""

    def answer(self, held: str, *, land: bool, rest: bool = False, scope: str = "") -> bool:
        """Allow or decline what is held; see :meth:`session.session.Session.answer`."""
        ...


@dataclass(frozen=True, slots=True)
class HeldItem:
    """A held hunk or tool call. ``name`` is the id that the session knows it by, ``label`` what the user
    is shown, ``reason`` why it is held, or for a call what would be run."""

    name: str
    label: str
    reason: str
    path: str = ""
    why: tuple[str, ...] = ()
    """What a call is asked about for, and what of it the user never typed, a line each."""
    always: str = ""
    """What a yes for good allows; empty where there is none."""

    @property
    def is_call(self) -> bool:
        """Whether this is a tool call; else it is a hunk."""
        return not self.path


class HeldItems:
    """A queue of held items. The oldest blocks the turn, so a plain answer is about that one."""

    def __init__(self) -> None:
        self._items: dict[str, HeldItem] = {}

    def __len__(self) -> int:
        return len(self._items)

    @property
    def oldest(self) -> HeldItem | None:
        """The item that a plain answer is about."""
        return next(iter(self._items.values()), None)

    def take(self, event: Event) -> None:
        """Follow one event of the session."""
        match event:
            case HunkHeld(hunk=hunk, path=path, message=message):
                self._items[hunk] = HeldItem(hunk, hunk, message.removeprefix(f"{path} "), path)
            case ToolHeld(call=call, tool=tool, text=text, why=why, always=always):
                lines = (*((why,) if why else ()), *event.sources)
                self._items[call] = HeldItem(call, tool, text, why=lines, always=always)
            case HunkLanded(hunk=name) | HunkRefused(hunk=name) | HunkDropped(hunk=name):
                self._items.pop(name, None)
            case ToolEnded(call=name):
                self._items.pop(name, None)
            case TurnEnded():
                self._items.clear()
            case _:
                pass

    def forget(self, name: str) -> None:
        """``name`` was answered elsewhere."""
        self._items.pop(name, None)

    def answer(self, session: TakesAnswers, verdict: Verdict, name: str = "") -> list[HeldItem]:
        """Give the session the user's verdict on the item called ``name``, or on the oldest.

        Returns the items that were answered; empty when nothing (by that name) is held any more. They
        leave the queue now: what became of them is told by events later, maybe after other answers.
        """
        item = self._items.get(name) if name else self.oldest
        if item is not None and (scope := _scope(item, verdict)):
            del self._items[item.name]
            return [item] if session.answer(item.name, land=True, scope=scope) else []
        if verdict == "apply all":
            return self._apply_all(session)
        if verdict == "session":  # a hunk lands once
            return []
        for item in [self._items[name]] if name in self._items else [] if name else self._all():
            del self._items[item.name]
            if session.answer(item.name, land=verdict == "apply"):
                return [item]
        return []

    def _apply_all(self, session: TakesAnswers) -> list[HeldItem]:
        """Apply what is held now, and have the session hold nothing more in this turn."""
        items = self._all()
        self._items.clear()
        return [item for item in items if session.answer(item.name, land=True, rest=True)] and items

    def _all(self) -> list[HeldItem]:
        return list(self._items.values())


def _scope(item: HeldItem, verdict: Verdict) -> str:
    """For how long a verdict allows calls like ``item``; empty where it is about this one alone."""
    if not item.is_call or verdict not in ("session", "apply all"):
        return ""
    return "session" if verdict == "session" else "always" if item.always else ""
