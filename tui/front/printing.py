"""Printing: the one way in which commands, line mode and the headless printer write to the terminal.

Everything printed passes ``session.base.text.sanitize``, whatever its source.
``tests/project/test_printing.py`` holds that no other module of the front ends prints.
"""

from __future__ import annotations

import errno
import os
import select
import signal
import stat
import sys
from collections.abc import Callable
from typing import Any, TextIO

# The sanitizer is imported by what prints: `spark --help` and the first frame do without it.


def say(text: str = "", *, err: bool = False, end: str = "\n") -> None:
    """Print ``text``, which may have several lines, on standard output or standard error."""
    from session.base.text.sanitize import clean

    _write(clean(text) + end, err=err)


def say_line(text: str, *, err: bool = False) -> None:
    """Print ``text`` on one line, whatever line breaks are in it."""
    from session.base.text.sanitize import clean_line

    _write(clean_line(text) + "\n", err=err)


def say_json(record: Any, *, err: bool = False) -> None:
    """Print ``record`` as JSON on one line: nothing in it is lost, and a terminal acts on none of it."""
    from session.base.text.sanitize import json_line

    _write(json_line(record) + "\n", err=err)


def say_waiting(line: str) -> None:
    """Print on standard error for whom a command waits."""
    say_line(f"spark: {line} (Ctrl+C stops waiting)", err=True)


def say_again(text: str, width: int) -> None:
    """Put ``text`` in the place of the last line on standard error, which was at most ``width`` wide."""
    from session.base.text.sanitize import clean_line

    _write(f"\r{clean_line(text):<{width}}", err=True)


def back_to_start() -> None:
    """Go back to the start of a line that :func:`say_again` wrote."""
    _write("\r", err=True)


def say_patch(patch: bytes) -> None:
    """Print a patch: to a file or a pipe byte for byte, on a terminal as text that it cannot act on."""
    if sys.stdout.isatty():
        say(patch.decode("utf-8", "replace"), end="")
        return
    sys.stdout.flush()
    sys.stdout.buffer.write(patch)
    sys.stdout.buffer.flush()


class PieceWriter:
    """Prints a text that comes in pieces, cut anywhere, on standard output."""

    def __init__(self) -> None:
        self._before = ""

    def write(self, text: str) -> None:
        """Print the next piece."""
        from session.base.text.sanitize import clean

        _write(clean(text, self._before), err=False)
        self._before = text[-1:] or self._before

    def end(self) -> None:
        """End the last line, if there is one and the text did not."""
        if self._before not in ("", "\n"):
            say()


_before: Callable[[], None] | None = None


def before_printing(call: Callable[[], None]) -> None:
    """Have ``call`` give the terminal back before something is printed on it."""
    global _before
    _before = call


_line_is_open = False
"""Whether the last text on standard output did not end its line."""


def _write(text: str, *, err: bool) -> None:
    global _line_is_open
    if _before is not None:
        _before()
    stream = sys.stderr if err else sys.stdout
    if err and _line_is_open and _one_place():
        text = f"\n{text}"  # standard output stays as it is: only what the two share gets the line break
        _line_is_open = False
    elif not err and text:
        _line_is_open = not text.endswith("\n")
    try:
        stream.write(text)
        stream.flush()
    except OSError as problem:
        if problem.errno != errno.EIO or not _is_device(stream):
            raise
        # A terminal that has just been closed: a write may fail before the signal that tells of it comes.
        os.kill(os.getpid(), signal.SIGHUP)


def drop_output() -> None:
    """Redirect standard output and standard error to nowhere where they take no more: Python would try to
    flush them at exit, and fail."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
            lost = _is_unread(stream)
        except OSError:
            lost = True
        if lost:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _is_unread(stream: TextIO) -> bool:
    """Whether ``stream`` is a pipe whose reader has gone away."""
    poll = select.poll()
    poll.register(stream.fileno(), 0)
    return any(what & select.POLLERR for _, what in poll.poll(0))


def _is_device(stream: TextIO) -> bool:
    """Whether ``stream`` is a terminal or was one: ``isatty`` denies it once the terminal is hung up."""
    return stat.S_ISCHR(os.fstat(stream.fileno()).st_mode)


def _one_place() -> bool:
    """Whether standard output and standard error are one terminal, pipe or file."""
    try:
        return os.path.sameopenfile(sys.stdout.fileno(), sys.stderr.fileno())
    except (OSError, ValueError):
        return False
