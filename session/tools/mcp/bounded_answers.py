"""Bounds what a server at an address may answer.

The ``mcp`` package reads a JSON body of any length, and what is packed unpacks to a thousand times as much.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import httpx2

from session.tools.mcp import program

_EVENTS = "text/event-stream"


async def bound(response: httpx2.Response) -> None:
    """A hook for the responses of a client: a body that is longer than a message may be raises an error. A
    stream of events may go on for ever, since the package bounds each event of it."""
    is_stream = response.headers.get("content-type", "").lower().startswith(_EVENTS)
    packed = httpx2.Response(response.status_code, headers=response.headers, stream=response.stream)
    response.headers.pop("content-encoding", None)
    response.stream = _Unpacked(packed, None if is_stream else program.LONGEST_MESSAGE)


class _Unpacked(httpx2.AsyncByteStream):
    """The unpacked body of a response, up to ``longest`` bytes of it."""

    def __init__(self, response: httpx2.Response, longest: int | None) -> None:
        self._response = response
        self._longest = longest

    async def __aiter__(self) -> AsyncIterator[bytes]:
        seen = 0
        async for piece in self._response.aiter_bytes():
            seen += len(piece)
            if self._longest is not None and seen > self._longest:
                raise httpx2.StreamError(f"it is longer than {self._longest // 1_000_000} MB")
            yield piece
            await asyncio.sleep(0)  # one packet can unpack to a gigabyte

    async def aclose(self) -> None:
        """Close the response."""
        await self._response.aclose()
