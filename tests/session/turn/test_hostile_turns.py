"""Whole turns against servers that refuse, break off or talk nonsense: each ends in a defined state, with
one clear line where it fails, nothing lost and nothing landed twice; and the next turn is answered."""

from __future__ import annotations

import dataclasses
import errno
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from session.base.events import HunkLanded, TurnEnded
from session.partner.load_script import parse
from session.partner.script import Handshake
from session.partner.server.server import Partner
from session.session import Session
from session.wire.link.connection import Retries, Service
from session.wire.link.exchange import Patience
from session.wire.link.retries import Backoff
from session.wire.protocol.frames import write_body
from session.wire.transport.service import RESPONSES_OVER_SSE, RESPONSES_OVER_WEBSOCKET, Route
from tests.session.talking import COLOURS, PLAIN, REPAINT, Listening, listened, opening
from tests.session.wire.transport.test_http import CHAT, MESSAGES

ROUTES = [RESPONSES_OVER_WEBSOCKET, RESPONSES_OVER_SSE, CHAT, MESSAGES]
PAINTED = COLOURS.replace("1", "10").replace("2", "20").replace("3", "30")
STATUSES = {
    301: ("refused", "does not follow"),
    400: ("", "wrong"),
    401: ("unauthorized", "did not accept the API key"),
    403: ("unauthorized", "(403)"),
    404: ("", "(404)"),
    409: ("", "wrong"),
    413: ("", "(413)"),
    426: ("", "(426)"),
    429: ("server", "right now|slow down"),
    500: ("server", "not working right now (500)"),
    502: ("server", "not working right now (502)"),
    503: ("server", "not working right now (503)"),
    529: ("server", "not working right now (529)"),
}
HTML = "<html><head><style>a{}</style></head><body><h1>Something is wrong</h1></body></html>"
"""The answers of proxies in front of a server."""


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    once = Retries(most=1, backoff=Backoff(first=0.01))
    monkeypatch.setattr("session.wire.link.connection.Retries", lambda: once)
    monkeypatch.setattr("session.turn.runner.MOST_LOSSES", Retries(most=3, backoff=Backoff(first=0.01)))


@asynccontextmanager
async def facing(partner: Partner, root: Path, *routes: Route) -> AsyncIterator[Listening]:
    """A session in ``root`` that asks ``partner`` by ``routes`` alone."""
    (root / "colours.py").write_text(COLOURS)
    model = "spark-practice" if routes[0].dialect == "responses" else "spark-practice-text"
    made = opening(root, partner.url, model)
    endpoint = made.endpoint
    assert endpoint is not None
    service = Service(routes=routes, warm_up=False)
    made = dataclasses.replace(made, service=service, endpoint=dataclasses.replace(endpoint, api_key="sk-1"))
    session = Session(made)
    async with listened(session, partner, root) as listening:
        yield listening


async def asked(talk: Listening, turn: str) -> TurnEnded:
    talk.session.submit("repaint")
    ended = await talk.ended(turn)
    assert ended.message is None or (ended.message and "\n" not in ended.message)
    return ended


def painted_once(talk: Listening) -> bool:
    landed = [(event.start, event.status) for event in talk.all(HunkLanded)]
    return landed == [(2, "applied"), (6, "applied"), (10, "applied")] and talk.text("colours.py") == PAINTED


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


REFUSALS = (
    [(status, "json") for status in STATUSES]
    + [(status, "html") for status in (403, 404, 413, 502, 503)]
    + [(status, "nothing") for status in (401, 429, 500)]
)


@pytest.mark.parametrize("route", [RESPONSES_OVER_WEBSOCKET, CHAT], ids=str)
async def test_an_http_status_in_place_of_an_answer_is_explained(root: Path, route: Route) -> None:
    """Each in its turn in one session, and the turn behind each of them is answered."""
    said = {"error": {"message": "Something is wrong", "type": "invalid_request_error"}}
    healthy, words = parse(REPAINT), parse(PLAIN)
    turn = 0
    async with Partner(rate=float("inf"), scripts=healthy) as partner, facing(partner, root, route) as talk:
        for status, body in REFUSALS:
            text = {"json": write_body(said), "html": HTML, "nothing": ""}[body]
            if status == 301:
                text = "https://example.invalid/v1"
            refusal = Handshake(status, text, "text/html" if body == "html" else "application/json")
            partner.script = dataclasses.replace(words, handshake=refusal, http=refusal)
            await partner.drop_clients()
            ended = await asked(talk, f"t{turn + 1}")
            assert ended.status == "failed" and ended.message is not None, (status, body)
            kind, likely = STATUSES[status]
            assert ended.code == kind or not kind, ended
            assert any(each in ended.message for each in likely.split("|")) or body != "json", ended
            assert "<" not in ended.message
            partner.script = words
            turn += 2
            assert (await asked(talk, f"t{turn}")).status == "completed", (status, body)
        assert talk.text("colours.py") == COLOURS
        partner.script = healthy
        assert (await asked(talk, f"t{turn + 1}")).status == "completed"
        assert painted_once(talk)


