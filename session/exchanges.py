"""The dialogue as plain history: what was asked, what was answered, what became of the edits.

Folded from events, live or read from a journal alike. It stands in a window that is started afresh
(a resumed session, a full window) in place of the items themselves: words are kept, code is not,
since code is shown from disk as it is now.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from session.events import (
    Event,
    HunkDropped,
    HunkLanded,
    HunkRedone,
    HunkRefused,
    HunkUndone,
    PromptSubmitted,
    TextDelta,
    TurnEnded,
)


@dataclass(slots=True)
class _Exchange:
    prompt: str
    said: list[str] = field(default_factory=list)
    edits: list[str] = field(default_factory=list)
    ended: str = ""

    def text(self) -> str:
        parts = [f"The developer asked:\n{self.prompt.strip()}\n"]
        said = "".join(self.said).strip()
        if said:
            parts.append(f"You answered:\n{said}\n")
        if self.edits:
            parts.append("Your edits:\n" + "".join(f"- {line}\n" for line in self.edits))
        if self.ended:
            parts.append(f"{self.ended}\n")
        return "".join(parts)


class Exchanges:
    """The turns so far, oldest first."""

    def __init__(self) -> None:
        self._turns: dict[str, _Exchange] = {}

    def take(self, event: Event) -> None:
        """Fold ``event`` in; most kinds of event are none of its business."""
        match event:
            case PromptSubmitted(turn=turn, text=text):
                self._turns[turn] = _Exchange(text)
            case TextDelta(turn=turn, text=text):
                self._of(turn).said.append(text)
            case HunkLanded(turn=turn, hunk=hunk, status=status, path=path):
                self._of(turn).edits.append(f"{hunk} {status} {path}")
            case HunkRefused(turn=turn, hunk=hunk, code=code, path=path) if turn:
                self._of(turn).edits.append(f"{hunk} rejected ({code}) {path}")
            case HunkDropped(turn=turn, hunk=hunk, path=path):
                self._of(turn).edits.append(f"{hunk} not_received {path}")
            case HunkUndone(hunk=hunk, path=path):
                self._last().edits.append(f"{hunk} undone_by_user {path}")
            case HunkRedone(hunk=hunk, path=path):
                self._last().edits.append(f"{hunk} landed again by the developer {path}")
            case TurnEnded(turn=turn, status=status) if status != "completed":
                self._of(turn).ended = f"This answer was {status}."
            case _:
                pass

    def texts(self) -> tuple[str, ...]:
        """One text a turn, for the window's history."""
        return tuple(exchange.text() for exchange in self._turns.values())

    def _of(self, turn: str) -> _Exchange:
        return self._turns.setdefault(turn, _Exchange(""))

    def _last(self) -> _Exchange:
        return self._turns[next(reversed(self._turns))] if self._turns else self._of("")
