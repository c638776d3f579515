"""Waits on a loopback port for the browser to bring the answer of a sign-in.

It answers one path, and only to this machine. What does not answer the attempt that waits is refused, and the
wait goes on: anybody can open an address of this machine.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
from types import TracebackType

from session.models.sign_in.attempt import CALLBACK, Answer, Attempt, NotOurs, SignInError

PORT = 8157
"""The port that is tried first: the same each time, so that one can be forwarded over ssh."""
_HOST = "127.0.0.1"
_MOST_BYTES = 32 * 1024
_SECONDS = 10.0
"""How long a browser may take to send its request."""
_DONE = "You are signed in. This page can be closed: spark goes on in the terminal."
_REFUSED = "This address does not belong to the sign-in that spark waits for."
_FAILED = "The sign-in did not succeed. The terminal says why; this page can be closed."


class CallbackServer:
    """Listens on ``port``, or where that is 0 on the usual one or any that is free. An async context manager;
    raises SignInError for a named port that is taken."""

    def __init__(self, port: int = 0) -> None:
        self._wanted = port
        self._server: asyncio.Server | None = None
        self._attempt: Attempt | None = None
        self._answer: asyncio.Future[Answer] | None = None

    async def __aenter__(self) -> CallbackServer:
        for port in (self._wanted,) if self._wanted else (PORT, 0):
            try:
                self._server = await asyncio.start_server(self._serve, _HOST, port, limit=_MOST_BYTES)
                return self
            except OSError as problem:
                if self._wanted or problem.errno not in (errno.EADDRINUSE, errno.EACCES):
                    taken = problem.errno == errno.EADDRINUSE
                    why = "another program listens there" if taken else problem.strerror
                    raise SignInError(
                        f"port {port} of {_HOST} cannot be used: {why}; name another with --port"
                    ) from None
        raise AssertionError("one of the ports was opened, or its error raised")

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._server is not None:
            self._server.close()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(1):
                    await self._server.wait_closed()

    @property
    def port(self) -> int:
        """The port that it listens on."""
        assert self._server is not None
        return int(self._server.sockets[0].getsockname()[1])

    @property
    def redirect(self) -> str:
        """The address that the browser is to end at."""
        return f"http://{_HOST}:{self.port}{CALLBACK}"

    def expect(self, attempt: Attempt) -> asyncio.Future[Answer]:
        """The answer to ``attempt`` once it is there, or a SignInError where it is a refusal."""
        self._attempt = attempt
        self._answer = asyncio.get_running_loop().create_future()
        return self._answer

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(
            OSError, TimeoutError, asyncio.LimitOverrunError, asyncio.IncompleteReadError
        ):
            async with asyncio.timeout(_SECONDS):
                head = await reader.readuntil(b"\r\n\r\n")
                status, words = self._told(head.decode("latin-1"))
                writer.write(_page(status, words))
                await writer.drain()
        writer.close()

    def _told(self, head: str) -> tuple[str, str]:
        """The status and the words for a request; the answer is handed on where it is one."""
        line, _, rest = head.partition("\r\n")
        method, _, target = line.partition(" ")
        hosts = [
            value.strip()
            for name, _, value in (each.partition(":") for each in rest.split("\r\n"))
            if name.lower() == "host"
        ]
        # A page of the web could have its own name lead to this machine.
        if hosts not in ([f"{_HOST}:{self.port}"], [f"localhost:{self.port}"]):
            return "421 Misdirected Request", _REFUSED
        if method != "GET":
            return "405 Method Not Allowed", _REFUSED
        if self._attempt is None or self._answer is None or self._answer.done():
            return "404 Not Found", _REFUSED
        try:
            answer = self._attempt.read(target.partition(" ")[0])
        except NotOurs:
            return "404 Not Found", _REFUSED
        except SignInError as problem:
            self._answer.set_exception(problem)
            return "200 OK", _FAILED
        self._answer.set_result(answer)
        return "200 OK", _DONE


def _page(status: str, words: str) -> bytes:
    body = f"<!doctype html><meta charset=utf-8><title>spark</title><p>{words}</p>\n".encode()
    head = (
        f"HTTP/1.1 {status}\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {len(body)}\r\n"
        "Cache-Control: no-store\r\nReferrer-Policy: no-referrer\r\nX-Content-Type-Options: nosniff\r\n"
        "Content-Security-Policy: default-src 'none'\r\nConnection: close\r\n\r\n"
    )
    return head.encode() + body
