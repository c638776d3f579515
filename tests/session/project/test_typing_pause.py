from __future__ import annotations

import asyncio

from session.project.typing_pause import Pause


async def turns(count: int = 20) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


async def test_there_is_no_wait_if_nobody_has_typed() -> None:
    coming = asyncio.ensure_future(Pause(quiet=3600).come())
    await turns()
    assert coming.done()


async def test_it_waits_during_typing_and_ends_when_the_work_is_needed() -> None:
    pause = Pause(quiet=3600)
    pause.typed()
    coming = asyncio.ensure_future(pause.come())
    await turns()
    assert not coming.done()
    pause.typed()
    await turns()
    assert not coming.done()
    pause.needed()
    await coming


async def test_there_is_no_wait_if_the_work_is_needed_already() -> None:
    pause = Pause(quiet=3600)
    pause.typed()
    pause.needed()
    coming = asyncio.ensure_future(pause.come())
    await turns()
    assert coming.done()


async def test_the_wait_ends_after_a_pause() -> None:
    pause = Pause(quiet=0.01)
    pause.typed()
    await pause.come()
