"""Dialogues as values, for the tests of compaction."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from context.text.tokens import Counter
from session.base.events import DialogueCompacted, LedgerProposed
from session.turn.past_turns import EditFact, PastTurn, PastTurns


@cache
def counter() -> Counter:
    """A counter whose counts are exact."""
    made = Counter()
    made.load()
    return made


def count(text: str) -> int:
    """Exact tokens of ``text``."""
    return counter().count(text)


def turn(
    number: int,
    prompt: str,
    said: str = "",
    *edits: tuple[str, str, str],
    status: str = "completed",
) -> PastTurn:
    """One turn; ``edits`` are (hunk, status, path)."""
    return PastTurn(f"t{number}", prompt, said, tuple(EditFact(*each) for each in edits), status)


def past(
    turns: Sequence[PastTurn],
    remembered: Sequence[str] = (),
    compacted: DialogueCompacted | None = None,
    proposed: LedgerProposed | None = None,
) -> PastTurns:
    """A dialogue in which these lines are remembered, numbered from 1."""
    return PastTurns(tuple(turns), tuple(enumerate(remembered, 1)), compacted, proposed)


def long_dialogue(turns: int, words: int = 120) -> list[PastTurn]:
    """A dialogue whose answers are long and hold code."""
    return [
        turn(
            n,
            f"Request {n}: rename helper_{n} in part{n}.py. Never touch tests/part{n}.",
            f"I'll use a table for part{n}.\n```python\nsecret_code_{n} = {n}\n```\n"
            + "more words here " * words,
            (f"h{n}", "applied", f"part{n}.py"),
        )
        for n in range(1, turns + 1)
    ]
