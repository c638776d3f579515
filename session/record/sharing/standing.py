"""How a session stands between processes: who has it, and whether it would go on without a screen.

The sessions of this project that other processes have are described here as those processes told them.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from session.base.storage.folders import ProjectFolders
from session.record.journal.parts import SUFFIX
from session.record.journal.recorder import Recorder
from session.record.sharing.claim import Claim, open_elsewhere
from session.record.sharing.host import Host, Presence, Shared
from session.record.sharing.messages import Welcome

SILENT = 15
"""Seconds without an answer after which a terminal may have been dropped: far lines answer within three."""


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """Where the session ``name`` of the process ``pid`` stands. ``runs`` is ``a turn``, ``a command`` or
    empty, ``since`` when that began (Unix time). ``silent`` counts the seconds since its terminal should have
    answered; -1 where that is not known."""

    name: str
    pid: int
    presence: str
    runs: str
    since: int
    silent: int

    @classmethod
    def told(cls, welcome: Welcome) -> Elsewhere:
        """What ``welcome`` says."""
        return cls(
            welcome.session, welcome.pid, welcome.presence, welcome.runs, welcome.since, welcome.silent
        )

    @property
    def dropped(self) -> bool:
        """Whether something runs there, and its screen has probably been lost unnoticed."""
        return bool(self.runs) and self.presence == Presence.SCREEN and self.silent >= SILENT

    @property
    def where(self) -> str:
        """As in ``process 12: a turn runs since 14:03, its terminal silent for 40 s``."""
        runs = f"{self.runs} runs since {clock(self.since)}" if self.runs else "nothing runs"
        return ", ".join([f"process {self.pid}: {runs}", *filter(None, (self._screen,))])

    @property
    def line(self) -> str:
        """For the user who opens another session of the project."""
        if self.presence == Presence.NOBODY:
            return f"session {self.name} goes on without a screen: spark resume {self.name} follows it"
        stands = "works" if self.runs else "is open"
        return f"another spark {stands} here, {self.where}: spark resume {self.name} follows it"

    @property
    def _screen(self) -> str:
        if self.presence == Presence.NOBODY:
            return "without a screen"
        if self.presence == Presence.SCRIPT:
            return "spark exec"
        return f"its terminal silent for {self.silent} s" if self.silent >= SILENT else ""


def clock(when: int) -> str:
    """The time of the day, and the date unless it is today."""
    then, today = time.localtime(when), time.localtime()
    same = then[:3] == today[:3]
    return time.strftime("%H:%M" if same else "%Y-%m-%d %H:%M", then)


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
