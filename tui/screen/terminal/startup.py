"""Start-up: quick imports, keys that are held, and the first screen, which shows what is typed meanwhile.

A terminal in its usual mode would show keys over what the shell wrote, and turn an Enter into a line end,
which the composer takes for Ctrl+J: of what came before the first line of this program, those are turned
back. Ctrl+C still ends spark.

Importing what draws the app takes longer than a person waits for a key. So the terminal's other screen is
taken first, with a prompt where the app has its own, and typed text is shown in it. Nothing typed is acted
on: :func:`take_typed` hands all of it to the app, which paints over this screen once it has it.
"""

from __future__ import annotations

import atexit
import fcntl
import gc
import os
import select
import signal
import struct
import sys
import termios
import threading
from codecs import getincrementaldecoder
from contextlib import suppress
from types import FrameType
from typing import Any

from tui.front.event_loop import keep_little_freed_memory
from tui.front.printing import before_printing

SWITCH_SECONDS = 0.001
"""Python's thread switch interval, in seconds. A key passes through four threads, and would wait at each for
Python's usual 5 ms while modules are imported."""
ENDS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
"""The signals that end spark while it starts."""
_is_loading = False
"""Whether garbage is not collected yet. It may be off for a moment later on too, while a window is built."""
_INPUT, _LOCAL, _KEYS = 0, 3, 6
"""The indices of the flags in the result of ``termios.tcgetattr``."""
_before: list[Any] | None = None
_changed = 0
"""The number of bytes, from the first, that were typed while the terminal still translated line ends."""
SMALLEST = (24, 6)
"""Columns and rows that the app has its usual composer in."""
ENTER_SCREEN = "\x1b[?1049h\x1b[?25l\x1b[2J"
LEAVE_SCREEN = "\x1b[m\x1b[?1049l\x1b[?25h"
PROMPT_TITLE = "─ Ask "
_ERASING = "\x7f\b"


def begin() -> None:
    """Tune the process for opening the app: keys are held and shown, and imports run quickly."""
    load()
    sys.setswitchinterval(SWITCH_SECONDS)
    # An end of spark must find the terminal either as it was or ready to be given back. The thread that reads
    # keys keeps these blocked: they are for this thread.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ENDS)
    try:
        hold_keys()
        keep_little_freed_memory()  # before the thread of the early screen
        show_early_screen()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def load() -> None:
    """Pause garbage collection until :func:`loaded`: what is made at start-up stays, and collecting took a
    sixth of the time to the first frame."""
    global _is_loading
    _is_loading = True
    gc.disable()


def loaded() -> None:
    """Resume garbage collection for objects made from now on. Later calls do nothing: what the session before
    left behind is to be collected."""
    global _is_loading
    if _is_loading:
        _is_loading = False
        gc.freeze()
        gc.enable()


def hold_keys() -> None:
    """Make the terminal hold keys for the app; it is restored at exit, whatever the reason. Does nothing
    without a terminal."""
    global _before, _changed
    if _before is not None or sys.stdin is None or not sys.stdin.isatty():
        return
    terminal = sys.stdin.fileno()
    before = termios.tcgetattr(terminal)
    held = list(before)
    held[_INPUT] &= ~(termios.ICRNL | termios.IXON)
    held[_LOCAL] &= ~(termios.ECHO | termios.ICANON)
    # Nothing could be given back when these keys stop or kill spark: they are keys for the app.
    held[_KEYS] = list(before[_KEYS])
    held[_KEYS][termios.VSUSP] = held[_KEYS][termios.VQUIT] = os.fpathconf(terminal, "PC_VDISABLE").to_bytes()
    _before = before
    atexit.register(give_back)
    termios.tcsetattr(terminal, termios.TCSANOW, held)
    if before[_INPUT] & termios.ICRNL:
        _changed = struct.unpack("i", fcntl.ioctl(terminal, termios.FIONREAD, bytes(4)))[0]


def give_back() -> None:
    """Restore the terminal."""
    global _before
    if _before is not None:
        before, _before = _before, None
        with suppress(termios.error):  # the terminal is gone
            termios.tcsetattr(sys.stdin.fileno(), termios.TCSANOW, before)


def echoes() -> bool:
    """Whether the terminal holds keys, so that somebody else is to show them."""
    return _before is not None


def before_holding() -> list[Any] | None:
    """The terminal's attributes before :func:`hold_keys`; None when it holds no keys."""
    return _before


