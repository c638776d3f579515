"""A server of HTTP/2 that goes away (GOAWAY) or gives up a stream, at each moment of an answer."""

from __future__ import annotations

import asyncio
import json
import ssl
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import pytest
from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.errors import ErrorCodes
from h2.events import DataReceived, RequestReceived, StreamEnded

from session.link.connection import Connection, Endpoint, LinkError, Retries, Service
from session.link.retries import Backoff
from session.protocol.items import user_message
from session.transport.service import RESPONSES_OVER_SSE
from session.transport.tls import trust
from tests.session.link.test_connection import PROFILE, ask, said
from tests.session.transport.tls import NEEDS_OPENSSL, Authority, authority

pytestmark = NEEDS_OPENSSL

SOON = Retries(most=2, backoff=Backoff(first=0.01, longest=0.01))


def events(*bodies: object) -> bytes:
    return "".join(f"data: {json.dumps(body)}\n\n" for body in bodies).encode()


RESPONSE = {"response": {"id": "r"}}
FIRST = events(
    {"type": "response.created", **RESPONSE}, {"type": "response.output_text.delta", "delta": "Hi"}
)
REST = events(
    {"type": "response.output_text.delta", "delta": "!"}, {"type": "response.completed", **RESPONSE}
)


class Leaving:
    """A server that leaves while it answers the first post, in the way that ``how`` says."""

    def __init__(self, how: str) -> None:
        self.how = how
        self.asked = 0
        self.connections = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        h2 = H2Connection(H2Configuration(client_side=False))
        h2.initiate_connection()
        posts: set[int] = set()
        writer.write(h2.data_to_send())
        while data := await reader.read(65_536):
            for event in h2.receive_data(data):
                if isinstance(event, RequestReceived) and (b":method", b"POST") in event.headers:
                    posts.add(event.stream_id)
                elif isinstance(event, DataReceived):
                    h2.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
                elif isinstance(event, StreamEnded) and event.stream_id in posts:
                    self.asked += 1
                    if self.answer(h2, event.stream_id):
                        writer.write(h2.data_to_send())
                        await writer.drain()
                        writer.close()
                        return
                elif isinstance(event, StreamEnded):
                    h2.send_headers(event.stream_id, [(":status", "404")], end_stream=True)
            writer.write(h2.data_to_send())
        writer.close()

    def answer(self, h2: H2Connection, stream: int) -> bool:
        """Answer a post; true where the connection ends with it."""
        how = self.how if self.asked == 1 else ""
        if how == "unasked":  # it has not looked at this request
            h2.close_connection(last_stream_id=stream - 2)
            return True
        if how == "refused":
            h2.reset_stream(stream, ErrorCodes.REFUSED_STREAM)
            return False
        h2.send_headers(stream, [(":status", "200"), ("content-type", "text/event-stream")])
        h2.send_data(stream, FIRST)
        if how == "torn":
            h2.reset_stream(stream, ErrorCodes.INTERNAL_ERROR)
            return False
        h2.send_data(stream, REST, end_stream=True)
        if how == "after":
            h2.close_connection(last_stream_id=stream)
        return how == "after"


@pytest.fixture(scope="module")
def ours(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture
def tls(ours: Authority, monkeypatch: pytest.MonkeyPatch) -> Iterator[ssl.SSLContext]:
    """A server's context for HTTP/2, whose certificate is trusted."""
    monkeypatch.setenv("SSL_CERT_FILE", str(ours.certificate))
    trust.cache_clear()
    context = ours.server()
    context.set_alpn_protocols(["h2"])
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


@pytest.mark.parametrize("how", ["unasked", "refused", "after", "never"])
async def test_a_server_that_goes_away_is_asked_again_unseen(how: str, tls: ssl.SSLContext) -> None:
    async with leaving(how, tls) as (connection, peer):
        for _ in range(2):
            assert said(await ask(connection, [user_message("hello")])) == "Hi!"
        # A GOAWAY that comes with the end of the answer hides it from the client's library.
        assert peer.asked == 3 if how in ("unasked", "refused") else peer.asked <= 3


async def test_a_stream_that_is_torn_in_its_middle_is_one_line_and_the_next_answer_is_whole(
    tls: ssl.SSLContext,
) -> None:
    async with leaving("torn", tls) as (connection, peer):
        with pytest.raises(LinkError) as caught:
            await ask(connection, [user_message("hello")])
        assert caught.value.kind == "closed" and "\n" not in caught.value.message
        assert said(await ask(connection, [user_message("hello")])) == "Hi!"
        assert peer.asked == 2
