"""Real workers of a real cluster that lie: nothing ends or waits, and what they say is safe to show."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from context.text.unseen import shown
from session.checks.check import Check, Kind
from session.checks.finding import Status, Verdict
from session.race.cluster import worker
from tests.session.race.attempts.races import project
from tests.session.race.cluster import lies
from tests.session.race.cluster.dask_cluster import dask_cluster
from tests.session.race.cluster.test_cluster import judging

pytestmark = pytest.mark.slow
PATIENCE = 90.0


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with dask_cluster(tmp_path_factory.mktemp("cluster") / "dask") as dask:
        dask.start_scheduler()
        dask.start_worker("a")
        dask.joined("a")
        yield dask.address


@pytest.fixture(autouse=True)
def _lying(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "judge", lies.lie)


async def judged(which: str, address: str, folder: Path) -> tuple[Verdict, list[str]]:
    """The verdict on an attempt that is right, where the worker tells the lie ``which``."""
    check = Check("tests", f"grep -q 'a + b' calc.py # {lies.WHICH}{which}", Kind.TESTS)
    async with judging(project(folder / "project"), address, os.environ["PATH"]) as it:
        async with asyncio.timeout(PATIENCE):
            assert (await it.runner.run(check)).status is Status.RED
            verdict = await it.attempt(check)
        assert verdict.check == check
        return verdict, it.told


@pytest.mark.parametrize("which", [*lies.ANSWERS, *lies.VERDICTS])
async def test_what_is_no_answer_is_told_and_the_check_runs_here(
    which: str, address: str, tmp_path: Path
) -> None:
    verdict, told = await judged(which, address, tmp_path)
    assert verdict.status is Status.GREEN and not verdict.findings
    assert len(told) == 1 and told[0].endswith("; checks run on this machine") and len(told[0]) < 2_000
    assert " a worker " in told[0] and shown(told[0]) == told[0]


@pytest.mark.parametrize("which", lies.TEXTS)
async def test_texts_of_a_worker_are_cut_and_show_what_they_hide(
    which: str, address: str, tmp_path: Path
) -> None:
    verdict, told = await judged(which, address, tmp_path)
    assert verdict.status is Status.RED and verdict.findings and told == []
    texts = [*map(str, verdict.findings), verdict.why, verdict.last, verdict.note]
    assert sum(map(len, texts)) < 20_000
    assert [text for text in texts if shown(text) != text] == []
