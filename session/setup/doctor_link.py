"""Times each step of the link to the model server: resolve, connect, TLS, upgrade, warm-up, first token.

The first three steps are made one by one, to tell their failures apart. The rest is a connection as sessions
use it, followed by its states. Behind a proxy the first three belong to the proxy and are left out.
"""

from __future__ import annotations

import asyncio
import os
import socket
import ssl
import time
import urllib.request
from collections.abc import AsyncIterator
from dataclasses import replace
from urllib.parse import urlsplit

from session.base.text.sanitize import clean_line
from session.models.engine.model import LocalModel
from session.models.engine.process import Engine, said_bytes
from session.record.turn_cost import Tally
from session.setup.doctor_setup import Finding
from session.setup.opening import Opening
from session.wire.link.connection import Connection, LinkError, RequestProfile
from session.wire.link.state import LinkState
from session.wire.protocol.events import Finished
from session.wire.protocol.items import user_message
from session.wire.transport.connect import trust
from session.wire.transport.endpoint import Endpoint

STEP_SECONDS = 20.0
"""The time limit of a step."""


async def examine_link(opening: Opening) -> AsyncIterator[Finding]:
    """One finding per step, up to the first that fails. Sends one short request."""
    endpoint = opening.endpoint
    if endpoint is None:
        return
    if opening.local is not None:
        async for finding in _engine_steps(opening, opening.local):
            yield finding
        return
    through = _proxy(endpoint)
    if through:
        yield Finding("proxy", None, f"{through}; it resolves and connects")
    else:
        async for finding in _socket_steps(endpoint):
            yield finding
            if finding.well is False:
                return
    async for finding in _connection_steps(opening, endpoint):
        yield finding


async def _engine_steps(opening: Opening, local: LocalModel) -> AsyncIterator[Finding]:
    """Load the model from its file, then check it like a server."""
    engine = Engine(local)
    began = time.perf_counter()
    try:
        endpoint = await engine.serve(lambda _: None)
        found = f"{said_bytes(local.size)} loaded, serving at {endpoint.host}"
        yield Finding("engine", True, found, _since(began))
        async for finding in _connection_steps(opening, endpoint):
            yield finding
    except LinkError as problem:
        yield Finding("engine", False, clean_line(problem.message), _since(began))
    finally:
        await engine.close()


async def _connection_steps(opening: Opening, endpoint: Endpoint) -> AsyncIterator[Finding]:
    profile = RequestProfile(model=opening.model.name, instructions="Answer with the single word: ready.")
    connection = Connection(endpoint, profile, service=replace(opening.service, spare=False))
    try:
        async for finding in _opening_steps(connection, opening):
            yield finding
            if finding.well is False:
                return
        async for finding in _answer_steps(connection, opening):
            yield finding
    finally:
        await connection.close()


def _proxy(endpoint: Endpoint) -> str:
    """The proxy on the way, without its password; empty if there is none."""
    if endpoint.is_loopback:
        return ""
    host = urlsplit(endpoint.http_url("")).hostname or ""
    if urllib.request.proxy_bypass(host):
        return ""
    found = urlsplit(urllib.request.getproxies().get("https", ""))
    return f"{found.hostname}:{found.port}" if found.hostname else ""


async def _socket_steps(endpoint: Endpoint) -> AsyncIterator[Finding]:
    parts = urlsplit(endpoint.http_url(""))
    secure = parts.scheme == "https"
    host, port = parts.hostname or "", parts.port or (443 if secure else 80)
    step, began = "resolve", time.perf_counter()
    writer: asyncio.StreamWriter | None = None
    try:
        async with asyncio.timeout(STEP_SECONDS):
            found = await asyncio.get_running_loop().getaddrinfo(host, port, type=1)
        yield Finding(step, True, f"{host} is {found[0][4][0]}", _since(began))
        step, began = "connect", time.perf_counter()
        async with asyncio.timeout(STEP_SECONDS):
            _, writer = await asyncio.open_connection(host, port)
        yield Finding(step, True, f"{host}:{port}", _since(began))
        if secure:
            step, context, began = "tls", trust(), time.perf_counter()
            async with asyncio.timeout(STEP_SECONDS):
                await writer.start_tls(context, server_hostname=host)
            session = writer.get_extra_info("ssl_object")
            yield Finding(step, True, f"{session.version()}, the certificate is trusted", _since(began))
    except (OSError, TimeoutError) as problem:
        yield Finding(step, False, f"{host}:{port}: {_said(problem)}", _since(began))
    finally:
        if writer is not None:
            writer.close()


