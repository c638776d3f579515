"""Event streams as proxies and broken servers send them: packed, torn, cut, or not what their head says."""

from __future__ import annotations

import asyncio
import gzip
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress

import pytest

from session.wire.link.connection import Connection, Endpoint, LinkError, Retries, Service
from session.wire.link.retries import Backoff
from session.wire.protocol.items import user_message
from session.wire.transport.service import RESPONSES_OVER_SSE
from tests.session.wire.link.test_connection import PROFILE, ask, said

EVENTS = (
    {"type": "response.created", "response": {"id": "r"}},
    {"type": "response.output_text.delta", "delta": "Grüße "},
    {"type": "response.output_text.delta", "delta": "🎉"},
    {"type": "response.completed", "response": {"id": "r"}},
)
TEXT = "Grüße 🎉"
SOON = Retries(most=2, backoff=Backoff(first=0.01, longest=0.01))


def stream(end: str = "\n", *, mark: bool = False) -> bytes:
    lines = (f"data: {json.dumps(event, ensure_ascii=False)}{end}{end}" for event in EVENTS)
    return (b"\xef\xbb\xbf" if mark else b"") + f": hello{end}{end}{''.join(lines)}".encode()


def head(*more: str, status: int = 200) -> bytes:
    lines = (f"HTTP/1.1 {status} x", "Content-Type: text/event-stream", "Connection: close", *more)
    return "\r\n".join((*lines, "", "")).encode()


def chunked(body: bytes, size: int) -> bytes:
    pieces = (body[at : at + size] for at in range(0, len(body), size))
    return b"".join(b"%x;a=b\r\n%b\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\nX-Sum: 1\r\n\r\n"


@asynccontextmanager
async def serving(replies: Sequence[bytes]) -> AsyncIterator[tuple[Connection, list[int]]]:
    """A server whose posts are answered with ``replies``, the last one again and again."""
    asked: list[int] = []

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            first = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
            if first.startswith("post"):
                await reader.readexactly(int(first.partition("content-length: ")[2].split("\r\n")[0]))
                asked.append(len(asked))
                writer.write(replies[min(len(asked), len(replies)) - 1])
            else:
                writer.write(b"HTTP/1.1 404 x\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            await writer.drain()
        writer.close()

    server = await asyncio.start_server(handle, "127.0.0.1", 0)
    endpoint = Endpoint(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1")
    connection = Connection(endpoint, PROFILE, service=Service(routes=(RESPONSES_OVER_SSE,)), retries=SOON)
    try:
        yield connection, asked
    finally:
        await connection.close()
        server.close()


WELL = head() + stream()
PACKED = gzip.compress(stream())


@pytest.mark.parametrize(
    "reply",
    [
        WELL,
        head() + stream("\r\n", mark=True),
        head() + stream("\r", mark=True),
        head("Transfer-Encoding: chunked") + chunked(stream("\r\n", mark=True), 1),
        head("Content-Encoding: gzip") + PACKED,
        head("Content-Encoding: gzip", "Transfer-Encoding: chunked") + chunked(PACKED, 1),
        head("Content-Encoding: gzip") + PACKED[:-8],  # all of it is there but the sum
        WELL.replace(b"text/event-stream", b"text/plain; charset=utf-8"),
    ],
)
async def test_a_stream_is_read_however_it_is_packed(reply: bytes) -> None:
    async with serving([reply]) as (connection, asked):
        assert said(await ask(connection, [user_message("hello")])) == TEXT
        assert len(asked) == 1


@pytest.mark.parametrize(
    "reply",
    [
        b"",
        head()[:30],
        head(),
        head("Content-Length: 900") + stream()[:40],
        head("Transfer-Encoding: chunked") + b"zz\r\n",
        head("Transfer-Encoding: chunked") + chunked(stream()[:30], 7)[:-12],
        head("Content-Encoding: gzip") + PACKED[:20],
        head("Content-Encoding: gzip") + stream(),
        head("Retry-After: 0.01", status=429) + b'{"error": {"message": "slow down"}}',
        head("Content-Encoding: gzip", status=503) + b"<html>not gzip",
    ],
)
async def test_what_is_broken_before_the_first_word_is_asked_again_unseen(reply: bytes) -> None:
    async with serving([reply, WELL]) as (connection, asked):
        assert said(await ask(connection, [user_message("hello")])) == TEXT
        assert len(asked) == 2


@pytest.mark.parametrize("coding", ["br", "zstd", "gzip, br"])
async def test_a_coding_that_was_not_asked_for_is_told_and_not_asked_again(coding: str) -> None:
    async with serving([head(f"Content-Encoding: {coding}") + b"\x8b\x02\x80"]) as (connection, asked):
        with pytest.raises(LinkError, match=f"in the content coding '{coding}', which spark did not ask for"):
            await ask(connection, [user_message("hello")])
        assert len(asked) == 1


async def test_an_answer_that_is_cut_in_its_middle_is_one_line() -> None:
    for broken in (
        head() + stream()[:-60],
        head("Content-Encoding: gzip") + gzip.compress(stream()[:-60]),
        head("Transfer-Encoding: chunked") + chunked(stream()[:-60], 9),
    ):
        async with serving([broken]) as (connection, asked):
            with pytest.raises(LinkError) as caught:
                await ask(connection, [user_message("hello")])
            assert "\n" not in caught.value.message and caught.value.kind == "closed"
            assert len(asked) == 1
