"""What several runs of a check say together: which tests fail in every run, and which in some runs only.

A test is told apart as flaky by runs on the project as it was before any change: a change can make a test
flaky, and a test that nearly always fails is one that is to be mended. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from session.checks.finding import Finding, Status, Verdict
from session.race.attempt_life import Judgement, Standing

Place = tuple[str, int | str]
"""A file, and a line of it or what is wrong. The assertion of a test is where it is, whatever it says."""


def place(finding: Finding) -> Place:
    """Where ``finding`` is."""
    return finding.path, finding.line or finding.message


def places(runs: Iterable[Verdict]) -> frozenset[Place]:
    """Where any of ``runs`` found something."""
    return frozenset(place(each) for run in runs for each in run.findings)


def in_all(runs: Sequence[Verdict]) -> tuple[Finding, ...]:
    """The findings of the last of ``runs`` at places where every one has some."""
    known = frozenset.intersection(*(places([run]) for run in runs)) if runs else frozenset()
    return tuple(each for each in runs[-1].findings if place(each) in known) if runs else ()


LEAST_PASSES = 2
"""The runs in which a flaky test must pass, before any change and with an attempt, to be held against nobody:
a test that is to be mended passes by chance at times, but hardly twice in a few runs."""


def told_apart(before: Sequence[Verdict]) -> frozenset[Place]:
    """The places at which some of the runs ``before`` any change found something, and others did not."""
    said = [run for run in before if run.status is not Status.UNCLEAR]
    return frozenset(
        at for at in places(said) if sum(at not in places([run]) for run in said) >= LEAST_PASSES
    )


def agree(runs: Sequence[Verdict]) -> bool:
    """Whether ``runs`` on the same files say the same: they are red only where a finding is in all of them,
    if they have any."""
    if len({run.status for run in runs}) > 1:
        return False
    red = runs[0].status is Status.RED
    return not red or not all(run.findings for run in runs) or bool(in_all(runs))


def contradicted(verdict: Verdict, others: Sequence[Verdict]) -> bool:
    """Whether no other verdict has found anything where the red ``verdict`` has."""
    red = [other for other in others if other.status is Status.RED]
    if not verdict.findings or not all(other.findings for other in red):
        return bool(others) and not red
    return bool(others) and not places([verdict]) & places(red)


def flaky(runs: Sequence[Verdict]) -> Judgement:
    """The judgement of a check that says now one thing and now another of the same files. What it found every
    time is left of its findings."""
    red = next((str(each) for run in runs for each in run.findings), "")
    said = f": {red}" if red else ""
    why = f"{runs[-1].check.name} is flaky: green in one run and red in another, on the same files{said}"
    return Judgement(Standing.UNCLEAR, replace(runs[-1], findings=in_all(runs)), why=why)


def excused(runs: Sequence[Verdict], before: Sequence[Verdict]) -> Judgement | None:
    """The judgement where enough of ``runs`` were green, and all that the others found fails in some runs
    only ``before`` any change as well; else None.

    It is green where a test that failed in every run before fails no more. Otherwise what is red now and then
    stands as it did before.
    """
    greens = [run for run in runs if run.status is Status.GREEN]
    found = places(runs)
    if len(greens) < LEAST_PASSES or not found or not found <= told_apart(before):
        return None
    first = next(str(each) for run in runs for each in run.findings)
    why = f"a flaky test, as before any change: {first}"
    mended = len(set(map(place, in_all(before))))
    standing = Standing.GREEN if mended else Standing.AS_BEFORE
    return Judgement(standing, greens[-1], 0 if mended else len(found), mended, why)
