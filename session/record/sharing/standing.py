"""How a session stands between processes: who has it, and whether it would go on without a screen."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from session.base.storage.folders import ProjectFolders
from session.record.journal.parts import SUFFIX
from session.record.journal.recorder import Recorder
from session.record.sharing.claim import Claim, open_elsewhere
from session.record.sharing.host import Host, Shared


class Standing:
    """The standing of a session that this process has."""

    owner = ""
    """The other process that has the session, as in ``process 12``; empty where this one has it."""

    def __init__(self, folders: ProjectFolders, name: str, *, followed: bool) -> None:
        """Claim the session, unless it is ``followed``. Raises SessionTakenError or StoreError."""
        self.journal = folders.sessions / f"{name}{SUFFIX}"
        """The file of the session's events."""
        self._name, self._live = name, folders.live
        self.followed = followed
        self._claim = None if followed else Claim(folders.live, name)
        self.host: Host | None = None
        """Serves the followers; None before :meth:`serve`, and for a followed session."""
        self._busy: Callable[[], bool] = lambda: False
        self._new = not self.journal.exists()
        self._recorder: Recorder | None = None

    def serve(self, session: Shared, recorder: Recorder, *, attended: bool, busy: Callable[[], bool]) -> None:
        """Prepare for followers; ``busy`` says whether a turn runs or waits."""
        self._busy, self._recorder = busy, recorder
        if self._claim is not None:
            self.host = Host(self._claim, session, recorder, attended=attended)

    def start(self) -> None:
        """Let others follow."""
        if self.host is not None:
            self.host.start()

    async def close(self) -> None:
        """Cut the followers off, and let another process have the session. A new one in which nothing
        happened is not kept, unless another process waits for it."""
        followed = self.host is not None and self.host.followed
        if self.host is not None:
            await self.host.close()
        if self.empty and not followed:
            with suppress(OSError):  # then it is not listed, at least
                self.journal.unlink()
        if self._claim is not None:
            self._claim.release()

    @property
    def empty(self) -> bool:
        """Whether this is a new session in which nothing has happened."""
        return self._new and self._recorder is not None and self._recorder.empty

    @property
    def goes_on(self) -> bool:
        """Whether a turn runs or waits in this process, which would go on without a screen."""
        return self._busy()

    @property
    def alone(self) -> bool:
        """Whether no other process has a session of this project. It looks on the disk, in any thread."""
        return all(name == self._name for name in open_elsewhere(self._live))

    @property
    def unanswered(self) -> tuple[str, ...]:
        """Prompts that this process sent to the other one, and that did not become a turn there."""
        return ()

    def take_over(self) -> None:
        """Ask the other process for the session; nothing where this one has it."""
