"""Recognises pastes of terminals that do not bracket them, by how fast the characters come.

Without bracketed paste (``screen``, serial lines, ``tmux send-keys``) pasted text looks like typing, and each
of its line breaks like Enter. Nobody types that fast: many characters with a line break or a tab between
them, in one read or in reads that follow each other at once, are handed on as one bracketed paste. A line
typed while a slow network held it up comes in one read too, so a line with Enter at its very end is typing
unless it is long.

Sans-I/O: characters and the time in, characters out. It stands behind ``EscapeKeys``, which hands on whole
sequences.
"""

from __future__ import annotations

import re

from tui.screen.terminal.escape_keys import PASTE_BEGINS, PASTE_ENDS

NEXT_KEY = 0.01
"""Seconds between two characters that nobody typed one after the other."""
NEXT_READ = 0.05
"""Seconds that the rest of a burst may take: over a network it comes in several reads."""
LATE_REST = 0.2
"""Seconds after a burst in which what comes still belongs to it."""
LONG = 100
"""Characters that are a paste even if a line break comes only at their end."""
MANY = 24
"""Characters that are a paste if a line break or a tab stands between them."""
SEVERAL_LINES = 12
"""Characters that are a paste if they have two or more breaks between them."""

_TOKEN = re.compile(
    r"(?P<text>[^\x00-\x08\x0b\x0c\x0e-\x1f\x7f]+)"
    r"|\x1b\[[0-?]*[ -/]*[@-~]|\x1bO.|\x1b\][^\a\x1b]*(?:\a|\x1b\\)|\x1b.|.",
    re.DOTALL,
)
_BREAK = re.compile(r"[\r\n\t]+")


class PasteBursts:
    """Rewrites the terminal's input. Used by one thread."""

    def __init__(self) -> None:
        self._held = ""
        """Text of a burst that is not decided yet."""
        self._before = 0
        """Characters of the burst that were handed on as keys."""
        self._last = float("-inf")
        """When text came last."""
        self._gap = NEXT_KEY
        """Seconds within which text belongs to what came last."""
        self._late_until = float("-inf")
        """Until when text belongs to a burst that was handed on."""
        self._is_late = False
        """Whether what is held belongs to such a burst."""
        self._bracketed = ""
        """The end of what was read of a bracketed paste; empty outside of one."""
        self.due: float | None = None
        """When :meth:`tick` has something to say, on the clock of the caller."""

    def feed(self, data: str, now: float) -> str:
        """What ``data`` says; text that may be a paste is held back."""
        out = [self.tick(now)]
        at = 0
        while at < len(data):
            if self._bracketed:
                end = self._end_of_bracketed(data, at)
                out.append(data[at:end])
                at = end
                continue
            token = _TOKEN.match(data, at)
            if token is None:  # cannot be: the last alternative takes any character
                return "".join([*out, data[at:]])
            at = token.end()
            if token["text"]:
                out.append(self._text(token[0], now))
            else:
                out += [self._decide(now), token[0]]
                self._last = self._late_until = float("-inf")
                self._bracketed = "\x1b" if token[0] == PASTE_BEGINS else ""
        return "".join(out)

    def tick(self, now: float) -> str:
        """What was held back, once nothing followed it."""
        return self._decide(now) if self.due is not None and now >= self.due else ""

    def _end_of_bracketed(self, data: str, at: int) -> int:
        """Where the bracketed paste ends in ``data``, or the end of ``data``."""
        seen = self._bracketed + data[at:]
        found = seen.find(PASTE_ENDS)
        if found < 0:
            self._bracketed = seen[-len(PASTE_ENDS) :]
            return len(data)
        end = at + found + len(PASTE_ENDS) - len(self._bracketed)
        self._bracketed = ""
        return end

    def _text(self, text: str, now: float) -> str:
        if now - self._last > self._gap and not self._held:
            self._before = 0
        self._last = now
        self._gap = NEXT_READ if len(text) > 1 else NEXT_KEY
        if not self._held and now > self._late_until:
            alone = self._before == 0 and not _BREAK.sub("", text)
            if alone or (len(text) < LONG and not _BREAK.search(text)):
                self._before += len(text)
                return text
        self._is_late = self._is_late or now <= self._late_until
        self._held += text
        # A key that is held down comes more often than NEXT_READ, each time alone.
        typed = len(text) == 1 and not self._is_late and not self._is_paste(self._held)
        self.due = now + (NEXT_KEY if typed else NEXT_READ)
        return ""

    def _decide(self, now: float) -> str:
        """Hand on what is held: as a paste, or as keys."""
        held, self._held, self.due = self._held, "", None
        is_late, self._is_late = self._is_late, False
        if not held:
            return ""
        if not (is_late or self._is_paste(held)):
            self._before += len(held)
            return held
        self._late_until = now + LATE_REST
        self._before = 0
        return f"{PASTE_BEGINS}{held}{PASTE_ENDS}"

    def _is_paste(self, text: str) -> bool:
        count = self._before + len(text)
        breaks = len(_BREAK.findall(text.rstrip("\r\n\t")))
        if not self._before and text[0] in "\r\n\t":
            breaks -= 1  # Enter, and then a line
        return count >= LONG or (breaks > 0 and count >= MANY) or (breaks > 1 and count >= SEVERAL_LINES)
