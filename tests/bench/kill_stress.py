"""Kills landings with SIGKILL at every step, many times: ``python -m tests.bench.kill_stress [RUNS]``.

Each run forks a process that lands, undoes, deletes or moves in a project of its own and is killed after
one of its steps, or at any moment. Then the ledger is recovered: the files must be as before or as
after, the journal must say which, and no temporary file may be left. Exits with 1 on the first that is not.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from edits.hunk import Landed
from edits.landing import Landing
from edits.ledger.entry import State
from edits.ledger.ledger import Ledger
from tests.edits.ledger.landing_victim import HUNKS
from tests.faults import fatal_step

TEXT = "".join(f"line {number}\n" for number in range(6000))
KINDS = ("update", "update-linked", "add", "delete", "move", "undo")


def prepare(folder: Path, what: str) -> tuple[Path, Path]:
    """Make a project with one file, and its ledger's folder."""
    root, ledger = folder / "project", folder / "ledger"
    root.mkdir(parents=True)
    (root / "a.txt").write_text(TEXT)
    if what.endswith("-linked"):
        os.link(root / "a.txt", folder / "other-name")
    if what == "undo":
        assert isinstance(Landing(root, Ledger(ledger)).land(HUNKS["update"], hunk_id="h1"), Landed)
    return root, ledger


def act(root: Path, ledger: Path, what: str, step: Callable[[str], None]) -> None:
    """Do what the killed process was asked to do."""
    landing = Landing(root, Ledger(ledger), step=step)
    if what == "undo":
        landing.undo("h1")
    else:
        landing.land(HUNKS[what.removesuffix("-linked")], hunk_id="h1")


def files(root: Path) -> dict[str, bytes]:
    """Return every file below ``root``."""
    return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def killed(root: Path, ledger: Path, what: str, fatal: int | None, delay: float) -> None:
    """Fork a process that is killed after its step ``fatal``, or after ``delay`` seconds."""
    child = os.fork()
    if child == 0:
        act(root, ledger, what, fatal_step(fatal))
        os._exit(0)
    if fatal is None:
        time.sleep(delay)
        os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)


def check(folder: Path, what: str, outcomes: tuple[dict[str, bytes], dict[str, bytes]]) -> str | None:
    """Recover the ledger, and return what is wrong, or None."""
    before, after = outcomes
    ledger = Ledger(folder / "ledger")
    recovered = ledger.recover()
    now = files(folder / "project")
    if now not in (before, after):
        return "a file is neither before nor after"
    done = [entry for entry in ledger.entries() if entry.seq > (what == "undo")]
    if bool(done) != (now == after):
        return "the journal does not say what the files are"
    if any(one.state is State.LOST for one in recovered):
        return "recovery took a file for the user's"
    return None


def stress(folder: Path, runs: int, seed: int = 1) -> tuple[Counter[str], str | None]:
    """Do this many runs; return how they ended, and the first fault."""
    chance = random.Random(seed)
    counts: Counter[str] = Counter()
    known: dict[str, tuple[dict[str, bytes], dict[str, bytes], int, float]] = {}
    for what in KINDS:
        root, ledger = prepare(folder / what, what)
        before, told = files(root), [0]

        def count(name: str, told: list[int] = told) -> None:
            del name
            told[0] += 1

        started = time.perf_counter()
        act(root, ledger, what, count)
        known[what] = (before, files(root), told[0], time.perf_counter() - started)
    for number in range(runs):
        what = KINDS[number % len(KINDS)]
        before, after, steps, took = known[what]
        place = folder / f"run{number}"
        root, ledger = prepare(place, what)
        fatal = chance.randint(1, steps) if chance.random() < 0.6 else None
        killed(root, ledger, what, fatal, chance.random() * 2 * took)
        fault = check(place, what, (before, after))
        if fault is not None:
            return counts, f"{what}, killed after step {fatal}: {fault} ({place})"
        counts["after" if files(root) == after else "before"] += 1
        shutil.rmtree(place)
    return counts, None


def main() -> int:
    """Run, print, and return the exit status."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    folder = Path(tempfile.mkdtemp())
    counts, fault = stress(folder, runs)
    print(f"{sum(counts.values())} of {runs} runs whole: {counts['before']} before, {counts['after']} after")
    if fault is not None:
        print(fault)
        return 1
    shutil.rmtree(folder)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
