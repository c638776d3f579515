"""Writes a summary into a given number of tokens: the user's messages first, then the other lines."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from session.turn.compaction.summary import (
    MESSAGES_HEADING,
    Entry,
    Kind,
    Message,
    Section,
    Summary,
    last_words_block,
)

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
