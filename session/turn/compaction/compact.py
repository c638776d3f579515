"""Fits the dialogue into its room: decides which turns stay whole, and whether a compaction pays.

All sums are exact, because every part is a block, whose counts add up (``context.text.tokens``). The words
of old answers are left out first. The user's messages are left out last, newer ones before the oldest, and
the model and the user are told which ones.

Writes a summary into a given number of tokens: the user's messages first, then the other lines.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from context.text.tokens import as_block
from session.base.events import DialogueCompacted
from session.turn.compaction.proposal import with_proposal
from session.turn.compaction.summary import (
    MESSAGES_HEADING,
    Entry,
    Kind,
    Message,
    Section,
    Summary,
    last_words_block,
    remembered_block,
)
from session.turn.compaction.summary_by_rules import code_blocks, summarize
from session.turn.past_turns import PastTurn, PastTurns

_FACTS = 0.25
"""Share of the summary's room that its lines may take if not all messages have room."""
_NEAR = 0.8
"""Share of the limit up to which the summary may grow beyond its target for the user's messages."""
_LONG = 0.25
"""Share of the summary's room from which on a message is long: the others are placed before it."""
_NAMING = 100
"""Tokens reserved for the line that names the messages without room."""
_SPANS = 8
"""Most runs of neighbouring turns that the line names."""

Count = Callable[[str], int]
"""Counts the tokens of a text exactly."""


@dataclass(frozen=True, slots=True)
class Written:
    """A summary as text. ``left_out`` holds the messages without room, each with its tokens."""

    text: str
    messages: int
    left_out: tuple[tuple[Message, int], ...]
    lines: int
    lines_left_out: int


def write_summary(summary: Summary, target: int, limit: int, count: Count) -> Written:
    """The summary as text in about ``target`` tokens.

    It may grow nearly to ``limit`` for the user's messages, and up to it for the last of them.
    """
    costs = [count(message.block()) for message in summary.messages]
    head = count(summary.head()) + count(MESSAGES_HEADING)
    wanted = int((head + sum(costs)) / (1 - _FACTS))
    target = max(target, min(wanted, int(limit * _NEAR)))
    room = target - head
    taken: set[int] = set()
    if costs and head + costs[-1] + _NAMING <= limit:
        taken.add(len(costs) - 1)
    scarce = sum(costs) > room * (1 - _FACTS)
    if scarce:
        # The line that names the messages without room needs room itself.
        room -= _NAMING
    _fill(costs, taken, room - (int(room * _FACTS) if scarce else 0))
    sections = (
        _not_repeated(summary, {summary.messages[at].turn for at in taken}) if scarce else summary.sections
    )
    facts, fact_tokens, total = _facts(summary.goal, sections, room - _cost(costs, taken), count)
    _fill(costs, taken, room - fact_tokens)
    left_out = tuple((summary.messages[at], costs[at]) for at in range(len(costs)) if at not in taken)
    parts = [summary.head(), *facts]
    if taken:
        parts += [MESSAGES_HEADING, *(summary.messages[at].block() for at in sorted(taken))]
    if left_out:
        parts.append(_naming(left_out, [message.turn for message in summary.messages]))
    if summary.last_words:
        words = last_words_block(summary.last_words)
        if sum(count(part) for part in parts) + count(words) <= target:
            parts.append(words)
    lines = sum(part.startswith("- ") for part in facts)
    return Written("".join(parts), len(taken), left_out, lines, total - lines)


def _cost(costs: list[int], taken: set[int]) -> int:
    return sum(costs[at] for at in taken)


def _not_repeated(summary: Summary, whole: set[str]) -> tuple[Section, ...]:
    """The sections without the sentences of messages that are kept whole."""
    sections = []
    for each in summary.sections:
        section = each
        if each.kind is Kind.CONSTRAINTS and each.entries[0].turn:
            entries = tuple(entry for entry in section.entries if entry.turn not in whole)
            section = Section(each.kind, f"{each.title}, from messages without room", entries)
        if section.entries:
            sections.append(section)
    return tuple(sections)


def _naming(left_out: tuple[tuple[Message, int], ...], order: Sequence[str]) -> str:
    turns = spans([message.turn for message, _ in left_out], order)
    return f"Messages left out for lack of room: {turns}. Ask if you need them.\n"


def spans(names: Sequence[str], order: Sequence[str]) -> str:
    """``names`` in words, with neighbours in ``order`` joined, as in "t1 to t4, t7"."""
    places = [order.index(name) for name in names]
    runs: list[list[int]] = []
    for place in places:
        if runs and place == runs[-1][1] + 1:
            runs[-1][1] = place
        else:
            runs.append([place, place])
    told = [order[first] if first == last else f"{order[first]} to {order[last]}" for first, last in runs]
    return ", ".join(told[:_SPANS]) + (f" and {len(told) - _SPANS} more places" if len(told) > _SPANS else "")


def _fill(costs: list[int], taken: set[int], room: int) -> None:
    """Add messages to ``taken`` while there is room: the oldest first, long ones after all others."""
    long = room * _LONG
    spent = _cost(costs, taken)
    for at in sorted(range(len(costs)), key=lambda at: (costs[at] > long, at)):
        if at not in taken and spent + costs[at] <= room:
            taken.add(at)
            spent += costs[at]


def _facts(
    goal: tuple[Entry, ...], sections: Sequence[Section], room: int, count: Count
) -> tuple[list[str], int, int]:
    """The summary's lines that have room, their tokens, and the number of all lines.

    Each section may take half of the room that the sections before it have left.
    """
    parts: list[str] = []
    spent = total = 0
    listed = [Section(Kind.GOAL, "Goal (how it began)", goal), *sections]
    for section in listed:
        total += len(section.entries)
        share = room - spent if section is listed[-1] else (room - spent) // 2
        cost = count(section.heading())
        kept: list[str] = []
        for entry in reversed(section.entries):  # the newest matter most
            cost += count(entry.block())
            if cost > share:
                break
            kept.append(entry.block())
        if kept:
            parts += [section.heading(), *reversed(kept)]
            spent += sum(count(part) for part in (section.heading(), *kept))
    return parts, spent, total


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
