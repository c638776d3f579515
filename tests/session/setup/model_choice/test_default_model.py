"""The first prompt works with whatever model the key can use; the user is told, and it is remembered."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import date
from pathlib import Path

import pytest

from session.base.events import ModelChosen, Notice, TurnEnded, TurnStarted
from session.partner.load_script import parse
from session.partner.server.server import Partner
from session.session import Session
from session.setup.config import Flags
from session.setup.default_model import DefaultModels
from session.setup.opening import open_project
from session.setup.served_models import pick
from tests.session.local_servers import serving
from tests.session.talking import PATIENCE, Listening, environment, listened

SPARK, FIRST, LUNA = "gpt-5.3-codex-spark", "gpt-6-luna", "gpt-5.6-luna"
LISTED = f'models = ["gpt-4o", "{LUNA}", "gpt-6.2-sol"]\nrefuse_models = ["{SPARK}", "{FIRST}"]\n'
SAY = '[[scenario]]\nmatch = ["*"]\n[[scenario.step]]\nsay = "Just words."\n'


@asynccontextmanager
async def unnamed(root: Path, partner: Partner, *, attended: bool = True) -> AsyncIterator[Listening]:
    """A session in which the user named no model."""
    environ = {**environment(root.parent / "xdg"), "OPENAI_BASE_URL": partner.url}
    session = Session(open_project(root, Flags(), environ), attended=attended)
    async with listened(session, partner, root) as listening:
        yield listening


def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    root.mkdir()
    return root


@pytest.mark.parametrize(
    ("listed", "refused", "picked"),
    [
        ((), "", None),
        (("other",), "", "other"),
        (("other", "another"), "", None),
        (("b", "a"), "", "a"),
        (("b", "a"), "a", "b"),
        (("a",), "a", None),
    ],
)
def test_the_fastest_that_is_listed_is_picked(
    listed: tuple[str, ...], refused: str, picked: str | None
) -> None:
    assert pick(("a", "b"), listed, refused) == picked


async def test_a_key_without_the_default_gets_the_next_and_the_first_prompt_works(tmp_path: Path) -> None:
    root = project(tmp_path)
    async with Partner(scripts=parse(LISTED + SAY)) as partner:
        async with unnamed(root, partner) as it:
            it.session.submit("hello")  # before the list of models can be there
            assert (await it.ended("t1")).status == "completed"
            assert it.all(TurnStarted)[0].model == LUNA
            assert [event.model for event in it.all(ModelChosen)] == [LUNA]
            (told,) = [each.text for each in it.all(Notice) if FIRST in each.text]
            assert f"cannot use {FIRST}: {LUNA} answers" in told and "/model" in told
        assert {request.model for request in partner.requests} == {LUNA}
        async with unnamed(root, partner) as it:  # it is remembered
            assert it.session.models.model == LUNA
            it.session.submit("again")
            assert (await it.ended("t1")).status == "completed"
            assert not it.all(ModelChosen)


async def test_a_preview_answers_the_accounts_that_list_it_and_nobody_else(tmp_path: Path) -> None:
    root = project(tmp_path)
    listed = f'models = ["{FIRST}", "{SPARK}"]\n'
    async with Partner(scripts=parse(listed + SAY)) as partner, unnamed(root, partner) as it:
        assert it.session.models.model == FIRST, "until it is known"
        it.session.submit("hello")
        assert (await it.ended("t1")).status == "completed"
        assert it.all(TurnStarted)[0].model == SPARK
        (told,) = [each.text for each in it.all(Notice) if SPARK in each.text]
        assert told.startswith(f"Of this key's models it is the first choice: {SPARK} answers")


async def test_an_account_with_none_of_the_first_choices_gets_another_that_it_has(tmp_path: Path) -> None:
    root = project(tmp_path)
    listed = 'models = ["gpt-4o", "gpt-5.4", "o9"]\n'
    async with Partner(scripts=parse(listed + SAY)) as partner, unnamed(root, partner) as it:
        it.session.submit("hello")
        assert (await it.ended("t1")).status == "completed"
        assert it.all(TurnStarted)[0].model == "gpt-5.4"


async def test_a_default_that_is_withdrawn_is_replaced_and_the_next_prompt_works(tmp_path: Path) -> None:
    root = project(tmp_path)
    async with Partner(scripts=parse(LISTED + SAY)) as partner:
        state = tmp_path / "xdg" / "state" / "spark"
        DefaultModels(state).keep(partner.url, SPARK, date.today())
        async with unnamed(root, partner) as it:
            it.session.submit("hello")
            ended = await it.ended("t1")
            assert (ended.status, ended.code) == ("failed", "model")
            await it.until(ModelChosen, lambda event: event.model == LUNA)
            assert any("↑ brings the prompt back" in each.text for each in it.all(Notice))
            it.session.submit("hello")
            assert (await it.ended("t2")).status == "completed"
        assert DefaultModels(state).kept(partner.url, date.today()) == LUNA


async def test_an_interrupt_while_the_model_is_chosen_ends_the_turn(tmp_path: Path) -> None:
    async with Partner(scripts=parse(LISTED + SAY)) as partner, unnamed(project(tmp_path), partner) as it:
        it.session.submit("hello")
        it.session.interrupt()
        assert (await it.ended("t1")).status == "interrupted"
        it.session.submit("hello")
        assert (await it.ended("t2")).status == "completed"


async def test_an_interrupt_does_not_wait_for_a_slow_list_of_models(tmp_path: Path) -> None:
    asked, given_up = asyncio.Event(), asyncio.Event()

    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        asked.set()
        await reader.read()
        given_up.set()
        writer.close()

    server = await asyncio.start_server(silent, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    environ = {**environment(tmp_path / "xdg"), "OPENAI_BASE_URL": url}
    session = Session(open_project(project(tmp_path), Flags(), environ))
    ends = asyncio.create_task(turn_ends(session))
    await asyncio.sleep(0)
    await session.open()
    session.submit("hello")
    await asked.wait()
    session.interrupt()
    ended = await ends
    assert (ended.turn, ended.status) == ("t1", "interrupted")
    assert not given_up.is_set(), "the list is still awaited"
    await session.close()
    server.close()


async def test_a_model_that_is_shut_down_is_no_default_and_a_coming_end_is_told(tmp_path: Path) -> None:
    rows = [
        {"id": SPARK, "shutdown_date": "2020-01-01"},
        {"id": LUNA, "shutdown_date": "2999-12-24"},
        {"id": "gpt-6.2-sol", "shutdown_date": None},
    ]
    async with serving({"/v1/models": (200, {"data": rows})}) as server:
        environ = {**environment(tmp_path / "xdg"), "OPENAI_BASE_URL": server.url}
        session = Session(open_project(project(tmp_path), Flags(), environ))
        told: list[str] = []

        async def listen() -> None:
            async for event in session.listen():
                if isinstance(event, Notice):
                    told.append(event.text)
                    if "shut down" in event.text:
                        return

        listening = asyncio.create_task(listen())
        await asyncio.sleep(0)
        await session.open()
        async with asyncio.timeout(PATIENCE):
            await listening
        assert session.models.model == LUNA
        await session.close()
    assert told[-1].startswith(f"{LUNA} is shut down on 24 December 2999. ")


async def turn_ends(session: Session) -> TurnEnded:
    async with asyncio.timeout(PATIENCE):
        async for event in session.listen():
            if isinstance(event, TurnEnded):
                return event
    raise AssertionError("the session ended before its turn")


async def test_a_server_without_a_list_is_asked_for_the_default_itself(tmp_path: Path) -> None:
    script = parse("models = []\n" + SAY)
    async with Partner(scripts=script) as partner, unnamed(project(tmp_path), partner) as it:
        it.session.submit("hello")
        assert (await it.ended("t1")).status == "completed"
        assert it.all(TurnStarted)[0].model == FIRST and not it.all(ModelChosen)
