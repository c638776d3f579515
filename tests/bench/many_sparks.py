"""Many sparks in one folder: run ``python -m tests.bench.many_sparks [--sparks 10] [--minutes 10]``.

Each asks the real partner again and again for edits of one project, some are killed in the middle. In the end
the ledger and every session must open without damage, each hunk that was told to have landed must be in the
ledger, under one id, and no fault of spark's own may be in the log. Prints the counts; exits with 1 if not.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

from edits.ledger.ledger import Ledger
from session.base.storage.folders import project_folders
from session.record.journal.reading import damaged_lines
from session.record.journal.session_list import list_sessions
from tests.bench.pty_spark import Stage, stage

FILES = 12


def script(files: int) -> str:
    """A scenario for each file: one turn changes it, and changes it back in the next."""
    parts = []
    for number in range(files):
        for old, new in (("a", "b"), ("b", "a")):
            parts.append(
                f"[[scenario]]\nid = '{number}{old}'\nmatch = ['change {number}{old}']\n\n"
                f"[[scenario.hunk]]\nid = 'hunk'\npath = 'f{number}.txt'\nlines = '''\n-{old} {number}\n"
                f"+{new} {number}\n'''\n\n[[scenario.step]]\nsay = 'Changing it.'\n\n"
                "[[scenario.step]]\npatch = ['hunk']\n\n[[scenario.step]]\nsay = 'Done.'\n"
            )
    return "\n".join(parts)


def one_turn(place: Stage, number: int, old: str) -> subprocess.Popen[str]:
    """Start a spark that changes one file."""
    python, options = place.command()[:4], place.command()[4:]
    return subprocess.Popen(
        [*python, "exec", f"change {number}{old}", "--json", *options],
        cwd=place.project,
        env=place.environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )


def run(place: Stage, sparks: int, seconds: float, chance: random.Random) -> Counter[str]:
    """Have ``sparks`` processes at work for so long; returns how often what happened."""
    for number in range(FILES):
        (place.project / f"f{number}.txt").write_text(f"a {number}\n")
    counts: Counter[str] = Counter()
    landed: list[str] = []
    until = time.monotonic() + seconds
    running: dict[int, subprocess.Popen[str]] = {}
    while time.monotonic() < until or running:
        while len(running) < sparks and time.monotonic() < until:
            number = chance.choice([each for each in range(FILES) if each not in running])
            text = (place.project / f"f{number}.txt").read_text()
            running[number] = one_turn(place, number, text[0])
            counts["turns"] += 1
        number, process = chance.choice(list(running.items()))
        if chance.random() < 0.1:
            time.sleep(chance.random())
            os.kill(process.pid, signal.SIGKILL)
            counts["killed"] += 1
        landed += landed_in(process.communicate()[0].splitlines())
        del running[number]
    counts["landed"] = len(landed)
    counts.update(faults(place.project, place.environ, landed))
    return counts


def landed_in(lines: Iterable[str]) -> list[str]:
    """The hunks that a spark said it had landed; the last line of a killed one may be cut."""
    found = []
    for line in lines:
        try:
            record = json.loads(line)
        except ValueError:
            continue
        if record["type"] == "hunk.landed":
            found.append(record["hunk"])
    return found


def faults(root: Path, environ: Mapping[str, str], landed: list[str]) -> Counter[str]:
    """What is wrong with the state that they left."""
    folders = project_folders(root, environ)
    ledger = Ledger(folders.ledger)
    ledger.recover()
    known = {record.id for record in ledger.hunks()}
    sessions = list_sessions(folders.sessions)
    damage = sum(damaged_lines(folders.sessions / f"{row.name}.jsonl") for row in sessions.rows)
    return Counter(
        {
            "lost hunks": len(set(landed) - known),
            "ids given twice": len(landed) - len(set(landed)),
            "sessions that cannot be read": len(sessions.problems),
            "damaged lines": damage + ledger.damaged_records(),
            "faults in the log": folders.error_log.exists(),
            "torn files": sum(
                (root / f"f{number}.txt").read_text() not in (f"a {number}\n", f"b {number}\n")
                for number in range(FILES)
            ),
        }
    )


FAULTS = (
    "lost hunks",
    "ids given twice",
    "sessions that cannot be read",
    "damaged lines",
    "faults in the log",
    "torn files",
)


def main() -> int:
    """Run, print, and return the exit status."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--sparks", type=int, default=10)
    parser.add_argument("--minutes", type=float, default=10.0)
    given = parser.parse_args()
    with stage("inf", script=script(FILES)) as place:
        counts = run(place, given.sparks, given.minutes * 60, random.Random(1))
        log = project_folders(place.project, place.environ).error_log
        if log.exists():
            print(log.read_text("utf-8"))
    print(", ".join(f"{counts[name]} {name}" for name in ("turns", "killed", "landed", *FAULTS)))
    return int(any(counts[name] for name in FAULTS))


if __name__ == "__main__":
    raise SystemExit(main())
