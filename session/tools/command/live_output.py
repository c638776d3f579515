"""The newest part of a running command's output, shown at a bounded rate, with keys masked across cuts."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from context.text.secrets import LONGEST_KEY, open_key, redact, without_cut_beginning

SAY_EVERY = 0.1
"""Least seconds between two pieces of output that are shown."""
_BEFORE = 2
"""Lines that are looked at again with the next ones: a key may stand below its name."""
_LONGEST_BEFORE = 1_000
_KEY = b"PRIVATE KEY"


class LiveOutput:
    """Takes all of the output and hands its newest part to ``say``, in whole lines, at most ``most`` bytes at
    once: what comes faster is left out. ``plain`` makes text safe to show and keeps its lines; keys are
    masked here, since a part of one alone is not known as a key.
    """

    def __init__(self, say: Callable[[str], None], plain: Callable[[str], str], most: int) -> None:
        self._say = say
        self._plain = plain
        self._most = most
        self._unsaid = bytearray()
        self._said_at = 0.0
        self._later: asyncio.TimerHandle | None = None
        """Shows what came so soon after the last piece that it had to wait, if nothing else comes."""
        self._before = ""
        """What was in front of the unsaid part, as far as it says which of that is a key."""
        self._cut = False
        """Whether output was left out between the two, in the middle of a line."""

    def take(self, piece: bytes) -> None:
        """Take the next piece. Called on the event loop."""
        self._unsaid += piece
        if len(self._unsaid) > self._most:
            self._leave_out()
        if time.monotonic() - self._said_at >= SAY_EVERY:
            self._show_lines()
        elif self._later is None:
            self._later = asyncio.get_running_loop().call_later(SAY_EVERY, self._show_lines)

    def flush(self) -> None:
        """Show what was not shown yet: no more comes."""
        if self._later is not None:
            self._later.cancel()
        self._show(len(self._unsaid))

    def _show_lines(self) -> None:
        self._later = None
        self._show(self._unsaid.rfind(b"\n") + 1)

    def _leave_out(self) -> None:
        """Keep the newest part, from the beginning of a line if one begins in its first half."""
        at = len(self._unsaid) - self._most
        end = self._unsaid.find(b"\n", at - 1, at + self._most // 2) + 1
        left = self._unsaid[: end or at]
        del self._unsaid[: end or at]
        self._cut = not end
        if _KEY not in left and open_key(self._before) < 0:
            left, self._before = left[-_LONGEST_BEFORE:], ""
        self._before = _context(self._before + self._plain(left.decode("utf-8", "replace")))

    def _show(self, end: int) -> None:
        if not end:
            return
        self._said_at = time.monotonic()
        text = self._plain(self._unsaid[:end].decode("utf-8", "replace"))
        del self._unsaid[:end]
        if self._cut:
            text, self._cut = without_cut_beginning(text), False
        whole = self._before + text
        shown = redact(whole).text.split("\n")[self._before.count("\n") :]
        self._before = _context(whole)
        self._say("\n".join(shown))


def _context(text: str) -> str:
    """What of ``text`` says which of the following lines are a key: a private key that is not whole, else the
    last lines, all of them whole."""
    key = open_key(text)
    if key >= 0 and len(text) - key <= LONGEST_KEY:
        return text[key:] if text.endswith("\n") else text[key:] + "\n"
    last = "\n".join(text.split("\n")[-_BEFORE - 1 :])
    return last if text.endswith("\n") and len(last) <= _LONGEST_BEFORE else ""
