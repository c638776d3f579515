"""A session of this project that another process has, as that process told it."""

from __future__ import annotations

import time
from dataclasses import dataclass

from session.record.sharing.host import Presence
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