def as_typed(data: bytes) -> bytes:
    """``data``, the next bytes read, with Enter restored where the terminal had translated it."""
    global _changed
    known, _changed = _changed, max(0, _changed - len(data))
    return data[:known].replace(b"\n", b"\r") + data[known:]


class _EarlyScreen:
    """The screen, and the thread that reads keys for it."""

    def __init__(self, source: int, out: int, columns: int, rows: int) -> None:
        self._source, self._out = source, out
        self._columns, self._rows = columns, rows
        self._typed = b""
        self._shown = ""
        self._shows = True
        """Whether what is typed is shown: until a key that is more than text."""
        self._decode = getincrementaldecoder("utf-8")("replace").decode
        self._ending = os.pipe()
        self._thread = threading.Thread(target=self._read, name="early-keys", daemon=True)

    def start(self) -> None:
        """Draw it, and read keys."""
        dim, plain = "\x1b[2m", "\x1b[m"
        title = f"\x1b[{self._rows - 2}H{dim}{PROMPT_TITLE}{'─' * (self._columns - len(PROMPT_TITLE))}{plain}"
        status = f"\x1b[{self._rows};2H{dim}○ starting{plain}"
        self._write(f"{ENTER_SCREEN}{title}{status}{self._line()}")
        self._thread.start()

    def stop(self) -> bytes:
        """Read no more, and show nothing more; returns what was typed."""
        os.write(self._ending[1], b"x")
        self._thread.join()
        for end in self._ending:
            os.close(end)
        return self._typed

    def leave(self) -> None:
        """Give the terminal its usual screen back."""
        with suppress(OSError):  # it is gone
            self._write(LEAVE_SCREEN)

    def _read(self) -> None:
        # A terminal that is gone ends spark by SIGHUP.
        with suppress(OSError):
            self._read_until_stopped()

    def _read_until_stopped(self) -> None:
        ending = self._ending[0]
        while ending not in (ready := select.select([self._source, ending], [], [])[0]):
            if self._source in ready:
                data = as_typed(os.read(self._source, 4096))
                if not data:
                    return
                self._typed += data
                self._show(self._decode(data))

    def _show(self, text: str) -> None:
        """Show text that was typed."""
        for character in text:
            if character in _ERASING:
                self._shown = self._shown[:-1]
            elif not character.isprintable():
                self._shows = False
            if not self._shows:
                break
            if character.isprintable():
                self._shown += character
        self._write(self._line())

    def _line(self) -> str:
        """The row of the composer: the end of the text, and a cursor."""
        kept = self._shown[-(self._columns // 2 - 4) :] if not self._shown.isascii() else self._shown
        kept = kept[-(self._columns - 4) :]
        return f"\x1b[{self._rows - 1};2H{kept}\x1b[7m \x1b[m\x1b[K"

    def _write(self, text: str) -> None:
        data = text.encode()
        while data:
            data = data[os.write(self._out, data) :]


_early_screen: _EarlyScreen | None = None


def show_early_screen() -> None:
    """Take the screen, where there is a terminal that holds keys. It is given back before anything is
    printed, and when spark ends."""
    global _early_screen
    if _early_screen is not None or not echoes() or not sys.stdout.isatty():
        return
    if os.environ.get("TERM", "dumb") == "dumb":
        return
    size = os.get_terminal_size(sys.stdout.fileno())
    if size.columns < SMALLEST[0] or size.lines < SMALLEST[1]:
        return
    _early_screen = _EarlyScreen(sys.stdin.fileno(), sys.stdout.fileno(), size.columns, size.lines)
    atexit.register(leave_early_screen)
    before_printing(leave_early_screen)
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(number, _end)
    _early_screen.start()


def early_screen_shown() -> bool:
    """Whether this screen is on the terminal."""
    return _early_screen is not None


def take_typed() -> bytes:
    """What was typed here. From now on the terminal is the caller's, in its other screen."""
    global _early_screen
    screen, _early_screen = _early_screen, None
    return screen.stop() if screen is not None else b""


def leave_early_screen() -> None:
    """Give the terminal back as it was found, unless the app has it by now."""
    global _early_screen
    screen, _early_screen = _early_screen, None
    if screen is not None:
        screen.stop()
        screen.leave()


def _end(number: int, frame: FrameType | None) -> None:
    raise SystemExit(128 + number)
