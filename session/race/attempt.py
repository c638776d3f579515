"""One attempt: an ordinary turn on a connection of its own, whose hunks land in files of its own.

All attempts of a race share one preparation, so that their requests share a prefix.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import replace

from context.text.tokens import Counter
from session.base.events import (
    Event,
    HunkLanded,
    HunkRefused,
    HunkTyped,
    ReasoningDelta,
    TextDelta,
    TurnEnded,
    TurnStarted,
    Usage,
)
from session.project.edit_thread import EditThread
from session.race.attempt_files import AttemptFiles
from session.race.plan import Variation
from session.tools.toolbox import Toolbox
from session.turn.lane import Lane
from session.turn.prepared import PreparedRequest, Prepares
from session.turn.runner import Runner
from session.turn.tool_calls import Calls
from session.turn.turn import Turn
from session.turn.turn_memory import TurnMemory
from session.wire.input_items import developer_message
from session.wire.link.connection import Connection


class SharedPreparation:
    """Prepares once, with the first attempt that asks; the others get the same request."""

    def __init__(self, preparation: Prepares) -> None:
        self.base = preparation
        self._alone = asyncio.Lock()
        self._prepared: PreparedRequest | None = None

    async def prepare(self, prompt: str, memory: TurnMemory) -> PreparedRequest:
        """The request, as :meth:`Prepares.prepare` makes it."""
        async with self._alone:
            if self._prepared is None:
                self._prepared = await self.base.prepare(prompt, memory)
            return self._prepared


class AttemptPreparation:
    """The preparation of one attempt: the shared request, and after it the attempt's own hint."""

    def __init__(self, shared: SharedPreparation, hint: str) -> None:
        self._shared = shared
        self._hint = hint
        self.prepared: PreparedRequest | None = None
        """The request as it went out last."""

    @property
    def counter(self) -> Counter:
        """See :class:`Prepares`."""
        return self._shared.base.counter

    @property
    def instruction_tokens(self) -> int:
        """See :class:`Prepares`."""
        return self._shared.base.instruction_tokens

    def count(self, text: str) -> int:
        """See :class:`Prepares`."""
        return self._shared.base.count(text)

    def file_text(self, path: str) -> str | None:
        """See :class:`Prepares`. An attempt's own edits are not on disk: it is told the text without them."""
        return self._shared.base.file_text(path)

    async def prepare(self, prompt: str, memory: TurnMemory, share: float = 1.0) -> PreparedRequest:
        """See :class:`Prepares`. A smaller share is prepared for the attempt alone."""
        shared = self._shared
        whole = share == 1.0
        made = await (shared.prepare(prompt, memory) if whole else shared.base.prepare(prompt, memory, share))
        if self._hint:
            tokens = made.tokens + self.count(self._hint)
            made = replace(made, items=(*made.items, developer_message(self._hint)), tokens=tokens)
        self.prepared = made
        return made


CHARACTERS_PER_TOKEN = 4
"""Characters that count as a token until the server has counted."""


