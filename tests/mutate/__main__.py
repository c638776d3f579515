"""The command ``python3 -m tests.mutate ROOM``."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from dataclasses import asdict
from pathlib import Path

from tests.mutate.choosing import Chosen, again, choose
from tests.mutate.reach import BrokenTestsError, noted
from tests.mutate.room import NoSuchRoomError, find
from tests.mutate.trial import BY_TIME, KILLED, SURVIVED, Verdict, verdict, verdicts

COUNT = 60


def main() -> int:
    """Try the faults of a room and print what survived; the exit code is 2 for a room that is none."""
    options = _options()
    started = time.monotonic()
    try:
        room = find(options.room, options.tests)
        survivors = [one.mutation for one in _told(options.again) if one.result == SURVIVED]
        chosen = again(room, survivors) if options.again else choose(room, options.count, options.seed)
        reach = noted(room)
    except (NoSuchRoomError, BrokenTestsError) as error:
        print(error, file=sys.stderr)
        return 2
    spent = sum(reach.seconds.values())
    print(f"{len(reach.seconds)} tests pass in {spent:.0f} s while their lines are noted")
    for test in reach.failed:
        print(f"left out, for it fails without a fault: {test}")
    tried = []
    for one in verdicts(chosen.tried, room, reach, options.jobs):
        tried.append(one)
        if one.result == SURVIVED or options.all:
            _print(one)
    for mutation, reason in chosen.equivalent:
        print(f"{mutation.path}:{mutation.line}: equivalent: {mutation.change} ({reason})")
    print(_total(tried, time.monotonic() - started))
    if options.json:
        _write(Path(options.json), options.seed, chosen, tried)
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python3 -m tests.mutate", description=__doc__)
    parser.add_argument("room", nargs="+", help="a folder or file of the project, such as edits/placing")
    parser.add_argument("--tests", nargs="+", default=[], help="where its tests are, if not at the same path")
    parser.add_argument("--count", type=int, default=COUNT, help="how many faults to try")
    parser.add_argument("--seed", type=int, default=1, help="which faults to draw")
    parser.add_argument("--jobs", type=int, default=1, help="how many faults to try at a time")
    parser.add_argument("--all", action="store_true", help="print the faults that were noticed too")
    parser.add_argument("--again", help="a file of --json: try only what survived there")
    parser.add_argument("--json", help="a file for all that was found")
    return parser.parse_args()


def _print(verdict: Verdict) -> None:
    mutation = verdict.mutation
    how = "" if verdict.tests else " (no test runs the line)"
    by = f" by {verdict.by}" if verdict.by else ""
    print(f"{mutation.path}:{mutation.line}: {verdict.result}{by}: {mutation.change} [{mutation.kind}]{how}")
    sys.stdout.flush()


def _total(tried: list[Verdict], seconds: float) -> str:
    counts = Counter(verdict.result for verdict in tried)
    noticed = counts[KILLED] + counts[BY_TIME]
    share = 100 * noticed / len(tried) if tried else 0.0
    return (
        f"{len(tried)} faults: {counts[KILLED]} killed, {counts[BY_TIME]} by time, "
        f"{counts[SURVIVED]} survived: {share:.0f} % noticed in {seconds:.0f} s"
    )


def _told(file: str | None) -> list[Verdict]:
    told = json.loads(Path(file).read_text(encoding="utf-8")) if file else {"tried": []}
    return [verdict(one) for one in told["tried"]]


def _write(file: Path, seed: int, chosen: Chosen, tried: list[Verdict]) -> None:
    told = {
        "seed": seed,
        "tried": [asdict(verdict) for verdict in tried],
        "equivalent": [
            {"mutation": asdict(mutation), "reason": reason} for mutation, reason in chosen.equivalent
        ],
    }
    file.write_text(json.dumps(told, indent=1), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
