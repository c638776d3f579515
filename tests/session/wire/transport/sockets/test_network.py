"""Tests connections whose network is gone: they are noticed without a ping and replaced before a request."""

from __future__ import annotations

import asyncio
import shutil
import socket
import subprocess
import sys

import pytest

from session.partner.server.server import Partner
from session.wire.link.connection import Service
from session.wire.link.state import LinkState
from session.wire.protocol.events import TextDelta
from session.wire.protocol.items import user_message
from session.wire.transport.network import Address, Standing, standing
from session.wire.transport.service import RESPONSES_OVER_WEBSOCKET
from tests.session.wire.link.test_connection import ask, failing, linked, said, script, until
from tests.session.wire.link.test_keeper import becomes, kept
from tests.session.wire.transport.test_http import CHAT

HELLO = [user_message("hello")]


@pytest.mark.parametrize(
    ("own", "found"),
    [
        ("127.0.0.1", Standing.SAME),
        ("127.0.0.2", Standing.MOVED),
        ("192.0.2.7", Standing.GONE),
    ],
)
def test_the_system_reports_the_standing_of_a_socket(own: str, found: Standing) -> None:
    assert standing((own, 40_000), ("127.0.0.1", 9)) is found


def test_the_system_reports_ipv6_addresses_too() -> None:
    try:
        with socket.create_server(("::1", 0), family=socket.AF_INET6):
            pass
    except OSError:
        pytest.skip("this machine has no IPv6")
    assert standing(("::1", 40_000), ("::1", 9)) is Standing.SAME
    assert standing(("2001:db8::7", 40_000), ("::1", 9)) is Standing.GONE


MOVES = """
import subprocess
from session.wire.transport.network import standing

def ip(*lines):
    for line in lines:
        subprocess.run(("ip", *line.split()), check=True)

def card(name, address):
    ip(f"link add {name} type veth peer name {name}x", f"addr add {address}/24 dev {name}")
    ip(f"link set {name} up", f"link set {name}x up")

def look():
    print(standing(("10.9.9.1", 40_000), ("203.0.113.7", 443)).value)

card("wlan", "10.9.9.1")
ip("route add default via 10.9.9.254")
look()
card("vpn", "10.8.8.1")
ip("route replace default via 10.8.8.254")
look()
ip("addr del 10.9.9.1/24 dev wlan")
look()
"""


def test_changes_of_interfaces_and_routes_are_noticed() -> None:
    alone = ("unshare", "--map-root-user", "--net")
    if shutil.which("unshare") is None or shutil.which("ip") is None:
        pytest.skip("unshare and ip make a network of the test's own")
    if subprocess.run((*alone, "ip", "link", "set", "lo", "up"), capture_output=True, check=False).returncode:
        pytest.skip("this machine lets nobody make a network")
    ran = subprocess.run((*alone, sys.executable, "-c", MOVES), capture_output=True, text=True, check=False)
    assert (ran.stdout.split(), ran.stderr) == (["same", "moved", "gone"], "")


class Network:
    """Judges sockets: those opened before :meth:`change` get the new standing, later ones ``SAME``."""

    def __init__(self) -> None:
        self.now = Standing.SAME
        self._seen: set[Address] = set()
        self._old: set[Address] = set()

    def change(self, now: Standing) -> None:
        self.now, self._old = now, set(self._seen)

    def judge(self, local: Address, peer: Address) -> Standing:
        assert local[0] == peer[0] == "127.0.0.1" and local[1] != peer[1]
        self._seen.add(local)
        return self.now if local in self._old else Standing.SAME


@pytest.mark.parametrize("change", [Standing.MOVED, Standing.GONE])
async def test_the_next_request_after_a_network_change_uses_a_new_connection(change: Standing) -> None:
    network = Network()
    async with Partner(scripts=script()) as partner, kept(partner, judge=network.judge) as connection:
        await becomes(lambda: connection.has_spare)
        old = connection._keeper.active
        connection.wake()
        network.change(change)
        connection.wake()
        assert connection._keeper.active is not old
        await becomes(lambda: connection.has_spare)
        assert said(await ask(connection, HELLO)) == "All is well."
        (asked,) = (request for request in partner.requests if request.generate)
        assert asked.previous_response_id is not None, "not warm"


async def test_a_system_that_always_reports_a_change_is_ignored() -> None:
    async with (
        Partner(scripts=script()) as partner,
        kept(partner, judge=lambda local, peer: Standing.MOVED) as connection,
    ):
        await becomes(lambda: connection.has_spare)
        line = connection._keeper.active
        for _ in range(3):
            connection.wake()
            assert said(await ask(connection, HELLO)) == "All is well."
        assert connection._keeper.active is line and connection.dials == 2


async def test_a_network_change_is_noticed_over_http() -> None:
    network = Network()
    async with Partner(scripts=script()) as partner:
        service = Service(routes=(CHAT,))
        async with linked(partner, service=service, judge=network.judge) as connection:
            await until(connection, LinkState.READY)
            assert said(await ask(connection, HELLO)) == "All is well."
            connection.wake()
            network.change(Standing.GONE)
            assert said(await ask(connection, HELLO)) == "All is well."
            assert partner.plain_connections == 2


async def test_an_answer_continues_while_its_socket_has_its_address() -> None:
    network = Network()
    service = Service(routes=(RESPONSES_OVER_WEBSOCKET,))
    async with (
        Partner(rate=20_000, scripts=script()) as partner,
        linked(partner, service=service, judge=network.judge) as connection,
    ):
        await until(connection, LinkState.READY)
        answer = ""
        async for event in connection.respond([user_message("long")]):
            answer += event.text if isinstance(event, TextDelta) else ""
            if len(answer) > 100 and network.now is Standing.SAME:
                connection.wake()
                network.change(Standing.MOVED)
                connection.wake()
        assert answer == "word " * 3000 and network.now is Standing.MOVED
        assert said(await ask(connection, HELLO)) == "All is well."
        assert partner.connections == 2


async def test_an_answer_whose_address_is_gone_ends_at_once() -> None:
    network = Network()
    stalls = script('[[scenario.step]]\nsay = "one"\n[[scenario.step]]\nstall = 60')
    service = Service(routes=(RESPONSES_OVER_WEBSOCKET,))
    async with (
        Partner(scripts=stalls) as partner,
        linked(partner, service=service, judge=network.judge) as connection,
    ):
        await until(connection, LinkState.READY)
        answer = asyncio.create_task(failing(connection, "fault"))
        await becomes(lambda: connection.first_token_seconds is not None)
        connection.wake()
        network.change(Standing.GONE)
        connection.wake()
        assert (await answer).kind == "closed"
        assert said(await ask(connection, HELLO)) == "All is well."
