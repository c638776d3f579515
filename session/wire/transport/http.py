"""Sends requests over HTTP and reads answers as server-sent events, over one kept-alive connection.

It is HTTP/1.1, whatever the server offers: a connection carries one request at a time, for which HTTP/2 has
only disadvantages (its windows hold up large requests, a token costs half as much CPU again, and a GOAWAY
loses what came with it; docs/benchmarks.md). Built on ``httpx2``, imported where it is used: a session that
talks over WebSocket never pays for it.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncGenerator
from functools import partial
from typing import TYPE_CHECKING, Any

from session.wire.protocol.errors import is_context_overflow
from session.wire.protocol.frames import AnswerBody, EventTooLarge, NotAnObject, is_answer, parse_object
from session.wire.transport.connect import connect_socket, trust
from session.wire.transport.endpoint import Endpoint
from session.wire.transport.errors import LinkError, LinkProblem, one_line
from session.wire.transport.links import Compression, ends_of
from session.wire.transport.network import Address
from session.wire.transport.proxies import connect_by_socks, is_socks
from session.wire.transport.refusals import (
    Refusal,
    cut_off,
    explain_os,
    from_server,
    read_refusal,
    speaks_http2,
)

if TYPE_CHECKING:
    import httpx2

_KEPT_SECONDS = 3_600.0
_MOST_REFUSAL_BYTES = 64 * 1024
_CODINGS = frozenset({"", "identity", "gzip", "x-gzip", "deflate"})
"""The content codings of an answer that are read; others are not asked for."""
_DRAIN_SECONDS = 0.25
_LISTS_MODELS = "/models"
_GREETING = 3.0
"""Seconds within which a server that took the connection answers for that list, if it ever does."""
_STREAMS = ("text/event-stream", "application/octet-stream", "text/plain", "")
"""The types of an answer, beside those of JSON: some servers stream without saying so, some do not stream."""


class HttpLink:
    """An HTTP connection to a model server, made by :meth:`open`. Failures are LinkErrors or Refusals."""

    def __init__(
        self, client: httpx2.AsyncClient, endpoint: Endpoint, path: str, compression: Compression
    ) -> None:
        self._client = client
        self._compression = compression
        self._endpoint = endpoint
        self._url = endpoint.http_url(path)
        self._socket: socket.socket | None = None
        self._asking: asyncio.Task[httpx2.Response] | None = None
        self._response: httpx2.Response | None = None
        self._chunks: AsyncGenerator[bytes, None] | None = None
        self._stream = AnswerBody()
        self._gone = asyncio.Event()
        self._ending: asyncio.Task[None] | None = None
        self.aborted = False

    @classmethod
    async def open(
        cls, endpoint: Endpoint, path: str, *, open_timeout: float, compression: Compression | None = None
    ) -> HttpLink:
        """Connect to ``endpoint`` and check the key with a ``HEAD`` request for its list of models.

        A server without such a list is as good: what counts is the connection. Raises :class:`LinkError`:
        unreachable, refused or unauthorized.
        """
        link = cls(await client_for(endpoint, open_timeout), endpoint, path, compression or Compression())
        try:
            async with asyncio.timeout(open_timeout):
                await link._greet(open_timeout)
        except TimeoutError as error:
            await link.close()
            raise explain(error, endpoint, open_timeout) from None
        except BaseException:  # a cancelled greeting, too, leaves no open socket that nobody holds
            await link.close()
            raise
        return link

    async def _greet(self, open_timeout: float) -> None:
        import httpx2

        url = self._endpoint.http_url(_LISTS_MODELS)
        asking = self._client.head(url, extensions={"trace": self._trace})
        try:
            response = await self._answered(asyncio.ensure_future(asking))
        except (httpx2.HTTPError, httpx2.InvalidURL, OSError, ValueError) as error:
            raise explain(error, self._endpoint, open_timeout) from error
        if response is not None and (response.status_code == 401 or response.is_redirect):
            said = read_refusal(response.status_code, response.content, response.headers)
            raise from_server(said, self._endpoint, "")

    async def _answered(self, asking: asyncio.Task[httpx2.Response]) -> httpx2.Response | None:
        """The answer; None where a server that took the connection gives none soon: it has no such list."""
        try:
            while not (await asyncio.wait({asking}, timeout=_GREETING))[0]:
                if self._socket is not None:
                    return None
            return await asking
        finally:
            asking.cancel()

    @property
    def upgrade_seconds(self) -> float | None:
        """None: HTTP has no upgrade."""
        return None

    @property
    def round_trip_seconds(self) -> float | None:
        """Not measured: HTTP has nothing like a ping that every server answers."""
        return None

    @property
    def is_open(self) -> bool:
        """True until :meth:`abort`: a connection the server has closed is opened again by asking."""
        return not self.aborted

    @property
    def ends(self) -> tuple[Address, Address] | None:
        """The two addresses of the socket connected last."""
        return ends_of(self._socket)

    async def send(self, frame: str) -> None:
        """Ask. Raises :class:`LinkError`, or :class:`Refusal` for an answer that is an error."""
        self._response = await self._ask(frame, "text/event-stream")
        await self._judge(self._response)

    async def post(self, frame: str) -> None:
        """Ask for an answer in one body, and read that to its end. Raises as :meth:`send` does."""
        response = await self._ask(frame, "application/json")
        self._response = response
        body = await self._some(response)
        await self._let_go()
        if not response.is_success:
            raise Refusal(read_refusal(response.status_code, body, response.headers))

    async def _ask(self, frame: str, accept: str) -> httpx2.Response:
        """The head of the answer; a compressed request that is refused is sent once more as it is, unless it
        was read and is too long."""
        body = frame.encode("utf-8")
        packed = await self._compression.packed(body)
        if self.aborted:
            raise self._closed("was told to stop")
        headers = {"Content-Type": "application/json", "Accept": accept}
        if packed is None:
            return await self._post(body, headers)
        response = await self._post(packed, {**headers, "Content-Encoding": "gzip"})
        if self._compression.doubts(response.status_code):
            self._response = response
            refusal = read_refusal(response.status_code, await self._some(response), response.headers)
            await self._let_go()
            if is_context_overflow(refusal.code, refusal.message):
                raise Refusal(refusal)
            response = await self._post(body, headers)
            self._compression.settle(response.status_code)
        return response

    async def _post(self, body: bytes, headers: dict[str, str]) -> httpx2.Response:
        import httpx2

        request = self._client.build_request(
            "POST",
            self._url,
            content=body,
            headers=headers,
            extensions={"trace": self._trace},
        )
        self._asking = asyncio.ensure_future(self._client.send(request, stream=True))
        try:
            return await self._asking
        except asyncio.CancelledError:
            if self.aborted:
                raise self._closed("was told to stop") from None
            raise
        except (httpx2.HTTPError, OSError) as error:
            raise self._lost(error) from error
        finally:
            self._asking = None

    async def _judge(self, response: httpx2.Response) -> None:
        """Prepare to read an event stream; raise for any other response."""
        coding = response.headers.get("content-encoding", "").strip().lower()
        if coding not in _CODINGS:
            await self._let_go()
            message = (
                f"{self._endpoint.host} answered in the content coding {one_line(coding)!r}, which spark"
            )
            raise LinkError(
                LinkProblem.REFUSED, f"{message} did not ask for. Check the proxy, or the base URL."
            )
        kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        if response.is_success and (kind in _STREAMS or kind.endswith("json")):
            self._chunks = response.aiter_bytes()
            self._stream = AnswerBody()
            return
        body = await self._some(response)
        await self._let_go()
        if response.is_success:
            message = f"{self._endpoint.host} answered with {kind} instead of an event stream."
            raise LinkError(
                LinkProblem.REFUSED, f"{message} Check the base URL.", status=response.status_code
            )
        raise Refusal(read_refusal(response.status_code, body, response.headers))

    async def _some(self, response: httpx2.Response) -> bytes:
        import httpx2

        body = b""
        with contextlib.suppress(httpx2.HTTPError, OSError):
            async for chunk in response.aiter_bytes():
                body += chunk
                if len(body) >= _MOST_REFUSAL_BYTES:
                    break
        return body[:_MOST_REFUSAL_BYTES]

    async def receive(self) -> list[bytes] | None:
        """The events that have come, or the whole answer of a server that does not stream; None where the
        answer has ended. Raises :class:`LinkError`, or :class:`Refusal` for a body that is an error."""
        import httpx2

        while self._chunks is not None:
            try:
                chunk = await anext(self._chunks, None)
                if chunk is None:
                    self._chunks = None
                    return self._last() or None
                events = self._stream.feed(chunk)
            except (httpx2.HTTPError, httpx2.StreamError, OSError) as error:
                raise self._lost(error) from error
            except EventTooLarge as error:
                raise self._closed(f"sent {error}") from None
            if events:
                return events
            await asyncio.sleep(0)  # one packet can unpack to a gigabyte of comments
        return None

    def _last(self) -> list[bytes]:
        """The frames of a body that has ended. Raises as :meth:`receive` does."""
        response, body = self._response, self._stream.whole
        if body is None or response is None:
            return self._stream.end()
        try:
            if is_answer(parse_object(body)):
                return [body]
        except NotAnObject:
            if body[:1] == b"{":
                raise self._closed("sent a damaged answer") from None
        raise Refusal(read_refusal(response.status_code, body, response.headers))

    async def drain(self) -> int:
        """Read the previous answer to its end, so that its connection can be used again."""
        import httpx2

        if self._response is None:
            return 0
        with contextlib.suppress(TimeoutError, httpx2.HTTPError, httpx2.StreamError, OSError):
            async with asyncio.timeout(_DRAIN_SECONDS):
                if self._chunks is not None:
                    async for _ in self._chunks:
                        await asyncio.sleep(0)  # or the time would never be up while one packet unpacks
        await self._let_go()
        return 0

    async def _let_go(self) -> None:
        import httpx2

        response, self._response = self._response, None
        chunks, self._chunks = self._chunks, None
        if chunks is not None:
            # It is still running where an answer is aborted by another task, and ends by itself then.
            with contextlib.suppress(httpx2.HTTPError, httpx2.StreamError, OSError, RuntimeError):
                await chunks.aclose()
        if response is not None:
            with contextlib.suppress(httpx2.HTTPError, httpx2.StreamError, OSError, RuntimeError):
                await response.aclose()

    async def wait_closed(self) -> None:
        """Return once it was aborted or closed."""
        await self._gone.wait()

    def abort(self) -> None:
        """Cut the connection now; a request still on its way is cancelled. Safe to repeat."""
        if self.aborted:
            return
        self.aborted = True
        self._gone.set()
        if self._asking is not None:
            self._asking.cancel()
        if self._socket is not None:
            with contextlib.suppress(OSError):
                self._socket.shutdown(socket.SHUT_RDWR)
        self._ending = asyncio.get_running_loop().create_task(self._end(), name="spark-http-end")

    async def close(self) -> None:
        """Close, whatever is still running."""
        self.abort()
        if self._ending is not None:
            await asyncio.wait({self._ending}, timeout=2.0)

    async def _end(self) -> None:
        import httpx2

        await self._let_go()
        with contextlib.suppress(httpx2.HTTPError, httpx2.StreamError, OSError, RuntimeError):
            await self._client.aclose()

    async def _trace(self, name: str, info: dict[str, Any]) -> None:
        """Remember the newest socket, so that :meth:`abort` can shut it down at once."""
        if name.endswith(("connect_tcp.complete", "start_tls.complete")):
            stream = info.get("return_value")
            found = stream.get_extra_info("socket") if stream is not None else None
            self._socket = found if found is not None else self._socket

    def _lost(self, error: Exception) -> LinkError:
        """The error for a request that failed while it was sent or answered."""
        import httpx2

        if self.aborted:
            return self._closed("was told to stop")
        if isinstance(error, httpx2.ConnectError | httpx2.ConnectTimeout | httpx2.ProxyError):
            return explain(error, self._endpoint, 0.0)
        return self._closed(one_line(error) or "no reason given")

    def _closed(self, how: str) -> LinkError:
        return LinkError(
            LinkProblem.CLOSED, f"{self._endpoint.host} closed the connection: {how.rstrip('.')}."
        )


async def client_for(endpoint: Endpoint, open_timeout: float) -> httpx2.AsyncClient:
    """A client for one server and one connection. Raises :class:`LinkError` for what cannot be used."""
    import httpx2

    from session.wire.transport.http_stream import DirectTransport

    headers = endpoint.request_headers()
    secure = endpoint.http_url("").startswith("https:")
    tls = await asyncio.to_thread(trust) if secure else False
    limits = httpx2.Limits(max_connections=1, keepalive_expiry=_KEPT_SECONDS)
    proxy = endpoint.proxy_url
    socks = is_socks(proxy)
    connect = partial(connect_by_socks, proxy) if socks else connect_socket
    try:
        return httpx2.AsyncClient(
            transport=None if proxy and not socks else DirectTransport(tls, limits, connect),
            proxy=proxy if proxy and not socks else None,
            headers={"User-Agent": "spark", **headers},
            verify=tls,
            trust_env=False,  # the proxy is known, and trust as well
            follow_redirects=False,  # they would carry the key to wherever they point
            timeout=httpx2.Timeout(None, connect=open_timeout),
            limits=limits,
        )
    except (ValueError, httpx2.InvalidURL, ImportError) as error:
        message = f"The proxy on the way to {endpoint.host} cannot be used: {one_line(error)}"
        raise LinkError(LinkProblem.UNREACHABLE, message) from error


def explain(error: BaseException, endpoint: Endpoint, open_timeout: float) -> LinkError:
    """The :class:`LinkError` for an exception of the HTTP client, judged by its cause."""
    import httpx2

    host = endpoint.host
    if isinstance(error, httpx2.ProxyError):
        return LinkError(LinkProblem.UNREACHABLE, f"The proxy on the way to {host} failed: {one_line(error)}")
    if isinstance(error, httpx2.ConnectTimeout):
        error = TimeoutError()
    if isinstance(error, httpx2.ConnectError) or not isinstance(error, httpx2.HTTPError):
        below = explain_os(error, endpoint, open_timeout)
        if below is not None:
            return below
        return LinkError(LinkProblem.UNREACHABLE, f"{host} could not be reached: {one_line(error)}")
    if isinstance(error, httpx2.ReadError | httpx2.WriteError) and (spoken := speaks_http2(error, endpoint)):
        return spoken
    hung_up = isinstance(error, httpx2.RemoteProtocolError) and "disconnected" in str(error)
    if hung_up or isinstance(error, httpx2.ReadError | httpx2.WriteError):
        return cut_off(endpoint)
    if isinstance(error, httpx2.RemoteProtocolError):
        return LinkError(LinkProblem.REFUSED, f"{host} did not answer like a web server: check the base URL.")
    return LinkError(LinkProblem.REFUSED, f"The connection to {host} could not be opened: {one_line(error)}")
