"""The partner's server: WebSockets and plain HTTP on one loopback port, one task per response.

One port for WebSockets and plain HTTP, since the WebSocket library answers no POST.

The partner runs as a process of its own (``spark partner``), or beside the demo: there too in another
process, so that its speed does not depend on the screen's, as with a real server.
"""

from __future__ import annotations

import asyncio
import json
import logging
import math
import signal
import ssl
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from urllib.parse import urlsplit

from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.datastructures import Headers
from websockets.extensions.permessage_deflate import ServerPerMessageDeflateFactory
from websockets.http11 import Request as HttpRequest
from websockets.http11 import Response as HttpResponse

from session.partner.load_script import DEMO, load
from session.partner.script import Script
from session.partner.server.dialects import nothing_at
from session.partner.server.http_connection import HttpConnection
from session.partner.server.requests import Request
from session.partner.server.scripted_model import ScriptedModel
from session.partner.server.websocket_connection import WebSocketConnection

START_SECONDS = 20.0


class ServingError(Exception):
    """The partner cannot serve; ``address`` is true if the port is not available."""

    def __init__(self, message: str, *, address: bool = False) -> None:
        super().__init__(message)
        self.address = address


def serve_until_stopped(port: int, rate: str, script: Path | None, announce: Callable[[str], None]) -> None:
    """Serve on loopback until SIGINT or SIGTERM; ``announce`` is called with the base URL once it listens.

    Raises ServingError for a bad rate or script, or a port that is taken.
    """
    from session.partner.load_script import ScriptError

    try:
        partner = Partner(rate=parse_rate(rate), scripts=script)
    except (ScriptError, ValueError) as problem:
        raise ServingError(str(problem)) from problem

    async def serve() -> None:
        stop = asyncio.Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, stop.set)
        try:
            await partner.serve(port)
        except OSError as problem:
            raise ServingError(
                f"port {port} is not available ({problem.strerror}); choose another with --port", address=True
            ) from problem
        try:
            announce(partner.url)
            await stop.wait()
        finally:
            await partner.close()

    asyncio.run(serve())


@contextmanager
def companion(rate: str, script: Path | None = None) -> Iterator[str]:
    """Runs a partner in a process of its own during the ``with`` block, and yields its base URL.

    Raises ServingError if it does not start.
    """
    # -P keeps Python from importing a folder called "session" in the user's project.
    command = [sys.executable, "-P", "-m", "session.partner", rate, *([str(script)] if script else [])]
    # In a session of its own it outlives the terminal, as the turn does that it answers.
    process = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        assert process.stdout is not None
        url = process.stdout.readline().decode("ascii", "replace").strip()
        if not url:
            _, errors = process.communicate(timeout=START_SECONDS)
            raise ServingError(
                errors.decode("utf-8", "replace").strip() or "the practice partner did not start"
            )
        yield url
    finally:
        process.terminate()
        try:
            process.communicate(timeout=5)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()


MOST_HEAD_BYTES = 64 * 1024
"""The longest request head, in bytes."""


class SharedPortConnection(ServerConnection):
    """A connection that becomes a WebSocket only if its first request asks for one.

    ``serve_http`` is called with the streams of any other connection.
    """

    serve_http: Callable[[asyncio.StreamReader, asyncio.StreamWriter], None]
    _head = b""
    _decided = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Wait for the first request before deciding who serves the connection."""
        self._waiting = transport

    def data_received(self, data: bytes) -> None:
        """Collect the first request's head, then pass everything on to whoever serves the connection."""
        if self._decided:
            super().data_received(data)
            return
        self._head += data
        if b"\r\n\r\n" not in self._head and len(self._head) < MOST_HEAD_BYTES:
            return
        self._decided = True
        head = self._head.partition(b"\r\n\r\n")[0].lower()
        if b"upgrade: websocket" in head:
            super().connection_made(self._waiting)
            super().data_received(self._head)
            return
        reader = asyncio.StreamReader(limit=MOST_HEAD_BYTES)
        protocol = asyncio.StreamReaderProtocol(reader, self.serve_http)
        assert isinstance(self._waiting, asyncio.Transport)
        self._waiting.set_protocol(protocol)
        protocol.connection_made(self._waiting)
        protocol.data_received(self._head)

    def connection_lost(self, exc: Exception | None) -> None:
        """Tell the library only about the end of a WebSocket."""
        if self._decided:
            super().connection_lost(exc)

    def eof_received(self) -> None:
        """Tell the library only about the end of a WebSocket."""
        if self._decided:
            super().eof_received()


MAX_FRAME_BYTES = 64 * 1024 * 1024
_LOGGER = logging.getLogger("spark.partner")


