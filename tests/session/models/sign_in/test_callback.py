"""The address that the browser comes back to: which requests answer a sign-in, and which are refused."""

from __future__ import annotations

import asyncio
import http.client
import socket
from urllib.parse import urlencode

import pytest

from session.models.sign_in.attempt import CALLBACK, Attempt, NotOurs, SignInError
from session.models.sign_in.callback_server import PORT, CallbackServer

HOST = "urn:uuid:00000000-0000-0000-0000-000000000000"
CLIENT = "oaiapp_0123"


def attempt(redirect: str = f"http://127.0.0.1:{PORT}{CALLBACK}", client: str = "") -> Attempt:
    return Attempt(redirect, HOST, client)


def answer(to: Attempt, **changes: str) -> str:
    """The address that answers an attempt, with some fields changed; ``None`` leaves one out."""
    fields = {"code": "c0de", "state": to.state, "client_id": CLIENT, "scope": "openid", **changes}
    return f"{to.redirect}?{urlencode({name: value for name, value in fields.items() if value != '-'})}"


def test_an_answer_brings_a_code_and_the_issued_client() -> None:
    ours = attempt()
    read = ours.read(f"  {answer(ours)}\n")
    assert (read.code, read.client) == ("c0de", CLIENT) and "c0de" not in repr(read)
    assert ours.verifier not in repr(ours) and ours.state not in repr(ours)
    for copied in (f"<{answer(ours)}>", f'"{answer(ours)}"', answer(ours).removeprefix("http://")):
        assert ours.read(copied).code == "c0de"
    known = attempt(client=CLIENT)
    assert known.read(answer(known, client_id="-")).client == CLIENT


@pytest.mark.parametrize(
    ("address", "why"),
    [
        ("hello", "copy all of it"),
        ("http://[::1", "no address"),
        (f"http://127.0.0.1{CALLBACK}?code=c&client_id={CLIENT}", "another attempt"),
        (f"http://127.0.0.1{CALLBACK}?code=c&state=forged&client_id={CLIENT}", "another attempt"),
        (f"http://127.0.0.1{CALLBACK}?error=access_denied&state=forged", "another attempt"),
        (f"http://127.0.0.1{CALLBACK}?state=a&state=b", "twice"),
        ("http://127.0.0.1/auth/callback/x?state=a", "copy all of it"),
    ],
)
def test_what_does_not_answer_this_attempt_is_not_ours(address: str, why: str) -> None:
    with pytest.raises(NotOurs, match=why):
        attempt().read(address)


@pytest.mark.parametrize(
    ("known", "changes", "why"),
    [
        ("", {"error": "access_denied"}, "you did not allow it"),
        (
            "",
            {"error": "server_error", "error_description": "Try\x1b[2J later"},
            r"\(server_error\): Try.* later",
        ),
        ("", {"client_id": "dynamic_agent_client"}, "another program"),
        ("", {"client_id": "-"}, "without the program's name"),
        ("", {"client_id": "app_EMoamEEZ73f0CkXaXp7hrann"}, "another program"),
        (CLIENT, {"client_id": "oaiapp_somebody_else"}, "another program"),
        ("", {"code": "-"}, "without a code"),
        ("", {"code": ""}, "without a code"),
    ],
)
def test_a_refusal_or_an_answer_for_somebody_else_ends_the_attempt(
    known: str, changes: dict[str, str], why: str
) -> None:
    ours = attempt(client=known)
    with pytest.raises(SignInError, match=why) as told:
        ours.read(answer(ours, **changes))
    assert "\x1b" not in str(told.value)


def get(port: int, target: str, method: str = "GET", host: str = "") -> tuple[int, str]:
    """The status and the page of a request to the callback."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    connection.request(method, target, headers={"Host": host or f"127.0.0.1:{port}"})
    response = connection.getresponse()
    return response.status, response.read().decode()


async def test_strangers_are_refused_and_the_wait_goes_on() -> None:
    async with CallbackServer() as server:
        ours = attempt(server.redirect)
        target = answer(ours).removeprefix(f"http://127.0.0.1:{server.port}")
        assert (await asyncio.to_thread(get, server.port, target))[0] == 404  # nothing is expected yet
        waiting = server.expect(ours)
        for asked, status in (
            ((server.port, target.replace(ours.state, "forged")), 404),
            ((server.port, "/"), 404),
            ((server.port, target, "POST"), 405),
            ((server.port, target, "GET", "evil.example.org"), 421),
            ((server.port, target, "GET", f"127.0.0.1.evil.org:{server.port}"), 421),
        ):
            got, page = await asyncio.to_thread(get, *asked)
            assert got == status and "does not belong" in page and not waiting.done()
        got, page = await asyncio.to_thread(get, server.port, target)
        assert got == 200 and "You are signed in" in page
        assert (await waiting).code == "c0de"
        assert (await asyncio.to_thread(get, server.port, target))[0] == 404  # it was answered


async def test_a_request_that_never_ends_holds_up_nobody() -> None:
    async with CallbackServer() as server:
        ours = attempt(server.redirect)
        waiting = server.expect(ours)
        _, slow = await asyncio.open_connection("127.0.0.1", server.port)
        slow.write(b"GET /auth/call")
        reader, long = await asyncio.open_connection("127.0.0.1", server.port)
        long.write(b"GET /" + b"a" * 100_000)
        assert await reader.read() == b""
        target = answer(ours).removeprefix(f"http://127.0.0.1:{server.port}")
        assert (await asyncio.to_thread(get, server.port, target))[0] == 200 and waiting.done()
        slow.close()
        long.close()


async def test_a_usual_port_that_is_taken_is_replaced_and_a_named_one_is_told() -> None:
    with socket.socket() as taken:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            taken.bind(("127.0.0.1", PORT))
            taken.listen()
        except OSError:
            pass  # somebody else has it: that is what is wanted
        async with CallbackServer() as server:
            assert server.port not in (0, PORT)
            with pytest.raises(
                SignInError, match=f"port {server.port} .*another program listens there.*--port"
            ):
                async with CallbackServer(server.port):
                    pass
