"""A soak: run ``python -m tests.bench.soak [--turns 500] [--seed S]``.

One app with one session (under Pilot, over real sockets, on real files) asks turn after turn, with faults at
random: the link is cut, a turn is stopped or redirected, a file is touched by another program, a hunk is
undone. Prints memory, open files and threads after a fifth of the turns and at the end, and the counts. Exits
with 1 if a hunk is lost, a turn never ends, or a fault of spark's own is in the log.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import os
import random
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from session.events import HunkLanded, HunkRefused, TurnEnded
from session.storage.error_log import log_faults_to
from tests.bench.memory_bench import Sample, sample
from tests.tui.stage import Stage, stage

FILES = 12
PATIENCE = 300.0
"""Seconds after which a turn is taken to never end."""
FAULTS = ("nothing", "nothing", "cut", "stop", "redirect", "touch", "undo")


def script(steps: int) -> str:
    """A scenario for each step of each file: its first line counts up."""
    parts = []
    for number in range(FILES):
        for step in range(steps):
            lines = f"-{step:04} {number}\\n+{step + 1:04} {number}\\n"
            parts.append(
                f"[[scenario]]\nid = '{number}-{step}'\nmatch = ['c{number:02}x{step:04}']\n\n"
                f"[[scenario.hunk]]\nid = 'hunk'\npath = 'f{number}.txt'\nlines = \"{lines}\"\n\n"
                "[[scenario.step]]\nsay = 'Counting.'\n\n[[scenario.step]]\npatch = ['hunk']\n\n"
                "[[scenario.step]]\nsay = 'Done.'\n"
            )
    return "\n".join(parts)


def _prompt(number: int, step: int) -> str:
    return f"change c{number:02}x{step:04}"


class Soak:
    """What is done, and what was told of it."""

    def __init__(self, it: Stage, dice: random.Random) -> None:
        self._it = it
        self._dice = dice
        self.counts: Counter[str] = Counter()
        self.landed: list[str] = []
        self._following = asyncio.create_task(self._follow())

    async def _follow(self) -> None:
        async for event in self._it.session.listen():
            if isinstance(event, HunkLanded):
                self.landed.append(event.hunk)
            elif isinstance(event, HunkRefused):
                self.counts[f"refused as {event.code}"] += 1
            elif isinstance(event, TurnEnded):
                self.counts[event.status] += 1

    def _prompt(self) -> str:
        number = self._dice.randrange(FILES)
        return _prompt(number, int((self._it.root / f"f{number}.txt").read_text()[:4]))

    async def turn(self) -> None:
        """One turn, with or without a fault in the middle."""
        it, fault = self._it, self._dice.choice(FAULTS)
        self.counts[fault] += 1
        it.session.submit(self._prompt())
        await asyncio.sleep(self._dice.random() * 0.05)
        match fault:
            case "cut" if it.partner is not None:
                await it.partner.drop_clients()
            case "stop":
                it.key("escape")
            case "redirect":
                it.session.submit(self._prompt())
            case "touch":
                file = it.root / f"f{self._dice.randrange(FILES)}.txt"
                file.write_text(
                    file.read_text() + "touched\n" if self._dice.random() < 0.5 else file.read_text()
                )
            case _:
                pass
        async with asyncio.timeout(PATIENCE):
            await it.session.settled()
        if it.partner is not None:
            it.partner.model.requests.clear()  # they would count as spark's memory: the partner runs in here
        if fault == "undo" and self.landed:
            await it.session.hunks.undo(self.landed[-1])

    async def close(self) -> None:
        """Wait until all was told."""
        await self._it.pilot.pause()
        self._following.cancel()


async def play(folder: Path, turns: int, seed: int) -> tuple[Counter[str], list[Sample]]:
    """Play ``turns`` in ``folder``; the counts, and what the process took after a fifth and at the end."""
    dice, began, samples = random.Random(seed), time.monotonic(), []
    files = {f"f{number}.txt": f"0000 {number}\n" for number in range(FILES)}
    async with stage(folder, files=files, script=script(2 + turns // FILES * 2), rate=10_000.0) as it:
        log_faults_to(log := it.session.folders.error_log)
        soak = Soak(it, dice)
        for number in range(1, turns + 1):
            await soak.turn()
            if number in (turns // 5, turns):
                gc.collect()
                samples.append(sample(os.getpid(), began))
            if number % 50 == 0:
                print(number, dict(soak.counts), sample(os.getpid(), began), file=sys.stderr, flush=True)
        await it.session.hunks.places()
        known = {record.id: record.state for record in it.session._workspace.ledger.hunks()}
        await soak.close()
    counts = soak.counts
    counts["turns"], counts["landed"] = turns, len(soak.landed)
    counts["lost"] = len([hunk for hunk in soak.landed if hunk not in known])
    counts["told twice"] = len(soak.landed) - len(set(soak.landed))
    counts["faults in the log"] = len(log.read_text().splitlines()) if log.exists() else 0
    if log.exists():
        print(log.read_text()[:4000])
    return counts, samples


def main() -> int:
    """Play, and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--turns", type=int, default=500)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="spark-soak-", ignore_cleanup_errors=True) as name:
        os.environ["HOME"] = name  # where spark keeps its state by default
        counts, (first, last) = asyncio.run(play(Path(name), given.turns, given.seed))
    print(f"seed {given.seed}: " + ", ".join(f"{count} {what}" for what, count in sorted(counts.items())))
    print(
        f"{first.megabytes:.1f} → {last.megabytes:.1f} MB, files {first.files} → {last.files}, "
        f"threads {first.threads} → {last.threads}, {last.seconds:.0f} s"
    )
    return 1 if counts["lost"] or counts["told twice"] or counts["faults in the log"] else 0


if __name__ == "__main__":
    raise SystemExit(main())
