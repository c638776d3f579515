"""Whether a side request may go out, against a real session and a real partner; and what each took."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace
from datetime import date
from pathlib import Path
from time import monotonic

import pytest

from session.assist import side_account as account
from session.assist import side_requests
from session.assist.side_model import THINKING_ROOM
from session.assist.side_requests import NotNow, SideRequests
from session.base.events import Notice, PhaseChanged, TextDelta
from session.record.usage import Kind, side_turn
from session.record.usage_log import read_usage
from session.wire.link.connection import Connection
from session.wire.protocol.events import Created, Finished, ReasoningDelta, WireEvent
from session.wire.protocol.events import TextDelta as WordsDelta
from session.wire.protocol.items import user_message
from session.wire.transport.errors import LinkError, LinkProblem
from tests.session.talking import PLAIN, REPAINT, Listening, talking

ASKED = (user_message("hello"),)
LASTING = (
    REPAINT
    + """
[[scenario]]
match = ["hello"]
[[scenario.step]]
say = "One word "
[[scenario.step]]
stall = 600.0
"""
)
"""The answer to what is asked aside does not end by itself, however slow the machine is."""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    root.mkdir()
    (root / "colours.py").write_text("def red():\n    return 1\n", "utf-8")
    return root


def settle(project: Path, table: str) -> None:
    config = project.parent / "xdg" / "config" / "spark"
    config.mkdir(parents=True, exist_ok=True)
    (config / "config.toml").write_text(f"[side]\n{table}\n", "utf-8")


async def typed(at: Listening) -> SideRequests:
    """The session's side requests, once it is known what was spent and somebody types."""
    at.session.typing()
    async with asyncio.timeout(20):
        while at.session.side.refusal(Kind.SUGGESTION) is NotNow.STARTING:
            await asyncio.sleep(0.005)
    return at.session.side


async def ask(side: SideRequests, kind: Kind = Kind.SUGGESTION) -> list[WireEvent]:
    profile = side.model.profile("Answer.", name="test", most=50)
    return [event async for event in side.ask(kind, profile, ASKED)]


async def test_a_request_is_answered_and_counted(project: Path) -> None:
    since = date.today()
    async with talking(project, PLAIN) as at:
        side = await typed(at)
        assert side.refusal(Kind.SUGGESTION) is None
        events = await ask(side)
        assert isinstance(events[-1], Finished)
        hour = side.account.this_hour()
        assert hour.turns == 1 and hour.input > 0 and hour.output > 0
        assert at.session.usage.total.turns == 0, "the session's turns are counted apart"
        await ask(side, Kind.REVIEW)
        usage = at.session.folders.usage
    rows = read_usage(usage, since).rows
    names = [side_turn(row.usage.turn) for row in rows]
    assert sorted(name.kind for name in names if name is not None) == ["review", "suggestion"]
    assert sum(row.requests for row in rows) == 2


async def test_what_was_spent_is_kept_over_a_restart_and_counts_for_all_sessions(project: Path) -> None:
    async with talking(project, PLAIN) as at:
        side = await typed(at)
        for _ in range(3):
            await ask(side)
        before = side.account.today()
    async with talking(project, PLAIN) as at:
        side = await typed(at)
        assert side.account.today().turns == before.turns == 3
        assert side.account.today().input == before.input
        await ask(side)
        assert side.account.today().turns == 4
        turns, aside = await at.session.usage.today()
        assert (turns.turns, aside.turns) == (0, 3), "the fourth is still in memory"


async def test_typing_alone_reads_nothing_from_the_disk(project: Path) -> None:
    async with talking(project, PLAIN) as at:
        at.session.typing()
        await asyncio.sleep(0.05)
        assert not at.session.side.account.known and not at.session.side.account.reading


async def test_a_spent_budget_ends_them_with_one_line(project: Path) -> None:
    settle(project, "tokens_per_hour = 60")
    async with talking(project, PLAIN) as at:
        side = await typed(at)
        answered = 0
        for _ in range(20):
            answered += bool(await ask(side))
        assert 0 < answered < 20
        assert side.refusal(Kind.SUGGESTION) is NotNow.SPENT
        await at.until(Notice, lambda notice: "60 tokens" in notice.text)
        told = [event.text for event in at.all(Notice) if "60 tokens" in event.text]
        assert told == [
            "suggestions and reviews stop: the 60 tokens of this hour are spent (tokens_per_hour in [side])"
        ]
    async with talking(project, PLAIN) as at:
        assert (await typed(at)).refusal(Kind.SUGGESTION) is NotNow.SPENT, "a restart gives nothing back"


