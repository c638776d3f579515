"""The steps of the link over real sockets: the finding of each, and the step at which the check ends."""

from __future__ import annotations

import shutil
import ssl
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from session.partner.load_script import parse
from session.partner.server.server import Partner
from session.setup.config import Flags
from session.setup.doctor_link import examine_link
from session.setup.doctor_setup import Finding
from session.setup.opening import Opening, open_project
from session.wire.transport import connect
from tests.session.talking import PLAIN, environment


async def looked(
    folder: Path, url: str, environ: dict[str, str] | None = None, **flags: Any
) -> dict[str, Finding]:
    opening = opened(folder, url, environ, **flags)
    return {finding.step: finding async for finding in examine_link(opening)}


def opened(folder: Path, url: str, environ: dict[str, str] | None = None, **flags: Any) -> Opening:
    given = {"provider": "partner", "model": "spark-practice", **flags}
    return open_project(
        folder, Flags(base_url=url, **given), {**environment(folder / "xdg"), **(environ or {})}
    )


def partner(head: str = "") -> Partner:
    return Partner(rate=float("inf"), scripts=parse(head + PLAIN.split("\n", 2)[2]))


async def test_every_step_of_a_websocket_is_timed(tmp_path: Path) -> None:
    async with partner('models = ["spark-practice"]\n') as server:
        found = await looked(tmp_path, server.url)
    assert list(found) == ["resolve", "connect", "upgrade", "warm-up", "first token", "answer", "round trip"]
    assert all(step.well for step in found.values())
    assert all(step.milliseconds is not None and step.milliseconds > 0 for step in found.values())
    assert found["upgrade"].found == "Responses over WebSocket"
    assert len(server.requests) == 2, "one warm-up and one request"


async def test_over_http_there_is_neither_upgrade_nor_warm_up(tmp_path: Path) -> None:
    async with partner('models = ["spark-practice"]\n') as server:
        found = await looked(tmp_path, server.url, provider="ollama")
    assert list(found) == ["resolve", "connect", "http", "warm-up", "first token", "answer"]
    assert found["http"].found.startswith("Chat Completions over HTTP")
    assert (found["warm-up"].well, found["warm-up"].found) == (None, "not for this way of asking")
    assert found["answer"].well


async def test_a_server_without_websocket_says_what_is_used_instead(tmp_path: Path) -> None:
    async with partner("[handshake]\nstatus = 426\n") as server:
        found = await looked(tmp_path, server.url)
    assert "no Responses over WebSocket (426); using Responses over HTTP" in found["http"].found
    assert found["answer"].well


async def test_a_server_without_warm_ups_is_well(tmp_path: Path) -> None:
    async with partner('warm_up = "unsupported"\n') as server:
        found = await looked(tmp_path, server.url)
    assert (found["warm-up"].well, found["warm-up"].found) == (None, "not known to this server")
    assert found["answer"].well


async def test_a_wrong_key_stops_at_the_upgrade(tmp_path: Path) -> None:
    async with Partner(scripts=parse(PLAIN), key="right") as server:
        found = await looked(tmp_path, server.url)
    assert list(found) == ["resolve", "connect", "upgrade"]
    assert found["upgrade"].well is False and "wants an API key" in found["upgrade"].found


async def test_a_model_that_is_refused_stops_at_the_warm_up(tmp_path: Path) -> None:
    async with partner('refuse_models = ["spark-practice"]\n') as server:
        found = await looked(tmp_path, server.url)
    assert list(found) == ["resolve", "connect", "upgrade", "warm-up"]
    assert found["warm-up"].well is False and "spark-practice" in found["warm-up"].found


@pytest.mark.parametrize(
    ("url", "step"), [("http://127.0.0.1:9/v1", "connect"), ("https://nowhere.invalid/v1", "resolve")]
)
async def test_an_unreachable_server_ends_the_steps(tmp_path: Path, url: str, step: str) -> None:
    opening = opened(tmp_path, url)
    if opening.endpoint is None:  # it is not on this machine: a key is wanted first
        opening = opened(tmp_path, url, {"OPENAI_API_KEY": "sk-1"}, provider="openai")
    found = [finding async for finding in examine_link(opening)]
    assert (found[-1].step, found[-1].well) == (step, False)
    assert found[-1].found and "Errno" not in found[-1].found


async def test_without_an_endpoint_there_are_no_steps(tmp_path: Path) -> None:
    opening = replace(opened(tmp_path, "http://127.0.0.1:9/v1"), endpoint=None)
    assert [finding async for finding in examine_link(opening)] == []


async def test_behind_a_proxy_its_own_steps_are_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("https_proxy", "http://user:secret@127.0.0.1:9")
    monkeypatch.delenv("no_proxy", raising=False)
    found = await looked(tmp_path, "https://api.example/v1", {"OPENAI_API_KEY": "sk-1"}, provider="openai")
    assert list(found) == ["proxy", "upgrade"]
    assert found["proxy"].found == "127.0.0.1:9; it resolves and connects"
    assert found["upgrade"].well is False
    assert "secret" not in found["upgrade"].found


@pytest.mark.skipif(shutil.which("openssl") is None, reason="the openssl command makes the certificate")
@pytest.mark.parametrize("trusted", [True, False])
async def test_tls_is_a_step_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, trusted: bool
) -> None:
    certificate, key = tmp_path / "certificate.pem", tmp_path / "key.pem"
    command = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj /CN=localhost"
    files = ("-addext", "subjectAltName=DNS:localhost", "-keyout", str(key), "-out", str(certificate))
    subprocess.run((*command.split(), *files), check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    if trusted:
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    connect.trust.cache_clear()
    server = partner()
    await server.serve(tls=context)
    try:
        found = await looked(tmp_path, f"https://localhost:{server.port}/v1")
    finally:
        await server.close()
        connect.trust.cache_clear()
    if trusted:
        assert list(found)[:4] == ["resolve", "connect", "tls", "upgrade"] and found["answer"].well
        assert found["tls"].found.startswith("TLSv1")
    else:
        assert list(found) == ["resolve", "connect", "tls"] and found["tls"].well is False
        assert "its certificate is not trusted" in found["tls"].found
