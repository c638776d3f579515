"""How much one answer may be: a server that never ends one fills neither memory nor the disk."""

from __future__ import annotations

from collections.abc import Sequence

from session.wire.protocol.events import CONTENT, WireEvent
from session.wire.transport.errors import LinkError, LinkProblem

TOO_LONG = "answer_too_long"
"""The code of an answer that was given up for its length. It is not asked for again."""
MOST_BYTES = 1024 * 1024 * 1024
"""Bytes of the frames of one answer: two million tokens, each in a frame of 500 bytes."""
MOST_TEXT = 16_000_000
"""Characters of one answer's text, reasoning and tool input together: three million tokens."""


class AnswerSize:
    """The size of one answer so far. What it adds raises :class:`LinkError` where that is too much."""

    def __init__(self, host: str) -> None:
        self._host = host
        self._bytes = self._text = 0

    def add_frames(self, frames: Sequence[bytes]) -> None:
        """Count frames that have come."""
        self._bytes += sum(map(len, frames))
        if self._bytes > MOST_BYTES:
            raise self._error(f"{MOST_BYTES:,} bytes")

    def add_events(self, events: Sequence[WireEvent]) -> None:
        """Count the text of events that are passed on."""
        self._text += sum(len(event.text) for event in events if isinstance(event, CONTENT))
        if self._text > MOST_TEXT:
            raise self._error(f"{MOST_TEXT:,} characters")

    def _error(self, most: str) -> LinkError:
        message = f"{self._host} sent an answer of more than {most} without an end, so reading it stopped."
        return LinkError(LinkProblem.SERVER, message, code=TOO_LONG)
