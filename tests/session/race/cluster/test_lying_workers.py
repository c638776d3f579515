"""Real workers of a real cluster that lie: nothing ends or waits, and what they say is safe to show."""

from __future__ import annotations

import asyncio
import pickle
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from context.text.unseen import shown
from session.checks.check import Check, Kind
from session.checks.finding import Status, Verdict
from session.race.cluster import worker
from session.race.cluster.dask_link import OddAnswerError, looked_at
from session.race.cluster.worker import Answer
from tests.session.race.attempts.races import project
from tests.session.race.cluster import lies
from tests.session.race.cluster.conftest import Machines
from tests.session.race.cluster.test_cluster import judging

pytestmark = pytest.mark.xdist_group("cluster")
pytestmark = pytest.mark.xdist_group("cluster")

PATIENCE = 90.0
Lied = tuple[Verdict, list[str]]
"""A verdict, and what the user was told."""


@pytest.fixture(autouse=True)
def _lying(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "judge", lies.lie)


@asynccontextmanager
async def judged(machines: Machines, folder: Path) -> AsyncIterator[Callable[[str], Awaitable[Lied]]]:
    """Gives what judges an attempt that is right, where the worker tells a lie."""
    async with judging(project(folder / "project"), machines.dask.address, machines.path) as it:
        check = Check("tests", "grep -q 'a + b' calc.py", Kind.TESTS)
        async with asyncio.timeout(PATIENCE):
            assert (await it.runner.run(check)).status is Status.RED

        async def attempt(which: str) -> Lied:
            lying = replace(check, command=f"{check.command} # {lies.WHICH}{which}")
            it.told.clear()
            it.runner._told.clear()
            async with asyncio.timeout(PATIENCE):
                verdict = await it.attempt(lying)
            assert verdict.check == lying
            return verdict, list(it.told)

        yield attempt


def told_and_judged_here(which: str, verdict: Verdict, told: list[str]) -> None:
    assert verdict.status is Status.GREEN and not verdict.findings, which
    assert len(told) == 1 and told[0].endswith("; checks run on this machine") and len(told[0]) < 2_000
    assert " a worker " in told[0] and shown(told[0]) == told[0], which


async def test_what_is_no_answer_is_told_and_the_check_runs_here(machines: Machines, tmp_path: Path) -> None:
    """Each in its turn on the same link, which stays of use."""
    async with judged(machines, tmp_path) as attempt:
        for which in (*lies.ANSWERS, "a text for a verdict", "a finding outside"):
            told_and_judged_here(which, *await attempt(which))
        for which in lies.TEXTS:
            safe_to_show(*await attempt(which))


CHECK = Check("tests", "true", Kind.TESTS)
HONEST = Verdict(CHECK, Status.GREEN, 0.1)


@pytest.mark.parametrize("which", lies.VERDICTS)
def test_a_verdict_that_is_none_is_refused(which: str) -> None:
    lie = pickle.loads(pickle.dumps(Answer("tcp://a", lies.VERDICTS[which](HONEST))))
    with pytest.raises(OddAnswerError):
        looked_at(lie, CHECK)
    assert looked_at(Answer("tcp://a", HONEST), CHECK).verdict == HONEST


def safe_to_show(verdict: Verdict, told: list[str]) -> None:
    assert verdict.status is Status.RED and verdict.findings and told == []
    texts = [*map(str, verdict.findings), verdict.why, verdict.last, verdict.note]
    assert sum(map(len, texts)) < 20_000
    assert [text for text in texts if shown(text) != text] == []


@pytest.mark.parametrize("which", lies.TEXTS)
def test_texts_of_a_worker_are_cut_and_show_what_they_hide(which: str) -> None:
    verdict = looked_at(Answer("tcp://a", lies.TEXTS[which](HONEST)), CHECK).verdict
    assert verdict is not None
    safe_to_show(verdict, [])
