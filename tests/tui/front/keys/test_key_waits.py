"""What a key waits for, in an app of nothing but a field: what is at work, and a screen that opens."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from textual import events
from textual.app import App, ComposeResult
from textual.message_pump import MessagePump
from textual.screen import Screen
from textual.widgets import Input

from tui.front.keys import key_order
from tui.front.keys.key_order import KeyTurns

TURNS = 30
"""Turns of the event loop after which what can happen has happened."""


class Field(App[int]):
    def compose(self) -> ComposeResult:
        yield Input()


def key(name: str) -> events.Key:
    return events.Key(name, name if len(name) == 1 else None)


class Waits:
    """The order of the keys of one app, and a key that waits for its turn."""

    def __init__(self, app: Field) -> None:
        self.app = app
        self.turns = KeyTurns(app)
        self.go_on = asyncio.Event()
        self._comes: asyncio.Task[bool] | None = None

    def busy(self, node: MessagePump) -> None:
        """From now on ``node`` handles one message, until it may go on."""
        node.call_later(self.go_on.wait)

    async def waits(self) -> bool:
        """Whether the next key waits."""
        if self._comes is None:
            self._comes = asyncio.create_task(self.turns.before(key("b")))
        for _ in range(TURNS):
            await asyncio.sleep(0)
        return not self._comes.done()

    async def came(self) -> bool:
        """What became of the key that waited."""
        assert self._comes is not None
        async with asyncio.timeout(20):
            return await self._comes


@asynccontextmanager
async def waiting() -> AsyncIterator[Waits]:
    app = Field()
    async with app.run_test():
        it = Waits(app)
        yield it
        it.go_on.set()


@pytest.mark.parametrize("where", ["field", "screen", "helper", "elsewhere"])
async def test_a_key_waits_for_the_field_of_the_key_before_it_and_all_around_that(where: str) -> None:
    async with waiting() as it:
        await it.app.push_screen(Screen())  # what is below is not around it
        below = it.app.screen_stack[0]
        await it.app.pop_screen()
        it.app.query_one(Input).focus()
        other = Screen[None]()
        nodes = {"field": it.app.query_one(Input), "screen": below, "helper": it.app.query_one(Input)}
        if where == "helper":
            it.app.set_focus(None)
            it.turns.helpers = (nodes[where],)
        assert await it.turns.before(key("a"))
        it.busy(nodes.get(where, other))
        assert await it.waits() == (where != "elsewhere")
        it.go_on.set()
        assert await it.came()


async def test_the_first_key_waits_for_nothing() -> None:
    async with waiting() as it:
        it.turns.helpers = (it.app.query_one(Input),)
        it.busy(it.app.query_one(Input))
        assert not await it.waits() and await it.came()


@pytest.mark.parametrize(("patience", "waits"), [(3600.0, True), (0.0, False)])
async def test_a_key_that_stops_the_turn_ends_the_wait_after_a_while(
    patience: float, waits: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(key_order, "PATIENCE", patience)
    async with waiting() as it:
        await it.turns.before(key("a"))
        it.busy(it.app.query_one(Input))
        assert await it.waits()
        it.turns.coming(key("escape"))
        assert await it.waits() == waits
        if waits:  # nothing but its own turn or the end of the work ends it
            it.go_on.set()
        assert await it.came()


async def test_a_stop_key_that_had_its_turn_ends_no_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(key_order, "PATIENCE", 0.0)
    async with waiting() as it:
        it.turns.coming(key("ctrl+c"))
        assert await it.turns.before(key("ctrl+c"))
        await it.turns.before(key("a"))
        it.busy(it.app.query_one(Input))
        assert await it.waits()
        it.go_on.set()
        assert await it.came()


@pytest.mark.parametrize("where", ["the screen behind", "its field"])
async def test_behind_a_key_that_closes_its_screen_the_next_waits_for_the_screen_behind(where: str) -> None:
    async with waiting() as it:
        behind = it.app.screen
        await it.app.push_screen(Screen())
        await it.turns.before(key("a"))
        await it.app.pop_screen()
        it.busy(behind if where == "the screen behind" else behind.query_one(Input))
        assert await it.waits()
        it.go_on.set()
        assert await it.came()


async def test_a_screen_that_opens_takes_the_next_key_once_it_can() -> None:
    class Opens(Screen[None]):
        takes_keys = asyncio.Event()

    async with waiting() as it:
        await it.app.push_screen(screen := Opens())
        assert await it.waits()
        screen.takes_keys.set()
        assert await it.came()


async def test_what_is_closed_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(key_order, "LOOK", 0.01)
    async with waiting() as it:
        await it.turns.before(key("a"))
        field = it.app.query_one(Input)
        it.busy(field)
        assert await it.waits()
        it.go_on.set()
        await field.remove()
        assert await it.came()


async def test_keys_are_held_and_released_in_their_order(monkeypatch: pytest.MonkeyPatch) -> None:
    async with waiting() as it:
        handled: list[str] = []
        others = it.app.on_event

        async def on_event(event: events.Event) -> None:
            if not isinstance(event, events.Key):
                return await others(event)
            handled.append(event.key)
            if event.key == "h":
                it.turns.hold()
            return None

        monkeypatch.setattr(it.app, "on_event", on_event)
        it.turns.hold(key("x"))
        for name in ("y", "h", "z"):
            assert not await it.turns.before(key(name))
        assert await it.turns.before(key("escape")), "a key that stops the turn is never held"
        assert [event.key for event in it.turns.held if isinstance(event, events.Key)] == ["x", "y", "h", "z"]
        it.turns.release()
        for _ in range(TURNS):
            await asyncio.sleep(0)
        assert handled == ["x", "y", "h"], "the third begins to hold again"
        assert not await it.turns.before(key("w"))
        assert [event.key for event in it.turns.held if isinstance(event, events.Key)] == ["z", "w"]
        it.turns.release()
        it.turns.release()
        for _ in range(TURNS):
            await asyncio.sleep(0)
        assert handled == ["x", "y", "h", "z", "w"] and it.turns.held == []
        assert await it.turns.before(key("v"))