@pytest.mark.parametrize("status", [404, 405, 426, 501], ids=str)
async def test_a_server_that_has_no_websocket_is_asked_another_way(root: Path, status: int) -> None:
    script = dataclasses.replace(parse(PLAIN), handshake=Handshake(status, HTML, "text/html"))
    routes = (RESPONSES_OVER_WEBSOCKET, RESPONSES_OVER_SSE)
    async with Partner(rate=float("inf"), scripts=script) as partner, facing(partner, root, *routes) as talk:
        assert (await asked(talk, "t1")).status == "completed"


FAULTS = {
    **{
        f"error, {shape}": f'fail = {{code = "oops", message = "Gone\\nwrong.", shape = "{shape}"}}'
        for shape in ("nested", "flat", "response")
    },
    "stall": "stall = 60",
    "close": "close = {code = 1011}",
    "cut": "close = {}",
    "garbage": 'garbage = ["<html>", "hex:fffe00", "[]", "hex:e282", "null"]',
}


BROKEN = (
    (RESPONSES_OVER_WEBSOCKET, ("error, nested", "stall", "close", "garbage")),
    (RESPONSES_OVER_SSE, ("error, flat", "close", "cut", "garbage")),
    (CHAT, ("error, response", "stall", "cut")),
    (MESSAGES, ("error, nested", "close", "garbage", "cut")),
)
"""Each fault on some of the routes; what a dialect makes of each error is tried with its parser."""


@pytest.mark.parametrize(
    ("route", "fault"), [(route, fault) for route, faults in BROKEN for fault in faults], ids=str
)
async def test_an_answer_that_fails_after_its_first_hunks_keeps_them(
    root: Path, route: Route, fault: str
) -> None:
    before, after = REPAINT.split('[[scenario.step]]\npatch = ["blue"]')
    script = f"{before}[[scenario.step]]\n{FAULTS[fault]}\n\n[[scenario.step]]\npatch = ['blue']{after}"
    async with (
        Partner(rate=float("inf"), scripts=parse(script)) as partner,
        facing(partner, root, route) as talk,
    ):
        connection = talk.session.connection
        assert connection is not None
        connection._patience = Patience(connection.endpoint, 0.3 if fault == "stall" else 20.0, 60.0)
        ended = await asked(talk, "t1")
        if fault == "garbage":
            assert ended.status == "completed" and painted_once(talk)
            return
        assert ended.status == "failed" and ended.message
        landed = [event.start for event in talk.all(HunkLanded)]
        assert landed == [2, 6], f"{landed}: {ended}"
        assert talk.text("colours.py") == COLOURS.replace("1", "10").replace("2", "20")
        partner.script = parse(REPAINT)
        assert (await asked(talk, "t2")).status == "completed"
        assert talk.text("colours.py") == PAINTED


@pytest.mark.parametrize("route", ROUTES, ids=str)
async def test_an_answer_that_is_too_long_fails_the_turn_and_keeps_what_landed(
    root: Path, route: Route, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, after = REPAINT.split('[[scenario.step]]\npatch = ["blue"]')
    words = "words " * 600
    script = f'{before}[[scenario.step]]\nsay = "{words}"\n\n[[scenario.step]]\npatch = ["blue"]{after}'
    async with (
        Partner(rate=float("inf"), scripts=parse(script)) as partner,
        facing(partner, root, route) as talk,
    ):
        with monkeypatch.context() as small:
            small.setattr("session.wire.link.exchange.MOST_TEXT", 2_500)
            ended = await asked(talk, "t1")
        assert (ended.status, ended.code) == ("failed", "server")
        assert ended.message is not None and "more than 2,500 characters" in ended.message
        assert [event.start for event in talk.all(HunkLanded)] == [2, 6], "it is not taken up again"
        assert talk.text("colours.py") == COLOURS.replace("1", "10").replace("2", "20")
        partner.script = parse(REPAINT)
        assert (await asked(talk, "t2")).status == "completed"
        assert talk.text("colours.py") == PAINTED


async def test_a_journal_that_cannot_be_written_ends_the_turn_in_one_line(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    partner = Partner(rate=float("inf"), scripts=parse(REPAINT))
    async with partner, facing(partner, root, RESPONSES_OVER_SSE) as talk:
        with monkeypatch.context() as full:
            full.setattr("edits.ledger.ledger.os.pwrite", disk_full)
            ended = await asked(talk, "t1")
        assert (ended.status, ended.code) == ("failed", "journal")
        assert ended.message is not None and "No space left on device" in ended.message
        assert talk.text("colours.py") == COLOURS, "nothing is written that is not journalled"
        assert (await asked(talk, "t2")).status == "completed"
        assert painted_once(talk)


def disk_full(*_: object) -> int:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
