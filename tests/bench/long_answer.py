"""One long answer with faults at random: run ``python -m tests.bench.long_answer [--minutes 60] [--seed S]``.
``--faults cut,undo`` keeps to some of them, to see what each one costs.

The real ``spark`` is on a pseudo-terminal; the partner streams prose, code and a hunk every few seconds.
Meanwhile the terminal is resized or read late, spark is stopped for a moment, keys are typed, files are
changed by another program, hunks are undone, the link is cut, and a second spark follows and is killed.
Prints memory, open files and threads after the first minute and at the end, and the counts; exits with 1 if a
hunk is lost, a file is not what the ledger says, or a fault of spark's own is in the log.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from typing import Any

from edits.hunk import Action, Format, Hunk, HunkLine, LineKind
from edits.ledger.ledger import Ledger
from session.base.storage.folders import project_folders
from session.partner.script import Patch, Say, Scenario, Script, Step
from session.partner.server.server import Partner
from session.record.journal.reading import damaged_lines, read_records
from tests.bench.memory_bench import FIRST, Sample, sample
from tests.bench.pty_spark import START, Pty, Stage, stage
from tests.bench.screen_bench import CODE, PROSE

FILES = 12
BETWEEN = 5.0
"""Seconds of text between two hunks."""
MOST_CUTS = 2
"""A turn resumes a lost answer three times at most."""
FAULTS = ("resize", "late", "stop", "keys", "touch", "undo", "cut", "follow", "look")
WRONG = (
    "lost",
    "answers that ended early",
    "lines that the ledger does not say",
    "damaged records",
    "faults in the log",
)
KEYS = ("a thought\x15", "\x1b[5~\x1b[5~\x1b[6~\x1b[6~", "é字\x7f\x7f")


def script(seconds: float, rate: int) -> Script:
    """One answer: text for so long, and hunks that each add a line below a file's first."""
    count = int(seconds / BETWEEN)
    text = (PROSE + CODE) * max(1, int(BETWEEN * rate * 4 / len(PROSE + CODE)))
    hunks, steps = {}, list[Step]()
    for number in range(count):
        name = f"f{number % FILES}.txt"
        lines = (
            HunkLine(LineKind.OLD, f"first of {name}"),
            HunkLine(LineKind.NEW, f"first of {name}"),
            HunkLine(LineKind.NEW, f"line {number}"),
        )
        hunks[str(number)] = Hunk(name, Action.UPDATE, Format.SEARCH_REPLACE, lines=lines)
        steps += [Say(text), Patch((str(number),))]
    scenario = Scenario("long", "long", ("long",), (*steps, Say("Done.\n")), hunks)
    return Script("long", (scenario,))


class Serving:
    """A partner in a thread of its own, whose clients can be cut off."""

    def __init__(self, rate: int, played: Script) -> None:
        self._partner = Partner(rate=rate, scripts=played)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)

    @contextlib.contextmanager
    def listening(self) -> Iterator[str]:
        """Serve as long as the block lasts; gives the base URL."""
        self._thread.start()
        self._run(self._partner.serve())
        try:
            yield self._partner.url
        finally:
            self._run(self._partner.close())
            self._loop.call_soon_threadsafe(self._loop.stop)

    def cut(self) -> None:
        """Cut every connection."""
        self._run(self._partner.drop_clients())

    def _run(self, doing: object) -> None:
        asyncio.run_coroutine_threadsafe(doing, self._loop).result(30)  # type: ignore[arg-type]


