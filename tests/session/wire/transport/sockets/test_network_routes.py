"""Tests the route to a server: proxies, custom authorities, invalid certificates and HTTP/2."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from session.partner.server.server import Partner
from session.wire.link.connection import Connection, Endpoint, LinkError, Retries, Service
from session.wire.link.retries import Backoff
from session.wire.protocol.items import user_message
from session.wire.transport.connect import trust
from session.wire.transport.proxies import is_exempt, proxy_for
from session.wire.transport.service import RESPONSES_OVER_WEBSOCKET, Route
from tests.session.wire.link.test_connection import PROFILE, ask, failing, said, script
from tests.session.wire.transport.network_routes import proxy, socks
from tests.session.wire.transport.test_http import CHAT
from tests.session.wire.transport.tls import NEEDS_OPENSSL, Authority, authority

pytestmark = NEEDS_OPENSSL
BOTH = pytest.mark.parametrize("route", [RESPONSES_OVER_WEBSOCKET, CHAT], ids=str)
HELLO = [user_message("hello")]
PROXIES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")


@pytest.fixture(scope="session")
def ours(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Remove all proxies and trust only the test's authority."""
    for name in PROXIES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    trust.cache_clear()
    yield
    trust.cache_clear()


@pytest.fixture
def trusting(ours: Authority, monkeypatch: pytest.MonkeyPatch) -> Authority:
    monkeypatch.setenv("SSL_CERT_FILE", str(ours.certificate))
    return ours


def connect(url: str, route: Route) -> Connection:
    service = Service(routes=(route,), warm_up=False)
    never = Retries(most=0)
    return Connection(
        Endpoint(url, "sk-1"), PROFILE, service=service, retries=never, backoff=Backoff(first=0.01)
    )


async def refused(url: str, route: Route) -> LinkError:
    connection = connect(url, route)
    problem = await failing(connection, "hello")
    await connection.close()
    return problem


@BOTH
async def test_a_custom_authority_is_trusted(route: Route, trusting: Authority) -> None:
    partner = Partner(scripts=script())
    await partner.serve(tls=trusting.server())
    connection = connect(partner.url, route)
    assert said(await ask(connection, HELLO)) == "All is well."
    await connection.close()
    await partner.close()


