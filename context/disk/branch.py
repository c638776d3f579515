"""Finds the files that the current branch changed since it left the main branch."""

from __future__ import annotations

import os

from context.disk.file_list import is_temporary
from context.disk.git import HELPFUL, Git
from context.disk.source import is_inside

MOST = 200
"""A branch that changed more files than this is ignored: the change then says little."""
_MAIN = (
    "refs/remotes/upstream/HEAD",
    "refs/remotes/origin/HEAD",
    "refs/remotes/upstream/main",
    "refs/remotes/upstream/master",
    "refs/remotes/origin/main",
    "refs/remotes/origin/master",
    "refs/heads/main",
    "refs/heads/master",
)
"""Names of a main branch, the likeliest first."""


def branch_changes(git: Git) -> frozenset[str]:
    """The files (relative to the folder) that the current branch changed since it left the main one.

    Empty where there is no branch (a detached HEAD), no main one, no common commit (a shallow clone), or
    where more than :data:`MOST` changed. Raises GitUnavailable.
    """
    head = _line(git, "symbolic-ref", "--quiet", "HEAD")
    if not head or not _line(git, "rev-parse", "--verify", "--quiet", "HEAD"):
        return frozenset()
    listed = os.fsdecode(git.run("for-each-ref", "--format=%(refname) %(objectname)", *_MAIN))
    names = dict(line.split(" ", 1) for line in listed.splitlines() if " " in line)
    main = next((names[name] for name in _MAIN if name in names and name != head), None)
    point = _line(git, "merge-base", "HEAD", main) if main is not None else ""
    if not point:
        return frozenset()
    named = ("-r", "--name-only", "--no-renames", "--relative", "-z")
    out = git.run("diff-tree", *named, point, "HEAD", seconds=HELPFUL)
    paths = [path for path in os.fsdecode(out).split("\0") if is_inside(path) and not is_temporary(path)]
    return frozenset(paths) if len(paths) <= MOST else frozenset()


def _line(git: Git, *arguments: str) -> str:
    """What git answers, empty where it says no. Raises GitUnavailable."""
    return (git.ask(*arguments, seconds=HELPFUL) or b"").decode("utf-8", "replace").strip()
