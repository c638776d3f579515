"""Finds changed files: those that differ from HEAD or, without git, from the start of the session.

A file's earlier state is kept as a checksum of each line, so that a later save is compared without git.
Files that the current branch changed since it left the main branch are found by git.
"""

from __future__ import annotations

import os
import zlib
from array import array
from collections.abc import Iterable
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import StrEnum
from typing import TypeAlias

from context.disk.file_list import is_temporary
from context.disk.git import HELPFUL, Git
from context.disk.source import LARGEST, Source, decode, is_inside
from context.text.lines import line_slices
from context.text.words import unique_tokens

Lines: TypeAlias = "array[int]"
"""The CRC-32 of each line, in order."""

_LARGEST_MIDDLE = 4_000_000
"""Largest product of line counts for which two texts are compared; beyond it the middle is one change."""


class Status(StrEnum):
    """How a file differs."""

    MODIFIED = "modified"
    ADDED = "added"
    UNTRACKED = "untracked"
    DELETED = "deleted"
    RENAMED = "renamed"
    CONFLICTED = "conflicted"


@dataclass(frozen=True, slots=True)
class Change:
    """One changed file. ``base`` is its earlier state; None if there was none or it is not text.

    ``names`` are the tokens of the earlier text, one a line; empty if they are not known."""

    path: str
    status: Status
    base: Lines | None = None
    renamed_from: str | None = None
    names: str = ""

    def ranges(self, lines: Lines) -> list[range]:
        """The changed ranges of the current ``lines``, as indices from 0.

        A range is empty where lines were only removed. Without an earlier state, everything changed.
        """
        return [range(len(lines))] if self.base is None else changed_ranges(self.base, lines)


def line_sums(source: Source) -> Lines:
    """The checksums of a file's lines."""
    sums = array("I")
    for part in line_slices(source.text):
        lines = part.encode("utf-8", "surrogatepass").split(b"\n")
        if not lines[-1]:
            lines.pop()
        sums.extend(map(zlib.crc32, lines))
    return sums


def changed_ranges(before: Lines, after: Lines) -> list[range]:
    """The ranges of ``after`` that differ from ``before``, in order."""
    return [new for _, new in _differences(before, after)]


def known_ranges(before: Lines, after: Lines, known: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """The ranges (first, one past the last) of ``after`` that somebody knows who knows these ranges of
    ``before`` and was told each difference; joined and in order. Empty if the texts are too long to compare.
    """
    differences = _differences(before, after)
    if any(len(old) * len(new) > _LARGEST_MIDDLE for old, new in differences):
        return []
    ranges = [(new.start, new.stop) for _, new in differences]
    at = moved = 0
    # Between the differences, the lines are the same, moved by the lengths of the differences before them.
    for old, new in [*differences, (range(len(before), len(before)), range(len(after), len(after)))]:
        for first, stop in known:
            ranges.append((max(first, at) + moved, min(stop, old.start) + moved))
        at, moved = old.stop, new.stop - old.stop
    joined: list[tuple[int, int]] = []
    for first, stop in sorted(each for each in ranges if each[0] < each[1]):
        if joined and first <= joined[-1][1]:
            joined[-1] = joined[-1][0], max(stop, joined[-1][1])
        else:
            joined.append((first, stop))
    return joined


def _differences(before: Lines, after: Lines) -> list[tuple[range, range]]:
    """The ranges of ``before`` that differ, in order, each with the range of ``after`` in its place."""
    start = 0
    shorter = min(len(before), len(after))
    while start < shorter and before[start] == after[start]:
        start += 1
    end = 0
    while end < shorter - start and before[-1 - end] == after[-1 - end]:
        end += 1
    old, new = range(start, len(before) - end), range(start, len(after) - end)
    if not old and not new:
        return []
    if not old or not new or len(old) * len(new) > _LARGEST_MIDDLE:
        return [(old, new)]
    matcher = SequenceMatcher(None, before[old.start : old.stop], after[new.start : new.stop], autojunk=False)
    return [
        (old[old_start:old_end], new[new_start:new_end])
        for tag, old_start, old_end, new_start, new_end in matcher.get_opcodes()
        if tag != "equal"
    ]


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
    blobs = git.blobs((entry.blob for entry in found if entry.blob), LARGEST)
    bases = {name: decode("", data) for name, data in blobs.items()}
    changes: dict[str, Change] = {}
    for entry in found:
        base = bases.get(entry.blob or "")
        path = entry.path.removeprefix(git.prefix)
        changes[path] = Change(
            path,
            entry.status,
            line_sums(base) if isinstance(base, Source) else None,
            entry.renamed_from and entry.renamed_from.removeprefix(git.prefix),
            unique_tokens(base.text) if isinstance(base, Source) else "",
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
