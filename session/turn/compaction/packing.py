"""Fits the dialogue into its room: decides which turns stay whole, and whether a compaction pays.

All sums are exact, because every part is a block, whose counts add up (``context.text.tokens``). The words
of old answers are left out first. The user's messages are left out last, newer ones before the oldest, and
the model and the user are told which ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from context.text.tokens import as_block
from session.base.events import DialogueCompacted
from session.turn.compaction.proposal import with_proposal
from session.turn.compaction.rules import code_blocks, summarize
from session.turn.compaction.summary import remembered_block
from session.turn.compaction.writing import Count, Written, spans, write_summary
from session.turn.memory.past_turns import PastTurn, PastTurns

HEADING = "## Earlier in the conversation"
"""The heading of a past turn that is shown whole. A block has to begin with a heading."""
LEAST_GAIN = 0.15
"""Share of the tokens that a compaction must save to be used, if the dialogue would fit without it."""
_TAIL = 0.5
"""Share of the room that the newest turns may take as they are."""


@dataclass(frozen=True, slots=True)
class Room:
    """The room for the dialogue in a window, in tokens.

    ``limit`` is the most that it may take. A compaction aims at ``target``, so that some turns can follow
    before the next compaction.
    """

    limit: int
    target: int


@dataclass(frozen=True, slots=True)
class History:
    """The dialogue for a window that starts afresh: blocks, oldest first, and their tokens.

    ``made`` is the compaction that was made for it, to be published; None if there was none.
    """

    pieces: tuple[str, ...]
    tokens: int
    made: DialogueCompacted | None = None


def room_in(budget: int, needed: int) -> Room:
    """The room for the dialogue in a window of ``budget`` tokens. ``needed`` of them are for the
    instructions, the tools and the request; the dialogue gets up to a third of the rest.
    """
    third = max(0, budget - needed) // 3
    limit = min(third, max(budget // 5, 3_000))
    return Room(limit, min(limit * 6 // 10, max(budget // 10, 2_000)))


def history(past: PastTurns, room: Room, count: Count, *, full: bool) -> History:
    """The dialogue in at most ``room.limit`` tokens, compacted only if that pays.

    ``full`` says that the window was full: then the dialogue is compacted if it exceeds ``room.target``.
    """
    now = as_it_stands(past, count)
    if now.tokens <= (room.target if full else room.limit):
        return now
    made = compact(past, room, count)
    if made is None:
        return now
    pays = made.tokens <= now.tokens * (1 - LEAST_GAIN)
    return made if pays or (now.tokens > room.limit and made.tokens < now.tokens) else now


def as_it_stands(past: PastTurns, count: Count) -> History:
    """The dialogue without a new compaction: the last one, as it was, and the turns since."""
    pieces = [remembered_block(past.remembered)] if past.remembered else []
    turns: Sequence[PastTurn] = past.turns
    if past.compacted is not None:
        pieces.append(past.compacted.text)
        turns = _after(past.turns, past.compacted.through)
    pieces += [_block(turn) for turn in turns]
    return History(tuple(pieces), sum(count(piece) for piece in pieces))


def compact(past: PastTurns, room: Room, count: Count, *, most_whole: int | None = None) -> History | None:
    """The dialogue with a summary in place of its older turns; None if there are no older turns.

    It takes at most ``room.target`` tokens if that is possible, and else at most ``room.limit``. At most
    ``most_whole`` of the newest turns stay whole.
    """
    if not past.turns:
        return None
    remembered = remembered_block(past.remembered)
    fixed = count(remembered)
    tail = _tail(past.turns, int((room.target - fixed) * _TAIL), count, most_whole)
    if len(tail) == len(past.turns):
        return None
    made = _with_tail(past, tail, remembered, room, count)
    while made.left_out and len(tail) > 1:
        # The user's older messages matter more than whole answers.
        tail = tail[(len(tail) + 1) // 2 :]
        made = _with_tail(past, tail, remembered, room, count)
    return made.history


@dataclass(frozen=True, slots=True)
class _Made:
    """A compacted dialogue. ``left_out`` says that there was no room for some of the user's messages."""

    history: History
    left_out: bool


def _with_tail(past: PastTurns, tail: list[str], remembered: str, room: Room, count: Count) -> _Made:
    """The dialogue with a summary in place of the turns before ``tail``."""
    older = past.turns[: len(past.turns) - len(tail)]
    summary = with_proposal(summarize(older, whole_last=bool(tail)), past.proposed, older)
    rest = count(remembered) + sum(count(text) for text in tail)
    written = write_summary(summary, room.target - rest, room.limit - rest, count)
    pieces = tuple(piece for piece in (remembered, written.text, *tail) if piece)
    after = sum(count(piece) for piece in pieces)
    made = DialogueCompacted(
        through=summary.through,
        turns=summary.turns,
        before=as_it_stands(past, count).tokens,
        after=after,
        by=summary.by,
        kept=_kept(past, written, len(tail)),
        dropped=_dropped(older, written, bool(summary.last_words)),
        text=written.text,
    )
    return _Made(History(pieces, after, made), bool(written.left_out))


def _tail(turns: Sequence[PastTurn], room: int, count: Count, most: int | None) -> list[str]:
    """The newest turns as plain history: as many as fit into ``room`` tokens, and at most ``most``."""
    kept: list[str] = []
    for turn in reversed(turns):
        text = _block(turn)
        room -= count(text)
        if room < 0 or len(kept) == most:
            break
        kept.append(text)
    return kept[::-1]


def _block(turn: PastTurn) -> str:
    return as_block(turn.text(), HEADING)


def _after(turns: Sequence[PastTurn], through: str) -> Sequence[PastTurn]:
    names = [turn.turn for turn in turns]
    return turns[names.index(through) + 1 :] if through in names else turns


def _kept(past: PastTurns, written: Written, whole: int) -> tuple[str, ...]:
    kept = [f"{_many(written.messages, 'message')} of yours word for word"]
    if written.lines:
        kept.append(f"{_many(written.lines, 'line')} of the ledger")
    if whole:
        kept.append("the last turn whole" if whole == 1 else f"the last {whole} turns whole")
    if past.remembered:
        kept.append(f"{_many(len(past.remembered), 'remembered line')}")
    return tuple(kept)


def _dropped(older: Sequence[PastTurn], written: Written, ending: bool) -> tuple[str, ...]:
    answers = sum(bool(turn.said.strip()) for turn in older)
    blocks = sum(code_blocks(turn.said) for turn in older)
    dropped = []
    if answers:
        but = (
            " (but for the end of the last)"
            if ending and "\n### How your last answer" in written.text
            else ""
        )
        dropped.append(f"the words of {_many(answers, 'answer')}{but}")
    if blocks:
        dropped.append(f"{_many(blocks, 'code block')} in them (code is shown from disk)")
    if written.left_out:
        turns = spans([message.turn for message, _ in written.left_out], [turn.turn for turn in older])
        tokens = sum(cost for _, cost in written.left_out)
        messages = _many(len(written.left_out), "message")
        dropped.append(f"{messages} of yours, for lack of room: {turns} ({tokens:,} tokens)")
    if written.lines_left_out > 0:
        dropped.append(f"{_many(written.lines_left_out, 'line')} of the ledger, for lack of room")
    return tuple(dropped)


def _many(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