async def test_dollars_are_a_limit_of_their_own(project: Path) -> None:
    settle(project, "dollars_per_day = 0.0")
    async with talking(project, PLAIN) as at:
        assert (await typed(at)).refusal(Kind.SUGGESTION) is NotNow.SPENT
        await at.until(Notice, lambda notice: "$0.00 of this day" in notice.text)


async def test_requests_that_run_count_as_what_they_may_take(project: Path) -> None:
    settle(project, "tokens_per_hour = 60")
    async with talking(project, PLAIN) as at:
        side = await typed(at)
        profile = side.model.profile("Answer.", name="test", most=58)
        async with aclosing(side.ask(Kind.SUGGESTION, profile, ASKED)) as events:
            await anext(events)
            assert side.refusal(Kind.SUGGESTION) is NotNow.SPENT
        assert side.refusal(Kind.SUGGESTION) is None, "what was not taken is given back"


async def test_nothing_goes_out_when_nobody_types(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [monotonic()]
    monkeypatch.setattr(side_requests, "monotonic", lambda: now[0])
    async with talking(project, PLAIN) as at:
        side = await typed(at)
        now[0] += side_requests.AWAY_SECONDS
        assert side.refusal(Kind.SUGGESTION) is None
        now[0] += 0.1
        assert side.refusal(Kind.SUGGESTION) is NotNow.AWAY
        assert await ask(side) == [] and not at.requests()
        at.session.typing()
        assert side.refusal(Kind.SUGGESTION) is None


async def test_off_ends_what_runs_and_lets_only_that_go_which_the_user_asks_for(project: Path) -> None:
    async with talking(project, LASTING) as at:
        side = await typed(at)
        running = asyncio.create_task(ask(side))
        while not at.requests():
            await asyncio.sleep(0.005)
        side.switch(on=False)
        events = await asyncio.wait_for(running, 20)
        assert not any(isinstance(event, Finished) for event in events)
        assert side.refusal(Kind.SUGGESTION) is NotNow.OFF
        assert side.refusal(Kind.REFACTOR) is None
        assert side.account.this_hour().estimated > 0, "the server gave no count"
        side.switch(on=True)
        assert side.refusal(Kind.SUGGESTION) is None


async def test_a_line_of_config_turns_them_off(project: Path) -> None:
    settle(project, "enabled = false")
    async with talking(project, PLAIN) as at:
        at.session.typing()
        side = at.session.side
        side.account.read()
        while side.refusal(Kind.SUGGESTION) is NotNow.STARTING:
            await asyncio.sleep(0.005)
        assert side.refusal(Kind.SUGGESTION) is NotNow.OFF and await ask(side) == []


async def test_a_prompt_ends_those_that_run_and_none_goes_out_beside_the_answer(project: Path) -> None:
    async with talking(project, LASTING, rate=40) as at:
        side = await typed(at)
        running = asyncio.create_task(ask(side))
        while not at.requests():
            await asyncio.sleep(0.005)
        at.session.submit("repaint")
        events = await asyncio.wait_for(running, 20)
        assert not any(isinstance(event, Finished) for event in events)
        await at.until(PhaseChanged)
        assert side.refusal(Kind.SUGGESTION) is NotNow.ANSWERING
        await at.until(TextDelta)
        at.session.interrupt()
        await at.ended("t1")
        assert side.refusal(Kind.SUGGESTION) is None


async def test_a_failure_is_told_once_and_pauses_them(project: Path) -> None:
    async with talking(project, 'refuse_models = ["gone"]\n' + PLAIN) as at:
        side = await typed(at)
        profile = replace(side.model.profile("Answer.", name="test", most=50), model="gone")
        assert [event async for event in side.ask(Kind.SUGGESTION, profile, ASKED)] == []
        assert side.refusal(Kind.SUGGESTION) is NotNow.FAILED
        assert await ask(side) == []
        await at.until(Notice, lambda notice: notice.text.startswith("no suggestions"))
        told = [event.text for event in at.all(Notice) if event.text.startswith("no suggestions")]
        assert len(told) == 1 and "gone" in told[0]


@pytest.mark.parametrize(
    ("wrong", "kept"), [(LinkProblem.SERVER, True), (LinkProblem.CLOSED, True), (LinkProblem.REFUSED, False)]
)
async def test_a_failure_that_passes_does_not_end_filling_in_the_middle(
    project: Path, monkeypatch: pytest.MonkeyPatch, wrong: LinkProblem, kept: bool
) -> None:
    settle(project, 'enabled = true\n[providers.partner]\nfim = "infill"')

    async def failing(*_: object, **__: object) -> AsyncGenerator[WireEvent, None]:
        for event in list[WireEvent]():
            yield event
        raise LinkError(wrong, "It is not there.", status=500 if wrong is LinkProblem.SERVER else None)

    async with talking(project, PLAIN) as at:
        side = await typed(at)
        profile = side.model.profile("", name="test", most=50)
        gap = (user_message("def a"), user_message(""))
        assert isinstance([e async for e in side.ask(Kind.SUGGESTION, profile, gap, fim=True)][-1], Finished)
        monkeypatch.setattr(Connection, "ask_in_parallel", failing)
        assert [event async for event in side.ask(Kind.SUGGESTION, profile, gap, fim=True)] == []
        assert bool(side.model.fim) is kept
        assert (side.refusal(Kind.SUGGESTION) is NotNow.FAILED) is kept


@pytest.mark.parametrize("dialect", ["completions", "infill", "fim", "beta"])
async def test_every_dialect_fills_in_the_middle_over_a_real_socket(project: Path, dialect: str) -> None:
    settle(project, f'enabled = true\n[providers.partner]\nfim = "{dialect}"')
    async with talking(project, PLAIN) as at:
        side = await typed(at)
        profile = side.model.profile("", name="test", most=50)
        gap = (user_message("total = add(1, 2)\ntotal = ad"), user_message("\n"))
        events = [event async for event in side.ask(Kind.SUGGESTION, profile, gap, fim=True)]
        assert "".join(each.text for each in events if isinstance(each, WordsDelta)) == "d(1, 2)"
        assert isinstance(events[-1], Finished) and events[-1].usage is not None
        assert side.model.fim == dialect


async def test_a_model_that_the_key_cannot_use_gives_way_to_the_one_that_answers(project: Path) -> None:
    settle(project, 'model = "gone"')
    async with talking(project, 'refuse_models = ["gone"]\n' + PLAIN) as at:
        side = await typed(at)
        assert side.model.model.name == "gone"
        assert await ask(side) == []
        assert side.refusal(Kind.SUGGESTION) is None
        assert isinstance((await ask(side))[-1], Finished)
        assert at.partner.requests[-1].model == "spark-practice"


async def test_a_log_that_cannot_be_read_allows_nothing(project: Path) -> None:
    async with talking(project, PLAIN) as at:
        folder = at.session.folders.usage
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{date.today():%Y-%m}.jsonl").mkdir()
        at.session.typing()
        at.session.side.refusal(Kind.SUGGESTION)
        await at.until(Notice, lambda notice: "no suggestions until it can be read" in notice.text)
        assert at.session.side.refusal(Kind.SUGGESTION) is NotNow.STARTING


async def test_what_was_taken_is_written_while_the_session_goes_on(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(account, "WRITE_SECONDS", 0.01)
    since = date.today()
    async with talking(project, PLAIN) as at:
        side = await typed(at)
        await ask(side)
        async with asyncio.timeout(20):
            while not read_usage(at.session.folders.usage, since).rows:
                await asyncio.sleep(0.01)


@pytest.mark.parametrize("said", [WordsDelta("x" * 1_000), ReasoningDelta("x" * 1_000), Created("r")])
async def test_an_answer_without_end_is_given_up_and_told_once(
    project: Path, monkeypatch: pytest.MonkeyPatch, said: WireEvent
) -> None:
    monkeypatch.setattr(side_requests, "LONGEST_SECONDS", 0.3)
    closed: list[str] = []

    async def endless(*_: object, **__: object) -> AsyncGenerator[WireEvent, None]:
        try:
            while True:
                await asyncio.sleep(0)
                yield said
        finally:
            closed.append("answer")

    async with talking(project, PLAIN) as at:
        side = await typed(at)
        monkeypatch.setattr(Connection, "ask_in_parallel", endless)
        async with asyncio.timeout(20):
            events = await ask(side)
        assert not any(isinstance(event, Finished) for event in events)
        assert closed == ["answer"] and side.refusal(Kind.SUGGESTION) is NotNow.FAILED
        text = sum(len(event.text) for event in events if isinstance(event, WordsDelta | ReasoningDelta))
        assert text <= (50 + THINKING_ROOM) * 32
        told = [event.text for event in at.all(Notice) if "suggestions for a while" in event.text]
        assert len(told) == 1 and ("longer than" in told[0] or "does not end" in told[0])
