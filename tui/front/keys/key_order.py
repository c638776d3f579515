"""Runs keys in the order in which they were pressed, each on the screen that the key before it left.

Textual passes a bound key to the app first and looks up the binding from there. Characters read together with
it, as over a slow line, are inserted meanwhile: ``a``, Backspace, ``b`` would become ``a``.

Several keys in one read are normal over a slow line. A key is handled by the widget that has the focus, in a
queue of its own, and what it does there may move the focus or close a screen. So the next key waits until
that is done, and until a screen that was just opened takes keys. Only a key that stops the turn ends the wait
early. Keys behind one that leaves for another session are held, and go to that session.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from functools import cache
from time import monotonic
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from textual import events
from textual.app import App
from textual.binding import Binding
from textual.message import Message
from textual.message_pump import MessagePump
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import TextArea

if TYPE_CHECKING:
    from collections.abc import Coroutine, Iterator


AT_LAST = 2.0
"""Seconds for which Ctrl+C and quitting wait for a pane to take what was typed before."""
NEVER_WAIT = frozenset({"escape", "alt+escape", "ctrl+c"})
"""Keys that stop the turn."""
PATIENCE = 1.0
"""Seconds after which a key that stops the turn is no longer kept waiting by the keys before it. Those then
go to what has the focus, whatever is still at work. Without such a key nothing limits the wait."""
ROUNDS = 2
"""What a key causes in a widget is a message of its own behind the key."""
LOOK = 0.1
"""Seconds after which to look whether what is waited for has been closed: then it handles nothing more."""


def after_typing(app: App[Any], call: Callable[[], object]) -> None:
    """Call after what was typed before the key: keys that work anywhere overtake typing."""
    if app.focused is None or not app.focused.call_later(call):
        app.call_later(call)


def after_typing_at_last(app: App[Any], call: Callable[[], Awaitable[object]]) -> None:
    """Call after what was typed before the key, as :func:`after_typing`, but call within ``AT_LAST`` seconds:
    a pane that hangs must not keep the user from leaving."""
    called = False

    async def once() -> None:
        nonlocal called
        if not called:
            called = True
            await call()

    after_typing(app, once)
    asyncio.get_running_loop().call_later(AT_LAST, lambda: called or app.call_later(once))


async def typed(app: App[Any]) -> None:
    """Wait until what was typed before is handled: by the app, and then by what has the focus."""
    for node in (app, app.focused or app):
        done = asyncio.Event()
        if node.call_later(done.set):
            await done.wait()


def hand_on(to: Widget, event: events.Key | events.Paste) -> None:
    """Pass what was typed or pasted elsewhere to a widget, behind what went there by itself."""
    again = (
        events.Key(event.key, event.character) if isinstance(event, events.Key) else events.Paste(event.text)
    )
    to.post_message(again)


@cache
def own_actions(kind: type[Widget]) -> Mapping[str, str]:
    """The actions of the keys bound in a widget class and its parents."""
    return {
        binding.key: binding.action
        for parent in reversed(kind.__mro__)
        for binding in Binding.make_bindings(parent.__dict__.get("BINDINGS", ()))
    }


async def run_key_in_order(widget: Widget, event: events.Key) -> None:
    """Run the action that the key is bound to in ``widget``; call it from the widget's ``on_key``."""
    action = own_actions(type(widget)).get(event.key)
    if action is not None:
        event.stop()
        event.prevent_default()
        await widget.run_action(action)


@runtime_checkable
class Opening(Protocol):
    """A screen that takes keys only some time after it was opened."""

    takes_keys: asyncio.Event
    """Set once there is something that takes keys, or the screen is closed."""


