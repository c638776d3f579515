"""What a project asks git for: what failed is told once, and is asked again after a pause that grows.

A git that was waited for in vain is not asked before that, since it would hold up the changes that the user
makes. But only the disk may have been cold, so the first pause is short. One that says at once what is wrong
is also asked whenever the project is checked.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic

from context.disk.git import GitUnavailable

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
