"""Whether requests to one server are compressed, which ends when the server refuses one."""

from __future__ import annotations

import asyncio
import gzip

_LEAST = 1_000
"""The shortest request, in bytes, that is worth compressing: a shorter one is one packet anyway."""
_LEVEL = 6
_REFUSED = (400, 415)
"""The statuses of servers that cannot read a compressed body: not all of them know why they cannot."""


class Compression:
    """What one server's requests over HTTP are sent as. All of its links share it."""

    def __init__(self, wanted: bool = False) -> None:
        self.wanted = wanted
        self._proven = False

    async def packed(self, body: bytes) -> bytes | None:
        """``body`` as gzip; None where it goes out as it is."""
        if not self.wanted or len(body) < _LEAST:
            return None
        return await asyncio.to_thread(gzip.compress, body, _LEVEL)

    def doubts(self, status: int) -> bool:
        """Whether a compressed request that got ``status`` is worth another try as it is."""
        self._proven = self._proven or 200 <= status < 300
        return status in _REFUSED and not self._proven

    def settle(self, status: int) -> None:
        """The same request got ``status`` without compression."""
        if status not in _REFUSED:
            self.wanted = False
