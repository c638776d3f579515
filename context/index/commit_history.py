"""Finds files by the commits behind HEAD: those that change together, and those that commits with similar
messages touched. The history is cached by HEAD's hash.

Only the newest :data:`MOST` ancestors of HEAD count, and of those only commits that touch few files,
since one that touches hundreds says nothing about any two of them. Merges and first commits are ignored
too.
"""

from __future__ import annotations

import math
import os
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from context.disk.git import HELPFUL, Git, GitUnavailable
from context.text.words import words

MOST = 1000
"""Number of commits that are read: the newest ones."""
_LARGEST = 30
"""Number of files up to which a commit counts."""
_FADES = 400
"""Number of commits after which the weight of a commit is halved."""
_DOUBT = 2.0
"""Added to the total weight, so that few common commits mean little; 1 is a commit of two files."""
_LONGEST_MESSAGE = 600
"""Number of characters that are kept of a message."""
_MOST_ALIKE = 40
"""Number of commits with similar messages that count: the most similar ones."""
_K1 = 1.2
_B = 0.5
_TYPICAL_MESSAGE = 20
"""Number of words of a typical message."""


@dataclass(frozen=True)
class History:
    """The commits up to ``head``, newest first, each as the paths that it touched, and their messages."""

    head: str = ""
    commits: tuple[tuple[str, ...], ...] = ()
    messages: tuple[str, ...] = ()

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

    @cached_property
    def _said(self) -> Mapping[str, list[tuple[int, float]]]:
        """The commits whose messages have each word, with the word's share of the BM25 score."""
        said: defaultdict[str, list[tuple[int, float]]] = defaultdict(list)
        for at, message in enumerate(self.messages):
            counted = words(message)
            norm = _K1 * (1 - _B + _B * sum(counted.values()) / _TYPICAL_MESSAGE)
            for word, count in counted.items():
                said[word].append((at, count * (_K1 + 1) / (count + norm)))
        return dict(said)

    def alike(self, wanted: Mapping[str, float]) -> dict[str, float]:
        """The score of each path by the messages of the commits that touched it, for weighted words."""
        total = len(self.messages)
        matches: defaultdict[int, float] = defaultdict(float)
        for word, weight in wanted.items():
            held = self._said.get(word, ())
            rarity = math.log(1 + (total - len(held) + 0.5) / (len(held) + 0.5))
            for at, share in held:
                matches[at] += weight * rarity * share
        best = sorted(matches, key=lambda at: (-matches[at], at))[:_MOST_ALIKE]
        scores: defaultdict[str, float] = defaultdict(float)
        for at in best:
            for path in self.commits[at]:
                scores[path] += matches[at] ** 2 / len(self.commits[at]) ** 0.5
        return {path: score**0.5 for path, score in scores.items()}


def read_history(git: Git, known: History) -> History:
    """Read the history of HEAD; ``known`` is returned or extended if HEAD descends from it.

    It is empty where there is no commit yet. Raises GitUnavailable, also where git is too slow on a huge
    repository.
    """
    head = commit_at_head(git)
    if head == known.head:
        return known
    if not head:
        return History()
    new = _log(git, head, known.head) if known.head and _is_ancestor(git, known.head, head) else None
    read = _log(git, head, "") if new is None else new
    commits = tuple(paths for paths, _ in read)
    messages = tuple(message for _, message in read)
    if new is not None:
        commits, messages = (*commits, *known.commits), (*messages, *known.messages)
    return History(head, commits[:MOST], messages[:MOST])


def commit_at_head(git: Git) -> str:
    """The hash of the commit that HEAD points to; empty if there is none. Raises GitUnavailable."""
    return (git.ask("rev-parse", "--verify", "--quiet", "HEAD") or b"").decode("ascii", "replace").strip()


def _is_ancestor(git: Git, old: str, head: str) -> bool:
    try:
        return git.ask("merge-base", "--is-ancestor", old, head, seconds=HELPFUL) is not None
    except GitUnavailable as problem:
        if problem.slow:
            raise
        return False  # The old commit is gone: its branch was rewritten and cleaned up.


def _log(git: Git, head: str, old: str) -> tuple[tuple[tuple[str, ...], str], ...]:
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
    arguments += ["-z", "--format=%x01%B%x02", f"--max-count={MOST}", head]
    out = git.run(*arguments, *([f"^{old}"] if old else []), "--", seconds=HELPFUL)
    return parse_log(out)


def parse_log(out: bytes) -> tuple[tuple[tuple[str, ...], str], ...]:
    """The paths and the message of each commit in ``git log -z --name-only --format=%x01%B%x02``, without
    commits of too many paths."""
    commits: list[tuple[tuple[str, ...], str]] = []
    for record in out.split(b"\x01")[1:]:
        message, _, names = record.rpartition(b"\x02")
        paths = tuple(path for path in os.fsdecode(names).replace("\n", "\0").split("\0") if path)
        if 0 < len(paths) <= _LARGEST:
            said = message.decode("utf-8", "replace").replace("\0", " ").strip()
            commits.append((paths, said[:_LONGEST_MESSAGE]))
    return tuple(commits)
