"""Tests the route to a server: proxies, custom authorities, invalid certificates and HTTP/2."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from session.partner.server.server import Partner
from session.wire.link.connection import Connection, Endpoint, LinkError, Retries, Service
from session.wire.link.retries import Backoff
from session.wire.protocol.items import user_message
from session.wire.transport.service import RESPONSES_OVER_WEBSOCKET, Route
from session.wire.transport.tls import trust
from tests.session.wire.link.test_connection import PROFILE, ask, failing, said, script
from tests.session.wire.transport.network_routes import proxy
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
) -> None:
    if trusted:
        monkeypatch.setenv("SSL_CERT_FILE", str(ours.certificate))
    partner = Partner(scripts=script())
    await partner.serve(tls=ours.server(host, expired=expired))
    problem = await refused(partner.url, route)
    assert (problem.kind, problem.code) == ("unreachable", "untrusted")
    assert "The TLS certificate of localhost" in problem.message and words in problem.message
    await partner.close()


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