class KeyTurns:
    """The order of the keys of one app. :meth:`before` is awaited with each key and paste, by the app
    alone."""

    def __init__(self, app: App[int]) -> None:
        self._app = app
        self._at_work: tuple[MessagePump, ...] = ()
        """What may still be at work on the key before: a widget and all around it, up to its screen."""
        self._stopping = asyncio.Event()
        """Set while a key that stops the turn waits for those before it."""
        self._stops: list[float] = []
        """When such keys came, which had no turn yet."""
        self.held: list[events.Key | events.Paste] = []
        """The keys that are held, in order."""
        self.helpers: tuple[MessagePump, ...] = ()
        """Panes that keys hand work to wherever the focus is: F8 opens a file in the editor."""
        self.read_at = 0.0
        """When the key was read that acts now, or acted last."""
        self._holding = False

    def hold(self, *before: events.Key | events.Paste) -> None:
        """From now on hold the keys, behind those that were held ``before``."""
        self._holding = True
        self.held.extend(before)

    def release(self) -> None:
        """Handle what is held before anything that comes from now on."""
        if self._holding and not self._app.call_later(self._replay):
            self._holding = False

    async def _replay(self) -> None:
        """Handle what is held, up to a key that begins to hold again."""
        waiting, self.held, self._holding = self.held, [], False
        while waiting and not self._holding:
            await self._app.on_event(waiting.pop(0))
        self.held += waiting

    def coming(self, message: Message) -> bool:
        """Take note of a message that the app has yet to handle; always true."""
        if isinstance(message, events.Key) and message.key in NEVER_WAIT and not message.is_forwarded:
            self._stops.append(monotonic())
            self._stopping.set()
        return True

    async def before(self, event: events.Key | events.Paste) -> bool:
        """Wait until a key or a paste can be handled; false where it is held, or the app has left."""
        if isinstance(event, events.Key) and event.key in NEVER_WAIT:
            del self._stops[:1]
            if not self._stops:
                self._stopping.clear()
            return bool(self._app.screen_stack)
        if not self._holding:
            at_work, self._at_work = self._at_work, ()
            await self._unless_stopping(self._settled(at_work))
        if self._holding:
            self.held.append(event)
        if self._holding or not self._app.screen_stack:
            return False
        self.read_at = event.time
        focused = self._app.focused or self._app.screen
        text = isinstance(event, events.Paste) or event.is_printable
        if not (text and isinstance(focused, TextArea)):  # text does nothing but stand there
            self._at_work = tuple(_up_to_screen(focused))
        return True

    async def _unless_stopping(self, work: Coroutine[None, None, None]) -> None:
        """Await ``work``, but no longer than a key that stops the turn may be kept waiting."""
        tasks = {asyncio.create_task(work), asyncio.create_task(self._stop_waited())}
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
        for task in done:
            task.result()

    async def _stop_waited(self) -> None:
        await self._stopping.wait()
        await asyncio.sleep(self._stops[0] + PATIENCE - monotonic())

    async def _settled(self, at_work: tuple[MessagePump, ...]) -> None:
        """Wait until the key before is handled, and until there is something that takes the next one."""
        for _ in range(ROUNDS):
            for node in (*at_work, *self.helpers) if at_work else ():
                await self._drained(node)
        if not self._app.screen_stack:
            return
        screen = self._app.screen
        if at_work and at_work[-1] not in self._app.screen_stack:
            # The key closed its screen, and may have opened a file in a pane behind it.
            for node in screen.walk_children(with_self=True):
                await self._drained(node)
        if isinstance(screen, Opening):
            await self._set(screen.takes_keys, screen)

    async def _drained(self, node: MessagePump) -> None:
        """Wait until ``node`` has handled what is in its queue."""
        done = asyncio.Event()
        if node.is_running and node.call_later(done.set):
            await self._set(done, node)

    async def _set(self, event: asyncio.Event, node: MessagePump) -> None:
        """Wait until ``node`` has set ``event``, or is closed."""
        while not event.is_set() and node.is_running and self._app.is_running:
            with suppress(TimeoutError):
                async with asyncio.timeout(LOOK):
                    await event.wait()


def _up_to_screen(widget: Widget) -> Iterator[MessagePump]:
    for node in widget.ancestors_with_self:
        yield node
        if isinstance(node, Screen):
            return
