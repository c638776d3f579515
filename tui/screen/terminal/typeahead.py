"""Keys typed while spark starts: the terminal keeps them as they were typed, unseen, until there is a prompt.

A terminal in its usual mode would show them over what the shell wrote, and turn an Enter into a line
end, which the composer takes for Ctrl+J: of what came before the first line of this program, those are
turned back. Ctrl+C still ends spark.
"""

from __future__ import annotations

import atexit
import fcntl
import os
import struct
import sys
import termios
from contextlib import suppress
from typing import Any

_INPUT, _LOCAL, _KEYS = 0, 3, 6
"""The indices of the flags in the result of ``termios.tcgetattr``."""
_before: list[Any] | None = None
_changed = 0
"""The number of bytes, from the first, that were typed while the terminal still translated line ends."""


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
