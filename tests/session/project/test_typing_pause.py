from __future__ import annotations

import asyncio

from session.project.typing_pause import TypingPause


async def turns(count: int = 20) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


async def test_there_is_no_wait_if_nobody_has_typed() -> None:
    waiting = asyncio.ensure_future(TypingPause(quiet=3600).wait())
    await turns()
    assert waiting.done()


async def test_it_waits_during_typing_and_ends_when_the_work_is_needed() -> None:
    pause = TypingPause(quiet=3600)
    pause.typed()
    waiting = asyncio.ensure_future(pause.wait())
    await turns()
    assert not waiting.done()
    pause.typed()
    await turns()
    assert not waiting.done()
    pause.needed()
    await waiting


async def test_there_is_no_wait_if_the_work_is_needed_already() -> None:
    pause = TypingPause(quiet=3600)
    pause.typed()
    pause.needed()
    waiting = asyncio.ensure_future(pause.wait())
    await turns()
    assert waiting.done()


async def test_the_wait_ends_after_a_pause() -> None:
    pause = TypingPause(quiet=0.01)
    pause.typed()
    await pause.wait()
