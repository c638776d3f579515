"""What a spark is told of the sessions that other processes have in its folder."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from session.base.events import CommandEnded, HunkLanded, TurnEnded
from session.record.sharing.host import Presence
from session.record.sharing.standing import SILENT, Elsewhere
from session.ways.following_link import look_elsewhere
from tests.session.talking import REPAINT, Listening, talking
from tests.session.ways.following.test_following import SLOW, root  # noqa: F401 (a fixture)

OTHER = Elsewhere("s1", 12, Presence.SCREEN, "a turn", 0, 40)


async def looked(it: Listening) -> Elsewhere:
    (found,) = await asyncio.to_thread(lambda: list(look_elsewhere(it.session.folders.live)))
    return found


async def test_a_turn_there_is_told_with_the_silence_of_its_terminal(root: Path) -> None:  # noqa: F811
    async with talking(root, REPAINT, rate=SLOW) as it:
        host = it.session.standing.host
        assert host is not None
        host.silence = lambda: 40
        assert (await looked(it)).runs == ""
        it.session.submit("repaint")
        await it.until(HunkLanded)
        found = await looked(it)
        assert (found.name, found.runs, found.silent) == (it.session.name, "a turn", 40)
        assert found.dropped and "its terminal silent for 40 s" in found.line
        await it.until(TurnEnded)
        assert not (await looked(it)).dropped


async def test_a_command_there_is_told_and_goes_on_without_a_screen(root: Path) -> None:  # noqa: F811
    async with talking(root, REPAINT) as it:
        session = it.session
        session.shell.run("sleep 60")
        assert session.standing.goes_on and (await looked(it)).runs == "a command"
        settled = asyncio.create_task(session.settled())
        await asyncio.sleep(0)
        assert not settled.done()
        session.shell.stop()
        await settled
        assert (await it.until(CommandEnded)).status == "stopped"
        assert (await looked(it)).runs == ""


@pytest.mark.parametrize(
    ("other", "dropped"),
    [
        (OTHER, True),
        (replace(OTHER, silent=SILENT - 1), False),
        (replace(OTHER, silent=-1), False),
        (replace(OTHER, runs=""), False),
        (replace(OTHER, presence=Presence.NOBODY), False),
        (replace(OTHER, presence=Presence.SCRIPT), False),
    ],
)
def test_only_a_silent_terminal_of_something_that_runs_may_be_lost(other: Elsewhere, dropped: bool) -> None:
    assert other.dropped is dropped
    assert "s1" in other.line
