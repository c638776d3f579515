"""Finds changed files by git: those that differ from HEAD, and those that the current branch changed."""

from __future__ import annotations

import os
from dataclasses import dataclass

from context.disk.changes import Change, Status, line_sums, packed
from context.disk.file_list import is_temporary
from context.disk.git import HELPFUL, Git
from context.disk.source import LARGEST, Source, decode, is_inside, largest


def git_changes(git: Git, paths: tuple[str, ...] = ()) -> dict[str, Change]:
    """Staged, unstaged and untracked changes of the folder (or of ``paths`` in it) against HEAD.

    Raises GitUnavailable.
    """
    # --literal-pathspecs is set for every call, so "." is the folder and names are names.
    out = git.run(
        "status",
        "--porcelain=v2",
        "-z",
        "--untracked-files=all",
        "--ignore-submodules=all",
        "--no-ahead-behind",
        # Finding renames compares old contents, which a partial clone may lack.
        "--no-renames" if git.partial else "--find-renames",
        "--",
        *(paths or (".",)),
    )
    found = [
        entry
        for entry in parse_status(out)
        if entry.path.startswith(git.prefix) and not is_temporary(entry.path) and is_inside(entry.path)
    ]
    most = max((largest(entry.path) for entry in found), default=LARGEST)
    blobs = git.blobs((entry.blob for entry in found if entry.blob), most)
    changes: dict[str, Change] = {}
    for entry in found:
        data = blobs.get(entry.blob or "")
        base = None if data is None or len(data) > largest(entry.path) else decode(entry.path, data)
        path = entry.path.removeprefix(git.prefix)
        changes[path] = Change(
            path,
            entry.status,
            line_sums(base) if isinstance(base, Source) else None,
            entry.renamed_from and entry.renamed_from.removeprefix(git.prefix),
            packed(base) if isinstance(base, Source) else b"",
        )
    return changes


@dataclass(frozen=True, slots=True)
class StatusEntry:
    """One entry of ``git status``: its path from the top of the repository, and its blob in HEAD."""

    path: str
    status: Status
    blob: str | None = None
    renamed_from: str | None = None


def parse_status(out: bytes) -> list[StatusEntry]:
    """The entries of ``git status --porcelain=v2 -z`` (format: git-status(1), "Porcelain Format Version 2").

    Entries of unknown kinds are ignored.
    """
    entries: list[StatusEntry] = []
    fields = iter(os.fsdecode(out).split("\0"))
    for line in fields:
        kind = line[:2]
        if kind == "? ":
            if not line.endswith("/"):
                entries.append(StatusEntry(line[2:], Status.UNTRACKED))
        elif kind == "1 ":
            _, xy, _, _, _, _, head, _, path = line.split(" ", 8)
            entries.append(StatusEntry(path, _status(xy), _blob(head)))
        elif kind == "2 ":
            _, xy, _, _, _, _, head, _, score, path = line.split(" ", 9)
            origin = next(fields, "")
            status = Status.DELETED if xy[1] == "D" else Status.RENAMED if score[0] == "R" else Status.ADDED
            entries.append(StatusEntry(path, status, _blob(head), origin))
            if status is Status.DELETED and score[0] == "R":
                entries.append(StatusEntry(origin, Status.DELETED))
        elif kind == "u ":
            _, _, _, _, _, _, _, _, ours, _, path = line.split(" ", 10)
            entries.append(StatusEntry(path, Status.CONFLICTED, _blob(ours)))
    return entries


def _status(xy: str) -> Status:
    if "D" in xy:
        return Status.DELETED
    return Status.ADDED if xy[0] == "A" or xy[1] == "A" else Status.MODIFIED


def _blob(name: str) -> str | None:
    return name if name.strip("0") else None


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
