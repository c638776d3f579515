"""Letting go of a terminal that is gone: from then on its reads end, and its writes go nowhere."""

from __future__ import annotations

import os
from contextlib import suppress

STANDARD = (0, 1, 2)


class StandardStreams:
    """The standard streams of this process. A hung-up terminal cannot be told from a file any more, so make
    this while it still works."""

    def __init__(self) -> None:
        self._terminals = tuple(number for number in STANDARD if os.isatty(number))

    def let_go(self) -> None:
        """Replace those that are terminals by ``/dev/null``: any use of a lost one fails. Files and pipes
        stay."""
        with suppress(OSError):
            nowhere = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
            for number in self._terminals:
                os.dup2(nowhere, number)
            os.close(nowhere)
