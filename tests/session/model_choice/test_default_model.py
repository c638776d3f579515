"""The first prompt works with whatever model the key can use; the user is told, and it is remembered."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import date
from pathlib import Path

import pytest

from session.events import ModelChosen, Notice, TurnStarted
from session.model_choice.default_model import pick
from session.partner.script.load import parse
from session.partner.server.server import Partner
from session.session import Session
from session.setup.config import Flags
from session.setup.default_model import DefaultModels
from session.setup.opening import open_project
from tests.session.talking import Listening, environment

SPARK, LUNA = "gpt-5.3-codex-spark", "gpt-5.6-luna"
LISTED = f'models = ["gpt-4o", "{LUNA}", "gpt-6.2-sol"]\nrefuse_models = ["{SPARK}"]\n'
SAY = '[[scenario]]\nmatch = ["*"]\n[[scenario.step]]\nsay = "Just words."\n'


@asynccontextmanager
async def unnamed(root: Path, partner: Partner, *, attended: bool = True) -> AsyncIterator[Listening]:
    """A session in which the user named no model."""
    environ = {**environment(root.parent / "xdg"), "OPENAI_BASE_URL": partner.url}
    session = Session(open_project(root, Flags(), environ), attended=attended)
    listening = Listening(session, partner, root)
    following = asyncio.create_task(listening.follow())
    await asyncio.sleep(0)
    await session.open()
    try:
        yield listening
    finally:
        await session.close()
        await following


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
            (told,) = [each.text for each in it.all(Notice) if SPARK in each.text]
            assert f"cannot use {SPARK}: {LUNA} answers" in told and "/model" in told
        assert {request.model for request in partner.requests} == {LUNA}
        async with unnamed(root, partner) as it:  # it is remembered
            assert it.session.models.model == LUNA
            it.session.submit("again")
            assert (await it.ended("t1")).status == "completed"
            assert not it.all(ModelChosen)


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


async def test_a_server_without_a_list_is_asked_for_the_default_itself(tmp_path: Path) -> None:
    script = parse("models = []\n" + SAY)
    async with Partner(scripts=script) as partner, unnamed(project(tmp_path), partner) as it:
        it.session.submit("hello")
        assert (await it.ended("t1")).status == "completed"
        assert it.all(TurnStarted)[0].model == SPARK and not it.all(ModelChosen)
