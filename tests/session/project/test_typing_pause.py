from __future__ import annotations

import asyncio

from session.project.typing_pause import Pause


async def turns(count: int = 20) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


async def test_it_comes_at_once_where_nobody_has_typed() -> None:
    coming = asyncio.ensure_future(Pause(quiet=3600).come())
    await turns()
    assert coming.done()


async def test_it_waits_while_keys_come_and_comes_when_it_is_needed() -> None:
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


async def test_what_was_needed_before_it_was_waited_for_waits_no_more() -> None:
    pause = Pause(quiet=3600)
    pause.typed()
    pause.needed()
    coming = asyncio.ensure_future(pause.come())
    await turns()
    assert coming.done()


async def test_without_another_key_it_comes_by_itself() -> None:
    pause = Pause(quiet=0.01)
    pause.typed()
    await pause.come()