class Meter:
    """What an attempt has done so far, read from its events."""

    def __init__(self, started: Callable[[TurnStarted], None]) -> None:
        self._on_start = started
        self._began = 0.0
        self._heard = time.monotonic()
        self._characters = 0
        self._counted: Usage | None = None
        self.input_tokens = 0
        self.hunks = 0
        self.refused = 0
        self._first_refusal: HunkRefused | None = None
        self.said: list[str] = []
        """The pieces of the answer's text."""
        self.ended: TurnEnded | None = None

    def publish(self, event: Event) -> None:
        """See :class:`Publisher`."""
        self._heard = time.monotonic()
        match event:
            case TurnStarted(input_tokens=tokens):
                self.input_tokens = tokens
                self._began = time.monotonic()
                self._on_start(event)
            case TextDelta(text=text):
                self.said.append(text)
                self._characters += len(text)
            case HunkTyped(text=text) | ReasoningDelta(text=text):
                self._characters += len(text)
            case HunkLanded():
                self.hunks += 1
            case HunkRefused():
                self.refused += 1
                self._first_refusal = self._first_refusal or event
            case Usage():
                self._counted = event
                self._characters = 0
            case TurnEnded():
                self.ended = event
            case _:
                pass

    @property
    def silent(self) -> float:
        """Seconds since it was heard of last."""
        return time.monotonic() - self._heard

    @property
    def output_tokens(self) -> int:
        """Output tokens so far; those of a response that still streams are estimated."""
        counted = self._counted.output_tokens if self._counted is not None else 0
        return counted + self._characters // CHARACTERS_PER_TOKEN

    @property
    def tokens(self) -> int:
        """All tokens so far, with the input of the response that streams."""
        counted = self._counted.input_tokens if self._counted is not None else 0
        running = self.input_tokens if self._characters or self._counted is None else 0
        return counted + running + self.output_tokens

    @property
    def refusals(self) -> str:
        """How many hunks were refused, and why the first of them was; empty where none was."""
        first = self._first_refusal
        if first is None:
            return ""
        where = "" if first.path in first.message else f"{first.path}: "
        many = "1 hunk was refused" if self.refused == 1 else f"{self.refused} hunks were refused, the first"
        return f"{many}: {where}{first.message}"

    @property
    def rate(self) -> float:
        """Output tokens a second since the request went out."""
        took = time.monotonic() - self._began
        return self.output_tokens / took if self._began and took > 0.05 else 0.0

    @property
    def usage(self) -> Usage | None:
        """What was counted, or None before the first response has ended."""
        return self._counted


class Attempt:
    """One attempt of a race. Everything runs on the event loop."""

    def __init__(
        self,
        number: int,
        name: str,
        prompt: str,
        variation: Variation,
        *,
        session: str,
        connection: Connection,
        preparation: AttemptPreparation,
        memory: TurnMemory,
        files: AttemptFiles,
        thread: EditThread,
        toolbox: Toolbox,
        started: Callable[[TurnStarted], None],
    ) -> None:
        """``memory`` is the attempt's own copy; ``started`` is called when its request goes out."""
        self.number = number
        self.prompt = prompt
        self.variation = variation
        self.files = files
        self.memory = memory
        self.meter = Meter(started)
        self._preparation = preparation
        self._connection = connection
        self._closing: asyncio.Task[None] | None = None
        lane = Lane(name, writer=files, thread=thread, recorder=self.meter, attended=False, review=False)
        counter = variation.preparation.counter
        self._runner = Runner(
            Turn(name),
            prompt,
            session=session,
            connection=connection,
            offline="",
            preparation=preparation,
            memory=memory,
            lane=lane,
            calls=Calls(name, toolbox, counter, self.meter, attended=False),
            chosen=variation.chosen,
            recorder=self.meter,
        )

    async def run(self) -> str:
        """Answer the prompt. Returns why that failed, or nothing. The connection is closed afterwards."""
        try:
            await self._runner.run()
        finally:
            self._close()
        ended = self.meter.ended
        if ended is None or ended.status == "completed":
            return ""
        return ended.message or ended.status

    def cut(self) -> None:
        """Drop the connection now: its socket is closed before this returns."""
        self._close()  # first, so that nothing is dialled in the place of what is dropped
        self._runner.interrupt()

    def remember(self, memory: TurnMemory) -> None:
        """Make the conversation of this attempt that of the session, whose ``memory`` is as it was when the
        attempt began."""
        prepared = self._preparation.prepared
        if prepared is None:
            return
        prepared.commit(memory)
        mine, shared = self.memory.conversation, memory.conversation
        shared.extend(list(mine.items[len(shared.items) :]), mine.tokens - shared.tokens)
        memory.seen = self.memory.seen

    async def closed(self) -> None:
        """Wait until the connection is closed."""
        if self._closing is not None:
            await self._closing

    def cost(self) -> float:
        """US dollars so far, by an estimate while a response streams; 0 where the price is unknown."""
        price, meter = self.variation.chosen.price, self.meter
        if price is None:
            return 0.0
        return price.cost(meter.tokens - meter.output_tokens, 0, meter.output_tokens)

    def _close(self) -> None:
        if self._closing is None:
            self._closing = asyncio.create_task(self._connection.close(), name="closing an attempt's link")