def _said(problem: OSError | TimeoutError) -> str:
    if isinstance(problem, ssl.SSLCertVerificationError):
        return f"its certificate is not trusted: {clean_line(problem.verify_message)}"
    if isinstance(problem, TimeoutError) and not problem.errno:
        return "no answer in time"
    said = str(problem) if isinstance(problem, ssl.SSLError) else problem.strerror or str(problem)
    if not isinstance(problem, ssl.SSLError | socket.gaierror) and problem.errno:
        said = os.strerror(problem.errno)  # asyncio replaces the original error
    return clean_line(said) or type(problem).__name__


async def _opening_steps(connection: Connection, opening: Opening) -> AsyncIterator[Finding]:
    """Dial and warm up, reported by the connection's states."""
    dialled = warmed_from = time.perf_counter()
    warming = False
    states = connection.states()
    connection.start()
    try:
        async with asyncio.timeout(STEP_SECONDS):
            async for change in states:
                if change.state is LinkState.CONNECTING:
                    dialled = time.perf_counter()
                elif change.state is LinkState.WARMING:
                    yield _opened(connection, dialled)
                    warming, warmed_from = True, time.perf_counter()
                elif change.state is LinkState.READY:
                    if not warming:
                        yield _opened(connection, dialled, change.message)
                        yield Finding("warm-up", None, "not for this way of asking")
                    elif connection.warm_ups:
                        yield Finding("warm-up", True, "the server has read ahead", _since(warmed_from))
                    else:
                        yield Finding("warm-up", None, "not known to this server", _since(warmed_from))
                    return
                elif change.message and change.state in (LinkState.FAILED, LinkState.OFFLINE):
                    step = "warm-up" if warming else _way(connection)
                    yield Finding(step, False, clean_line(change.message), _since(dialled))
                    return
    except TimeoutError:
        yield Finding(_way(connection), False, f"{opening.model.name}: no answer in time", _since(dialled))


def _way(connection: Connection) -> str:
    return "upgrade" if "WebSocket" in connection.way else "http"


def _opened(connection: Connection, dialled: float, note: str | None = None) -> Finding:
    """The name of the step: the WebSocket's upgrade, or over HTTP the opening and the first request."""
    upgrade, _ = connection.times
    said = clean_line(note) if note else connection.way
    if upgrade is not None:
        return Finding("upgrade", True, said, upgrade * 1000)
    return Finding(_way(connection), True, f"{said}; connection and a first request", _since(dialled))


async def _answer_steps(connection: Connection, opening: Opening) -> AsyncIterator[Finding]:
    tally = Tally("", opening.model.name)
    began = time.perf_counter()
    try:
        async with asyncio.timeout(STEP_SECONDS):
            async for event in connection.respond([user_message("Are you there?")]):
                tally.saw(event)
                if isinstance(event, Finished) and event.usage is not None:
                    tally.count(event.usage)
    except (LinkError, TimeoutError) as problem:
        yield Finding("answer", False, clean_line(str(problem)) or "none in time", _since(began))
        return
    took, first = _since(began), connection.first_token_seconds
    yield Finding("first token", True, "from the request on", took if first is None else first * 1000)
    rate = tally.event().tokens_per_second
    speed = f", {rate:,.0f} tokens/s" if rate is not None else ""
    yield Finding("answer", True, f"{opening.model.name} answers{speed}", took)
    if connection.left_out:
        fields = ", ".join(connection.left_out)
        yield Finding("fields", None, f"{opening.model.name} refuses {fields}: requests go without")
    _, trip = connection.times
    if trip is not None:
        yield Finding("round trip", True, "a ping and its answer", trip * 1000)


def _since(began: float) -> float:
    return (time.perf_counter() - began) * 1000
