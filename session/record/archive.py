"""Past sessions as their turns, read from their journals: written as Markdown, and searched for text.

A document has prompts as quotes, answers as they are, edits and calls as list items. A search looks in
prompts, answers, and the lines about edits and calls.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from session.base.events import (
    HunkDropped,
    HunkLanded,
    HunkOpened,
    HunkRedone,
    HunkRefused,
    HunkUndone,
    PromptSubmitted,
    TextDelta,
    ToolEnded,
    TurnEnded,
    TurnStarted,
    Usage,
)
from session.base.text.pieces import Pieces
from session.base.text.wording import line_range
from session.record.journal.reading import last_number, read_event, read_records, time_of


@dataclass(frozen=True, slots=True)
class Part:
    """A part of an answer: text, or (a ``step``) the line that tells of an edit or a tool call."""

    text: Pieces
    step: bool = False


@dataclass(slots=True)
class ToldTurn:
    """One turn as it was told; ``at`` is in seconds since 1970."""

    turn: str
    prompt: str
    at: float
    model: str = ""
    parts: list[Part] = field(default_factory=list)
    """The answer, its edits and its calls in their order."""
    edits: list[dict[str, Any]] = field(default_factory=list)
    open: list[str] = field(default_factory=list)
    """The hunks that had begun, and have not ended yet."""
    calls: list[str] = field(default_factory=list)
    status: str = ""
    message: str = ""
    usage: dict[str, Any] | None = None

    def say(self, text: str) -> None:
        """Add text of the answer."""
        if not self.parts or self.parts[-1].step:
            self.parts.append(Part(Pieces()))
        self.parts[-1].text.append(text)

    def do(self, line: str) -> None:
        """Add a line about an edit or a call."""
        self.parts.append(Part(Pieces(), step=True))
        self.parts[-1].text.append(line)

    def as_json(self) -> dict[str, Any]:
        """The turn as JSON values."""
        return {
            "turn": self.turn,
            "at": self.at,
            "model": self.model,
            "prompt": self.prompt,
            "answer": "".join(part.text.text() for part in self.parts if not part.step),
            "edits": self.edits,
            "calls": self.calls,
            "status": self.status,
            **({"message": self.message} if self.message else {}),
            **({"usage": self.usage} if self.usage is not None else {}),
        }


def read_turns(file: Path) -> Iterator[ToldTurn]:
    """The turns of a journal, oldest first. Raises StoreError when it cannot be read."""
    current: ToldTurn | None = None
    last = 0
    for record in read_records(file):
        event = read_event(record)
        number = last_number((getattr(event, "turn", ""),), "t")
        # Without its prompt, whose record may be damaged, a turn begins with the first that is told of it.
        if isinstance(event, PromptSubmitted) or number > last:
            if current is not None:
                yield current
            prompt = event.text if isinstance(event, PromptSubmitted) else ""
            current = ToldTurn(getattr(event, "turn", ""), prompt, time_of(record) or 0.0)
        last = max(last, number)
        if current is not None and not isinstance(event, PromptSubmitted):
            _take(current, event)
    if current is not None:
        yield current


def _take(turn: ToldTurn, event: object) -> None:
    match event:
        case HunkOpened(hunk=hunk):
            turn.open.append(hunk)
        case HunkLanded(hunk=hunk) | HunkRefused(hunk=hunk) | HunkDropped(hunk=hunk) if hunk in turn.open:
            turn.open.remove(hunk)
        case _:
            pass
    match event:
        case TurnStarted(model=model):
            turn.model = model
        case TextDelta(text=text):
            turn.say(text)
        case HunkLanded(hunk=hunk, path=path, start=start, end=end):
            turn.edits.append({"hunk": hunk, "path": event.moved_to or path, "status": "landed"})
            turn.do(f"{hunk} landed {event.moved_to or path}{line_range(start, end)}")
        case HunkRefused(hunk=hunk, path=path, message=message):
            turn.edits.append({"hunk": hunk, "path": path, "status": "refused", "message": message})
            turn.do(f"{' '.join(each for each in (hunk, 'refused', path) if each)}: {message}")
        case HunkDropped(hunk=hunk, path=path):
            turn.edits.append({"hunk": hunk, "path": path, "status": "dropped"})
            turn.do(f"{hunk} not received {path}")
        case HunkUndone(hunk=hunk, place=path) | HunkRedone(hunk=hunk, place=path):
            status = "undone" if isinstance(event, HunkUndone) else "redone"
            turn.edits.append({"hunk": hunk, "path": path, "status": status})
            turn.do(f"{hunk} {status} {path}")
        case ToolEnded(line=line):
            turn.calls.append(line)
            turn.do(line)
        case Usage():
            turn.usage = {
                "input_tokens": event.input_tokens,
                "output_tokens": event.output_tokens,
                "cost": event.cost,
            }
        case TurnEnded(status=status, message=message):
            turn.status, turn.message = status, message or ""
        case _:
            pass


def markdown(file: Path) -> Iterator[str]:
    """The session of the journal ``file`` as pieces of Markdown. Raises StoreError when it cannot be read."""
    yield f"# Session {file.stem}\n"
    for turn in read_turns(file):
        yield from _turn(turn)


def _turn(turn: ToldTurn) -> Iterator[str]:
    when = time.strftime("%Y-%m-%d %H:%M", time.localtime(turn.at)) if turn.at else ""
    about = " · ".join(part for part in (turn.turn, when, turn.model) if part)
    yield f"\n## {about}\n\n"
    yield "".join(f"> {line}".rstrip() + "\n" for line in turn.prompt.strip("\n").split("\n"))
    items = False
    for part in turn.parts:
        text = part.text.text().strip("\n")
        if part.step:
            yield ("- " if items else "\n- ") + text.replace("\n", " ") + "\n"
        elif text.strip():
            yield f"\n{text}\n"
        items = part.step
    if turn.status != "completed":
        why = f": {turn.message}" if turn.message else ""
        yield f"\n*This turn {f'was {turn.status}' if turn.status else 'did not end'}{why}.*\n"


AROUND = 60
"""Characters that are shown on each side of what was found."""


@dataclass(frozen=True, slots=True)
class Found:
    """A line of a session in which the text is: ``who`` is ``you`` for a prompt, else ``model``."""

    session: str
    turn: str
    who: str
    line: str


def search_session(file: Path, wanted: str) -> Iterator[Found]:
    """Each line of a session that holds ``wanted``, letters of either case, oldest first.

    Raises StoreError when the journal cannot be read.
    """
    folded = wanted.casefold()
    for turn in read_turns(file):
        for who, text in _texts(turn):
            for line in text.split("\n"):
                if folded in line.casefold():
                    yield Found(file.stem, turn.turn, who, _shown(line.strip(), folded))


def _texts(turn: ToldTurn) -> Iterator[tuple[str, str]]:
    yield "you", turn.prompt
    for part in turn.parts:
        yield "model", part.text.text()


def _shown(line: str, folded: str) -> str:
    """The line, or the part around what was found in a long one."""
    at = max(0, line.casefold().find(folded))
    start, end = max(0, at - AROUND), at + len(folded) + AROUND
    return ("…" if start else "") + line[start:end] + ("…" if end < len(line) else "")
