"""Tests faults of the machine and of the link itself: each is reported and logged, and the link goes on."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import resource
from collections.abc import Iterator

import pytest

from session.partner.server.server import Partner
from session.wire.link.connection import Connection, Endpoint
from session.wire.link.retries import Backoff
from session.wire.link.state import LinkState
from session.wire.protocol.items import user_message
from session.wire.transport.network import Address, Standing
from tests.session.wire.link.test_connection import PROFILE, ask, linked, said, script, until
from tests.session.wire.link.test_keeper import SPARE, becomes, kept

QUICK = Backoff(first=0.01, longest=0.05)
HELLO = [user_message("hello")]
STANDARD = 3
"""The standard streams, which stay open. It may not be fewer: poll(2) takes no more than the limit."""


@contextlib.contextmanager
def out_of_descriptors() -> Iterator[None]:
    """No file or socket can be opened inside this block, also where others are closed meanwhile."""
    before, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (STANDARD, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (before, hard))


async def test_running_out_of_descriptors_is_reported_and_recovers() -> None:
    async with (
        Partner(scripts=script()) as partner,
        linked(partner) as loaded,
        contextlib.AsyncExitStack() as ending,
    ):
        await until(loaded, LinkState.READY)
        connection = Connection(Endpoint(partner.url), PROFILE, backoff=QUICK)
        ending.push_async_callback(connection.close)
        closed = os.open(os.devnull, os.O_RDONLY)
        with out_of_descriptors():
            os.close(closed)  # one number is free, and must not be had
            connection.start()
            async with asyncio.timeout(10):
                async for change in connection.states():
                    if change.message and "Too many open files" in change.message:
                        break
            connection.wake()
        await until(connection, LinkState.READY)
        assert said(await ask(connection, HELLO)) == "All is well."


async def test_an_open_link_survives_running_out_of_descriptors() -> None:
    async with Partner(scripts=script()) as partner, kept(partner) as connection:
        await becomes(lambda: connection.has_spare)
        with out_of_descriptors():
            connection.wake()
            connection._keeper._tick()
            assert said(await ask(connection, HELLO)) == "All is well."
        assert connection.state is LinkState.READY


async def test_a_failure_of_the_upkeep_is_logged_reported_and_survived(
    caplog: pytest.LogCaptureFixture,
) -> None:
    broken = False

    def judge(local: Address, peer: Address) -> Standing:
        if broken:
            raise ValueError("no such thing as a network")
        return Standing.SAME

    async with Partner(scripts=script()) as partner, kept(partner, SPARE, judge=judge) as connection:
        await becomes(lambda: connection.has_spare)
        states = connection.states()
        await anext(states)
        broken = True
        with caplog.at_level(logging.ERROR, "spark.link"):
            connection._keeper._tick()
        assert "no such thing as a network" in caplog.text
        told = await anext(states)
        assert told.message is not None and "no such thing as a network" in told.message
        broken = False
        await partner.drop_clients()
        assert said(await ask(connection, HELLO)) == "All is well."


async def test_a_failed_attempt_is_logged_reported_and_retried(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async with Partner(scripts=script()) as partner:
        asked = 0

        async def key() -> str | None:
            nonlocal asked
            asked += 1
            if asked == 1:
                raise ZeroDivisionError("the keys' keeper fell over")
            return "right"

        endpoint = Endpoint(partner.url, ask_key=key)
        connection = Connection(endpoint, PROFILE, backoff=QUICK)
        states = connection.states()
        with caplog.at_level(logging.ERROR, "spark.link"):
            connection.start()
            seen = []
            async with asyncio.timeout(10):
                async for change in states:
                    seen.append(change)
                    if change.state is LinkState.READY:
                        break
        assert "fell over" in caplog.text and "Traceback" in caplog.text
        offline = [change.message for change in seen if change.state is LinkState.OFFLINE and change.message]
        assert offline == ["The connection failed unexpectedly: the keys' keeper fell over."]
        await connection.close()
