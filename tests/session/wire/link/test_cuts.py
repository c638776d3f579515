"""Tests answers and whole turns that are cut off after any number of bytes."""

from __future__ import annotations

import asyncio
import dataclasses
from itertools import pairwise
from pathlib import Path

import pytest

from session.base.events import HunkLanded
from session.partner.load_script import parse
from session.partner.server.server import Partner
from session.session import Session
from session.setup.opening import Opening
from session.wire.link.connection import Connection, Endpoint, LinkError, RequestProfile, Retries, Service
from session.wire.link.retries import Backoff
from session.wire.link.state import LinkState
from session.wire.protocol.events import Finished, TextDelta, ToolInputDelta
from session.wire.protocol.items import user_message
from session.wire.transport.service import RESPONSES_OVER_SSE, RESPONSES_OVER_WEBSOCKET, Route
from tests.session.replay import BLOCK, PATCH, Replay
from tests.session.talking import COLOURS, REPAINT, Listening, opening
from tests.session.wire.link.hostile import CuttingProxy
from tests.session.wire.transport.test_http import CHAT, MESSAGES
from tests.thorough import IN_FULL, share

ROUTES = [RESPONSES_OVER_WEBSOCKET, RESPONSES_OVER_SSE, CHAT, MESSAGES]
PROFILE = RequestProfile("spark-partner")
NONE = Retries(most=0)
TURNS = share(15, 2)
"""Number of places where a whole turn is cut; they are others on each route."""
PAINTED = COLOURS.replace("1", "10").replace("2", "20").replace("3", "30")


def connect(url: str, route: Route, retries: Retries = NONE) -> Connection:
    service = Service(routes=(route,), warm_up=False)
    return Connection(Endpoint(url), PROFILE, service=service, backoff=Backoff(first=0.01), retries=retries)


def places(server: Replay, *, closely: bool) -> list[int]:
    """Where an answer is cut: around the beginning of each part and in its middle.

    With ``closely`` it is also cut after every byte of the first frame of the edit; in a full run, after
    every byte of all.
    """
    if IN_FULL:
        return list(range(server.total))
    around = {edge + by for edge in server.edges for by in (-1, 0, 1)}
    around |= {(one + other) // 2 for one, other in pairwise(server.edges)}
    if closely:
        end = next(edge for edge in server.edges if edge > server.first)
        around |= set(range(server.first - 10, end))
    return sorted(place for place in around if 0 <= place < server.total)


async def told(connection: Connection) -> tuple[str, str]:
    """Send a request; return the edit that arrived and how the answer ended."""
    edit = ""
    try:
        async for event in connection.respond([user_message("hello")]):
            if isinstance(event, TextDelta | ToolInputDelta):
                edit += event.text
            elif isinstance(event, Finished):
                return edit, event.status
    except LinkError as error:
        assert error.message and "\n" not in error.message
        return edit, error.kind.value
    return edit, "nothing"


@pytest.mark.parametrize("reset", [False, True], ids=["closed", "reset"])
@pytest.mark.parametrize("route", ROUTES, ids=str)
async def test_an_answer_cut_anywhere_fails_cleanly(route: Route, reset: bool) -> None:
    whole = PATCH if route.dialect == "responses" else BLOCK
    endings: dict[str, int] = {}
    async with Replay(route) as server, asyncio.timeout(120):
        server.reset = reset
        limits = places(server, closely=not reset and route in (RESPONSES_OVER_WEBSOCKET, CHAT))
        for number, limit in enumerate(limits):
            server.limit = limit
            connection = connect(server.url, route)
            edit, ending = await told(connection)
            at = f"cut after {limit} of {server.total} bytes: {ending}"
            assert whole.startswith(edit), at
            assert ending in ("closed", "unreachable", "completed"), at
            assert ending != "completed" or edit == whole, at
            endings[ending] = endings.get(ending, 0) + 1
            if number % 8 == 0:
                server.limit = None
                assert await told(connection) == (whole, "completed"), f"after one {at}"
                assert connection.state is LinkState.READY
            await connection.close()
        print(f"{route}: {server.total} bytes, {endings}")
    assert endings["closed"] > len(limits) // 2


@pytest.mark.parametrize("route", ROUTES, ids=str)
async def test_a_cut_before_any_text_is_retried_silently(route: Route) -> None:
    whole = PATCH if route.dialect == "responses" else BLOCK
    async with Replay(route) as server, asyncio.timeout(60):
        server.once = True
        for limit in places(server, closely=False):
            if limit > server.first:
                break
            server.limit = limit
            connection = connect(server.url, route, Retries(backoff=Backoff(first=0.01)))
            assert await told(connection) == (whole, "completed"), f"cut after {limit} bytes"
            await connection.close()


def turned(root: Path, url: str, route: Route) -> Opening:
    """The parts of a session that uses only ``route`` to ``url``."""
    model = "spark-practice" if route.dialect == "responses" else "spark-practice-text"
    service = Service(routes=(route,), warm_up=False)
    return dataclasses.replace(opening(root, url, model), service=service)


@pytest.mark.parametrize("route", ROUTES, ids=str)
async def test_a_turn_cut_anywhere_lands_every_hunk_once(
    route: Route, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    quick = Retries(most=3, backoff=Backoff(first=0.01))
    monkeypatch.setattr("session.turn.runner.MOST_LOSSES", quick)
    monkeypatch.setattr("session.wire.link.connection.Retries", lambda: quick)
    whole: int | None = None
    cuts = [
        (part * len(ROUTES) + ROUTES.index(route) + 1) / (TURNS * len(ROUTES) + 1) for part in range(TURNS)
    ]
    for part, cut in enumerate((0.0, *cuts)):
        root = tmp_path / f"{part}" / "project"
        root.mkdir(parents=True)
        (root / "colours.py").write_text(COLOURS)
        async with (
            Partner(rate=float("inf"), scripts=parse(REPAINT)) as partner,
            CuttingProxy(partner.port) as proxy,
        ):
            if whole is not None:
                proxy.limit = int(cut * whole)
            session = Session(turned(root, proxy.url, route))
            listening = Listening(session, partner, root)
            following = asyncio.create_task(listening.follow())
            await asyncio.sleep(0)
            await session.open()
            session.submit("repaint")
            ended = await listening.ended("t1")
            await session.close()
            await following
            at = f"cut at {cut:.0%} of {whole} bytes"
            assert proxy.limit is None, at
            assert (ended.status, ended.message) == ("completed", None), at
            landed = [(event.start, event.status) for event in listening.all(HunkLanded)]
            assert landed == [(2, "applied"), (6, "applied"), (10, "applied")], at
            assert listening.text("colours.py") == PAINTED, at
            whole = whole or proxy.passed
