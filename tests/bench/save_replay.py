"""Measures what saves cost: ``python -m tests.bench.save_replay CLONE [--saves 300]``.

The newest commits of a clone are repeated in a temporary one: each file is saved, then a prompt is sent.
A prompt is what the server must see: all that was sent before, then what the window adds. When the
conversation is fuller than the session allows it is started afresh, with the frozen map. Prints the share of
all prompts that is prefix the server has, their cost with cached tokens at a tenth, against first windows
that are built anew each time and begin with what changed, and how long it takes from a save to its window.
Asserts nothing.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from pathlib import Path

from context.project.project import Project
from context.text.tokens import Counter
from context.window.limits import (
    LATER_SHARE,
    afresh_limit,
    fill_comfort,
    fill_limit,
    map_limit,
    restart_limit,
)
from context.window.seen import Seen
from context.window.window import WindowRequest, build
from tests.bench.replay_truth import git, is_source

CACHED = 0.1
"""Price of a cached token relative to a fresh one."""
REQUEST = "Go on with it."
INSTRUCTIONS = "You are a pair programmer.\n"


def steps(folder: Path, saves: int) -> list[tuple[str, list[str]]]:
    """Return the newest first-parent commits, oldest first, that change this many source files
    together, each with its files."""
    out = git(folder, "log", "--first-parent", "-n", str(saves * 3), "--name-status", "--format=%x01%H")
    found: list[tuple[str, list[str]]] = []
    total = 0
    for record in out.split("\x01")[1:]:
        head, *changes = record.strip().split("\n")
        rows = [line.split("\t") for line in changes if "\t" in line]
        paths = [row[-1] for row in rows if row[0] in ("M", "A") and is_source(row[-1])]
        found.append((head, paths))
        total += len(paths)
        if total >= saves:
            break
    return found[::-1]


def asked(budget: int, used: int, *, restart: bool = False) -> WindowRequest:
    """Return the request of one save."""
    later = min(int(LATER_SHARE * budget), restart_limit(budget, 0) - used)
    return WindowRequest(
        REQUEST,
        INSTRUCTIONS,
        budget,
        used=used,
        map_limit=map_limit(budget),
        likely_limit=later if used else afresh_limit(budget),
        fills_up=not used and not restart,
        fill_limit=None if used else fill_limit(budget, 0, 0),
        fill_comfort=None if used else fill_comfort(budget, 0, 0),
    )


def main() -> None:
    """Replay the saves of one clone."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("clone", type=Path)
    options.add_argument("--saves", type=int, default=300)
    options.add_argument("--budget", type=int, default=128_000)
    given = options.parse_args()
    counter = Counter()
    counter.load()
    sent = kept = anew = fresh_starts = saves = 0
    times: list[float] = []
    added: list[int] = []
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "work"
        git(
            Path(scratch), "clone", "-q", "--shared", "--no-checkout", str(given.clone.resolve()), str(folder)
        )
        chosen = steps(folder, given.saves)
        git(folder, "checkout", "-q", "--detach", f"{chosen[0][0]}^")
        project = Project(folder, Path(scratch) / "cache")
        project.scan()
        seen, used = Seen(), 0
        for commit, paths in chosen:
            for path in paths:
                (folder / path).parent.mkdir(parents=True, exist_ok=True)
                (folder / path).write_text(git(folder, "show", f"{commit}:{path}"), "utf-8")
                start = time.perf_counter()
                snapshot = project.update([path])
                if used > restart_limit(given.budget, 0):
                    seen, used = seen.restart(), 0
                    fresh_starts += 1
                window = build(asked(given.budget, used, restart=bool(fresh_starts)), snapshot, counter, seen)
                times.append((time.perf_counter() - start) * 1000)
                if used:
                    added.append(sum(len(piece.text.encode()) for piece in window.pieces))
                sent += window.tokens
                again = seen.frozen if window.shown.frozen is seen.frozen else None
                kept += used or (again.tokens if again is not None else 0)
                seen, used = seen.after(window.shown), window.tokens
                anew += build(asked(given.budget, 0), snapshot, counter).tokens
                saves += 1
            git(folder, "checkout", "-q", "--force", "--detach", commit)
            project.update([".git/HEAD"])
        project.close()
    cost = sent - kept + CACHED * kept
    print(f"{saves} saves in {len(chosen)} commits up to {chosen[-1][0][:10]}, {fresh_starts} fresh starts")
    print(f"prompts of {sent // saves:,} tokens; {100 * kept / sent:.0f} % is prefix the server has")
    print(
        f"input cost {100 * cost / anew:.0f} % of windows built anew with changes first "
        f"({anew // saves:,} tokens each), {100 * cost / sent:.0f} % of the same prompts uncached"
    )
    ordered = sorted(times)
    print(
        f"from a save to its window: median {statistics.median(times):.1f} ms, "
        f"99 % under {ordered[int(len(ordered) * 0.99)]:.1f} ms"
    )
    print(f"a following turn adds {statistics.median(added):,.0f} bytes (median)")


if __name__ == "__main__":
    main()
