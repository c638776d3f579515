"""One request: what asks it waits for, and what goes out for it on the line it is given."""

from __future__ import annotations

import asyncio

from session.keeper import Line
from session.protocol.dialects import Decoder, dialect, write_body
from session.protocol.increment import increment
from session.protocol.quirks import Quirks
from session.protocol.request import Item, RequestProfile
from session.protocol.responses import ResponseDecoder, encode_create
from session.service import Transport


class Answer:
    """One call of ``respond``: whether it was dropped, and what it waits for."""

    def __init__(self) -> None:
        self._dropped = False
        self.line: Line | None = None
        self.waiter: asyncio.Future[Line | None] | None = None

    def drop(self) -> None:
        """Nothing more of this answer is wanted."""
        self._dropped = True
        if self.waiter is not None and not self.waiter.done():
            self.waiter.set_result(None)

    def dropped(self) -> bool:
        """Whether :meth:`drop` was called; it may be between any two steps."""
        return self._dropped


def request_on(
    line: Line, profile: RequestProfile, items: tuple[Item, ...], quirks: Quirks
) -> tuple[str, Decoder]:
    """The request as it goes out on ``line``, and what reads its answer. Raises ValueError for what
    cannot be written as JSON."""
    if line.route.transport is Transport.WEBSOCKET:
        part = increment(line.last, profile, items)
        previous = part.previous_response_id
        frame = encode_create(profile, part.items, previous_response_id=previous, quirks=quirks)
        return frame, ResponseDecoder()
    spoken = dialect(line.route.dialect)
    return write_body(quirks.apply(spoken.encode(profile, items))), spoken.decoder()