class Trial:
    """The app, and what is done to it."""

    def __init__(
        self, place: Stage, pane: Pty, serving: Serving, dice: random.Random, kinds: tuple[str, ...]
    ) -> None:
        self._place, self._pane, self._serving, self._dice, self._kinds = place, pane, serving, dice, kinds
        self.counts: Counter[str] = Counter()

    def read(self, seconds: float) -> None:
        """Take what the app writes."""
        until = time.monotonic() + seconds
        while (rest := until - time.monotonic()) > 0:
            self._pane.read(rest)
            self._pane.raw = ""
            self._pane._unfed.clear()

    def fault(self) -> None:
        """One fault at random."""
        fault, pane, dice = self._dice.choice(self._kinds), self._pane, self._dice
        if fault == "cut" and (self.counts["cut"] >= MOST_CUTS or dice.random() < 0.9):
            return
        self.counts[fault] += 1
        match fault:
            case "resize":
                pane.resize(dice.choice((60, 80, 120, 200)), dice.choice((12, 24, 36, 60)))
            case "late":
                time.sleep(dice.random() * 3)
            case "stop":
                os.kill(pane.pid, signal.SIGSTOP)
                time.sleep(dice.random() * 2)
                os.kill(pane.pid, signal.SIGCONT)
            case "keys":
                pane.type(dice.choice(KEYS))
            case "touch":
                file = self._place.project / f"f{dice.randrange(FILES)}.txt"
                with file.open("a") as writing:
                    writing.write("touched\n")
            case "undo":
                self._undo()
            case "cut":
                self._serving.cut()
            case "follow":
                self._follow()
            case _:
                pane.type("\x1b[I\x1b[O\x1b[I")

    def _undo(self) -> None:
        """Another process undoes the last hunk."""
        command = [*self._place.command()[:4], "undo"]
        undoing = subprocess.Popen(
            command,
            cwd=self._place.project,
            env=self._place.environ,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        while undoing.poll() is None:
            self.read(0.1)

    def _follow(self) -> None:
        other = Pty(self._place.command(), self._place.project, self._place.environ)
        try:
            until = time.monotonic() + 3 + 4 * self._dice.random()
            while time.monotonic() < until:
                with contextlib.suppress(EOFError):
                    other.read(0.1)
                self.read(0.1)
            os.kill(other.pid, signal.SIGKILL)
        finally:
            other.end()


def wrong(place: Stage) -> Counter[str]:
    """What is lost, torn or damaged, and the faults in the log."""
    folders = project_folders(place.project, place.environ)
    ledger = Ledger(folders.ledger)
    ledger.recover()
    known = {record.id: record.state for record in ledger.hunks()}
    told: list[str] = []
    records: list[dict[str, Any]] = []
    damage = ledger.damaged_records()
    for journal in folders.sessions.glob("*.jsonl"):
        damage += damaged_lines(journal)
        records += [each for each in read_records(journal) if each["type"] in ("hunk.landed", "turn.ended")]
    told += [str(each["hunk"]) for each in records if each["type"] == "hunk.landed"]
    lines = sum(
        line.startswith("line ")
        for number in range(FILES)
        for line in (place.project / f"f{number}.txt").read_text().splitlines()
    )
    log = folders.error_log
    ended = any(each["type"] == "turn.ended" and each["status"] != "interrupted" for each in records)
    return Counter(
        {
            "told to have landed": len(told),
            "lost": len(set(told) - known.keys()),
            "lines that the ledger does not say": abs(lines - list(known.values()).count("landed")),
            "answers that ended early": int(ended),
            "damaged records": damage,
            "faults in the log": len(log.read_text().splitlines()) if log.exists() else 0,
        }
    )


def play(
    seconds: float, rate: int, seed: int, kinds: tuple[str, ...]
) -> tuple[Counter[str], list[Sample], float, str]:
    """Play, then quit in the middle of the answer; counts, samples, seconds that quitting took, the log."""
    dice, serving = random.Random(seed), Serving(rate, script(seconds * 2 + 600, rate))
    with serving.listening() as url, stage("1", script=None) as place:
        place.url = url
        for number in range(FILES):
            (place.project / f"f{number}.txt").write_text(f"first of f{number}.txt\n")
        command = [
            "spark-practice-text" if each == "spark-practice" else each for each in place.command(START)
        ]
        pane = Pty(command, place.project, place.environ)
        trial, samples = Trial(place, pane, serving, dice, kinds), list[Sample]()
        try:
            pane.until("ready")
            pane.type("long\r")
            began = time.monotonic()
            until = began + seconds
            while time.monotonic() < until:
                trial.read(1 + 3 * dice.random())
                trial.fault()
                samples.append(sample(pane.pid, began))
                if len(samples) % 60 == 0:
                    print(samples[-1], dict(trial.counts), file=sys.stderr, flush=True)
            asked = time.monotonic()
            with contextlib.suppress(EOFError):
                trial.read(0.5)  # what came before
                asked = time.monotonic()
                pane.type("\x11")
                trial.read(30.0)
            left = time.monotonic() - asked
        finally:
            pane.end()
        log = project_folders(place.project, place.environ).error_log
        text = log.read_text("utf-8") if log.exists() else ""
        return trial.counts + wrong(place), samples, left, text


def main() -> int:
    """Play, and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--rate", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--faults", default=",".join(FAULTS))
    given = parser.parse_args()
    kinds = tuple(given.faults.split(","))
    if unknown := set(kinds).difference(FAULTS):
        parser.error(f"--faults knows {', '.join(FAULTS)}, not {', '.join(sorted(unknown))}")
    counts, samples, left, log = play(given.minutes * 60, given.rate, given.seed, kinds)
    minute = next((each for each in samples if each.seconds >= FIRST), samples[-1])
    last, most = samples[-1], max(each.megabytes for each in samples)
    print(f"seed {given.seed}: " + ", ".join(f"{count} {what}" for what, count in sorted(counts.items())))
    print(
        f"{minute.megabytes:.1f} MB after {minute.seconds:.0f} s → {last.megabytes:.1f} MB after "
        f"{last.seconds:.0f} s, most {most:.1f}; files {minute.files} → {last.files}, "
        f"threads {minute.threads} → {last.threads}; left in {left:.2f} s"
    )
    print(log[:20000])
    return 1 if any(counts[name] for name in WRONG) else 0


if __name__ == "__main__":
    raise SystemExit(main())
