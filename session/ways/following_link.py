"""The link to the process that has a session: joined by blocking calls, then read on the event loop."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from dataclasses import fields, replace
from pathlib import Path

from session.base.events import Event, OwnerGone, TakeoverAsked
from session.base.text.sanitize import clean, clean_line
from session.record.sharing.claim import SOCKET, open_elsewhere
from session.record.sharing.messages import (
    VERSION,
    Hello,
    Lines,
    Message,
    MessageError,
    Refused,
    TakeOver,
    Told,
    Welcome,
    decode,
    encode,
)
from session.record.sharing.sockets import connect
from session.record.sharing.standing import Elsewhere

ANSWERS_WITHIN = 3.0
"""Seconds in which a process that has a session answers, unless it is stopped."""
MOST_CAUGHT_UP = 500_000
"""The most events that the other process may put before the live ones."""


class NobodyAnswersError(Exception):
    """The process that has the session does not answer, or not as spark would."""


class Link:
    """A joined session: ``welcome`` says where it stands, ``caught_up`` what its journal does not have."""

    def __init__(self, path: Path, seconds: float) -> None:
        """Blocks for ``seconds`` at most, a few times. Raises NobodyAnswersError."""
        self._lines = Lines()
        self._early: list[bytes] = []
        """Lines that were read and not yet handed on."""
        self._unsent: list[Message] = []
        """Commands that came before there was a writer."""
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None
        try:
            self._socket = connect(path, seconds)
        except OSError as problem:
            raise NobodyAnswersError(str(problem)) from problem
        try:
            self._socket.sendall(encode(Hello(VERSION, os.getpid())))
            self.welcome = self._welcomed()
            self.caught_up = [self._next_event() for _ in range(self.welcome.caught_up)]
        except (OSError, MessageError) as problem:
            self._socket.close()
            raise NobodyAnswersError(str(problem)) from problem

    def leave(self) -> None:
        """End the link. It may not have been opened."""
        if self._writer is not None:
            self._writer.close()
        else:
            self._socket.close()

    def send(self, message: Message) -> None:
        """Give a command; it is lost where the other process has just ended."""
        if self._writer is None:
            self._unsent.append(message)
        elif not self._writer.is_closing():
            with suppress(OSError):
                self._writer.write(encode(message))

    def send_now(self, message: Message) -> None:
        """Give a command before the link is opened; it is lost where the other process has just ended."""
        with suppress(OSError):
            self._socket.sendall(encode(message))

    async def messages(self) -> AsyncIterator[Told | Refused]:
        """What the other process tells, until it ends or says what is no message."""
        self._reader, self._writer = await asyncio.open_unix_connection(sock=self._socket)
        for message in self._unsent:
            self.send(message)
        try:
            waiting, self._early = self._early, []
            while True:
                for line in waiting:
                    told = decode(line)
                    if isinstance(told, Told) and not isinstance(told.event, TakeoverAsked | OwnerGone):
                        yield Told(cleaned(told.event))
                    elif isinstance(told, Refused):
                        yield Refused(clean_line(told.why))
                data = await self._reader.read(1 << 16)
                if not data:
                    return
                waiting = self._lines.feed(data)
        except (OSError, MessageError):
            return
        finally:
            self._writer.close()

    def _welcomed(self) -> Welcome:
        first = decode(self._next_line())
        if isinstance(first, Refused):
            raise MessageError(clean_line(first.why))
        if not isinstance(first, Welcome) or first.version != VERSION:
            raise MessageError("it is another version of spark")
        if not 0 <= first.caught_up <= MOST_CAUGHT_UP or first.journal < 0:
            raise MessageError("its welcome cannot be read")
        return replace(
            first,
            model=clean_line(first.model),
            effort=clean_line(first.effort),
            turn=clean_line(first.turn),
        )

    def _next_event(self) -> Event:
        message = decode(self._next_line())
        if not isinstance(message, Told):
            raise MessageError("an event was expected")
        return cleaned(message.event)

    def _next_line(self) -> bytes:
        while not self._early:
            data = self._socket.recv(1 << 16)
            if not data:
                raise ConnectionResetError("the process has ended")
            self._early = self._lines.feed(data)
        return self._early.pop(0)


def look_elsewhere(live: Path) -> Iterator[Elsewhere]:
    """The sessions that other processes have, the newest first. Blocks for as long as they take to answer;
    one that does not answer is left out."""
    for name in open_elsewhere(live):
        with suppress(NobodyAnswersError):
            link = Link(live / f"{name}{SOCKET}", ANSWERS_WITHIN)
            link.leave()
            yield Elsewhere.told(link.welcome)


def ask_to_hand_over(live: Path, name: str) -> None:
    """Ask the process that has the session ``name`` to give it up once its turn is over. Blocks."""
    with suppress(NobodyAnswersError):  # it has ended, or whoever resumes the session is told
        link = Link(live / f"{name}{SOCKET}", ANSWERS_WITHIN)
        link.send_now(TakeOver())
        link.leave()


def cleaned(event: Event) -> Event:
    """``event`` with its texts as they may be shown, whatever the other process sent."""
    values: dict[str, str | tuple[str, ...]] = {}
    for field in fields(event):
        value = getattr(event, field.name)
        if isinstance(value, str):
            values[field.name] = clean(value)
        elif isinstance(value, tuple):
            values[field.name] = tuple(clean(each) for each in value)
    return replace(event, **values)
