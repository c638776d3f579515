"""The past commits of a project, read beside its files and again when HEAD moved."""

from __future__ import annotations

import threading

from context.disk.git import Git, GitUnavailable
from context.index.cache import Store
from context.index.commit_history import History, HistoryStore, commit_at_head
from context.project.git_uses import GitUse


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
