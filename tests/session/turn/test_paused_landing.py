"""Landing paused while a key is undecided: nothing is lost, nothing lands, and a stop drops what waited."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from session.base.events import HunkDropped, HunkLanded
from session.project.edit_thread import LandingPause
from tests.session.turn.lane_rig import LaneRig

FILES = ("a.py", "b.py")


@asynccontextmanager
async def paused(folder: Path) -> AsyncIterator[tuple[LaneRig, list[str], asyncio.Task[None]]]:
    """A lane whose landing was paused before two whole hunks came, with its edit thread at work."""
    spark = LaneRig(folder, files=FILES)
    spark.pause.begin()
    hunks = [spark.whole(name) for name in FILES]
    await spark.breathe()
    over = threading.Event()

    def work() -> None:
        while not over.is_set():
            if not spark.thread.step():
                over.wait(0.001)

    thread = threading.Thread(target=work)
    thread.start()
    closing = asyncio.create_task(spark.lane.close())
    try:
        await asyncio.sleep(0.05)
        yield spark, hunks, closing
    finally:
        spark.pause.end()
        await asyncio.wait_for(closing, 20)
        over.set()
        thread.join()


async def test_nothing_lands_while_paused_and_everything_afterwards(tmp_path: Path) -> None:
    async with paused(tmp_path) as (spark, hunks, closing):
        assert not closing.done() and not spark.all(HunkLanded)
        assert [spark.text(name) for name in FILES] == ["old\n", "old\n"]
        spark.pause.end()
        await asyncio.wait_for(asyncio.shield(closing), 20)
    assert [event.hunk for event in spark.all(HunkLanded)] == hunks
    assert [spark.text(name) for name in FILES] == ["new\n", "new\n"]


async def test_a_stop_while_paused_drops_the_hunk_whose_write_had_not_begun(tmp_path: Path) -> None:
    async with paused(tmp_path) as (spark, hunks, closing):
        spark.lane.stop()
        await asyncio.wait_for(asyncio.shield(closing), 20)
        assert spark.pause.paused, "the stop alone must wake the edit thread"
    assert sorted(event.hunk for event in spark.all(HunkDropped)) == hunks
    assert [spark.text(name) for name in FILES] == ["old\n", "old\n"]
    assert not list(spark.ledger.hunks())


@pytest.mark.parametrize("stops", [True, False])
def test_the_pause_holds_a_thread_until_it_ends_or_the_turn_is_stopped(stops: bool) -> None:
    pause, stopped = LandingPause(), threading.Event()
    answers: list[bool] = []
    pause.begin()
    waiting = threading.Thread(target=lambda: answers.append(pause.wait(stopped.is_set)))
    waiting.start()
    waiting.join(0.05)
    assert waiting.is_alive()
    if stops:
        stopped.set()
        pause.look_again()
    else:
        pause.end()
    waiting.join(20)
    assert answers == [not stops]
    assert pause.paused is stops
