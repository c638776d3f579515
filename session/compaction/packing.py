"""Making the dialogue fit: which turns stay whole, what of the ledger there is room for, and whether it pays.

All sums are exact: every part is a block, whose counts add up (``context.tokens``). The user's words weigh
most. What goes first is the words of old answers; a message of the user's goes last, the newest of the
older ones before the oldest, and which ones went is said to the model and to the user.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from context.tokens import as_block
from session.compaction.ledger import (
    CONSTRAINTS,
    MESSAGES_HEADING,
    Entry,
    Ledger,
    Message,
    Section,
    last_words_block,
    remembered_block,
)
from session.compaction.proposal import with_proposal
from session.compaction.rules import code_blocks, read_ledger
from session.events import DialogueCompacted
from session.exchanges import Exchange, Past

HEADING = "## Earlier in the conversation"
"""What stands before a text that would otherwise not begin as a block does."""
LEAST_GAIN = 0.15
"""Share of its tokens that a compaction must save to be accepted, where there was room without it."""
_TAIL = 0.5
"""Share of the room that the newest turns may take, whole."""
_FACTS = 0.25
"""Share of the ledger's room that its lines may take while there are messages without room."""
_LONG = 0.25
"""Share of the ledger's room from which on a message waits until the others have found theirs."""

_NAMING = 100
"""Tokens that the line about messages without room may take, …"""
_SPANS = 8
"""… and how many runs of them it names."""

Count = Callable[[str], int]
"""Exact tokens of a text."""


@dataclass(frozen=True, slots=True)
class Room:
    """Tokens for the dialogue in a window: ``limit`` is never exceeded, ``target`` is aimed at when
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
    limit = min(third, max(budget * 15 // 100, 3_000))
    return Room(limit, min(limit * 7 // 10, max(budget // 10, 2_000)))


def history(past: Past, room: Room, count: Count, *, full: bool) -> History:
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


def as_it_stands(past: Past, count: Count) -> History:
    """The dialogue without a new compaction: the last one, as it was, and the turns since."""
    pieces = [remembered_block(past.remembered)] if past.remembered else []
    turns: Sequence[Exchange] = past.turns
    if past.compacted is not None:
        pieces.append(past.compacted.text)
        turns = _after(past.turns, past.compacted.through)
    pieces += [_block(turn) for turn in turns]
    return History(tuple(pieces), sum(count(piece) for piece in pieces))


def compact(past: Past, room: Room, count: Count, *, most_whole: int | None = None) -> History | None:
    """The dialogue with its older turns as a ledger, at most ``room.target`` tokens where that can be,
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


def _with_tail(past: Past, tail: list[str], remembered: str, room: Room, count: Count) -> _Made:
    """The dialogue with the turns before ``tail`` as a ledger; whether messages had no room."""
    older = past.turns[: len(past.turns) - len(tail)]
    ledger = with_proposal(read_ledger(older, whole_last=bool(tail)), past.proposed, older)
    rest = count(remembered) + sum(count(text) for text in tail)
    written = _write(ledger, room.target - rest, room.limit - rest, count)
    pieces = tuple(piece for piece in (remembered, written.text, *tail) if piece)
    after = sum(count(piece) for piece in pieces)
    made = DialogueCompacted(
        through=ledger.through,
        turns=ledger.turns,
        before=as_it_stands(past, count).tokens,
        after=after,
        by=ledger.by,
        kept=_kept(past, written, len(tail)),
        dropped=_dropped(older, written, bool(ledger.last_words)),
        text=written.text,
    )
    return _Made(History(pieces, after, made), bool(written.left_out))


@dataclass(frozen=True, slots=True)
class _Written:
    text: str
    messages: int
    left_out: tuple[tuple[Message, int], ...]
    lines: int
    lines_left_out: int


def _write(ledger: Ledger, target: int, limit: int, count: Count) -> _Written:
    """The ledger as text in about ``target`` tokens; the last message may take it up to ``limit``."""
    costs = [count(message.block()) for message in ledger.messages]
    head = count(ledger.head()) + count(MESSAGES_HEADING)
    room = target - head
    taken: set[int] = set()
    if costs and head + costs[-1] + _NAMING <= limit:
        taken.add(len(costs) - 1)
    scarce = sum(costs) > room * (1 - _FACTS)
    if scarce:
        # What is left out has to be named, which takes room as well.
        room -= _NAMING
    _fill(costs, taken, room - (int(room * _FACTS) if scarce else 0))
    sections = (
        _not_repeated(ledger, {ledger.messages[at].turn for at in taken}) if scarce else ledger.sections
    )
    facts, fact_tokens, total = _facts(ledger.goal, sections, room - _cost(costs, taken), count)
    _fill(costs, taken, room - fact_tokens)
    left_out = tuple((ledger.messages[at], costs[at]) for at in range(len(costs)) if at not in taken)
    parts = [ledger.head(), *facts]
    if taken:
        parts += [MESSAGES_HEADING, *(ledger.messages[at].block() for at in sorted(taken))]
    if left_out:
        parts.append(_naming(left_out, [message.turn for message in ledger.messages]))
    if ledger.last_words:
        words = last_words_block(ledger.last_words)
        if sum(count(part) for part in parts) + count(words) <= target:
            parts.append(words)
    lines = sum(part.startswith("- ") for part in facts)
    return _Written("".join(parts), len(taken), left_out, lines, total - lines)


