"""Tries past commits one after the other until enough of them could be tried."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

from context.disk.git import Git, GitUnavailable
from session.checks.check import Check
from session.commands.race_commands import RaceError
from session.ways.coverage_trial import Open, Trial, try_commit
from session.ways.past_commits import past_commits


class NoCommitsError(Exception):
    """The repository's past commits cannot be read; the message says why."""


async def trials(
    root: Path, check: Check, attempts: int, commits: int, looked_at: int, opens: Open
) -> AsyncIterator[Trial]:
    """What ``attempts`` attempts come to at each of the newest ``commits`` commits that can be tried.

    Those that cannot come too, with their problem. Raises :class:`NoCommitsError`.
    """
    try:
        git = Git.open(root)
        tried = 0
        for commit in past_commits(git, check, looked_at):
            if tried == commits:
                return
            try:
                trial = await try_commit(git, commit, check, attempts, opens)
            except (RaceError, OSError) as problem:
                trial = Trial(commit, problem=str(problem))
            tried += not trial.problem
            yield trial
    except GitUnavailable as problem:
        raise NoCommitsError(str(problem)) from problem
