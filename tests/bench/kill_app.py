"""Kills the real app at random with all of it at work: ``python -m tests.bench.kill_app [--kills 300]``.

Each time ``spark`` on a pseudo-terminal is killed with SIGKILL while it starts, streams and lands a hunk,
runs a race judged by a check, takes typing with suggestions, saves and reviews that, undoes, or is followed
by a second spark, which is killed as well. The next one opens the same session or a new one.

In the end no record may be damaged, no hunk lost, no file torn, no saved text gone, every session must open,
and no fault of spark's own may be in the log. Prints the counts; exits with 1 if not.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import re
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from session.base.storage.folders import project_folders
from session.checks.check import Check
from session.checks.known_checks import Agreements
from session.record.journal.reading import read_records
from tests.bench.many_sparks import FAULTS, FILES, faults, script
from tests.bench.pty_spark import START, Pty, Stage, stage

CHECK = "python3 -c pass"
NOTES = "def note(count):\n    return count\n"
ACTS = ("turn", "turn", "race", "edit", "undo", "follow")
PATIENCE = 60.0


def slow_script() -> str:
    """The script of many sparks, with more words before and behind each hunk."""
    words = "say = '''" + "A word and another one. " * 40 + "'''"
    return script(FILES).replace("say = 'Changing it.'", words).replace("say = 'Done.'", words)


class Killing:
    """One project, and sparks in it that are killed."""

    def __init__(self, place: Stage, dice: random.Random) -> None:
        self._place, self._dice = place, dice
        self.counts: Counter[str] = Counter()
        self.folders = project_folders(place.project, place.environ)
        self._typed = 0

    def prepare(self) -> None:
        """Make the files, and agree to the check."""
        for number in range(FILES):
            (self._place.project / f"f{number}.txt").write_text(f"a {number}\n")
        (self._place.project / "notes.py").write_text(NOTES)
        config = Path(self._place.environ["XDG_CONFIG_HOME"]) / "spark"
        config.mkdir(parents=True)
        table = f'[[checks]]\nname = "ok"\nkind = "tests"\ncommand = "{CHECK}"\nfiles = ["*.txt"]\n'
        (config / "config.toml").write_text(table)
        Agreements(self.folders.state).add([Check("ok", CHECK)])

    def once(self) -> None:
        """Start a spark, have it work, and kill it."""
        with self._spark(resume=self._dice.random() < 0.5) as pane:
            if self._dice.random() < 0.15:
                self._read(pane, self._dice.random() * 2)
                self.counts["killed while it started"] += 1
            else:
                pane.until("ready", pane.now + PATIENCE)
                act = self._dice.choice(ACTS)
                self._do(pane, act)
                self.counts[f"killed in {act}"] += 1
            os.kill(pane.pid, signal.SIGKILL)
            self.counts["kills"] += 1

    def open_again(self) -> None:
        """Open the newest sessions once more."""
        for journal in self._journals()[-5:]:
            with self._spark(journal=journal) as pane:
                pane.until("ready", pane.now + PATIENCE)
                os.kill(pane.pid, signal.SIGKILL)
                self.counts["opened again"] += 1

    def _spark(
        self, *, resume: bool = False, journal: Path | None = None
    ) -> contextlib.AbstractContextManager[Pty]:
        command = self._place.command(START)
        known = self._journals()
        if journal is None and resume and known:
            journal = known[-1]
        if journal is not None:
            command = [*command[:4], "resume", journal.stem, *command[4:]]
        pane = Pty(command, self._place.project, self._place.environ)
        return _ended(pane)

    def _journals(self) -> list[Path]:
        named = (each for each in self.folders.sessions.glob("*.jsonl") if each.stem.count(".") == 0)
        return sorted(named)

    def _read(self, pane: Pty, seconds: float) -> None:
        until = time.monotonic() + seconds
        while (rest := until - time.monotonic()) > 0:
            with contextlib.suppress(EOFError):
                pane.read(rest)
                continue
            return

    def _do(self, pane: Pty, act: str) -> None:
        dice = self._dice
        moment = dice.random() * 2.5
        number = dice.randrange(FILES)
        prompt = f"change {number}{(self._place.project / f'f{number}.txt').read_text()[0]}\r"
        match act:
            case "turn":
                pane.type(prompt)
            case "race":
                pane.type(f"/try 3 {prompt}")
            case "undo":
                pane.type(prompt)
                self._read(pane, moment)
                pane.type("/undo\r")
            case "edit":
                self._edit(pane)
            case _:
                pane.type(prompt)
                self._follow()
        self._read(pane, moment)

    def _edit(self, pane: Pty) -> None:
        """Type into the editor, with pauses in which suggestions come, and save a few times."""
        pane.type("\x10")
        pane.until("notes.py", pane.now + PATIENCE)
        pane.type("notes.py")
        self._read(pane, 0.3)
        pane.type("\r")
        self._read(pane, 0.5)
        pane.type("\x1b[1;5F")
        for _ in range(self._dice.randrange(1, 4)):
            self._typed += 1
            pane.type(f"\rnote({self._typed})")
            self._read(pane, self._dice.random() * 0.5)
            pane.type("\x13")
            self.counts["saves"] += 1

    def _follow(self) -> None:
        """A second spark opens the session that is open."""
        with self._spark(resume=True) as other:
            self._read(other, 1 + 3 * self._dice.random())
            os.kill(other.pid, signal.SIGKILL)
            self.counts["followers killed"] += 1

    def wrong(self) -> Counter[str]:
        """What is wrong with what they left."""
        records = [
            record
            for journal in self._journals()
            for record in read_records(journal)
            if record["type"] == "hunk.landed"
        ]
        # A hunk whose text was in its file already has changed nothing, and is in no ledger.
        already = [record for record in records if record["status"] == "already_applied"]
        landed = {str(record["hunk"]) for record in records if record not in already}
        found = faults(self._place.project, self._place.environ, sorted(landed))
        if found["lost hunks"]:
            print(*records, sep="\n")
        found["already in the file"] = len(already)
        lines = (self._place.project / "notes.py").read_text().removeprefix(NOTES).splitlines()
        torn = [line for line in lines if line.strip() and not re.search(r"note\(\d*\)?", line)]
        found["torn texts"] = len(torn)
        found.update({"landed": len(landed), "sessions": len(self._journals())})
        return found


@contextlib.contextmanager
def _ended(pane: Pty) -> Iterator[Pty]:
    try:
        yield pane
    finally:
        pane.end()


def main() -> int:
    """Run, print, and return the exit status."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--kills", type=int, default=300)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    given = parser.parse_args()
    with stage("400", script=slow_script()) as place:
        killing = Killing(place, random.Random(given.seed))
        killing.prepare()
        for number in range(given.kills):
            killing.once()
            if number % 20 == 19:
                print(dict(killing.counts), file=sys.stderr, flush=True)
        killing.open_again()
        found = killing.wrong()
        log = killing.folders.error_log
        if log.exists():
            print(log.read_text("utf-8")[:20_000])
    counts = killing.counts
    counts.update(found)
    print(f"seed {given.seed}: " + ", ".join(f"{count} {what}" for what, count in sorted(counts.items())))
    return int(any(counts[name] for name in (*FAULTS, "torn texts")))


if __name__ == "__main__":
    raise SystemExit(main())
