"""Lets other processes of the user follow a session that this one has: the shell around the messages.

Runs on the event loop. Followers get every event, and may give the commands that a front end gives. The
session never waits for a follower: one that is too slow is cut off, and may come back.

What a follower needs besides the journal: the hunks in flight, and the states that are not journalled.
"""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from enum import StrEnum
from typing import Protocol

from session.base.events import (
    CommandEnded,
    CommandStarted,
    ConnectionChanged,
    Event,
    HunkAimed,
    HunkDropped,
    HunkLanded,
    HunkOpened,
    HunkRefused,
    HunkTyped,
    PhaseChanged,
    PromptSubmitted,
    TakeoverAsked,
    TurnEnded,
)
from session.record.journal.recorder import Recorder
from session.record.sharing.claim import Claim
from session.record.sharing.messages import (
    LONGEST_LINE,
    VERSION,
    AfterHunk,
    Answer,
    Hello,
    Interrupt,
    Lines,
    Message,
    MessageError,
    Queue,
    Refused,
    Submit,
    TakeOver,
    Told,
    Unqueue,
    Welcome,
    decode,
    encode,
)
from session.record.sharing.sockets import is_own, listen

MOST_PIECES = 20_000
"""The most pieces of a hunk that are kept."""


_SCOPES = ("", "session", "always")
"""For how long a yes holds."""


class CatchUp:
    """Remembers the events that tell how the running turn stands now."""

    def __init__(self) -> None:
        self.turn = ""
        """The running turn, or empty."""
        self._typed: dict[str, deque[HunkTyped]] = {}
        self._aimed: dict[str, HunkAimed] = {}
        self._phase: PhaseChanged | None = None
        self._link: ConnectionChanged | None = None

    def take(self, event: Event) -> None:
        """Something happened."""
        match event:
            case HunkTyped(hunk=hunk):
                if hunk in self._typed:
                    self._typed[hunk].append(event)
            case HunkOpened(hunk=hunk):
                self._typed[hunk] = deque(maxlen=MOST_PIECES)
            case HunkAimed(hunk=hunk):
                self._aimed[hunk] = event
            case HunkLanded(hunk=hunk) | HunkRefused(hunk=hunk) | HunkDropped(hunk=hunk):
                self._typed.pop(hunk, None)
                self._aimed.pop(hunk, None)
            case PhaseChanged():
                self._phase = event
            case ConnectionChanged():
                self._link = event
            case PromptSubmitted(turn=turn):
                self.turn = turn
            case TurnEnded(turn=turn):
                self._typed.clear()
                self._aimed.clear()
                self._phase = None
                if turn == self.turn:
                    self.turn = ""
            case _:
                pass

    def events(self) -> list[Event]:
        """The events that the journal does not have."""
        states = [each for each in (self._link, self._phase) if each is not None]
        typed = [piece for pieces in self._typed.values() for piece in pieces]
        return [*typed, *self._aimed.values(), *states]


MOST_FOLLOWERS = 8
MOST_BUFFERED = 16 << 20
"""Bytes that a follower may be behind."""
HELLO_SECONDS = 5.0
_LOGGER = logging.getLogger("spark.session")


class Presence(StrEnum):
    """Who is there for a session."""

    SCREEN = "screen"
    """A user at this process's own screen."""
    NOBODY = "nobody"
    """The screen is gone, and the turn goes on without it."""
    SCRIPT = "script"
    """Nobody ever was: the process runs one turn and ends (``spark exec``)."""


class Chosen(Protocol):
    """What a follower shows of the session's model."""

    @property
    def model(self) -> str:
        """The model's name."""
        ...

    @property
    def effort(self) -> str:
        """How long it may think."""
        ...

    @property
    def fast(self) -> bool:
        """Whether the provider's faster tier is used."""
        ...


class Shared(Protocol):
    """The part of a session that followers reach."""

    @property
    def models(self) -> Chosen:
        """What answers the session."""
        ...

    def submit(self, text: str, *, typed: str | None = None) -> None:
        """Send a prompt, of which the user typed ``typed`` or all, as a redirect while a turn runs."""
        ...

    def queue(self, text: str) -> None:
        """Send a prompt after the running turn."""
        ...

    def after_hunk(self, text: str) -> None:
        """Redirect once the hunk that is being typed has ended."""
        ...

    def unqueue(self, number: int | None = None) -> list[str]:
        """Take back the queued prompts, or the one with this number."""
        ...

    def interrupt(self) -> None:
        """Stop the running turn."""
        ...

    def answer(
        self,
        held: str,
        *,
        land: bool,
        rest: bool = False,
        why: str = "",
        new: Sequence[str] | None = None,
        scope: str = "",
    ) -> bool:
        """Answer what is held."""
        ...


