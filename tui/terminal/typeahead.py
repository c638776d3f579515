"""Keys typed while spark starts: the terminal keeps them as they were typed, unseen, until there is a prompt.

A terminal in its usual mode would show them over what the shell wrote, and turn an Enter into a line
end, which the composer takes for Ctrl+J: of what came before the first line of this program, those are
turned back. Ctrl+C still ends spark.
"""

from __future__ import annotations

import atexit
import fcntl
import struct
import sys
import termios
from typing import Any

_INPUT, _LOCAL = 0, 3
"""Where the flags stand in what ``termios.tcgetattr`` gives."""
_before: list[Any] | None = None
_changed = 0
"""Bytes, from the first to be read on, that came while the terminal still changed what was typed."""


def hold_keys() -> None:
    """From here on the terminal keeps keys for the app; it is given back at the end, however that comes
    about. Does nothing without a terminal."""
    global _before, _changed
    if _before is not None or sys.stdin is None or not sys.stdin.isatty():
        return
    terminal = sys.stdin.fileno()
    before = termios.tcgetattr(terminal)
    held = list(before)
    held[_INPUT] &= ~termios.ICRNL
    held[_LOCAL] &= ~(termios.ECHO | termios.ICANON)
    _before = before
    atexit.register(give_back)
    termios.tcsetattr(terminal, termios.TCSANOW, held)
    if before[_INPUT] & termios.ICRNL:
        _changed = struct.unpack("i", fcntl.ioctl(terminal, termios.FIONREAD, bytes(4)))[0]


def give_back() -> None:
    """Set the terminal to what it was."""
    global _before
    if _before is not None:
        before, _before = _before, None
        termios.tcsetattr(sys.stdin.fileno(), termios.TCSANOW, before)


def before_holding() -> list[Any] | None:
    """The terminal's attributes from before :func:`hold_keys`; None where it holds nothing."""
    return _before


def as_typed(data: bytes) -> bytes:
    """``data``, the next bytes that were read, with an Enter where the terminal had made a line end of it."""
    global _changed
    known, _changed = _changed, max(0, _changed - len(data))
    return data[:known].replace(b"\n", b"\r") + data[known:]
