"""``spark bench attempts``: what many attempts are worth in this repository, measured on its past commits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tui.cli.options import asking_options, json_option, opening, typed_checks
from tui.front.exits import CONFIGURATION, FAILED, USAGE, leave
from tui.front.printing import say, say_json, say_line

if TYPE_CHECKING:
    from session.checks.check import Check
    from session.setup.opening import Opening
    from session.ways.coverage import Trial


@click.group("bench")
def bench_command() -> None:
    """Measure what spark does in this repository."""


@bench_command.command("attempts")
@click.option(
    "--attempts", type=click.IntRange(1, 64), default=5, show_default=True, metavar="N", help="For each."
)
@click.option(
    "--commits", type=click.IntRange(1, 1000), default=10, show_default=True, help="Commits to try."
)
@click.option(
    "--look-at", type=click.IntRange(1, 100_000), default=500, show_default=True, help="Past commits."
)
@click.option("--check", "commands", multiple=True, metavar="COMMAND", help="Run the tests with COMMAND.")
@click.option("--fix", type=click.IntRange(0, 10), metavar="N", help="How often a red attempt answers again.")
@json_option
@asking_options
def bench_attempts(
    attempts: int,
    commits: int,
    look_at: int,
    commands: tuple[str, ...],
    fix: int | None,
    as_json: bool,
    folder: Path,
    **given: Any,
) -> None:
    """Ask for N attempts at each of the newest commits whose tests it turned from red to green.

    Each commit is undone in a temporary copy but for its tests, and the model is asked to make them pass.
    Prints for how many of them at least one of k attempts does, with an interval of 95 %, and what that took.
    It asks the configured model, which may cost money: the first line says how much about. Nothing of this
    folder is changed.
    """
    import asyncio

    from session.ways.coverage import NoCommitsError

    opened = opening(folder, **given)
    if opened.endpoint is None:
        leave(opened.missing, CONFIGURATION)
    check = _check(commands, opened)
    _say_estimate(opened, attempts, commits, fix)
    try:
        tried = asyncio.run(
            _try(opened.workspace.root, check, attempts, commits, look_at, as_json, given, fix)
        )
    except NoCommitsError as problem:
        leave(str(problem), CONFIGURATION)
    _summary(tried, attempts, as_json)
    if not tried:
        leave("no commit could be tried: none has tests that are red before it and green after it", FAILED)


def _check(commands: tuple[str, ...], opened: Opening) -> Check:
    """The check that runs the tests: that of ``--check``, or the agreed one."""
    from session.checks.check import Kind
    from session.checks.known_checks import KnownChecks

    typed = typed_checks(commands)
    if len(typed) > 1:
        leave("one --check says how the tests run", USAGE)
    if typed:
        return typed[0]
    workspace = opened.workspace
    known = KnownChecks(workspace.root, workspace.folders.state, opened.settings.checks)
    agreed = [check for check in known.agreed() if check.kind is Kind.TESTS]
    if len(agreed) != 1:
        how = "no agreed check runs tests" if not agreed else "several agreed checks run tests"
        leave(f'{how}: say which, as in --check "python -m pytest -q {{tests}}"', CONFIGURATION)
    return agreed[0]


async def _try(
    root: Path,
    check: Check,
    attempts: int,
    commits: int,
    look_at: int,
    as_json: bool,
    given: dict[str, Any],
    rounds: int | None,
) -> list[Trial]:
    """Try commits and tell of each; returns those that could be tried."""
    from session.setup.config import Flags
    from session.setup.opening import open_project
    from session.ways.coverage import trials

    def opens(folder: Path, environ: Mapping[str, str]) -> Opening:
        return open_project(folder, Flags(**given), environ)

    tried: list[Trial] = []
    async for trial in trials(root, check, attempts, commits, look_at, opens, rounds):
        _tell(trial, as_json)
        tried += [] if trial.problem else [trial]
    return tried


def _say_estimate(opened: Opening, attempts: int, commits: int, fix: int | None) -> None:
    """Say what it is likely to take, before anything is asked."""
    from session.race.variations import likely
    from session.setup.model_choice import ChoiceError

    try:
        least, most, later = likely(opened, attempts)
    except ChoiceError as problem:
        leave(f"[attempts] in config.toml: {problem}", CONFIGURATION)
    tokens = f"{least.tokens * commits:,} to {most.tokens * commits:,} tokens"
    costs = [each.cost * commits for each in (least, most) if each.cost is not None]
    cost = f", {' to '.join(f'${each:,.2f}' for each in costs)}" if costs else ""
    all_of_it = f"{tokens}{cost}, by how often the model calls tools"
    rounds = opened.settings.attempts.rounds if fix is None else fix
    again = f"; a red one answers again up to {rounds} times, {later} each" if rounds else ""
    count = f"at most {attempts * commits} answers: {attempts} for each of {commits} commits"
    say_line(f"{count}; {all_of_it}{again}", err=True)


def _tell(trial: Trial, as_json: bool) -> None:
    if as_json:
        say_json(
            {
                "type": "commit.tried",
                "commit": trial.commit.name,
                "subject": trial.commit.subject,
                "attempts": trial.attempts,
                "right": trial.right,
                "tokens": trial.tokens,
                "seconds": round(trial.seconds, 1),
                "cost": trial.cost,
                "problem": trial.problem,
            }
        )
    elif trial.problem:
        say_line(f"{trial.commit.name}  left out: {trial.problem}", err=True)
    else:
        took = f"{trial.tokens:,} tokens, {trial.seconds:.0f} s{_dollars(trial.cost)}"
        say_line(
            f"{trial.commit.name}  {trial.right} of {trial.attempts} right, {took}  {trial.commit.subject}",
            err=True,
        )


def _summary(tried: Sequence[Trial], attempts: int, as_json: bool) -> None:
    from session.ways.coverage import coverage, shown

    results = [(trial.attempts, trial.right) for trial in tried]
    most = min((made for made, _ in results), default=0)
    curve = [coverage(k, results) for k in shown(most)] if most else []
    tokens, seconds = sum(trial.tokens for trial in tried), sum(trial.seconds for trial in tried)
    costs = [trial.cost for trial in tried]
    cost = None if not costs or any(each is None for each in costs) else sum(each or 0.0 for each in costs)
    if as_json:
        rows = [{"k": each.k, "coverage": each.share, "low": each.low, "high": each.high} for each in curve]
        totals = {"commits": len(tried), "tokens": tokens, "seconds": round(seconds, 1), "cost": cost}
        say_json({"type": "bench.ended", "coverage": rows, **totals})
        return
    for each in curve:
        say(f"{each.k:>3} attempts  {each.share:6.1%}  (95 %: {each.low:.1%} to {each.high:.1%})")
    if tried:
        say(f"{len(tried)} commits, {tokens:,} tokens, {seconds:,.0f} s{_dollars(cost)}")


def _dollars(cost: float | None) -> str:
    return "" if cost is None else f", ${cost:,.3f}"
