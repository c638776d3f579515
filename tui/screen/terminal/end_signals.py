"""Ends the app on SIGTERM, SIGHUP, SIGQUIT and on faults, with the terminal given back as it was found.

Python's own handling would end the process at once, with the terminal still raw, in the alternate screen
and reporting the mouse. Here the app is asked to leave, which keeps the draft and waits for the write in
progress; where it does not leave within :data:`PATIENCE`, the terminal is given back without it.
"""

from __future__ import annotations

import os
import signal
import termios
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any

from tui.screen.terminal.typeahead import before_holding

SIGNALS = (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
PATIENCE = 5.0
"""Seconds that the app has to leave by itself."""

GIVE_BACK = (
    "\x1b[?2026l"  # synchronized output, or the terminal would show nothing of the rest
    "\x1b[?1000l\x1b[?1003l\x1b[?1015l\x1b[?1006l"  # mouse reports
    "\x1b[?2004l\x1b[?2048l\x1b[?1004l"  # bracketed paste, resize reports, focus reports
    "\x1b[?7h"  # line wrap
    "\x1b[<u"  # the kitty keyboard protocol; before the alternate screen, which has keys of its own
    "\x1b[?1049l\x1b[?25h\x1b[0m"  # alternate screen, cursor, colours
)
"""Turns off all that Textual and spark turn on (xterm's ctlseqs, "Functions using CSI")."""


@contextmanager
def leaving_on_signals(leave: Callable[[int, Callable[[], None]], None]) -> Iterator[None]:
    """While this lasts, a signal of :data:`SIGNALS` calls ``leave`` with the exit code to leave with, which
    is 128 and the signal's number. Call it in the main thread; ``leave`` is called in a thread of its own,
    since a handler that runs in the event loop's thread cannot wake the loop. Its second argument is to be
    called where the process goes on without its screen: then nothing is forced, and SIGHUP is not heard any
    more, not afterwards either. One drop sends it more than once: the shell passes it on, and so does the
    kernel."""
    leaving = _Leaving(_Terminal.now(), leave)
    before = {number: signal.signal(number, leaving.end) for number in SIGNALS}
    try:
        yield
    except BaseException:  # Ctrl+C and SystemExit too: the shell needs its terminal
        leaving.terminal.give_back()
        raise
    finally:
        for number, handler in before.items():
            gone = leaving.goes_on and number == signal.SIGHUP
            signal.signal(number, _ignored if gone else handler)


def _ignored(number: int, frame: FrameType | None) -> None:
    """Do nothing; in place of ``SIG_IGN``, which programs that are started later would inherit."""


class _Leaving:
    """Asks the app to leave, once for each signal, and ends the process where it does not."""

    def __init__(self, terminal: _Terminal, leave: Callable[[int, Callable[[], None]], None]) -> None:
        self.terminal = terminal
        self._leave = leave
        self._timer: threading.Timer | None = None
        self.goes_on = False
        """Whether the process goes on without its screen."""

    def end(self, number: int, frame: FrameType | None) -> None:
        """Handle a signal."""
        if self.goes_on and number == signal.SIGHUP:
            return
        code = 128 + number
        if self._timer is None:
            self._timer = threading.Timer(PATIENCE, self.terminal.give_back_and_exit, (code,))
            self._timer.daemon = True
            self._timer.start()
        threading.Thread(target=self._leave, args=(code, self._heard), name="leave", daemon=True).start()

    def _heard(self) -> None:
        self.goes_on = True
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


class _Terminal:
    """The terminal as it was before the app took it over."""

    def __init__(self, descriptor: int | None, attributes: list[Any] | None) -> None:
        self._descriptor = descriptor
        self._attributes = attributes

    @classmethod
    def now(cls) -> _Terminal:
        try:
            descriptor = os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError:
            return cls(None, None)
        with suppress(termios.error):
            return cls(descriptor, before_holding() or termios.tcgetattr(descriptor))
        return cls(descriptor, None)

    def give_back_and_exit(self, code: int) -> None:
        """Give the terminal back and end the process, whatever its other threads do."""
        self.give_back()
        os._exit(code)

    def give_back(self) -> None:
        """Restore the terminal, whatever state it is in."""
        if self._descriptor is not None:
            # A terminal that is gone, or takes nothing, has nothing to be given back.
            with suppress(OSError):
                os.write(self._descriptor, GIVE_BACK.encode())
            if self._attributes is not None:
                with suppress(termios.error):
                    termios.tcsetattr(self._descriptor, termios.TCSANOW, self._attributes)