class Partner:
    """A model server that plays ``scripts`` at ``rate`` tokens per second.

    ``scripts`` is a script, the path of one, or None for the demo's. With a ``key``, clients must
    send it as a bearer token. Use it as an async context manager, or ``await serve()`` and
    ``await close()``. Raises ``load.ScriptError`` for a script that cannot be played.

    For tests and benches, ``connections`` counts all WebSockets ever accepted and ``plain_connections``
    those of plain HTTP; ``requests``, ``headers``, ``cut`` and ``begun`` are the scripted model's.
    """

    def __init__(
        self,
        rate: float = 1000.0,
        scripts: Script | Path | None = None,
        key: str | None = None,
    ) -> None:
        if not rate > 0:
            raise ValueError("the rate must be more than 0 tokens per second (inf for no limit)")
        script = scripts if isinstance(scripts, Script) else load(scripts or DEMO)
        self.model = ScriptedModel(script, rate, key)
        self.connections = 0
        self._secure = False
        self._server: Server | None = None
        self._clients: set[WebSocketConnection] = set()
        self.plain_connections = 0
        self._plain_tasks: set[asyncio.Task[None]] = set()

    async def serve(self, port: int = 0, host: str = "127.0.0.1", tls: ssl.SSLContext | None = None) -> None:
        """Listen; port 0 takes a free one. Raises OSError if the address cannot be had."""
        self._secure = tls is not None
        self._server = await serve(
            self._handle,
            host,
            port,
            process_request=self._answer_http,
            create_connection=self._connection_class(),
            ssl=tls,
            compression=None,  # on loopback it costs more than it saves, so a script has to ask for it
            extensions=[ServerPerMessageDeflateFactory()] if self.script.deflate else None,
            max_size=MAX_FRAME_BYTES,
            close_timeout=1.0,
            logger=_LOGGER,
            server_header="spark-partner",
        )

    async def serve_forever(self) -> None:
        """Wait until the task is cancelled or :meth:`close` is called."""
        if self._server is not None:
            await self._server.wait_closed()

    async def close(self) -> None:
        """Stop listening, end every response and connection. May be repeated."""
        server, self._server = self._server, None
        if server is not None:
            for task in self._plain_tasks:
                task.cancel()
            if self._plain_tasks:
                await asyncio.wait(self._plain_tasks)
            server.close()
            await server.wait_closed()

    async def __aenter__(self) -> Partner:
        await self.serve()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    @property
    def port(self) -> int:
        """The port it listens on. Raises RuntimeError before :meth:`serve`."""
        if self._server is None:
            raise RuntimeError("the partner is not serving")
        return int(next(iter(self._server.sockets)).getsockname()[1])

    @property
    def url(self) -> str:
        """The base URL to give to a client."""
        scheme, host = ("https", "localhost") if self._secure else ("http", "127.0.0.1")
        return f"{scheme}://{host}:{self.port}/v1"

    @property
    def script(self) -> Script:
        """What is played; it can be replaced while the partner serves."""
        return self.model.script

    @script.setter
    def script(self, script: Script) -> None:
        self.model.script = script

    @property
    def requests(self) -> Sequence[Request]:
        """The last requests received."""
        return self.model.requests

    @property
    def headers(self) -> Sequence[Mapping[str, str]]:
        """The headers of the last upgrades and posts, with names in lower case."""
        return self.model.headers

    @property
    def cut(self) -> int:
        """How many responses clients have cut short."""
        return self.model.cut

    @property
    def begun(self) -> Mapping[str, int]:
        """How often each scenario was begun."""
        return self.model.begun

    async def drop_clients(self) -> None:
        """Close every connection, as a server going away does; new ones are welcome."""
        await asyncio.gather(*(client.connection.close(1001, "going away") for client in self._clients))

    async def _handle(self, connection: ServerConnection) -> None:
        self.connections += 1
        client = WebSocketConnection(self.model, connection)
        self._clients.add(client)
        try:
            await client.run()
        finally:
            self._clients.discard(client)

    def _answer_http(self, connection: ServerConnection, request: HttpRequest) -> HttpResponse | None:
        """Refuse the WebSocket, or return None to go on with its handshake."""
        path = urlsplit(request.path).path.rstrip("/")
        headers = {name.lower(): value for name, value in request.headers.raw_items()}
        problem = self.model.refusal(headers)
        if problem is not None:
            return _http(problem[0], json.dumps(problem[1]), "application/json")
        if path != "/v1/responses":
            return _http(404, json.dumps(nothing_at(path)), "application/json")
        refusal = self.script.handshake
        return None if refusal is None else _http(refusal.status, refusal.body, refusal.content_type)

    def _connection_class(self) -> type[SharedPortConnection]:
        serve_http = staticmethod(self._serve_http)
        return type("PartnerConnection", (SharedPortConnection,), {"serve_http": serve_http})

    def _serve_http(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.plain_connections += 1
        task = asyncio.get_running_loop().create_task(HttpConnection(self.model, reader, writer).run())
        self._plain_tasks.add(task)
        task.add_done_callback(self._plain_tasks.discard)


def parse_rate(text: str) -> float:
    """A rate from the command line, tokens per second; ``0`` and ``inf`` mean as fast as it goes.

    Raises ValueError for anything else that is not a positive number.
    """
    try:
        rate = float(text)
    except ValueError:
        rate = math.nan
    if math.isnan(rate) or rate < 0:
        raise ValueError(f"the rate must be a positive number of tokens a second, not {text!r}")
    return rate or math.inf


def _http(status: int, body: str, content_type: str) -> HttpResponse:
    data = body.encode("utf-8")
    headers = Headers(
        [("Content-Type", content_type), ("Content-Length", str(len(data))), ("Connection", "close")]
    )
    if 300 <= status < 400:
        headers["Location"] = body
    return HttpResponse(status, "", headers, data)
