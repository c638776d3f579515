"""Measures how much of a commit is in the window: ``python -m tests.bench.commit_replay CLONE...``.

For each commit (no merge, 2 to 8 source files) the parent is checked out in a temporary clone; the window is
built for the commit's message and *one* of its files. The truth is the others: the files, the definitions
around the hunks, the old lines that were edited. History is read from ancestors only. Recall is the mean over
commits, with the 95 % interval of a bootstrap. Simple peers are measured in the same run. Prints a table,
where a peer is ahead of ours, and how many windows were over their budget. Asserts nothing.
"""

from __future__ import annotations

import argparse
import random
import statistics
import tempfile
import time
from collections import defaultdict
from pathlib import Path

from context.project.project import Project
from context.text.tokens import Counter
from tests.bench.aider_peer import NAME, AiderMap
from tests.bench.replay_peers import FILLERS, Filled
from tests.bench.replay_truth import Truth, commits, git, masked, truth

BUDGETS = (8_000, 32_000, 100_000)
MODES = ("on", "off", "masked")
MEASURES = ("file", "definition", "line")
RESAMPLES = 1000

Scores = defaultdict[tuple[str, int, str, str], list[float]]
"""Recall of each commit by (message, budget, filler, measure)."""


def recall(found: Truth, shown: Filled) -> dict[str, float | None]:
    """Return the share of the truth that is shown, or None where the commit has none of that kind."""
    files = [path in shown.texts or path in shown.outlines for path in found.files]
    definitions = [
        shows(
            shown.texts.get(wanted.path, set()) | shown.outlines.get(wanted.path, set()),
            wanted.head,
            wanted.signature,
        )
        for wanted in found.definitions
    ]
    lines = [line.partition(" — ")[0] in shown.texts.get(path, set()) for path, line in found.lines]
    return {
        name: statistics.mean(values) if values else None
        for name, values in zip(MEASURES, (files, definitions, lines), strict=True)
    }


def shows(lines: set[str], head: str, signature: str) -> bool:
    """Return whether lines show a definition: its first line, or its signature, which a map may have cut."""
    if not {head, signature}.isdisjoint(lines):
        return True
    return any(line.endswith("…") and signature.startswith(line[:-1]) for line in lines)


def replay(
    clone: Path, count: int, reach: int, counter: Counter, names: list[str], aider: str | None
) -> tuple[Scores, int]:
    """Return the recall of every commit of one clone, and how many of our windows were over budget."""
    scores: Scores = defaultdict(list)
    over = 0
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "work"
        git(Path(scratch), "clone", "-q", "--shared", "--no-checkout", str(clone.resolve()), str(folder))
        chosen = commits(folder, count, reach)
        project = Project(folder, Path(scratch) / "cache")
        windows, started = [], time.monotonic()
        fillers = {name: FILLERS[name] for name in names}
        peer = AiderMap(aider, clone, Path(scratch) / "aider") if aider else None
        if peer is not None:
            fillers[NAME] = peer
        for commit in chosen:
            found = truth(folder, commit)
            if found is None:
                continue
            if peer is not None:
                peer.check_out(found.parent)
            snapshot = project.scan()
            messages = {"on": found.message, "off": "", "masked": masked(found.message)}
            for mode in MODES:
                for budget in BUDGETS:
                    for name, fill in fillers.items():
                        start = time.perf_counter()
                        shown = fill(snapshot, messages[mode], found.given, budget, counter)
                        if name == "ours":
                            windows.append(time.perf_counter() - start)
                            over += shown.tokens > budget
                        for measure, value in recall(found, shown).items():
                            if value is not None:
                                scores[mode, budget, name, measure].append(value)
        head, last = (chosen[0][:10], chosen[-1][:10]) if chosen else ("", "")
        title = clone.parent.name if clone.name == "repo" else clone.name
        print(
            f"\n{title}: {len(chosen)} commits from {head} "
            f"to {last}, {len(project.snapshot.entries)} files, {time.monotonic() - started:.0f} s, "
            f"our window {statistics.median(windows or [0]) * 1000:.0f} ms"
        )
        project.close()
        if peer is not None:
            peer.close()
            print(f"{NAME}: {peer.over} of {peer.made} windows over their budget")
    return scores, over


def interval(values: list[float]) -> tuple[float, float]:
    """Return the 95 % bootstrap interval of the mean."""
    chance = random.Random(0)
    means = sorted(statistics.fmean(chance.choices(values, k=len(values))) for _ in range(RESAMPLES))
    return means[int(RESAMPLES * 0.025)], means[int(RESAMPLES * 0.975)]


def print_table(scores: Scores, names: list[str]) -> None:
    """Print a line for each message mode, budget and filler, then where ours is behind."""
    print(f"{'message':8}{'budget':>8}  {'filler':13}" + "".join(f"{name:>22}" for name in MEASURES))
    losses = []
    for mode in MODES:
        for budget in BUDGETS:
            for name in names:
                cells = []
                for measure in MEASURES:
                    values = scores[mode, budget, name, measure]
                    mean = statistics.fmean(values) if values else 0.0
                    low, high = interval(values) if values else (0.0, 0.0)
                    cells.append(f"{mean:10.2f} ({low:.2f}-{high:.2f})")
                    mine = scores[mode, budget, "ours", measure]
                    if mine and name != "ours" and mean > statistics.fmean(mine) + 0.005:
                        ahead = f"{name} {mean:.2f}, ours {statistics.fmean(mine):.2f}"
                        losses.append(f"{mode} {budget:,} {measure}: {ahead}")
                print(f"{mode:8}{budget:8,}  {name:13}" + "".join(f"{cell:>22}" for cell in cells))
    print("\n".join(["behind a peer:", *(losses or ["nowhere"])]))


def main() -> None:
    """Replay the given clones."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("clones", nargs="+", type=Path)
    options.add_argument("--commits", type=int, default=30, help="how many of each clone")
    options.add_argument("--reach", type=int, default=1500, help="out of how many of the newest")
    options.add_argument("--aider", help="an interpreter that has aider, to measure its map too")
    options.add_argument("--fillers", nargs="*", default=list(FILLERS), choices=list(FILLERS))
    given = options.parse_args()
    names = [*given.fillers, *([NAME] if given.aider else [])]
    counter = Counter()
    counter.load()
    together: Scores = defaultdict(list)
    over = 0
    for clone in given.clones:
        scores, more = replay(clone, given.commits, given.reach, counter, given.fillers, given.aider)
        over += more
        print_table(scores, names)
        for cell, values in scores.items():
            together[cell] += values
    if len(given.clones) > 1:
        print("\nall clones together")
        print_table(together, names)
    print(f"budget violations: {over}")


if __name__ == "__main__":
    main()
