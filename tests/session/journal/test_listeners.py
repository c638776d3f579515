from __future__ import annotations

import asyncio

from session.journal.listeners import Listeners


async def test_each_listener_gets_every_event_in_order() -> None:
    listeners: Listeners[int] = Listeners()
    one, other = listeners.listen(), listeners.listen()
    for number in range(1, 1001):
        listeners.send(number)
    listeners.close()
    assert [event async for event in one] == list(range(1, 1001))
    assert [event async for event in other] == list(range(1, 1001))


async def test_a_listener_hears_from_its_call_on_not_from_its_first_read() -> None:
    listeners: Listeners[str] = Listeners()
    listeners.send("before")
    stream = listeners.listen()
    listeners.send("after")
    listeners.close()
    assert [event async for event in stream] == ["after"]


async def test_a_listener_that_reads_nothing_holds_up_nobody() -> None:
    listeners: Listeners[int] = Listeners()
    idle, busy = listeners.listen(), listeners.listen()
    for number in range(10_000):
        listeners.send(number)
    assert await anext(busy) == 0
    assert await anext(idle) == 0


async def test_listening_after_the_end_ends_at_once() -> None:
    listeners: Listeners[int] = Listeners()
    listeners.close()
    assert [event async for event in listeners.listen()] == []


async def test_a_listener_that_left_is_forgotten() -> None:
    listeners: Listeners[int] = Listeners()
    stays = listeners.listen()

    async def read_one() -> int:
        async for event in listeners.listen():
            return event
        raise AssertionError("the stream ended")

    reading = asyncio.create_task(read_one())
    await asyncio.sleep(0)
    listeners.send(1)
    assert await reading == 1
    listeners.send(2)
    assert [await anext(stays), await anext(stays)] == [1, 2]


async def test_a_waiting_listener_is_woken_by_the_end() -> None:
    listeners: Listeners[int] = Listeners()
    stream = listeners.listen()

    async def read_all() -> list[int]:
        return [event async for event in stream]

    reading = asyncio.create_task(read_all())
    await asyncio.sleep(0)
    listeners.close()
    assert await reading == []
