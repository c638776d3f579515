"""The partner's server: WebSockets on loopback, one task per response, paced and cut like the real thing."""

from __future__ import annotations

import asyncio
import hmac
import json
import logging
import math
import ssl
from collections import deque
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from urllib.parse import urlsplit

from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.datastructures import Headers
from websockets.http11 import Request as HttpRequest
from websockets.http11 import Response as HttpResponse

from session.partner.script.load import DEMO, load
from session.partner.script.script import Script
from session.partner.server.dialects import nested_error
from session.partner.server.http import HttpClient, Sniffer
from session.partner.server.lanes import Client
from session.partner.server.requests import BadRequest, Request

MAX_FRAME_BYTES = 64 * 1024 * 1024
_REMEMBERED = 256
_LOGGER = logging.getLogger("spark.partner")


class Partner:
    """A model server that plays ``scripts`` at ``rate`` tokens per second.

    ``scripts`` is a script, the path of one, or None for the demo's. With a ``key``, clients must
    send it as a bearer token. Use it as an async context manager, or ``await serve()`` and
    ``await close()``. Raises ``load.ScriptError`` for a script that cannot be played.

    For tests and benches: ``requests`` are the last ones received, ``headers`` those of the last upgrades and
    posts (names in small letters), ``connections`` counts all WebSockets ever accepted, ``plain_connections``
    those of plain HTTP, ``cut`` the responses that clients cut short.
    """

    def __init__(
        self,
        rate: float = 1000.0,
        scripts: Script | Path | None = None,
        key: str | None = None,
    ) -> None:
        if not rate > 0:
            raise ValueError("the rate must be more than 0 tokens per second (inf for no limit)")
        self.rate = rate
        self.script = scripts if isinstance(scripts, Script) else load(scripts or DEMO)
        self.requests: deque[Request] = deque(maxlen=_REMEMBERED)
        self.headers: deque[Mapping[str, str]] = deque(maxlen=_REMEMBERED)
        self.connections = 0
        self.cut = 0
        self.begun: dict[str, int] = {}
        self._key = key
        self._secure = False
        self._server: Server | None = None
        self._clients: set[Client] = set()
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
            create_connection=type("PartnerConnection", (Sniffer,), {"plain": staticmethod(self._plain)}),
            ssl=tls,
            compression=None,  # on loopback it costs more than it saves
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

    async def drop_clients(self) -> None:
        """Close every connection, as a server going away does; new ones are welcome."""
        await asyncio.gather(*(client.connection.close(1001, "going away") for client in self._clients))

    async def _handle(self, connection: ServerConnection) -> None:
        self.connections += 1
        client = Client(self, connection)
        self._clients.add(client)
        try:
            await client.run()
        finally:
            self._clients.discard(client)

    def _answer_http(self, connection: ServerConnection, request: HttpRequest) -> HttpResponse | None:
        """Refuse the WebSocket, or return None to go on with its handshake."""
        path = urlsplit(request.path).path.rstrip("/")
        headers = {name.lower(): value for name, value in request.headers.raw_items()}
        problem = self.refusal(path, headers)
        if problem is not None:
            return _http(problem[0], json.dumps(problem[1]), "application/json")
        if path != "/v1/responses":
            return _http(404, json.dumps(nothing_at(path)), "application/json")
        refusal = self.script.handshake
        return None if refusal is None else _http(refusal.status, refusal.body, refusal.content_type)

    def refusal(self, path: str, headers: Mapping[str, str]) -> tuple[int, dict[str, object]] | None:
        """Status and body for a client without the right key; None for one with it."""
        self.headers.append(headers)
        given = headers.get("x-api-key") or headers.get("authorization", "").removeprefix("Bearer ")
        if self._key is None or hmac.compare_digest(given.encode(), self._key.encode()):
            return None
        message = "Incorrect API key provided." if given else "No API key was provided."
        return 401, nested_error("invalid_api_key", message, 401)

    def check_model(self, request: Request) -> None:
        """Raises :class:`BadRequest` for a model that the script refuses."""
        if request.model in self.script.refuse_models:
            raise BadRequest("model_not_found", _no_model(request.model), param="model", status=404)

    def model_list(self) -> dict[str, object]:
        """What ``GET /models`` gives."""
        return {"object": "list", "data": [_model(name) for name in self.script.models]}

    def model_entry(self, name: str) -> tuple[int, dict[str, object]]:
        """What ``GET /models/NAME`` gives: status and body."""
        if name in self.script.models:
            return 200, _model(name)
        return 404, nested_error("model_not_found", _no_model(name), 404)

    def _plain(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.plain_connections += 1
        task = asyncio.get_running_loop().create_task(HttpClient(self, reader, writer).run())
        self._plain_tasks.add(task)
        task.add_done_callback(self._plain_tasks.discard)


def parse_rate(text: str) -> float:
    """A rate from the command line, tokens per second; ``0`` and ``inf`` mean as fast as it goes.

    Raises ValueError for anything else that is not a positive number.
    """
    rate = float(text)
    if math.isnan(rate) or rate < 0:
        raise ValueError("the rate must be a positive number of tokens per second")
    return rate or math.inf


def _model(name: str) -> dict[str, object]:
    return {"id": name, "object": "model", "created": 0, "owned_by": "spark"}


def _no_model(name: str) -> str:
    return f"The model '{name}' does not exist or you do not have access to it."


def nothing_at(path: str) -> dict[str, object]:
    """The body of a 404."""
    return nested_error("not_found", f"Nothing is served at {path or '/'}.", 404)


def _http(status: int, body: str, content_type: str) -> HttpResponse:
    data = body.encode("utf-8")
    headers = Headers(
        [("Content-Type", content_type), ("Content-Length", str(len(data))), ("Connection", "close")]
    )
    if 300 <= status < 400:
        headers["Location"] = body
    return HttpResponse(status, "", headers, data)
