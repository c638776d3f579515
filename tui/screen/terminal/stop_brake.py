"""Holds everything still from the first byte of a key that may stop the turn until the turn is stopped.

The byte of the Esc key also begins every arrow key, so a stop has two steps. When the byte is read, nothing
more is written to the screen and no hunk begins to land. Then either the stop takes effect, or the byte
turns out to begin another key, and all goes on as if nothing had been.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Protocol, TextIO

if TYPE_CHECKING:
    from session.project.edit_thread import LandingPause


class Turns(Protocol):
    """The part of a session that the brake acts on."""

    @property
    def running(self) -> bool:
        """Whether a turn runs. Asked in the thread that reads keys."""
        ...

    @property
    def landing_pause(self) -> LandingPause:
        """Pauses landing."""
        ...


class StopBrake:
    """Freezes the screen and landing. All methods are for any thread."""

    def __init__(self) -> None:
        self.turns: Turns | None = None
        """The session, once there is one."""
        self.esc_acts: Callable[[], bool] = lambda: False
        """Whether Esc does something where no turn runs. Asked in the thread that reads keys."""
        self._lock = threading.Lock()
        self._undecided = False
        self._stopping = 0
        """The stop keys that were handed to the app and have not taken effect yet."""
        self._free = threading.Event()
        self._free.set()

    @property
    def frozen(self) -> bool:
        """Whether everything stands still."""
        return not self._free.is_set()

    @property
    def turn_runs(self) -> bool:
        """Whether there is a turn to stop."""
        return self.turns is not None and self.turns.running

    @property
    def esc_is_a_key(self) -> bool:
        """Whether ESC and a letter are Esc and that letter."""
        return self.turn_runs or self.esc_acts()

    def undecided(self) -> None:
        """A key has begun that may stop the turn. Without a turn nothing freezes."""
        with self._lock:
            if self.turn_runs:
                self._undecided = True
                self._freeze()

    def decided(self) -> None:
        """The key is known."""
        with self._lock:
            self._undecided = False
            self._go_on()

    def stopping(self) -> None:
        """A stop key is handed to the app; :meth:`stopped` follows once it has taken effect."""
        with self._lock:
            self._stopping += 1
            if self.turn_runs:
                self._freeze()

    def stopped(self) -> None:
        """A stop key has taken effect."""
        with self._lock:
            self._stopping = max(0, self._stopping - 1)
            self._go_on()

    def release(self) -> None:
        """Let everything go on, whatever was pressed: no more keys are read."""
        with self._lock:
            self._undecided, self._stopping = False, 0
            self._go_on()

    def wait(self) -> None:
        """Wait while everything stands still."""
        self._free.wait()

    def _freeze(self) -> None:
        self._free.clear()
        if self.turns is not None:
            self.turns.landing_pause.begin()

    def _go_on(self) -> None:
        if self.frozen and not self._undecided and not self._stopping:
            self._free.set()
            if self.turns is not None:
                self.turns.landing_pause.end()


class BrakedOutput:
    """A terminal's output that takes nothing while the brake is on. Used by the thread that writes."""

    def __init__(
        self, file: TextIO, brake: StopBrake, passed_on: Callable[[int], object] = lambda size: None
    ) -> None:
        """``passed_on`` is called with the number of characters that the terminal took."""
        self._file = file
        self._brake = brake
        self._passed_on = passed_on
        self._kept = 0
        """Characters that were written and not passed on yet."""

    def write(self, text: str) -> int:
        """Write once the brake is off. A terminal that is gone takes anything, and nothing comes of it: the
        thread that reads finds out as well, and ends the app."""
        self._brake.wait()
        with suppress(OSError):
            self._file.write(text)
        self._kept += len(text)
        return len(text)

    def flush(self) -> None:
        """Pass on what was written."""
        with suppress(OSError):
            self._file.flush()
        kept, self._kept = self._kept, 0
        self._passed_on(kept)

    def fileno(self) -> int:
        """The file's descriptor."""
        return self._file.fileno()
