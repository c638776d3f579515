"""What ends or suspends spark from outside: SIGTERM, SIGHUP, SIGQUIT, faults, a terminal that is gone, and
the shell's job control.

Python's own handling would end the process at once, in the middle of a turn, with the terminal still raw, in
the alternate screen and reporting the mouse. Here the app or the command is asked to leave, which keeps the
draft, closes the journal and waits for the write in progress; where the app does not leave within
:data:`PATIENCE`, the terminal is given back without it.
"""

from __future__ import annotations

import asyncio
import errno
import os
import signal
import termios
import threading
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from types import FrameType, TracebackType
from typing import Any

from tui.screen.terminal.startup import before_holding

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
STANDARD = (0, 1, 2)
_Handler = Callable[[int, FrameType | None], Any] | int | signal.Handlers | None


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
        self._timed = False
        self.goes_on = False
        """Whether the process goes on without its screen."""

    def end(self, number: int, frame: FrameType | None) -> None:
        """Handle a signal."""
        if self.goes_on and number == signal.SIGHUP:
            return
        code = 128 + number
        if not self._timed:
            self._timed = True  # before any call: another signal may be handled within this one
            self._timer = threading.Timer(PATIENCE, self.terminal.give_back_and_exit, (code,))
            self._timer.daemon = True
            self._timer.start()
        threading.Thread(target=self._leave, args=(code, self._heard), name="leave", daemon=True).start()

    def _heard(self) -> None:
        self.goes_on = True
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
            self._timed = False


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


class StandardStreams:
    """The standard streams of this process. A hung-up terminal cannot be told from a file any more, so make
    this while it still works."""

    def __init__(self) -> None:
        self._terminals = tuple(number for number in STANDARD if os.isatty(number))

        self.gone = False
        """Whether they were let go of."""

    @property
    def lost(self) -> bool:
        """Whether one of the terminals is hung up."""
        return not self.gone and not all(os.isatty(number) for number in self._terminals)

    def let_go(self) -> None:
        """Replace those that are terminals by ``/dev/null``: any use of a lost one fails. Files and pipes
        stay."""
        self.gone = True
        with suppress(OSError):
            nowhere = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
            for number in self._terminals:
                os.dup2(nowhere, number)
            os.close(nowhere)


def read_or_hang_up(terminal: int, most: int) -> bytes | None:
    """Read what was typed; None after the process was told by SIGHUP that the terminal is gone."""
    try:
        typed = os.read(terminal, most)
    except OSError as problem:
        if problem.errno != errno.EIO:
            raise
    else:
        if typed or os.isatty(terminal):
            return typed
    _hang_up()
    return None


@contextmanager
def hanging_up_if_gone() -> Iterator[None]:
    """Tell the process by SIGHUP where setting the terminal's modes shows that it is gone."""
    try:
        yield
    except termios.error:
        _hang_up()


def _hang_up() -> None:
    os.kill(os.getpid(), signal.SIGHUP)


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


def shell_can_continue() -> bool:
    """Whether a shell with job control started spark. Without one, nobody could continue a stopped process.

    Such a shell gives each job a process group of its own; the group of the session's leader has no shell
    above it.
    """
    return os.getsid(0) != os.getpgrp()


def stop_job() -> None:
    """Stop all processes of the job: what runs spark (``uv run``, a script) is part of it, and the shell
    waits for that one. Returns when spark is continued.

    A program that spark is just starting is left out. It belongs to the group until it has a session of its
    own; stopped in that moment, it would hold the thread that starts it in ``vfork``, and with such a thread
    the kernel never reports spark as stopped.
    """
    import psutil  # not at the start, which is measured

    group, own = os.getpgrp(), os.getpid()
    for process in psutil.process_iter(["ppid"]):
        if process.pid == own or process.info["ppid"] == own:
            continue
        with suppress(ProcessLookupError, PermissionError):
            if os.getpgid(process.pid) == group:
                os.kill(process.pid, signal.SIGTSTP)
    stop_process()


def stop_process() -> None:
    """Stop this process now. Returns when it is continued."""
    os.kill(os.getpid(), signal.SIGSTOP)


@contextmanager
def allowed_in_background() -> Iterator[None]:
    """While this lasts, the terminal can be restored although the shell has taken it back already."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTTOU})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
