"""Finds files that change together in the commits behind HEAD. The history is cached by HEAD's hash.

Only the newest :data:`MOST` ancestors of HEAD count, and of those only commits that touch few files,
since one that touches hundreds says nothing about any two of them. Merges and first commits are ignored
too.
"""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property

from context.disk.git import Git, GitUnavailable
from context.disk.replace_file import replacing
from context.index.cache import Store

MOST = 1000
"""Number of commits that are read: the newest ones."""
_FILE = "history"
_LARGEST = 30
"""Number of files up to which a commit counts."""
_FADES = 400
"""Number of commits after which the weight of a commit is halved."""
_DOUBT = 2.0
"""Added to the total weight, so that few common commits mean little; 1 is a commit of two files."""


@dataclass(frozen=True)
class History:
    """The commits up to ``head``, newest first, each as the paths that it touched."""

    head: str = ""
    commits: tuple[tuple[str, ...], ...] = ()

    @cached_property
    def _touched(self) -> Mapping[str, list[int]]:
        touched: defaultdict[str, list[int]] = defaultdict(list)
        for at, paths in enumerate(self.commits):
            for path in paths:
                touched[path].append(at)
        return dict(touched)

    def together(self, hand: Iterable[str]) -> dict[str, float]:
        """How likely each other path is to change together with those in ``hand``, from 0 to 1.

        It is the share of their commits that touched it; small and new commits weigh more.
        """
        best: dict[str, float] = {}
        held = set(hand)
        for path in held:
            common: defaultdict[str, float] = defaultdict(float)
            whole = _DOUBT
            for at in self._touched.get(path, ()):
                others = self.commits[at]
                weight = 2.0 ** (-at / _FADES) / max(1, len(others) - 1) ** 0.5
                whole += weight
                for other in others:
                    common[other] += weight
            for other, weight in common.items():
                if other not in held:
                    best[other] = max(best.get(other, 0.0), weight / whole)
        return best


def read_history(git: Git, known: History) -> History:
    """Read the history of HEAD; ``known`` is returned or extended if HEAD descends from it.

    Raises GitUnavailable if there is no commit yet, or git is too slow on a huge repository.
    """
    head = git.run("rev-parse", "--verify", "--quiet", "HEAD").decode("ascii").strip()
    if head == known.head:
        return known
    new = _log(git, head, known.head) if known.head and _is_ancestor(git, known.head, head) else None
    commits = _log(git, head, "") if new is None else (*new, *known.commits)
    return History(head, commits[:MOST])


class HistoryStore:
    """The history of one project in the cache: read if it is still valid, written when it was extended."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def head(self, git: Git) -> str:
        """The hash of the commit that HEAD points to; empty if there is none."""
        try:
            return git.run("rev-parse", "--verify", "--quiet", "HEAD").decode("ascii", "replace").strip()
        except GitUnavailable:
            return ""

    def read(self, git: Git, known: History) -> History:
        """Like :func:`read_history`, starting from the cached history. Raises GitUnavailable."""
        known = known if known.head else self._load(git.prefix)
        found = read_history(git, known)
        if found.head != known.head:
            self._save(git.prefix, found)
        return found

    def _load(self, prefix: str) -> History:
        if self._store.folder is None:
            return History()
        try:
            held = json.loads((self._store.folder / _FILE).read_bytes())
            head, names, commits = held["head"], held["paths"], held["commits"]
            if held["prefix"] != prefix or not isinstance(head, str):
                return History()
            return History(head, tuple(tuple(str(names[at]) for at in commit) for commit in commits))
        except (OSError, ValueError, LookupError, TypeError, RecursionError):
            return History()

    def _save(self, prefix: str, history: History) -> None:
        folder = self._store.prepare()
        if folder is None:
            return
        numbers: dict[str, int] = {}
        commits = [[numbers.setdefault(path, len(numbers)) for path in commit] for commit in history.commits]
        held = {"head": history.head, "prefix": prefix, "paths": list(numbers), "commits": commits}
        # If it cannot be written, it is read from git again next time.
        with suppress(OSError), replacing(folder / _FILE) as out:
            out.write(json.dumps(held).encode("ascii"))


def _is_ancestor(git: Git, old: str, head: str) -> bool:
    try:
        git.run("merge-base", "--is-ancestor", old, head)
    except GitUnavailable:
        return False
    return True


def _log(git: Git, head: str, old: str) -> tuple[tuple[str, ...], ...]:
    arguments = [
        "log",
        "--min-parents=1",
        "--max-parents=1",
        "--no-renames",
        "--no-ext-diff",
        "--no-show-signature",
        "--name-only",
        "--relative",
    ]
    arguments += ["-z", "--format=%x01", f"--max-count={MOST}", head]
    out = git.run(*arguments, *([f"^{old}"] if old else []), "--")
    return parse_log(out)


def parse_log(out: bytes) -> tuple[tuple[str, ...], ...]:
    """The paths of each commit in ``git log -z --name-only --format=%x01``, without commits of too many."""
    commits: list[tuple[str, ...]] = []
    for record in os.fsdecode(out).split("\x01")[1:]:
        paths = tuple(path for path in record.replace("\n", "\0").split("\0") if path)
        if 0 < len(paths) <= _LARGEST:
            commits.append(paths)
    return tuple(commits)