@BOTH
@pytest.mark.parametrize(
    ("host", "expired", "trusted", "words"),
    [
        ("localhost", False, False, "SSL_CERT_FILE"),
        ("elsewhere.example", False, True, "Hostname mismatch"),
        ("localhost", True, True, "certificate has expired"),
    ],
    ids=["unknown authority", "another host's", "expired"],
)
async def test_an_invalid_certificate_is_reported(
    route: Route,
    host: str,
    expired: bool,
    trusted: bool,
    words: str,
    ours: Authority,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    if trusted:
        monkeypatch.setenv("SSL_CERT_FILE", str(ours.certificate))
    partner = Partner(scripts=script())
    await partner.serve(tls=ours.server(host, expired=expired))
    problem = await refused(partner.url, route)
    assert (problem.kind, problem.code) == ("unreachable", "untrusted")
    assert "The TLS certificate of localhost" in problem.message and words in problem.message
    await partner.close()
    assert not [record for record in caplog.records if record.levelname == "ERROR"], "nothing of ours failed"


@BOTH
@pytest.mark.parametrize("frame", [b"\0\0\6\4\0\0\0\0\0\0\3\0\0\0\x64", bytes(2) + b"\x08\7\0" + bytes(12)])
@pytest.mark.parametrize("secure", [True, False])
async def test_a_server_that_answers_in_http_2_alone_is_named(
    route: Route, frame: bytes, secure: bool, trusting: Authority
) -> None:
    """Its SETTINGS or a GOAWAY come as it takes the connection, or once it was asked in another tongue."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if frame[3] == 7:
            await reader.read(1)
        writer.write(frame)
        await reader.read()
        writer.close()

    async with await asyncio.start_server(
        answer, "127.0.0.1", 0, ssl=trusting.server() if secure else None
    ) as server:
        port = server.sockets[0].getsockname()[1]
        problem = await refused(f"http{'s' * secure}://localhost:{port}/v1", route)
    assert (problem.kind, problem.code) == ("unreachable", "untrusted"), "another try meets the same"
    assert problem.message.startswith(f"localhost:{port} speaks HTTP/2 alone")


@BOTH
@pytest.mark.parametrize("content", [None, "no certificate\n"], ids=["missing", "no certificate"])
async def test_an_unreadable_authority_file_is_reported(
    route: Route, content: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "authorities.pem"
    if content is not None:
        file.write_text(content)
    monkeypatch.setenv("SSL_CERT_FILE", str(file))
    problem = await refused("https://localhost:9/v1", route)
    assert problem.message.startswith(f"SSL_CERT_FILE names {file}") and problem.code == "untrusted"


@BOTH
async def test_requests_go_through_a_proxy(
    route: Route, trusting: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    partner = Partner(scripts=script())
    await partner.serve(tls=trusting.server("model.test"))
    async with proxy(partner.port) as tunnel:
        monkeypatch.setenv("HTTPS_PROXY", tunnel.url.replace("://", "://user:secret@"))
        connection = connect("https://model.test/v1", route)
        assert said(await ask(connection, HELLO)) == "All is well."
        assert set(tunnel.asked) == {"model.test:443"}
        assert set(tunnel.credentials) == {"Basic dXNlcjpzZWNyZXQ="}
        connection.drop()
        await connection.close()
    await partner.close()


@BOTH
@pytest.mark.parametrize("variable", ["HTTPS_PROXY", "ALL_PROXY"])
async def test_requests_go_through_a_socks_proxy(
    route: Route, variable: str, trusting: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    partner = Partner(scripts=script())
    await partner.serve(tls=trusting.server("model.test"))
    async with socks(partner.port) as tunnel:
        scheme = "socks5h://" if variable == "HTTPS_PROXY" else "socks5://us%40er:secret@"
        monkeypatch.setenv(variable, tunnel.url.replace("socks5://", scheme))
        connection = connect("https://model.test/v1", route)
        assert said(await ask(connection, HELLO)) == "All is well."
        assert set(tunnel.asked) == {"model.test:443"}
        assert set(tunnel.credentials) == (set() if variable == "HTTPS_PROXY" else {"us@er:secret"})
        connection.drop()
        await connection.close()
    await partner.close()


@BOTH
@pytest.mark.parametrize("there", [True, False])
async def test_a_failing_socks_proxy_is_reported(
    route: Route, there: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with socks(9, refuse=True) as tunnel:
        monkeypatch.setenv("ALL_PROXY", tunnel.url if there else "socks5://user:secret@127.0.0.1:9")
        problem = await refused("https://model.invalid/v1", route)
    assert problem.kind == "unreachable" and "secret" not in problem.message
    assert problem.message.startswith("The proxy on the way to model.invalid failed (127.0.0.1:"), (
        problem.message
    )
    assert ("not allowed" if there else "") in problem.message


@pytest.mark.parametrize(
    ("entries", "host", "port", "exempt"),
    [
        ("", "model.example", 443, False),
        ("*", "model.example", 443, True),
        ("model.example", "model.example", 443, True),
        ("localhost,model.example:8443", "model.example", 8443, True),
        ("localhost, model.example:8443", "model.example", 443, False),
        ("model.example", "MODEL.example.", 443, True),
        ("example", "model.example", 443, True),
        (".example", "model.example", 443, True),
        ("*.example", "a.model.example", 443, True),
        (".example:443", "model.example", 443, True),
        ("ample", "model.example", 443, False),
        ("other.example model.example", "model.example", 443, True),
        ("https://model.example", "model.example", 443, True),
        ("10.0.0.0/8", "10.1.2.3", 443, True),
        ("10.0.0.0/8", "11.1.2.3", 443, False),
        ("10.1.2.3/8", "10.9.9.9", 443, True),
        ("10.1.2.3", "10.1.2.3", 443, True),
        ("10.1.2.3:8443", "10.1.2.3", 443, False),
        ("10.1.2.3:8443", "10.1.2.3", 8443, True),
        ("2.3", "10.1.2.3", 443, False),
        ("fd00::/8", "fd00::1", 443, True),
        ("fd00::1", "fd00::1", 443, True),
        ("[fd00::1]:8443", "fd00::1", 8443, True),
        ("[fd00::1]:8443", "fd00::1", 443, False),
        ("10.0.0.0/8", "model.example", 443, False),
        ("model.example:x, :443, ., ,", "model.example", 443, False),
    ],
)
def test_which_servers_need_no_proxy(entries: str, host: str, port: int, exempt: bool) -> None:
    assert is_exempt(host, port, entries) is exempt


@pytest.mark.parametrize(
    ("environment_", "proxy_"),
    [
        ({}, ""),
        ({"HTTP_PROXY": "http://a:1"}, ""),
        ({"HTTPS_PROXY": "http://a:1", "ALL_PROXY": "socks5://b:2"}, "http://a:1"),
        ({"ALL_PROXY": "socks5h://b:2"}, "socks5h://b:2"),
        ({"all_proxy": "b:2"}, "http://b:2"),
        ({"ALL_PROXY": "socks5://b:2", "NO_PROXY": "model.example:443"}, ""),
        ({"ALL_PROXY": "socks5://b:2", "no_proxy": "model.example:80"}, "socks5://b:2"),
    ],
)
def test_which_proxy_is_asked(
    environment_: dict[str, str], proxy_: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in environment_.items():
        monkeypatch.setenv(name, value)
    assert proxy_for("model.example", 443) == proxy_
    assert Endpoint("https://model.example/v1").proxy_url == proxy_
    assert Endpoint("http://127.0.0.1:443/v1").proxy_url == "", "never for this machine"


@BOTH
async def test_a_host_in_no_proxy_is_reached_directly(route: Route, monkeypatch: pytest.MonkeyPatch) -> None:
    async with proxy(9) as tunnel:
        monkeypatch.setenv("HTTPS_PROXY", tunnel.url)
        monkeypatch.setenv("NO_PROXY", "example.com,model.invalid")
        problem = await refused("https://model.invalid/v1", route)
        assert "No host named model.invalid" in problem.message and tunnel.asked == []


@BOTH
@pytest.mark.parametrize(
    ("status", "words"),
    [
        ("407 Proxy Authentication Required", "407"),
        ("403 Forbidden", "403"),
        ("", "127.0.0.1:9, from the environment): nothing listens"),
    ],
    ids=["wants credentials", "forbids", "is not there"],
)
async def test_a_failing_proxy_is_reported(
    route: Route, status: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with proxy(9, refuse=status) as tunnel:
        monkeypatch.setenv("HTTPS_PROXY", tunnel.url if status else "http://user:secret@127.0.0.1:9")
        problem = await refused("https://model.invalid/v1", route)
    assert problem.kind == "unreachable"
    assert problem.message.startswith("The proxy on the way to model.invalid failed"), problem.message
    assert words in problem.message and "secret" not in problem.message
