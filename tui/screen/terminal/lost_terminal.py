"""Finding out that the terminal is gone, and letting go of it: then its reads end, its writes go nowhere."""

from __future__ import annotations

import errno
import os
import signal
import termios
from collections.abc import Iterator
from contextlib import contextmanager, suppress

STANDARD = (0, 1, 2)


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