class Host:
    """Serves the followers of one session."""

    def __init__(
        self,
        claim: Claim,
        session: Shared,
        recorder: Recorder,
        *,
        attended: bool,
    ) -> None:
        self._claim = claim
        self._session = session
        self._recorder = recorder
        self.presence = Presence.SCREEN if attended else Presence.SCRIPT
        self._catch_up = CatchUp()
        self._followers: set[asyncio.StreamWriter] = set()
        self._serving: set[asyncio.Task[None]] = set()
        self._socket: socket.socket | None = None
        self._accepting: asyncio.Task[None] | None = None
        self.on_followers: Callable[[int], None] = lambda number: None
        """Called with their number when a follower comes or goes."""
        self.silence: Callable[[], int] = lambda: -1
        """Seconds since the terminal should have answered; -1 where that is not known."""
        self._command = ""
        self._since = int(time.time())
        recorder.subscribe(self._published)

    @property
    def followers(self) -> int:
        """How many follow now."""
        return len(self._followers)

    def start(self) -> None:
        """Begin to accept followers. Where no socket can be made, nobody can follow, which is logged."""
        try:
            self._socket = listen(self._claim.socket)
        except OSError as problem:
            _LOGGER.warning("nobody can follow this session: %s: %s", self._claim.socket, problem)
            return
        self._accepting = asyncio.create_task(self._accept(self._socket), name="accepting followers")

    @property
    def followed(self) -> bool:
        """Whether another process follows the session."""
        return bool(self._followers)

    async def close(self) -> None:
        """Cut all followers off. Whatever was published before reaches them."""
        if self._accepting is not None:
            self._accepting.cancel()
        if self._socket is not None:
            with suppress(OSError):
                self._claim.socket.unlink()
            self._socket.close()
            self._socket = None
        for writer in list(self._followers):
            writer.close()
        if self._serving:
            _, late = await asyncio.wait(self._serving, timeout=1.0)
            for task in late:
                task.cancel()

    async def _accept(self, listening: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        while True:
            try:
                connected, _ = await loop.sock_accept(listening)
            except OSError as problem:  # such as too many open files
                _LOGGER.warning("a follower could not be accepted: %s", problem)
                await asyncio.sleep(1.0)
                continue
            if not is_own(connected) or len(self._serving) >= MOST_FOLLOWERS:
                connected.close()
                continue
            task = asyncio.create_task(self._serve(connected), name="serving a follower")
            self._serving.add(task)
            task.add_done_callback(self._serving.discard)

    async def _serve(self, connected: socket.socket) -> None:
        reader, writer = await asyncio.open_unix_connection(sock=connected)
        lines = Lines()
        try:
            async with asyncio.timeout(HELLO_SECONDS):
                waiting = await self._first(reader, lines)
            hello = decode(waiting.pop(0))
            if not isinstance(hello, Hello):
                raise MessageError("the first message is not a hello")
            if hello.version != VERSION:
                raise MessageError(f"version {hello.version} is not {VERSION}")
            self._welcome(writer)
            while True:
                for line in waiting:
                    self._take(decode(line), hello.pid, writer)
                data = await reader.read(1 << 16)
                if not data:
                    break
                waiting = lines.feed(data)
        except MessageError as problem:
            writer.write(encode(Refused(f"{problem}: is it another version of spark?")))
        except (OSError, TimeoutError):
            return  # it is gone
        finally:
            if writer in self._followers:
                self._followers.discard(writer)
                self.on_followers(len(self._followers))
            writer.close()

    async def _first(self, reader: asyncio.StreamReader, lines: Lines) -> list[bytes]:
        while True:
            data = await reader.read(LONGEST_LINE)
            if not data:
                raise ConnectionResetError
            if found := lines.feed(data):
                return found

    def _welcome(self, writer: asyncio.StreamWriter) -> None:
        """Say where the session stands, and tell all that happens from now on: nothing comes in between."""
        events, chosen = self._catch_up.events(), self._session.models
        part, position = self._recorder.position()
        welcome = Welcome(
            version=VERSION,
            pid=os.getpid(),
            session=self._claim.name,
            presence=self.presence.value,
            silent=self.silence(),
            turn=self._catch_up.turn,
            runs=self._runs,
            since=self._since,
            part=part,
            journal=position,
            caught_up=len(events),
            model=chosen.model,
            effort=chosen.effort,
            fast=chosen.fast,
        )
        told: list[Message] = [welcome, *map(Told, events)]
        writer.write(b"".join(map(encode, told)))
        self._followers.add(writer)
        self.on_followers(len(self._followers))

    @property
    def _runs(self) -> str:
        return "a turn" if self._catch_up.turn else "a command" if self._command else ""

    def _take(self, message: Message | None, pid: int, writer: asyncio.StreamWriter) -> None:
        session = self._session
        match message:
            case Submit(text=text, typed=typed):
                session.submit(text, typed=typed)
            case Queue(text=text):
                session.queue(text)
            case AfterHunk(text=text):
                session.after_hunk(text)
            case Unqueue(number=number):
                session.unqueue(number)
            case Interrupt():
                session.interrupt()
            case Answer():
                if message.scope not in _SCOPES:
                    raise MessageError(f"no answer holds for {message.scope!r}")
                session.answer(
                    message.held,
                    land=message.land,
                    rest=message.rest,
                    why=message.why,
                    new=message.new,
                    scope=message.scope,
                )
            case TakeOver():
                self._asked_to_hand_over(pid, writer)
            case _:
                raise MessageError("this message is not a follower's")

    def _asked_to_hand_over(self, pid: int, writer: asyncio.StreamWriter) -> None:
        match self.presence:
            case Presence.SCREEN:
                self._recorder.publish(TakeoverAsked(pid=pid))
            case Presence.NOBODY:
                # It is handed over as soon as nothing runs any more.
                self._session.unqueue()
                self._session.interrupt()
            case Presence.SCRIPT:
                why = "spark exec ends by itself after its turn, and can be stopped; then the session is free"
                writer.write(encode(Refused(why)))

    def _published(self, event: Event) -> None:
        before = self._runs
        self._catch_up.take(event)
        match event:
            case CommandStarted(command=command):
                self._command = command
            case CommandEnded(command=command) if command == self._command:
                self._command = ""
            case _:
                pass
        if self._runs and not before:
            self._since = int(time.time())
        # Who is asked to make room is this process, not the followers.
        if not self._followers or isinstance(event, TakeoverAsked):
            return
        line = encode(Told(event))
        for writer in list(self._followers):
            if writer.transport.get_write_buffer_size() > MOST_BUFFERED:
                writer.transport.abort()
            else:
                writer.write(line)
