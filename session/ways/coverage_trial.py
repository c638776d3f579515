"""Tries one past commit: its tests are red before it and green after it, and attempts race to mend them."""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from context.disk.git import Git
from session.base.events import AttemptAnswered, RaceEnded, TurnEnded
from session.checks.check import Check, Kind
from session.checks.finding import Status
from session.checks.runner import CheckRunner
from session.checks.sandbox.sandbox import Sandboxes
from session.session import Session
from session.setup.opening import Opening
from session.ways.past_commits import PastCommit, write_before

Open = Callable[[Path, Mapping[str, str]], Opening]
"""Opens the project in a folder, with an environment."""


@dataclass(frozen=True, slots=True)
class Trial:
    """What N attempts at one commit's tests came to. ``problem`` says why there were none."""

    commit: PastCommit
    attempts: int = 0
    right: int = 0
    tokens: int = 0
    seconds: float = 0.0
    cost: float | None = None
    problem: str = ""


async def try_commit(git: Git, commit: PastCommit, check: Check, attempts: int, opens: Open) -> Trial:
    """Race ``attempts`` attempts at the tests of ``commit``, in a copy of the project as it was before.

    Raises GitUnavailable, OSError and RaceError.
    """
    judge = replace(check.only(sorted(commit.tests)) if check.takes_tests else check, kind=Kind.TESTS)
    with tempfile.TemporaryDirectory(prefix="spark-bench-") as name:
        folder = Path(name) / "project"
        folder.mkdir()
        await asyncio.to_thread(write_before, git, commit, folder)
        environ = {**os.environ, "XDG_STATE_HOME": str(Path(name) / "state")}
        opening = opens(folder, environ)
        if problem := await _why_no_problem(judge, commit, opening, environ):
            return Trial(commit, problem=problem)
        return await _race(commit, judge, attempts, opening)


async def _why_no_problem(
    check: Check, commit: PastCommit, opening: Opening, environ: Mapping[str, str]
) -> str:
    """Why the commit cannot be tried; empty where its tests are red before it and green after it."""
    root = opening.workspace.root
    files = await asyncio.to_thread(opening.workspace.files)
    runner = CheckRunner(root, Sandboxes(root, environ), opening.command_environ, lambda: files)
    before = await runner.run(check, sorted(commit.tests))
    if before.status is not Status.RED:
        return f"the tests are {before.status} without its change{_because(before.why)}"
    after = await runner.run(check, sorted(commit.tests), edits=commit.code)
    if after.status is not Status.GREEN:
        return f"the tests are {after.status} with its change{_because(after.why)}"
    return ""


async def _race(commit: PastCommit, check: Check, attempts: int, opening: Opening) -> Trial:
    session = Session(opening, attended=False)
    events = session.listen()
    ended: RaceEnded | None = None
    changed_tests: set[int] = set()
    await session.open()
    try:
        await session.race.start(commit.prompt, attempts, [check], judge_all=True)
        async for event in events:
            match event:
                case AttemptAnswered(attempt=number, paths=paths) if set(paths) & set(commit.tests):
                    changed_tests.add(number)
                case RaceEnded():
                    ended = event
                case TurnEnded(message=message):
                    if ended is None:
                        return Trial(commit, problem=message or "the race did not begin")
                    break
                case _:
                    pass
    finally:
        await session.close()
    if ended is None:
        return Trial(commit, problem="the race did not end")
    right = session.race.green - changed_tests
    return Trial(commit, ended.attempts, len(right), ended.tokens, ended.seconds, ended.cost)


def _because(why: str) -> str:
    return f" ({why})" if why else ""
