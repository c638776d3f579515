"""What lies behind the screen, there from a moment after the first frame: the session and what shows it."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual import events
from textual.app import App

if TYPE_CHECKING:
    from tui.app.desk import Desk
    from tui.app.feed import Feed
    from tui.port import SessionPort


@dataclass(frozen=True, slots=True)
class Parts:
    """A session, the files on the desk, and the reader of events."""

    session: SessionPort
    desk: Desk
    feed: Feed


class Behind(App[int], inherit_bindings=False):
    """The part of the app that has, or waits for, its session."""

    _parts: Parts | None = None

    def _await_parts(self) -> None:
        """Called before the app runs: from now on keys that need the session wait for it."""
        self._there = asyncio.Event()

    @property
    def parts(self) -> Parts:
        """What came with the session; only asked for where it must be there."""
        if self._parts is None:
            raise RuntimeError("the session is not there yet")
        return self._parts

    @property
    def session(self) -> SessionPort:
        """The session."""
        return self.parts.session

    @property
    def desk(self) -> Desk:
        """The files on the desk."""
        return self.parts.desk

    @property
    def feed(self) -> Feed:
        """What reads the session's events."""
        return self.parts.feed

    async def on_event(self, event: events.Event) -> None:
        """Let what is typed into the composer through at once; have other keys and clicks, and all behind
        them, wait for the session, which is there in a moment."""
        if self._parts is None and isinstance(event, events.InputEvent) and not _needs_none(event):
            await self._there.wait()
            if self._parts is None:  # it could not be made: the app is about to end
                return
        await super().on_event(event)


def _needs_none(event: events.InputEvent) -> bool:
    if isinstance(event, events.Key):
        return event.is_printable or event.key == "backspace"
    return isinstance(event, events.MouseMove)
