"""The user's locks on files, folders, patterns and lines, set and removed while a session is open."""

from __future__ import annotations

from collections.abc import Callable

from edits.ledger.shared_lock import LockHeldError
from session.project.active_guards import GuardSettings, guards_with_user, guards_without_user
from session.project.edit_thread import EditThread
from session.project.indexing import ProjectReading
from session.project.locks import LockError, LockStore
from session.project.workspace import Workspace


class LockCommands:
    """``Session.locks``: locking and unlocking.

    A command runs in the edit thread and under the ledger's lock, so no hunk of this or another process
    lands between the change of a lock and its effect.
    """

    def __init__(
        self,
        workspace: Workspace,
        guards: GuardSettings,
        thread: EditThread,
        reading: ProjectReading,
        *,
        attended: bool,
    ) -> None:
        """Read the locks and put the guards in place. Raises LockError if the locks cannot be read.

        ``reading`` knows which files git ignores; ``attended`` says that a user can be asked about a hunk
        that a guard holds.
        """
        self._store = LockStore(workspace.root, workspace.folders.state, lambda: workspace.files())
        self._landing = workspace.landing
        self._ledger = workspace.ledger
        self._guards = guards
        self._thread = thread
        self._reading = reading
        self._attended = attended
        self.known: tuple[str, ...] = self._store.shown()
        """The locks as of the last command, for completion. Other processes may have changed them since."""
        self._protect()

    async def lock(self, target: str) -> str:
        """Lock a path, a folder, a pattern, or lines as in ``path:10-20``. Returns a line for the user.

        Raises LockError for a target that names nothing or cannot be locked.
        """
        return await self._change(self._store.add, target)

    async def unlock(self, target: str) -> str:
        """Remove a lock; ``all`` removes every one. Returns a line for the user.

        Raises LockError if there is no such lock.
        """
        return await self._change(self._store.remove, target)

    async def shown(self) -> tuple[str, ...]:
        """The present locks, each in a few words. Raises LockError if they cannot be read."""
        self.known = await self._thread.run(self._store.shown)
        return self.known

    async def _change(self, change: Callable[[str], str], target: str) -> str:
        def in_edit_thread() -> tuple[str, tuple[str, ...]]:
            try:
                with self._ledger.exclusive():
                    told = change(target)
                    self._protect()
                    return told, self._store.shown()
            except LockHeldError as held:
                raise LockError(held.message) from held

        told, self.known = await self._thread.run(in_edit_thread)
        return told

    def _protect(self) -> None:
        make = guards_with_user if self._attended else guards_without_user
        self._landing.protection = make(self._guards, self._store.read(), self._reading.is_ignored)
