"""Writes a session as Markdown: prompts as quotes, answers as they are, edits and calls as list items."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

from session.record.past_turns import ToldTurn, read_turns


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
