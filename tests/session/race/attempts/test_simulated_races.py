"""Thousands of simulated races: what lands is never wrong, and as often right as chance has it."""

from __future__ import annotations

import math
import random

import pytest

from tests.session.race.attempts.simulation import chances, cover, simulate
from tests.thorough import share

SEEDED = 20_261_122


@pytest.mark.parametrize("attempts", [1, 5, 25])
@pytest.mark.parametrize("p", [0.02, 0.2, 0.7])
def test_a_race_lands_what_is_right_as_often_as_any_attempt_is(attempts: int, p: float) -> None:
    chance, races = random.Random(SEEDED), share(120, 30)
    done = [simulate(chance, attempts, p) for _ in range(races)]
    assert all((each.landed_right is True) == (each.right > 0) for each in done)
    assert all(each.landed_right is not False for each in done), "a red attempt landed"
    expected = 1 - (1 - p) ** attempts
    spread = math.sqrt(expected * (1 - expected) / races)
    landed = sum(each.landed_right is True for each in done) / races
    assert abs(landed - expected) <= 4 * spread + 1e-9


@pytest.mark.parametrize(("attempts", "races", "p"), [(5, share(600, 200), 0.2), (25, 200, 0.02)])
def test_a_flaky_check_rarely_lands_what_is_wrong_and_is_told(attempts: int, races: int, p: float) -> None:
    chance = random.Random(SEEDED)
    done = [simulate(chance, attempts, p, flake=0.05) for _ in range(races)]
    wrong = sum(each.landed_right is False for each in done)
    once = [simulate(chance, attempts, p, flake=0.0) for _ in range(races // 4)]
    # Without running again, one wrong attempt in twenty would pass; with one more run, one in 400 of each
    # race's many would.
    assert wrong <= races * 0.02
    assert any(each.flaky for each in done) and not any(each.flaky for each in once)
    assert sum(each.landed_right is True for each in done) >= 0.8 * sum(each.right > 0 for each in done)


@pytest.mark.parametrize(("k", "problems"), [(1, 300), (5, 300), (25, share(120, 60)), (250, share(6, 2))])
def test_coverage_is_that_of_the_chances_and_nothing_red_lands(k: int, problems: int) -> None:
    """A small version of ``python3 -m tests.bench.race_simulation``."""
    chance = random.Random(SEEDED)
    covered = cover(chance, chances(chance, problems), k)
    assert covered.races == problems and covered.wrong == 0 and covered.flaky == 0
    assert covered.inside, covered


def test_with_a_flaky_check_the_report_says_so() -> None:
    chance = random.Random(SEEDED)
    covered = cover(chance, chances(chance), 5, flake=0.05)
    assert covered.wrong <= 0.02 * covered.races < covered.flaky
    assert covered.right >= 0.8 * covered.expected
