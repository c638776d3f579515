"""Tracks changes against HEAD and the branch's start or, without git, against the first scan."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from context.disk.branch import branch_changes
from context.disk.changes import Change, Status, git_changes
from context.disk.git import Git, GitUnavailable
from context.disk.source import name_problem
from context.index.entries import Entries
from context.project.git_uses import GitUse


class Differences:
    """The current changes of one project. One thread updates them; :attr:`shown` is immutable."""

    def __init__(self) -> None:
        self.changes: dict[str, Change] = {}
        self.branch: frozenset[str] = frozenset()
        """Files that the current branch changed."""
        self._shown: Mapping[str, Change] | None = None
        self._baseline: Entries | None = None

    @property
    def shown(self) -> Mapping[str, Change]:
        """The changes that can be named to a model."""
        if self._shown is None:
            self._shown = MappingProxyType(
                {path: change for path, change in self.changes.items() if name_problem(path) is None}
            )
        return self._shown

    def from_git(self, git: Git, branch: GitUse) -> None:
        """Replace all changes by git's. Raises GitUnavailable; what fails of ``branch`` is kept there."""
        self.changes = git_changes(git)
        try:
            branch.begin()
            self.branch = branch_changes(git)
            branch.worked()
        except GitUnavailable as problem:
            self.branch = frozenset()
            branch.failed(problem)
        self._shown = None

    def without_git(self) -> None:
        """Forget all changes, since there is no git."""
        self.changes = {}
        self.branch = frozenset()
        self._shown = None

    def ask(self, git: Git, paths: list[str]) -> None:
        """Update the changes of ``paths`` from git. Raises GitUnavailable."""
        changed = git_changes(git, tuple(paths))
        for path in paths:
            self.changes.pop(path, None)
            if path in changed:
                self.changes[path] = changed[path]
        self._shown = None

    def compare(self, now: Entries, unread: Mapping[str, str], paths: Iterable[str] | None = None) -> None:
        """Without git, record how ``paths`` (or all files) differ from the first scan of this project."""
        if self._baseline is None:
            self._baseline = now
            return
        base = self._baseline
        for path in {*now, *base} if paths is None else paths:
            self.changes.pop(path, None)
            before, after = base.digest(path), now.digest(path)
            if before == after:
                continue
            if not after:
                if path not in unread:
                    self.changes[path] = Change(path, Status.DELETED, base.lines(path))
            elif not before:
                self.changes[path] = Change(path, Status.ADDED)
            else:
                lines = now.lines(path)
                earlier = base.lines(path)
                if earlier is None or earlier != lines:
                    self.changes[path] = Change(path, Status.MODIFIED, earlier)
        self._shown = None
