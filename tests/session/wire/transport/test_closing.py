"""Servers that close a connection with the end of an answer, or without one: nothing is asked twice."""

from __future__ import annotations

import asyncio
import json
import ssl
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import pytest
from websockets.asyncio.server import ServerConnection, serve

from session.wire.link.connection import Connection, Endpoint, LinkError, Retries, Service
from session.wire.link.retries import Backoff
from session.wire.protocol.items import user_message
from session.wire.transport.connect import trust
from session.wire.transport.service import RESPONSES_OVER_SSE, RESPONSES_OVER_WEBSOCKET
from tests.session.wire.link.test_connection import PROFILE, ask, said
from tests.session.wire.transport.tls import NEEDS_OPENSSL, Authority, authority

pytestmark = NEEDS_OPENSSL

SOON = Retries(most=2, backoff=Backoff(first=0.01, longest=0.01))
RESPONSE = {"response": {"id": "r"}}
FIRST = ({"type": "response.created", **RESPONSE}, {"type": "response.output_text.delta", "delta": "Hi"})
REST = ({"type": "response.output_text.delta", "delta": "!"}, {"type": "response.completed", **RESPONSE})


def events(*bodies: object) -> bytes:
    return "".join(f"data: {json.dumps(body)}\n\n" for body in bodies).encode()


class Leaving:
    """A server of HTTP that closes the connection of its first post in the way that ``how`` says."""

    def __init__(self, how: str) -> None:
        self.how = how
        self.asked = self.connections = 0
        self.spoken: set[str | None] = set()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self.spoken.add(writer.get_extra_info("ssl_object").selected_alpn_protocol())
        open_ = True
        while open_ and (line := await reader.readline()):
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
            if line.startswith(b"POST"):
                await reader.readexactly(int(head.partition("content-length: ")[2].split("\r\n")[0]))
                self.asked += 1
                open_ = self.answer(writer)
            else:
                writer.write(b"HTTP/1.1 404 x\r\nContent-Length: 0\r\n\r\n")
            await writer.drain()
        writer.close()

    def answer(self, writer: asyncio.StreamWriter) -> bool:
        """Answer a post; false where the connection ends with it."""
        how = self.how if self.asked == 1 else "never"
        if how == "unanswered":
            return False
        body = events(*FIRST) if how == "torn" else events(*FIRST, *REST)
        head = "HTTP/1.1 200 x\r\nContent-Type: text/event-stream\r\n"
        if how == "announced":
            head += "Connection: close\r\n"
        if how == "unframed":
            writer.write(f"{head}\r\n".encode() + body)
        else:
            end = b"" if how == "torn" else b"0\r\n\r\n"
            head += "Transfer-Encoding: chunked\r\n"
            writer.write(f"{head}\r\n{len(body):x}\r\n".encode() + body + b"\r\n" + end)
        return how == "never"


@pytest.fixture(scope="module")
def ours(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture
def tls(ours: Authority, monkeypatch: pytest.MonkeyPatch) -> Iterator[ssl.SSLContext]:
    """A server's context that would take HTTP/2 first, and whose certificate is trusted."""
    monkeypatch.setenv("SSL_CERT_FILE", str(ours.certificate))
    trust.cache_clear()
    context = ours.server()
    context.set_alpn_protocols(["h2", "http/1.1"])
    yield context
    trust.cache_clear()


@asynccontextmanager
async def leaving(how: str, tls: ssl.SSLContext) -> AsyncIterator[tuple[Connection, Leaving]]:
    peer = Leaving(how)
    server = await asyncio.start_server(peer.serve, "127.0.0.1", 0, ssl=tls)
    endpoint = Endpoint(f"https://localhost:{server.sockets[0].getsockname()[1]}/v1")
    connection = Connection(endpoint, PROFILE, service=Service(routes=(RESPONSES_OVER_SSE,)), retries=SOON)
    try:
        yield connection, peer
    finally:
        await connection.close()
        server.close()


@pytest.mark.parametrize("how", ["never", "announced", "unannounced", "unframed", "unanswered"])
async def test_a_server_that_closes_with_an_answers_end_is_asked_once(how: str, tls: ssl.SSLContext) -> None:
    async with leaving(how, tls) as (connection, peer):
        for _ in range(2):
            assert said(await ask(connection, [user_message("hello")])) == "Hi!"
        assert peer.asked == (3 if how == "unanswered" else 2)
        assert peer.connections == (1 if how == "never" else 2)
        # HTTP/2 would be slower for one request at a time, and its GOAWAY loses the end of an answer.
        assert peer.spoken == {"http/1.1"}


async def test_an_answer_that_is_torn_in_its_middle_is_one_line_and_the_next_is_whole(
    tls: ssl.SSLContext,
) -> None:
    async with leaving("torn", tls) as (connection, peer):
        with pytest.raises(LinkError) as caught:
            await ask(connection, [user_message("hello")])
        assert caught.value.kind == "closed" and "\n" not in caught.value.message
        assert said(await ask(connection, [user_message("hello")])) == "Hi!"
        assert peer.asked == 2


@pytest.mark.parametrize("how", ["with a close frame", "without one"])
async def test_a_websocket_that_closes_with_an_answers_end_is_asked_once(how: str) -> None:
    asked = 0

    async def handle(connection: ServerConnection) -> None:
        nonlocal asked
        async for frame in connection:
            if json.loads(frame).get("generate") is False:
                await connection.send(json.dumps({"type": "response.completed", **RESPONSE}))
                continue
            asked += 1
            for body in (*FIRST, *REST):
                await connection.send(json.dumps(body))
            if how == "without one":
                connection.transport.close()
            else:
                await connection.close(1012, "the service restarts")

    async with serve(handle, "127.0.0.1", 0) as server:
        port = next(iter(server.sockets)).getsockname()[1]
        service = Service(routes=(RESPONSES_OVER_WEBSOCKET,))
        connection = Connection(Endpoint(f"http://127.0.0.1:{port}/v1"), PROFILE, service=service)
        for _ in range(2):
            assert said(await ask(connection, [user_message("hello")])) == "Hi!"
        await connection.close()
    assert asked == 2
