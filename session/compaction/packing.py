"""Making the dialogue fit: which turns stay whole, what of the summary has room, and whether it pays.

All sums are exact: every part is a block, whose counts add up (``context.text.tokens``). The user's words
weigh most. What goes first is the words of old answers; a message of the user's goes last, the newest of the
older ones before the oldest, and which ones went is said to the model and to the user.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from context.text.tokens import as_block
from session.compaction.proposal import with_proposal
from session.compaction.rules import code_blocks, summarize
from session.compaction.summary import remembered_block
from session.compaction.writing import Count, Written, spans, write_summary
from session.events import DialogueCompacted
from session.memory.past_turns import PastTurn, PastTurns

HEADING = "## Earlier in the conversation"
"""What stands before a text that would otherwise not begin as a block does."""
LEAST_GAIN = 0.15
"""Share of its tokens that a compaction must save to be accepted, where there was room without it."""
_TAIL = 0.5
"""Share of the room that the newest turns may take, whole."""


@dataclass(frozen=True, slots=True)
class Room:
    """Tokens for the dialogue in a window: ``limit`` is what there is, ``target`` is aimed at when
    compacting, so that some turns can follow before it has to be done again."""

    limit: int
    target: int


@dataclass(frozen=True, slots=True)
class History:
    """The dialogue as a window that starts afresh is given it: blocks, oldest first, and their tokens.
    ``made`` is a compaction that was made for it, and has to be told."""

    pieces: tuple[str, ...]
    tokens: int
    made: DialogueCompacted | None = None


def room_in(budget: int, needed: int) -> Room:
    """The room for the dialogue in a window of ``budget`` tokens, of which ``needed`` are spoken for
    (instructions, tools, the request). The window gives history at least a third of the rest.
    """
    third = max(0, budget - needed) // 3
    limit = min(third, max(budget // 5, 3_000))
    return Room(limit, min(limit * 6 // 10, max(budget // 10, 2_000)))


def history(past: PastTurns, room: Room, count: Count, *, full: bool) -> History:
    """The dialogue in at most ``room.limit`` tokens, compacted only where that pays.

    ``full`` says that the window ran full: then it is compacted above the target already.
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
    """The dialogue with its older turns as a summary, at most ``room.target`` tokens where that can be,
    else at most ``room.limit``; None where nothing can be made shorter.

    ``most_whole`` bounds how many of the newest turns stay whole.
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
        # The user's words weigh more than an answer's.
        tail = tail[(len(tail) + 1) // 2 :]
        made = _with_tail(past, tail, remembered, room, count)
    return made.history


@dataclass(frozen=True, slots=True)
class _Made:
    history: History
    left_out: bool


def _with_tail(past: PastTurns, tail: list[str], remembered: str, room: Room, count: Count) -> _Made:
    """The dialogue with the turns before ``tail`` as a summary; whether messages had no room."""
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
    """The newest turns as plain history, as many as fit."""
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
