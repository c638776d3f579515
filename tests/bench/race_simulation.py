"""Simulates races of attempts that are right by chance, and runs some with the real partner and real checks.

    python3 -m tests.bench.race_simulation [ROUNDS] [REAL]

Each round races k attempts at 300 problems, whose chances are spread as in *Large Language Monkeys*. What
landed is compared with 1 - (1 - p)^k and its binomial interval of 99.9 %. REAL races of five follow, each
with a session, the partner and a check in sandboxes.
"""

from __future__ import annotations

import asyncio
import random
import sys
import tempfile
from pathlib import Path

from session.base.events import TurnEnded
from tests.session.race.attempts.races import ADD, RIGHT, TESTS, WRONG, project, script
from tests.session.race.attempts.simulation import chances, cover
from tests.session.talking import talking

SEED = 20_261_122
KS = (1, 5, 25, 250)
FLAKE = 0.05


def simulated(chance: random.Random, rounds: int) -> bool:
    """Print a table; true where every number is as it has to be."""
    problems = chances(chance)
    good = True
    print(f"{'k':>4} {'races':>6} {'expected':>9} {'landed':>8} {'wrong':>6}   in the interval")
    for k in KS:
        # Races of 250 attempts take a tenth of a second each: one round of them is run.
        done = cover(chance, problems * (rounds if k < KS[-1] else 1), k)
        share, races = done.expected / done.races, done.races
        good &= done.inside and not done.wrong
        print(f"{k:4} {races:6} {share:9.1%} {done.right / races:8.1%} {done.wrong:6}   {done.inside}")
    for k in KS[:3]:
        done = cover(chance, problems * rounds, k, flake=FLAKE)
        races = done.races
        print(
            f"{k:4} {races:6} {done.expected / races:9.1%} {done.right / races:8.1%} {done.wrong:6}   "
            f"with a test that lies {FLAKE:.0%} of the time: {done.wrong / races:.1%} landed wrong, "
            f"{done.flaky / races:.0%} said that it is flaky"
        )
    return good


async def real(chance: random.Random, races: int) -> bool:
    """Race five answers of the partner, each right with one chance in three; true where what landed is right
    whenever any was, and the file is as before where none was."""
    good = 0
    for _ in range(races):
        # No two answers are the same text, or they would be judged once.
        right = [chance.random() < 1 / 3 for _ in range(5)]
        answers = [f"{RIGHT if each else WRONG} + 0 * {n}" for n, each in enumerate(right, 1)]
        with tempfile.TemporaryDirectory() as folder:
            root = project(Path(folder).resolve() / "project")
            async with talking(root, script(*answers)) as it:
                await it.session.race.start("mend add", 5, [TESTS])
                while not it.all(TurnEnded):
                    await it.news()
                text = it.text("calc.py")
        good += (RIGHT in text) if any(right) else (text == ADD)
    print(f"{good} of {races} races with the real partner landed what is right, or nothing where nothing was")
    return good == races


def main() -> None:
    """Simulate, race, print; exit code 1 where something landed that must not."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    races = int(sys.argv[2]) if len(sys.argv) > 2 else 12
    chance = random.Random(SEED)
    good = simulated(chance, rounds)
    good &= asyncio.run(real(chance, races))
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
