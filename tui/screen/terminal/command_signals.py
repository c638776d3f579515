"""Ends a command without a full screen on a signal, after its turn was interrupted and its journal closed.

Python's own handling would end the process at once, in the middle of a turn.
"""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from collections.abc import Callable, Collection
from types import FrameType, TracebackType
from typing import Any

from tui.screen.terminal.end_signals import PATIENCE, SIGNALS
from tui.screen.terminal.lost_terminal import StandardStreams

_Handler = Callable[[int, FrameType | None], Any] | int | signal.Handlers | None


class CommandSignals:
    """A context manager. While it lasts, the first signal calls ``stop`` on the event loop; a second one, and
    a command that does not end by itself in :data:`PATIENCE`, end the process at once.

    A second SIGHUP is none: the shell passes on what the terminal sent already. A signal that was ignored
    before stays so, as SIGHUP under ``nohup``. Enter it in the main thread, on the running loop.
    """

    def __init__(self, stop: Callable[[], object], numbers: Collection[signal.Signals] = SIGNALS) -> None:
        self._stop = stop
        self._numbers = [number for number in numbers if signal.getsignal(number) is not signal.SIG_IGN]
        self._before: dict[int, _Handler] = {}
        self._streams = StandardStreams()
        self.code: int | None = None
        """The exit code, 128 and the signal's number, once a signal has come."""

    def __enter__(self) -> CommandSignals:
        self._loop = asyncio.get_running_loop()
        self._before = {number: signal.signal(number, self._take) for number in self._numbers}
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _take(self, number: int, frame: FrameType | None) -> None:
        if number == signal.SIGHUP:
            self._streams.let_go()
        if self.code is None:
            self.code = 128 + number
            timer = threading.Timer(PATIENCE, os._exit, (self.code,))
            timer.daemon = True
            timer.start()
            # Not here: a handler interrupts anything, also the event loop.
            threading.Thread(target=self._wake, name="leave", daemon=True).start()
        elif number != signal.SIGHUP:
            signal.signal(number, self._before[number])
            os.kill(os.getpid(), number)

    def _wake(self) -> None:
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._stop)
