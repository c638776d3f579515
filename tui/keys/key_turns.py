"""Lets each key find the screen that the key before it left.

Several keys in one read are normal over a slow line. A key is handled by the widget that has the focus,
in a queue of its own, and what it does there may move the focus or close a screen. So the next key waits
until that is done, and until a screen that was just opened takes keys.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from textual import events
from textual.app import App
from textual.message_pump import MessagePump
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import TextArea

if TYPE_CHECKING:
    from collections.abc import Iterator

NEVER_WAIT = frozenset({"escape", "alt+escape", "ctrl+c"})
"""Keys that stop the turn."""
PATIENCE = 2.0
"""Seconds after which a key waits no longer for what the one before it does."""
ROUNDS = 2
"""What a key causes in a widget is a message of its own behind the key."""


@runtime_checkable
class Opening(Protocol):
    """A screen that takes keys only some time after it was opened."""

    takes_keys: asyncio.Event
    """Set once there is something that takes keys, or the screen is closed."""


class KeyTurns:
    """The order of the keys of one app. :meth:`before` is awaited with each key, by the app alone."""

    def __init__(self, app: App[int]) -> None:
        self._app = app
        self._last: Widget | None = None
        """What may still be at work on the key before."""

    async def before(self, key: events.Key) -> bool:
        """Wait until ``key`` can be handled; false where the app has left meanwhile."""
        if key.key in NEVER_WAIT:
            return bool(self._app.screen_stack)
        last, self._last = self._last, None
        try:
            async with asyncio.timeout(PATIENCE):
                if last is not None:
                    for _ in range(ROUNDS):
                        for node in _up_to_screen(last):
                            await _drained(node)
                if self._app.screen_stack and isinstance(screen := self._app.screen, Opening):
                    await screen.takes_keys.wait()
        except TimeoutError:
            pass  # it takes long, as a search does: keys go on meanwhile
        if not self._app.screen_stack:
            return False
        focused = self._app.focused or self._app.screen
        if not (key.is_printable and isinstance(focused, TextArea)):  # text does nothing but stand there
            self._last = focused
        return True


def _up_to_screen(widget: Widget) -> Iterator[MessagePump]:
    for node in widget.ancestors_with_self:
        yield node
        if isinstance(node, Screen):
            return


async def _drained(node: MessagePump) -> None:
    """Wait until ``node`` has handled what is in its queue."""
    done = asyncio.Event()
    if node.is_running and node.call_later(done.set):
        await done.wait()
