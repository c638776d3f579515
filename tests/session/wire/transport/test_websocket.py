"""Tests opening a connection over real sockets: each kind of refusal gives one clear message."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import json
import shutil
import ssl
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from session.partner.script import Handshake, Script
from session.partner.server.server import Partner
from session.wire.transport.endpoint import Endpoint
from session.wire.transport.errors import LinkError, LinkProblem
from session.wire.transport.refusals import explain_os
from session.wire.transport.websocket import WebSocketLink
from tests.session.wire.transport.addresses import NAME, resolve_to


async def refusal(endpoint: Endpoint, **options: float) -> LinkError:
    with pytest.raises(LinkError) as caught:
        await WebSocketLink.open(endpoint, **options)
    assert "\n" not in caught.value.message
    return caught.value


@contextlib.asynccontextmanager
async def answering(reply: bytes, *, close: bool = True) -> AsyncIterator[Endpoint]:
    """A TCP server that reads a request's headers and answers with these bytes."""
    done = asyncio.Event()

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            await reader.readuntil(b"\r\n\r\n")
            writer.write(reply)
            await writer.drain()
            if not close:
                await done.wait()
        writer.close()

    server = await asyncio.start_server(handle, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    try:
        yield Endpoint(f"http://127.0.0.1:{port}/v1", "sk-test")
    finally:
        done.set()
        server.close()


def http(status: str, body: str = "", kind: str = "text/html", extra: str = "") -> bytes:
    head = f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n{extra}\r\n"
    return (head + body).encode()


def error(message: str, code: str = "") -> str:
    return json.dumps({"error": {"message": message, "code": code}})


@pytest.mark.parametrize(
    ("status", "body", "kind", "said"),
    [
        (
            "401 Unauthorized",
            error("Incorrect API key", "invalid_api_key"),
            "unauthorized",
            "Incorrect API key",
        ),
        ("403 Forbidden", "", "unauthorized", "did not accept the API key (403)"),
        ("404 Not Found", "<h1>no</h1>", "no_websocket", "does not offer Responses over WebSocket"),
        ("404 Not Found", error("no such model", "model_not_found"), "model", "no such model"),
        ("405 Method Not Allowed", "", "no_websocket", "(405)"),
        ("426 Upgrade Required", error("use HTTP"), "no_websocket", "use HTTP"),
        ("200 OK", "<html>" + "x" * 100_000, "no_websocket", "(200)"),
        ("301 Moved", "", "refused", "answers with a redirect (301)"),
        ("400 Bad Request", error("bad\nrequest"), "refused", "bad request"),
        ("409 Conflict", "", "refused", "(409)"),
        ("413 Too Large", "", "refused", "(413)"),
        ("429 Too Many Requests", error("try again in 3s"), "server", "no more connections right now"),
        ("500 Internal Server Error", "{", "server", "not working right now (500)"),
        ("502 Bad Gateway", "<html>bad</html>", "server", "not working right now (502)"),
        ("503 Unavailable", error("overloaded"), "server", "overloaded"),
        ("529 Overloaded", error("Overloaded", "overloaded_error"), "server", "(529): Overloaded"),
    ],
)
async def test_each_status_has_its_kind_and_message(status: str, body: str, kind: str, said: str) -> None:
    extra = "Location: https://example.invalid/v1\r\n" if status.startswith("3") else ""
    async with answering(http(status, body, extra=extra)) as endpoint:
        problem = await refusal(endpoint)
    assert (problem.kind, problem.status) == (kind, int(status[:3]))
    assert said in problem.message
    assert problem.retry_after == (3.0 if "429" in status else None)


async def test_a_server_that_is_not_a_web_server_is_reported() -> None:
    async with answering(b"SSH-2.0-OpenSSH_9.2\r\n") as endpoint:
        problem = await refusal(endpoint)
    assert problem.kind == "refused" and "did not answer like a web server" in problem.message


async def test_a_server_that_hangs_up_or_stays_silent_is_reported() -> None:
    async with answering(b"") as endpoint:
        assert (await refusal(endpoint)).kind in ("refused", "unreachable")
    async with answering(b"", close=False) as endpoint:
        problem = await refusal(endpoint, open_timeout=0.2)
    assert problem.kind == "unreachable" and "did not answer within 0.2 s" in problem.message


async def test_a_port_without_a_listener_is_reported() -> None:
    async with answering(b"") as endpoint:
        pass
    problem = await refusal(endpoint)
    assert problem.kind == "unreachable" and "Nothing listens at 127.0.0.1" in problem.message
    name = Endpoint(endpoint.base_url.replace("127.0.0.1", "localhost"))
    assert "Nothing listens" in (await refusal(name)).message


@pytest.mark.parametrize("addresses", [("127.0.0.1", "127.0.0.2"), ("255.255.255.255", "127.0.0.1")])
async def test_several_addresses_without_a_listener_are_reported(
    addresses: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    resolve_to(monkeypatch, *addresses)
    message = (await refusal(Endpoint(f"http://{NAME}:1/v1"))).message
    assert "Nothing listens at several.localhost:1" in message, "the other has no route, and says less"


@pytest.mark.parametrize("addresses", [("255.255.255.255",), ("255.255.255.255", "255.255.255.255")])
async def test_a_missing_route_is_not_reported_as_a_refusal(
    addresses: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    resolve_to(monkeypatch, *addresses)
    message = (await refusal(Endpoint(f"http://{NAME}:11111/v1"))).message
    assert "could not be reached: " in message and "listens" not in message


def test_an_error_is_recognised_by_its_number_and_not_its_text() -> None:
    said = f"Connect call failed ('10.111.0.1', {errno.ECONNREFUSED})"
    problem = explain_os(OSError(errno.EHOSTUNREACH, said), Endpoint("https://h/v1"), 1.0)
    assert problem is not None and "could not be reached: " in problem.message


async def test_the_address_that_answers_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    resolve_to(monkeypatch, "127.0.0.2", "127.0.0.1")
    async with Partner(scripts=Script("empty")) as partner:
        link = await WebSocketLink.open(Endpoint(f"http://{NAME}:{partner.port}/v1"))
        assert link.is_open
        await link.close()


async def test_an_unknown_host_is_reported() -> None:
    problem = await refusal(Endpoint("https://no-such-host.invalid/v1"))
    assert problem.kind == "unreachable" and "no-such-host.invalid" in problem.message


async def test_a_server_without_tls_is_reported() -> None:
    async def greet(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"220 not TLS, but very willing to talk\r\n")
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(greet, "127.0.0.1", 0)
    problem = await refusal(Endpoint(f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"))
    server.close()
    assert problem.kind == "unreachable" and "No TLS connection" in problem.message


@pytest.mark.skipif(shutil.which("openssl") is None, reason="the openssl command makes the certificate")
async def test_an_untrusted_certificate_is_reported(tmp_path: Path) -> None:
    certificate, key = tmp_path / "certificate.pem", tmp_path / "key.pem"
    command = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj /CN=localhost"
    files = ("-keyout", str(key), "-out", str(certificate))
    subprocess.run((*command.split(), *files), check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    server = await asyncio.start_server(lambda _, writer: writer.close(), "127.0.0.1", 0, ssl=context)
    try:
        port = server.sockets[0].getsockname()[1]
        problem = await refusal(Endpoint(f"https://localhost:{port}/v1"))
    finally:
        server.close()
    assert problem.kind == "unreachable" and "certificate" in problem.message


@pytest.mark.parametrize(
    ("base", "said"),
    [
        ("http://example.com/v1", "plain http would send the key"),
        ("ftp://example.com", "must begin with https://"),
        ("https://", "has no host name"),
        ("https://a b/v1", "space"),
        ("https://host:99999/v1", "cannot be used"),
        ("https://[::1/v1", "cannot be used"),
        ("", "must begin with"),
    ],
)
def test_invalid_base_urls_are_refused(base: str, said: str) -> None:
    with pytest.raises(LinkError, match=said) as caught:
        Endpoint(base).websocket_url()
    assert caught.value.kind is LinkProblem.REFUSED


@pytest.mark.parametrize(
    ("base", "url"),
    [
        ("https://api.openai.com/v1", "wss://api.openai.com/v1/responses"),
        ("https://api.openai.com/v1/", "wss://api.openai.com/v1/responses"),
        ("https://x.example/v1?api-version=1", "wss://x.example/v1/responses?api-version=1"),
        ("http://localhost:11434/v1", "ws://localhost:11434/v1/responses"),
        ("http://[::1]:8080/v1", "ws://[::1]:8080/v1/responses"),
        ("ws://127.0.0.1:1/v1", "ws://127.0.0.1:1/v1/responses"),
        ("https://x.example/v1/responses", "wss://x.example/v1/responses"),
        ("https://x.example/v1/chat/completions/", "wss://x.example/v1/responses"),
        ("https://x.example/v1/messages?beta=true", "wss://x.example/v1/responses?beta=true"),
        ("https://x.example/responses-proxy/v1", "wss://x.example/responses-proxy/v1/responses"),
    ],
)
def test_base_urls_become_websocket_urls(base: str, url: str) -> None:
    assert Endpoint(base).websocket_url() == url


def test_the_key_is_never_shown_and_an_invalid_key_is_never_sent() -> None:
    assert "sk-secret" not in repr(Endpoint("https://h/v1", "sk-secret"))
    with pytest.raises(LinkError, match="API key"):
        Endpoint("https://h/v1", "sk-\r\nEvil: 1").request_headers()
    with pytest.raises(LinkError, match="header"):
        Endpoint("https://h/v1", None, {"X": "a\nb"}).request_headers()
    with pytest.raises(LinkError, match="header"):
        Endpoint("https://h/v1", None, {"X Y": "a"}).request_headers()


def test_the_users_own_header_comes_before_the_keys() -> None:
    given = {"authorization": "Token t"}
    assert Endpoint("https://h/v1", "sk-1", given).request_headers() == given
    assert Endpoint("https://h/v1", "sk-1", given, "x-api-key").request_headers() == {
        **given,
        "x-api-key": "sk-1",
    }


async def test_a_proxy_is_never_used_for_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    monkeypatch.setenv("https_proxy", "http://127.0.0.1:1")
    monkeypatch.delenv("no_proxy", raising=False)
    async with Partner(scripts=Script("empty")) as partner:
        link = await WebSocketLink.open(Endpoint(partner.url))
        await link.close()


async def test_abort_tells_the_server_at_once() -> None:
    seen = asyncio.Event()

    async with Partner(scripts=Script("empty")) as partner:
        link = await WebSocketLink.open(Endpoint(partner.url))
        (client,) = partner._clients
        waiting = asyncio.create_task(client.connection.wait_closed())
        waiting.add_done_callback(lambda _: seen.set())
        link.abort()
        link.abort()
        assert not link.is_open
        async with asyncio.timeout(5):
            await seen.wait()
        with pytest.raises(LinkError) as caught:
            await link.receive()
    assert caught.value.kind == "closed"


async def test_a_handshake_refused_by_the_script_is_reported() -> None:
    script = Script("busy", handshake=Handshake(503, error("later")))
    async with Partner(scripts=script) as partner:
        assert (await refusal(Endpoint(partner.url))).status == 503


def test_a_server_that_speaks_http_2_alone_is_named() -> None:
    said = "[SSL: TLSV1_ALERT_NO_APPLICATION_PROTOCOL] tlsv1 alert no application protocol (_ssl.c:1006)"
    problem = explain_os(ssl.SSLError(1, said), Endpoint("https://h/v1"), 1.0)
    assert problem is not None and problem.code == "untrusted", "another try meets the same"
    assert problem.message.startswith("h speaks HTTP/2 alone")