def _cost(costs: list[int], taken: set[int]) -> int:
    return sum(costs[at] for at in taken)


def _not_repeated(ledger: Ledger, whole: set[str]) -> tuple[Section, ...]:
    """The sections without the sentences that stand in messages which are kept whole."""
    sections = []
    for each in ledger.sections:
        section = each
        if each.title == CONSTRAINTS:
            entries = tuple(entry for entry in section.entries if entry.turn not in whole)
            section = Section(f"{CONSTRAINTS}, from messages without room", entries)
        if section.entries:
            sections.append(section)
    return tuple(sections)


def _naming(left_out: tuple[tuple[Message, int], ...], order: Sequence[str]) -> str:
    turns = _spans([message.turn for message, _ in left_out], order)
    return f"Messages left out for lack of room: {turns}. Ask if you need them.\n"


def _spans(names: Sequence[str], order: Sequence[str]) -> str:
    """``names``, in ``order``, with neighbours drawn together."""
    places = [order.index(name) for name in names]
    spans: list[list[int]] = []
    for place in places:
        if spans and place == spans[-1][1] + 1:
            spans[-1][1] = place
        else:
            spans.append([place, place])
    told = [order[first] if first == last else f"{order[first]} to {order[last]}" for first, last in spans]
    return ", ".join(told[:_SPANS]) + (f" and {len(told) - _SPANS} more places" if len(told) > _SPANS else "")


def _fill(costs: list[int], taken: set[int], room: int) -> None:
    """Take messages while there is room, the oldest first, long ones after all others."""
    long = room * _LONG
    spent = _cost(costs, taken)
    for at in sorted(range(len(costs)), key=lambda at: (costs[at] > long, at)):
        if at not in taken and spent + costs[at] <= room:
            taken.add(at)
            spent += costs[at]


def _facts(
    goal: tuple[Entry, ...], sections: Sequence[Section], room: int, count: Count
) -> tuple[list[str], int, int]:
    """The ledger's lines for which there is room, their tokens, and how many lines there were.

    Each section may take half of what the ones before it have left.
    """
    parts: list[str] = []
    spent = total = 0
    listed = [Section("Goal (how it began)", goal), *sections]
    for section in listed:
        total += len(section.entries)
        share = room - spent if section is listed[-1] else (room - spent) // 2
        cost = count(section.heading())
        kept: list[str] = []
        for entry in reversed(section.entries):  # the newest are the likeliest to matter still
            cost += count(entry.block())
            if cost > share:
                break
            kept.append(entry.block())
        if kept:
            parts += [section.heading(), *reversed(kept)]
            spent += sum(count(part) for part in (section.heading(), *kept))
    return parts, spent, total


def _tail(turns: Sequence[Exchange], room: int, count: Count, most: int | None) -> list[str]:
    """The newest turns as plain history, as many as fit."""
    kept: list[str] = []
    for turn in reversed(turns):
        text = _block(turn)
        room -= count(text)
        if room < 0 or len(kept) == most:
            break
        kept.append(text)
    return kept[::-1]


def _block(turn: Exchange) -> str:
    return as_block(turn.text(), HEADING)


def _after(turns: Sequence[Exchange], through: str) -> Sequence[Exchange]:
    names = [turn.turn for turn in turns]
    return turns[names.index(through) + 1 :] if through in names else turns


def _kept(past: Past, written: _Written, whole: int) -> tuple[str, ...]:
    kept = [f"{_many(written.messages, 'message')} of yours word for word"]
    if written.lines:
        kept.append(f"{_many(written.lines, 'line')} of the ledger")
    if whole:
        kept.append("the last turn whole" if whole == 1 else f"the last {whole} turns whole")
    if past.remembered:
        kept.append(f"{_many(len(past.remembered), 'remembered line')}")
    return tuple(kept)


def _dropped(older: Sequence[Exchange], written: _Written, ending: bool) -> tuple[str, ...]:
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
        turns = _spans([message.turn for message, _ in written.left_out], [turn.turn for turn in older])
        tokens = sum(cost for _, cost in written.left_out)
        messages = _many(len(written.left_out), "message")
        dropped.append(f"{messages} of yours, for lack of room: {turns} ({tokens:,} tokens)")
    if written.lines_left_out > 0:
        dropped.append(f"{_many(written.lines_left_out, 'line')} of the ledger, for lack of room")
    return tuple(dropped)


def _many(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
