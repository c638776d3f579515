"""Measures what compaction costs and keeps.

Run ``python -m tests.bench.compaction_bench [JOURNAL...] [--tokens 100000]``.

Without journals a long session is made up from a fixed seed: requests, answers with code, edits that land
and are refused, pasted failures. It is replayed turn by turn in a window of the given budget, with the map's
share standing in for the project: when the window runs full the dialogue is compacted as a session does it.
Prints the tokens before and after each compaction, the time it took, what share of the user's messages was
kept word for word, and how much of the next turn's input is prefix that the server has. Asserts nothing.
"""

from __future__ import annotations

import argparse
import random
import statistics
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from context.text.tokens import Counter
from context.window.limits import afresh_limit, map_limit, restart_limit
from session.base.events import (
    DialogueCompacted,
    Event,
    HunkLanded,
    HunkRefused,
    PromptSubmitted,
    TextDelta,
    TurnEnded,
)
from session.record.journal.reading import read_event, read_records
from session.turn.compaction.compact import History, history, room_in
from session.turn.past_turns import PastTurnsFold

INSTRUCTIONS = 3_000
"""Tokens that instructions and tools need."""
SENTENCES = (
    "Rename the helper that reads the table and keep its callers as they are.",
    "Never add a dependency for that.",
    "Use the existing parser, not a regular expression.",
    "I'll keep the old signature, since three callers pass it by position.",
    "The totals are computed twice, which the profile shows as well.",
    "Next: the tests of the parser, and the documentation of the new option.",
    "What stands in the second file follows from the first.",
)
FAILURE = (
    "```\nE   AssertionError: assert 1 == 2\nFAILED tests/test_table.py::test_total - assert 1 == 2\n```"
)


def made_up(turns: int, seed: int = 7) -> Iterator[Event]:
    """Return the events of a made-up session with this many turns."""
    dice = random.Random(seed)
    hunk = 0
    for number in range(1, turns + 1):
        turn = f"t{number}"
        prompt = " ".join(dice.choices(SENTENCES, k=dice.randint(1, 5)))
        yield PromptSubmitted(turn, f"{number}: {prompt}\n" + (FAILURE if dice.random() < 0.2 else ""))
        words = " ".join(dice.choices(SENTENCES, k=dice.randint(4, 30)))
        code = "\n".join(f"    value_{dice.randint(0, 99)} = table[{n}]" for n in range(dice.randint(2, 30)))
        yield TextDelta(turn, f"{words}\n\n```python\n{code}\n```\n{words[:200]}\n")
        for _ in range(dice.randint(0, 5)):
            hunk += 1
            path = f"src/part{dice.randint(1, 12)}.py"
            if dice.random() < 0.1:
                yield HunkRefused(turn, f"h{hunk}", path, "no_match", "not found")
            else:
                yield HunkLanded(turn, f"h{hunk}", path, "applied", 1, 1, 4)
        yield TurnEnded(turn, "completed" if dice.random() < 0.9 else "interrupted")


def of_journal(file: Path) -> list[Event]:
    """Return the events of a session's journal without its own compactions."""
    events = (read_event(record) for record in read_records(file))
    return [event for event in events if event is not None and not isinstance(event, DialogueCompacted)]


def replay(events: Iterable[Event], budget: int, counter: Counter) -> None:
    """Fold ``events``, compact where a session would, and print figures."""
    count = counter.count_kept
    exchanges = PastTurnsFold()
    standing = map_limit(budget) + afresh_limit(budget)
    window = standing
    rows: list[DialogueCompacted] = []
    prefix: list[float] = []
    times: list[float] = []
    last: History | None = None
    for event in events:
        exchanges.take(event)
        if not isinstance(event, TurnEnded):
            continue
        past = exchanges.past()
        added = count(past.turns[-1].text()) * 3  # reasoning, patches and reports are in the window as well
        before, window = window, window + added
        if window <= restart_limit(budget, INSTRUCTIONS):
            prefix.append(before / window)
            continue
        began = time.perf_counter()
        found = history(past, room_in(budget, INSTRUCTIONS), counter.count_kept, full=True)
        times.append(time.perf_counter() - began)
        window = standing + found.tokens
        same = _same(last, found, count)
        prefix.append((standing + same) / window)
        last = found
        if found.made is not None:
            exchanges.take(found.made)
            rows.append(found.made)
            made = found.made
            kept = sum(turn.prompt.strip() in "".join(found.pieces) for turn in past.turns)
            print(
                f"{len(past.turns):5} turns  {made.before:8,} → {made.after:7,} tokens  "
                f"{times[-1] * 1000:7.1f} ms  messages word for word {kept}/{len(past.turns)}"
            )
    turns = len(exchanges.past().turns)
    print(f"{turns} turns, {len(times)} fresh windows, {len(rows)} compactions, budget {budget:,}")
    if times:
        middle, longest = statistics.median(times) * 1000, max(times) * 1000
        print(f"a fresh window's history: median {middle:.1f} ms, longest {longest:.1f} ms")
    mean, least = statistics.mean(prefix), min(prefix)
    print(f"share of the next turn's input that is prefix: mean {mean:.0%}, least {least:.0%}")


def _same(last: History | None, now: History, count: Callable[[str], int]) -> int:
    """Count the tokens of the history that are where they were in the previous window."""
    if last is None:
        return 0
    total = 0
    for old, new in zip(last.pieces, now.pieces, strict=False):
        if old != new:
            break
        total += count(new)
    return total


def one(tokens: int, counter: Counter) -> None:
    """Compact one whole dialogue of about ``tokens`` tokens at once."""
    exchanges = PastTurnsFold()
    total = turns = 0
    for event in made_up(10_000):
        exchanges.take(event)
        if isinstance(event, TurnEnded):
            turns += 1
            total += counter.count(exchanges.past().turns[-1].text()) if turns % 50 == 0 else 0
            if total * 50 >= tokens:
                break
    past = exchanges.past()
    for name in ("first", "again"):
        began = time.perf_counter()
        found = history(past, room_in(112_000, INSTRUCTIONS), counter.count_kept, full=True)
        took = time.perf_counter() - began
        if found.made is not None:
            print(
                f"{name}: {len(past.turns)} turns, {found.made.before:,} → {found.made.after:,} tokens "
                f"({found.made.after / found.made.before:.1%}) in {took * 1000:.0f} ms"
            )


def main() -> None:
    """Print the figures."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("journals", type=Path, nargs="*")
    options.add_argument("--tokens", type=int, default=100_000)
    options.add_argument("--budget", type=int, default=112_000)
    options.add_argument("--turns", type=int, default=600)
    given = options.parse_args()
    counter = Counter()
    counter.load()
    print(f"a dialogue of about {given.tokens:,} tokens at once")
    one(given.tokens, counter)
    for file in given.journals:
        print(f"\n{file}")
        replay(of_journal(file), given.budget, counter)
    if not given.journals:
        print(f"\n{given.turns} turns, as they come")
        replay(made_up(given.turns), given.budget, counter)


if __name__ == "__main__":
    main()
