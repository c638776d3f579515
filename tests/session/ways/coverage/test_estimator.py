"""The share that k attempts solve, against counting all choices and against simulated attempts."""

from __future__ import annotations

import math
import random
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from session.ways.coverage import coverage, shown, solved_by

SEEDED = 20_261_122
CHANCES = (0.0, 0.0, 0.0, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.8, 0.95)
"""Chances of one attempt, spread as those of the paper: many problems that one attempt hardly ever solves."""


@given(st.integers(1, 9).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n), st.integers(1, n))))
def test_it_is_the_share_of_all_choices_that_hold_a_right_attempt(case: tuple[int, int, int]) -> None:
    attempts, right, k = case
    choices = list(combinations(range(attempts), k))
    held = sum(any(each < right for each in choice) for choice in choices) / len(choices)
    assert math.isclose(solved_by(k, attempts, right), held, abs_tol=1e-12)


@pytest.mark.parametrize(("k", "attempts", "right"), [(0, 5, 1), (6, 5, 1), (1, 5, 6), (1, 5, -1)])
def test_attempts_that_were_not_made_are_no_estimate(k: int, attempts: int, right: int) -> None:
    with pytest.raises(ValueError, match="cannot be"):
        solved_by(k, attempts, right)


@pytest.mark.parametrize("k", [1, 5, 25, 250])
def test_the_coverage_of_simulated_attempts_is_that_of_their_chances(k: int) -> None:
    dice, made, problems = random.Random(SEEDED), 250, 1_500
    chances = [CHANCES[at % len(CHANCES)] for at in range(problems)]
    results = [(made, sum(dice.random() < p for _ in range(made))) for p in chances]
    expected = [1 - (1 - p) ** k for p in chances]
    mean = sum(expected) / problems
    # The spread of a sum of independent trials, one for each problem: an upper bound of the estimator's.
    spread = math.sqrt(sum(each * (1 - each) for each in expected)) / problems
    found = coverage(k, results)
    assert abs(found.share - mean) <= 4 * spread
    assert found.low < found.share < found.high and found.high - found.low < 0.06


@given(st.integers(1, 64), st.lists(st.tuples(st.just(64), st.integers(0, 64)), max_size=30))
def test_the_interval_holds_the_share_and_stays_between_none_and_all(
    k: int, results: list[tuple[int, int]]
) -> None:
    found = coverage(k, results)
    assert 0.0 <= found.low <= found.share + 1e-9 and found.share - 1e-9 <= found.high <= 1.0
    more = [coverage(each, results).share for each in shown(64)]
    assert more == sorted(more), "more attempts solve no fewer"


def test_few_problems_say_little() -> None:
    assert coverage(1, []).high == 1.0 and coverage(1, []).low == 0.0
    assert coverage(1, [(5, 5)]).low < 0.3, "one solved problem says little about others"


def test_all_small_numbers_of_attempts_are_shown() -> None:
    assert shown(1) == [1] and shown(3) == [1, 2, 3] and shown(10) == [1, 2, 3, 4, 5, 8, 10]
