"""A soak: run ``python -m tests.bench.soak [--turns 500] [--seed S]``.

One app with one session (under Pilot, over real sockets, on real files) asks turn after turn, with faults at
random: the link is cut, a turn is stopped or redirected, a file is touched by another program, a hunk is
undone. Prints memory, open files and threads after every fifty turns, and the counts at the end. Exits with 1
if a hunk is lost, a turn never ends, or a fault of spark's own is in the log.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import os
import random
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from textual import events
from textual.pilot import Pilot

from session.base.events import HunkLanded, HunkRefused, TurnEnded
from session.base.storage.error_log import log_faults_to
from session.session import Session
from session.setup.config import Flags
from session.setup.opening import open_project
from tests.bench.counting_partner import CountingPartner, counting_partner, first_text, prompt
from tests.bench.memory_bench import Sample, sample
from tests.tui.stage import until
from tui.app.app import SparkApp
from tui.front.event_loop import keep_little_freed_memory

FILES = 12
PATIENCE = 300.0
"""Seconds after which a turn is taken to never end."""
FAULTS = ("nothing", "nothing", "cut", "stop", "redirect", "touch", "undo")
EVERY = 50
"""Turns between two samples."""


@dataclass(frozen=True, slots=True)
class Scene:
    """The app on a project, and its partner."""

    app: SparkApp
    pilot: Pilot[int]
    session: Session
    partner: CountingPartner
    root: Path


@asynccontextmanager
async def scene(folder: Path) -> AsyncIterator[Scene]:
    """A session of the app on a project in ``folder``, with the link ready."""
    (root := folder / "project").mkdir()
    for number in range(FILES):
        (root / f"f{number}.txt").write_text(first_text(number))
    environ = {"HOME": str(folder / "home"), "PATH": "/usr/bin:/bin"}
    async with counting_partner(10_000.0) as partner:
        session = Session(open_project(root, Flags(base_url=partner.url), environ))
        app = SparkApp(session, theme="dark")
        async with app.run_test(size=(120, 36)) as pilot:
            await until(lambda: app.status.status.link == "ready", "the link")
            gc.freeze()  # as the program does once it has started
            yield Scene(app, pilot, session, partner, root)
            await session.close()


class Soak:
    """What is done, and what was told of it."""

    def __init__(self, it: Scene, dice: random.Random) -> None:
        self._it = it
        self._dice = dice
        self._asked = 0
        self.counts: Counter[str] = Counter()
        self.landed: list[str] = []
        self._following = asyncio.create_task(self._follow())

    async def _follow(self) -> None:
        async for event in self._it.session.listen():
            if isinstance(event, HunkLanded) and event.status == "already_applied":
                self.counts["already applied"] += 1  # nothing was written, so the ledger has nothing of it
            elif isinstance(event, HunkLanded):
                self.landed.append(event.hunk)
            elif isinstance(event, HunkRefused):
                self.counts[f"refused as {event.code}"] += 1
            elif isinstance(event, TurnEnded):
                self.counts[event.status] += 1

    def _prompt(self) -> str:
        number = self._dice.randrange(FILES)
        self._asked += 1
        return prompt(number, int((self._it.root / f"f{number}.txt").read_text()[:4]), self._asked)

    async def turn(self) -> None:
        """One turn, with or without a fault in the middle."""
        it, fault = self._it, self._dice.choice(FAULTS)
        self.counts[fault] += 1
        it.session.submit(self._prompt())
        await asyncio.sleep(self._dice.random() * 0.05)
        match fault:
            case "cut":
                await it.partner.cut()
            case "stop":
                it.app.post_message(events.Key("escape", None))
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
        if fault == "undo" and self.landed:
            await it.session.hunks.undo(self.landed[-1])

    async def close(self) -> None:
        """Wait until all was told."""
        await self._it.pilot.pause()
        self._following.cancel()


async def play(folder: Path, turns: int, seed: int) -> tuple[Counter[str], list[Sample]]:
    """Play ``turns`` in ``folder``; the counts, and what the process took after every fifty turns."""
    began, samples = time.monotonic(), []
    async with scene(folder) as it:
        log_faults_to(log := it.session.folders.error_log)
        soak = Soak(it, random.Random(seed))
        for number in range(1, turns + 1):
            await soak.turn()
            if number % EVERY == 0 or number == turns:
                gc.collect()
                samples.append(now := sample(os.getpid(), began))
                print(f"{number:5} turns: {_told(now)}", flush=True)
        await it.session.hunks.places()
        known = {record.id: record.state for record in it.session._workspace.ledger.hunks()}
        await soak.close()
    counts = soak.counts
    counts["turns"], counts["landed"] = turns, len(soak.landed)
    lost = [hunk for hunk in soak.landed if hunk not in known]
    counts["lost"] = len(lost)
    if lost:
        print(f"lost: {', '.join(lost)}")
    counts["told twice"] = len(soak.landed) - len(set(soak.landed))
    counts["faults in the log"] = len(log.read_text().splitlines()) if log.exists() else 0
    if log.exists():
        print(log.read_text()[:4000])
    return counts, samples


def _told(now: Sample) -> str:
    return f"{now.megabytes:.1f} MB, {now.files} files, {now.threads} threads, {now.seconds:.0f} s"


def main() -> int:
    """Play, and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--turns", type=int, default=500)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    given = parser.parse_args()
    keep_little_freed_memory()  # as the program does
    with tempfile.TemporaryDirectory(prefix="spark-soak-", ignore_cleanup_errors=True) as name:
        os.environ["HOME"] = name  # where spark keeps its state by default
        counts, samples = asyncio.run(play(Path(name), given.turns, given.seed))
    print(f"seed {given.seed}: " + ", ".join(f"{count} {what}" for what, count in sorted(counts.items())))
    print(f"from {_told(samples[0])} to {_told(samples[-1])}")
    return 1 if counts["lost"] or counts["told twice"] or counts["faults in the log"] else 0


if __name__ == "__main__":
    raise SystemExit(main())
