"""Simulated races: attempts that are right by chance, in any order, judged by checks that may be flaky."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass

from session.checks.check import Check, Kind
from session.checks.finding import Finding, Status, Verdict
from session.race.attempt_life import Result
from session.race.race_rules import BASELINE, Decided, Effect, Race, RunCheck

CHECKS = (Check("lint", "lint", Kind.LINT), Check("tests", "tests", Kind.TESTS))
FAILING = (Finding("a.py", 1, "it fails"),)
UNRELATED = Finding("net.py", 7, "timeout")


@dataclass(frozen=True, slots=True)
class Simulated:
    """One race: how many attempts were right, and whether the one that landed was (None: none landed)."""

    right: int
    landed_right: bool | None
    flaky: bool
    runs: int
    """The checks that were run."""


def simulate(
    chance: random.Random,
    attempts: int,
    p: float,
    *,
    flake: float = 0.0,
    beside: float = 0.0,
    slots: int = 2,
) -> Simulated:
    """Race ``attempts`` attempts of which each is right with probability ``p``. The test is red before.

    A verdict of the test is wrong with probability ``flake``; a test ``beside`` it fails with that one,
    whatever is changed. Events come in random order.
    """
    race = Race(attempts, CHECKS, slots=slots)
    right = {number: chance.random() < p for number in range(1, attempts + 1)}
    streaming = list(right)
    running: list[RunCheck] = []
    decided: list[Decided] = []
    runs = 0

    def take(effects: list[Effect]) -> None:
        for effect in effects:
            if isinstance(effect, RunCheck):
                running.append(effect)
            elif isinstance(effect, Decided):
                decided.append(effect)

    take(race.begin())
    while not decided:
        if streaming and (not running or chance.random() < 0.5):
            number = streaming.pop(chance.randrange(len(streaming)))
            take(race.answered(number, Result(f"{right[number]} {number}", chance.randint(1, 9))))
        else:
            run = running.pop(chance.randrange(len(running)))
            runs += 1
            take(race.checked(run.attempt, run.check, _verdict(chance, run, right, flake, beside)))
    winner = decided[0].winner
    return Simulated(sum(right.values()), right[winner] if winner else None, bool(race.flaky), runs)


def _verdict(
    chance: random.Random, run: RunCheck, right: dict[int, bool], flake: float, beside: float
) -> Verdict:
    check = CHECKS[run.check]
    green = check.kind is Kind.LINT or (run.attempt != BASELINE and right[run.attempt])
    if check.kind is Kind.TESTS and chance.random() < flake:
        green = not green
    # Wrong attempts fail in their own way, and so not as the project did before.
    findings = () if green else FAILING if run.attempt == BASELINE else (Finding("a.py", 2, "wrong"),)
    if check.kind is Kind.TESTS and chance.random() < beside:
        findings = (*findings, UNRELATED)
    return Verdict(check, Status.RED if findings else Status.GREEN, 0.1, findings, "exit 1")


PROBLEMS = 300
_SPREAD = (0.122, 0.645)
"""The beta distribution of p with which coverage is 15.9 % at 1 attempt and 56 % at 250, and nearly linear
in log k between, as *Large Language Monkeys* (arXiv 2407.21787) measured on SWE-bench Lite's 300 problems."""


def chances(chance: random.Random, problems: int = PROBLEMS) -> list[float]:
    """The chance with which one attempt at each problem is right."""
    return [chance.betavariate(*_SPREAD) for _ in range(problems)]


@dataclass(frozen=True, slots=True)
class Covered:
    """Races of ``k`` attempts at many problems: how many landed what is right, and what is wrong; the number
    to be expected, and the standard deviation of that."""

    k: int
    races: int
    right: int
    wrong: int
    flaky: int
    """The races that said of a check that it is flaky."""
    expected: float
    deviation: float

    @property
    def inside(self) -> bool:
        """Whether the number is in the interval of 99.9 %."""
        return abs(self.right - self.expected) <= 3.29 * self.deviation


def cover(chance: random.Random, p: Sequence[float], k: int, *, flake: float = 0.0) -> Covered:
    """Race ``k`` attempts at each of the problems with chances ``p``."""
    done = [simulate(chance, k, each, flake=flake) for each in p]
    solved = [1 - (1 - each) ** k for each in p]
    return Covered(
        k,
        len(done),
        sum(each.landed_right is True for each in done),
        sum(each.landed_right is False for each in done),
        sum(each.flaky for each in done),
        sum(solved),
        math.sqrt(sum(each * (1 - each) for each in solved)),
    )
