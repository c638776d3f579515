"""The pace of frames, with intervals so long that none of them ends here."""

from __future__ import annotations

import asyncio

from tui.screen.drawing.pacer import Pacer

FOREVER = 1e6


async def turns() -> None:
    """Let everything run that is due."""
    for _ in range(5):
        await asyncio.sleep(0)


async def test_some_frames_after_a_quiet_time_are_painted_at_once() -> None:
    painted: list[int] = []
    pacer = Pacer(lambda: painted.append(1), FOREVER, at_once=3)
    for _ in range(6):
        pacer.request()
        await turns()
    assert len(painted) == 3
    pacer.cancel()


async def test_requests_before_a_frame_are_one_frame() -> None:
    painted: list[int] = []
    pacer = Pacer(lambda: painted.append(1), FOREVER, at_once=3)
    for _ in range(6):
        pacer.request()
    await turns()
    assert painted == [1]


async def test_a_terminal_that_is_not_ready_gets_the_frame_later_and_only_once() -> None:
    painted: list[int] = []
    ready = False
    pacer = Pacer(lambda: painted.append(1), 0.001, lambda: ready, at_once=3)
    pacer.request()
    await asyncio.sleep(0.02)
    assert painted == []
    ready = True
    while not painted:
        await asyncio.sleep(0.001)
    await asyncio.sleep(0.02)
    assert painted == [1]


async def test_in_a_hurry_the_frame_that_was_asked_for_is_painted_at_once_and_once() -> None:
    painted: list[int] = []
    pacer = Pacer(lambda: painted.append(1), FOREVER)
    pacer.hurry()
    await turns()
    assert not painted, "nobody asked for a frame"
    pacer.request()
    await turns()
    pacer.request()
    await turns()
    assert len(painted) == 1
    pacer.hurry()
    await turns()
    assert len(painted) == 2
    pacer.request()
    await turns()
    assert len(painted) == 2, "the next one waits again"
    pacer.cancel()
