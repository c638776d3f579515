"""The first thing on the screen: a composer that shows what is typed while everything else is imported.

Importing what draws the app takes longer than a person waits for a key. So the terminal's other screen is
taken first, with a prompt where the app has its own, and typed text is shown in it. Nothing typed is acted
on: :func:`take_typed` hands all of it to the app, which paints over this screen once it has it.
"""

from __future__ import annotations

import atexit
import os
import select
import signal
import sys
import threading
from codecs import getincrementaldecoder
from contextlib import suppress
from types import FrameType

from tui.front.printing import before_printing
from tui.screen.terminal.typeahead import as_typed, echoes

SMALLEST = (24, 6)
"""Columns and rows that the app has its usual composer in."""
ENTER = "\x1b[?1049h\x1b[?25l\x1b[2J"
LEAVE = "\x1b[m\x1b[?1049l\x1b[?25h"
TITLE = "─ Ask "
_ERASING = "\x7f\b"


class _Screen:
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
        title = f"\x1b[{self._rows - 2}H{dim}{TITLE}{'─' * (self._columns - len(TITLE))}{plain}"
        status = f"\x1b[{self._rows};2H{dim}○ starting{plain}"
        self._write(f"{ENTER}{title}{status}{self._line()}")
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
            self._write(LEAVE)

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


_screen: _Screen | None = None


def show() -> None:
    """Take the screen, where there is a terminal that holds keys. It is given back before anything is
    printed, and when spark ends."""
    global _screen
    if _screen is not None or not echoes() or not sys.stdout.isatty():
        return
    if os.environ.get("TERM", "dumb") == "dumb":
        return
    size = os.get_terminal_size(sys.stdout.fileno())
    if size.columns < SMALLEST[0] or size.lines < SMALLEST[1]:
        return
    _screen = _Screen(sys.stdin.fileno(), sys.stdout.fileno(), size.columns, size.lines)
    atexit.register(leave)
    before_printing(leave)
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(number, _end)
    _screen.start()


def shown() -> bool:
    """Whether this screen is on the terminal."""
    return _screen is not None


def take_typed() -> bytes:
    """What was typed here. From now on the terminal is the caller's, in its other screen."""
    global _screen
    screen, _screen = _screen, None
    return screen.stop() if screen is not None else b""


def leave() -> None:
    """Give the terminal back as it was found, unless the app has it by now."""
    global _screen
    screen, _screen = _screen, None
    if screen is not None:
        screen.stop()
        screen.leave()


def _end(number: int, frame: FrameType | None) -> None:
    raise SystemExit(128 + number)
