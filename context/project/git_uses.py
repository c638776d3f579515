"""What a project asks git for: its past commits, and changes against HEAD and the branch's start.

Without git, changes are those since the first scan. Past commits are read beside the project's files and
again when HEAD moved. What failed is told once, and is asked again after a pause that grows.

A git that was waited for in vain is not asked before that, since it would hold up the changes that the user
makes. But only the disk may have been cold, so the first pause is short. One that says at once what is wrong
is also asked whenever the project is checked.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from time import monotonic
from types import MappingProxyType

from context.disk.changes import Change, Status
from context.disk.git import Git, GitUnavailable
from context.disk.git_changes import branch_changes, git_changes
from context.disk.source import name_problem
from context.index.cache import HistoryStore, Store
from context.index.commit_history import History, commit_at_head
from context.index.entries import Entries

FIRST_PAUSE = 10.0
"""Seconds until git is asked again by itself; doubled each time that this is in vain."""
LONGEST_PAUSE = 300.0


@dataclass(frozen=True, slots=True)
class _Words:
    without: str
    """What goes on without git's answer."""
    again: str
    """What is told when it answers again."""


_FILES = _Words(
    "without git, changes are found by comparing contents",
    "git answers again: changes are those that it names",
)
_BRANCH = _Words(
    "the files that this branch changed are not preferred when files are chosen for the model",
    "git answers again what this branch changed",
)
_HISTORY = _Words(
    "past commits do not help to choose files for the model",
    "git answers again about past commits",
)


class GitUse:
    """One thing that git is asked for. One thread at a time asks; any thread may read :attr:`note`."""

    def __init__(self, words: _Words, tell: Callable[[str], None]) -> None:
        self._words = words
        self._tell = tell
        self._problem: GitUnavailable | None = None
        self._pause = 0.0
        self._next = 0.0

    @property
    def note(self) -> str:
        """What is wrong now, and what that means for the user; empty where nothing is."""
        problem = self._problem
        return "" if problem is None or problem.expected else f"{problem}; {self._words.without}"

    @property
    def failing(self) -> bool:
        """Whether git did not answer last."""
        return self._problem is not None

    @property
    def due(self) -> bool:
        """Whether the last answer failed, and git may be asked again."""
        return self._problem is not None and not self._waits(self._problem)

    @property
    def again_in(self) -> float | None:
        """Seconds until git should be asked again, though nobody asks; None if it need not be."""
        problem = self._problem
        return None if problem is None or problem.expected else max(0.0, self._next - monotonic())

    def _waits(self, problem: GitUnavailable) -> bool:
        return problem.slow and monotonic() < self._next

    def begin(self) -> None:
        """To be called before git is asked. Raises the last GitUnavailable while its pause lasts."""
        if self._problem is not None and self._waits(self._problem):
            raise self._problem

    def failed(self, problem: GitUnavailable) -> None:
        """Git did not answer, or :meth:`begin` raised ``problem``."""
        before = self._problem
        if problem is before:
            return
        self._problem = problem
        waited = 0.0 if before is None or before.slow != problem.slow else self._pause
        self._pause = min(LONGEST_PAUSE, max(FIRST_PAUSE, 2 * waited))
        self._next = monotonic() + self._pause
        same = before is not None and ((before.slow and problem.slow) or str(before) == str(problem))
        if not problem.expected and not same:
            self._tell(self.note)

    def worked(self) -> None:
        """Git answered."""
        if self.note:
            self._tell(self._words.again)
        self._problem = None


class GitUses:
    """All that one project asks git for."""

    def __init__(self) -> None:
        self._news: deque[str] = deque()
        self._taking = threading.Lock()
        self.files = GitUse(_FILES, self._news.append)
        self.branch = GitUse(_BRANCH, self._news.append)
        self.history = GitUse(_HISTORY, self._news.append)

    @property
    def notes(self) -> tuple[str, ...]:
        """What is wrong now. Without the files nothing else is asked for."""
        if note := self.files.note:
            return (note,)
        return tuple(use.note for use in (self.branch, self.history) if use.note)

    @property
    def again_in(self) -> float | None:
        """Seconds until git should be asked again, though nobody asks; None if it need not be."""
        uses = (self.files,) if self.files.failing else (self.branch, self.history)
        return min((wait for use in uses if (wait := use.again_in) is not None), default=None)

    def take_news(self) -> tuple[str, ...]:
        """What began to fail or to work again since the last call. Any thread may call it."""
        with self._taking:
            return tuple(self._news.popleft() for _ in range(len(self._news)))


class Commits:
    """The history of one project; ``use`` keeps what fails. One thread at a time reads it."""

    def __init__(self, store: Store, use: GitUse) -> None:
        self.history = History()
        self._store = HistoryStore(store)
        self._use = use
        self._head = ""  # the commit whose history was read last, or was asked for in vain

    def start(self, git: Git | None) -> threading.Thread:
        """Read the history in a thread beside the scan, since git does the work."""
        thread = threading.Thread(target=self.read, args=(git,), name="spark-history", daemon=True)
        thread.start()
        return thread

    def read(self, git: Git | None) -> None:
        """Read the history; it is empty without git, and where git fails."""
        if git is None:
            self.history, self._head = History(), ""
            return
        try:
            self._head = commit_at_head(git)
            self._use.begin()
            self.history = self._store.read(git, self.history)
            self._use.worked()
        except GitUnavailable as problem:
            self.history = History()
            self._use.failed(problem)

    def moved(self, git: Git) -> bool:
        """Whether HEAD moved since then, after which time stamps are not reliable. Raises GitUnavailable."""
        return commit_at_head(git) != self._head

    def retry(self, git: Git) -> None:
        """Read the history again if it failed and its pause is over."""
        if self._use.due:
            self.read(git)


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
