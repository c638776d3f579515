"""Lands damaged answers in memory, and counts what came of them.

``python -m tests.edits.mutations.run [--count N] [--seed S] [--show]`` prints the counts of each operator.
"""

from __future__ import annotations

import argparse
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from edits.change import same_edit
from edits.files.text import decode
from edits.formats.detect import AutoParser
from edits.formats.events import Completed
from edits.hunk import Action, Format, Hunk
from edits.placing.place import Placed, place
from edits.placing.splices import spliced
from tests.edits.helpers import merged, parse
from tests.edits.mutations.answers import FORMATS, Answer, Edit
from tests.edits.mutations.operators import LINES, MARKUP, damaged


@dataclass(slots=True)
class Tally:
    """What came of the answers with one damage."""

    right: int = 0
    held: int = 0
    missed: int = 0
    wrong: int = 0


@dataclass(slots=True)
class Counts:
    """All tallies, and the answers that landed wrong or were missed."""

    tallies: dict[str, Tally] = field(default_factory=dict)
    total: Tally = field(default_factory=Tally)
    shown: list[str] = field(default_factory=list)


def landed(answer: Answer, pieces: Sequence[str]) -> dict[str, str]:
    """The files after the answer, which arrived in ``pieces``."""
    files = {answer.edit.path: "".join(f"{line}\n" for line in answer.edit.before)}
    parser = AutoParser(Format.WHOLE if answer.format == "whole" else None)
    events = [event for piece in pieces for event in parser.feed(piece)]
    seen: list[str] = []
    for event in [*events, *parser.close(clean=True, unsure=True)]:
        if isinstance(event, Completed):
            _land(files, event.hunk, seen)
    return files


def _land(files: dict[str, str], hunk: Hunk, seen: list[str]) -> None:
    path = next((name for name in (*hunk.names, hunk.path) if name in files), hunk.path)
    if hunk.action is not Action.UPDATE or path not in files:
        if path not in files and hunk.action is Action.ADD:
            files[path] = "".join(f"{line}\n" for line in hunk.new)
        return
    file = decode(files[path].encode(), path)
    found = place(file, hunk)
    if isinstance(found, Placed) and not (found.repeats and same_edit(hunk) in seen):
        files[path] = spliced(file, found.splices)
        seen.append(same_edit(hunk))


def pairs(edits: Sequence[Edit], count: int, seed: int) -> Iterator[tuple[str, str, Answer]]:
    """``count`` answers, each with the names of its two damages."""
    chance = random.Random(seed)
    operators = (*LINES, *MARKUP)
    made = 0
    while made < count:
        first, second = chance.choice(operators), chance.choice(operators)
        answer = damaged(chance.choice(edits), chance.choice(FORMATS), first, second, chance)
        if answer is not None:
            made += 1
            yield first.__name__, second.__name__, answer


def judged(answer: Answer, files: dict[str, str]) -> str:
    """``right``, ``held`` (it may be refused), ``missed`` (it should have landed) or ``wrong``."""
    path = answer.edit.path
    lines = {name: text.splitlines() for name, text in files.items()}
    if lines == {path: list(answer.edit.after)}:
        return "right"
    if lines != {path: list(answer.edit.before)}:
        return "wrong"
    return "held" if answer.held else "missed"


def run(edits: Sequence[Edit], count: int, seed: int, *, show: int = 0) -> Counts:
    """Damage, land and judge ``count`` answers. Every tenth is given in random pieces too."""
    counts = Counts()
    chance = random.Random(seed)
    for number, (first, second, answer) in enumerate(pairs(edits, count, seed)):
        files = landed(answer, [answer.text])
        verdict = judged(answer, files)
        if number % 10 == 0:
            cuts = sorted(chance.randrange(len(answer.text) + 1) for _ in range(12))
            ends = zip([0, *cuts], [*cuts, len(answer.text)], strict=True)
            pieces = [answer.text[begin:end] for begin, end in ends]
            format = Format.WHOLE if answer.format == "whole" else None
            assert merged(parse(pieces, format=format)) == merged(parse([answer.text], format=format)), answer
        for tally in (counts.total, *(counts.tallies.setdefault(name, Tally()) for name in {first, second})):
            setattr(tally, verdict, getattr(tally, verdict) + 1)
        if verdict in ("wrong", "missed") and len(counts.shown) < show:
            counts.shown.append(f"--- {verdict}: {first}, {second}, {answer.format}\n{answer.text}")
    return counts


def table(counts: Counts) -> str:
    """The counts, one line an operator."""
    rows = [f"{'damage':24}{'right':>8}{'held':>8}{'missed':>8}{'wrong':>7}"]
    for name, one in [*sorted(counts.tallies.items()), ("all", counts.total)]:
        rows.append(f"{name:24}{one.right:8}{one.held:8}{one.missed:8}{one.wrong:7}")
    return "\n".join(rows)


def main() -> None:
    """Print what came of the given number of answers."""
    from tests.edits.mutations.answers import edits

    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--count", type=int, default=200_000)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument(
        "--show", type=int, default=0, help="print so many answers that were wrong or missed"
    )
    given = options.parse_args()
    counts = run(list(edits()), given.count, given.seed, show=given.show)
    print(*counts.shown, table(counts), sep="\n")
    print(Counter({name: getattr(counts.total, name) for name in ("right", "held", "missed", "wrong")}))


if __name__ == "__main__":
    main()
