"""A session whose screen is gone: its turn goes on to its end or a limit, and whoever follows takes over."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator
from contextlib import suppress

from session.base.events import CommandEnded, Event, HunkLanded, Notice, TurnEnded
from session.base.storage.private_files import StoreError
from session.record.sharing.host import Presence
from session.record.sharing.unattended import Signal, State, Unattended, leave_word
from session.session import Session
from tui.screen.terminal.signals import CommandSignals, StandardStreams

ASKED_TO_END = (signal.SIGINT, signal.SIGTERM, signal.SIGQUIT)


async def carry_on(session: Session, seconds: float, why: str, streams: StandardStreams) -> None:
    """Let the turns of ``session`` go on without a screen, alone for at most ``seconds``; then close it.

    ``why`` says what became of the screen. A signal stops the turn, and SIGHUP lets go of the terminal.
    """
    host = session.standing.host
    if host is None:
        raise ValueError("only the process that has a session carries it on")
    signals: asyncio.Queue[Signal] = asyncio.Queue()
    tell = signals.put_nowait
    host.presence = Presence.NOBODY
    host.on_followers = lambda number: tell(Signal.JOINED if number else Signal.LEFT)
    life = Unattended(followed=bool(host.followers))
    outcome = _Outcome()
    counting = asyncio.create_task(outcome.count(session.listen()), name="counting")
    settling = asyncio.create_task(session.settled(), name="waiting for the turn")
    settling.add_done_callback(lambda _: tell(Signal.IDLE))
    session.publish(Notice("info", f"{why}; what runs goes on without a screen for at most {_said(seconds)}"))
    before = signal.signal(signal.SIGHUP, lambda number, frame: streams.let_go())
    try:
        with CommandSignals(lambda: tell(Signal.END), ASKED_TO_END) as asked:
            clock = _Clock(seconds, signals)
            clock.run(life.state is State.ALONE)
            while life.state is not State.OVER:
                happened = await signals.get()
                if not life.advance(happened):
                    continue
                clock.run(life.state is State.ALONE)
                if life.state is State.ENDING:
                    _stop(session, happened, seconds)
            followed = bool(host.followers)
            await session.close()
            await counting
            if not followed and asked.code is None:
                with suppress(StoreError):
                    leave_word(session.folders.live, session.name, outcome.line)
    finally:
        signal.signal(signal.SIGHUP, before)


def _stop(session: Session, why: Signal, seconds: float) -> None:
    if why is Signal.LIMIT:
        told = f"the turn was stopped: it did not end within {_said(seconds)}, and nobody followed it"
        session.publish(Notice("warning", told))
    session.unqueue()
    session.interrupt()


def _said(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} seconds"
    return f"{seconds / 60:.0f} minutes"


class _Clock:
    """Sends ``Signal.LIMIT`` once it has run for so many seconds without a break."""

    def __init__(self, seconds: float, signals: asyncio.Queue[Signal]) -> None:
        self._seconds = seconds
        self._signals = signals
        self._timer: asyncio.TimerHandle | None = None

    def run(self, on: bool) -> None:
        """Start from the beginning, or stop."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if on:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(self._seconds, self._signals.put_nowait, Signal.LIMIT)


class _Outcome:
    """What came of the turns that nobody saw."""

    def __init__(self) -> None:
        self._landed = 0
        self._status = ""
        self._commands: list[str] = []

    async def count(self, events: AsyncIterator[Event]) -> None:
        """Follow the session to its end."""
        async for event in events:
            if isinstance(event, HunkLanded):
                self._landed += 1
            elif isinstance(event, CommandEnded):
                self._commands.append(f"!{event.line}: {event.how}")
            elif isinstance(event, TurnEnded):
                self._status = event.status

    @property
    def line(self) -> str:
        """For the user, as in ``completed, 3 hunks landed``."""
        told = list(self._commands)
        if self._status or self._landed or not told:
            hunks = f"{self._landed} hunk{'' if self._landed == 1 else 's'}"
            told.insert(0, f"{self._status or 'ended'}, {hunks} landed")
        return "; ".join(told)
