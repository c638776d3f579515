"""One attempt: ordinary turns on a connection of its own, whose hunks land in files of its own. The first
answers the prompt, and each later one is asked for with what the checks said of the one before.

All attempts of a race share one preparation, so that their requests share a prefix.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from context.text.tokens import Counter
from context.window.seen import Seen
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
from session.race.attempt_files import AttemptFiles, Change
from session.race.plan import Variation
from session.tools.toolbox import Toolbox
from session.turn.failures import TurnFailedError
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
    """The preparation of one attempt: the shared request, and after it the attempt's own hint; for its later
    answers requests of its own, for the project with its edits."""

    def __init__(self, shared: SharedPreparation, hint: str, own: Prepares) -> None:
        self._shared = shared
        self._hint = hint
        self._own = own
        self.prepared: PreparedRequest | None = None
        """The first request as it went out last."""
        self.later = False
        """Whether the first answer is whole."""

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
        """See :class:`Prepares`."""
        return self._own.file_text(path)

    async def prepare(self, prompt: str, memory: TurnMemory, share: float = 1.0) -> PreparedRequest:
        """See :class:`Prepares`. A smaller share is prepared for the attempt alone. Raises TurnFailedError
        where a later answer would need a new window, which knows nothing of the first one."""
        if self.later:
            made = await self._own.prepare(prompt, memory, share)
            if made.afresh:
                raise TurnFailedError("its window has no room for another answer", "budget")
            return made
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
        self._before: list[Usage] = []
        """What earlier answers took."""
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

    def begin_again(self) -> None:
        """Another answer begins."""
        self._before += [self._counted] if self._counted is not None else []
        self._counted, self._characters, self.input_tokens, self.ended = None, 0, 0, None
        self._heard = time.monotonic()

    @property
    def silent(self) -> float:
        """Seconds since it was heard of last."""
        return time.monotonic() - self._heard

    @property
    def output_tokens(self) -> int:
        """Output tokens so far; those of a response that still streams are estimated."""
        return sum(each.output_tokens for each in self.usage) + self._characters // CHARACTERS_PER_TOKEN

    @property
    def tokens(self) -> int:
        """All tokens so far, with the input of the response that streams."""
        counted = sum(each.input_tokens for each in self.usage)
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
    def usage(self) -> list[Usage]:
        """What was counted of each answer."""
        return [*self._before, *([self._counted] if self._counted is not None else [])]


@dataclass(frozen=True, slots=True)
class Whole:
    """A whole answer: what it does, and how far the conversation and the text had come with it."""

    change: Change
    items: int
    tokens: int
    said: int
    output_tokens: int
    seen: Seen


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
        """``memory`` is the attempt's own copy; ``started`` is called when a request goes out."""
        self.number = number
        self.prompt = prompt
        self.variation = variation
        self.files = files
        self.memory = memory
        self.meter = Meter(started)
        self.answers: list[Whole] = []
        """Its whole answers."""
        self._kept: Whole | None = None
        self._name = name
        self._session = session
        self._thread = thread
        self._toolbox = toolbox
        self._preparation = preparation
        self._connection = connection
        self._closing: asyncio.Task[None] | None = None
        self._cut = False
        self._runner = self._make_runner(name, prompt)

    def _make_runner(self, name: str, prompt: str) -> Runner:
        counter = self.variation.preparation.counter
        return Runner(
            Turn(name),
            prompt,
            session=self._session,
            connection=self._connection,
            offline="",
            preparation=self._preparation,
            memory=self.memory,
            lane=Lane(
                name,
                writer=self.files,
                thread=self._thread,
                recorder=self.meter,
                attended=False,
                review=False,
            ),
            calls=Calls(name, self._toolbox, counter, self.meter, attended=False),
            chosen=self.variation.chosen,
            recorder=self.meter,
        )

    async def run(self) -> str:
        """Answer. Returns why that failed, or nothing. The connection is closed where it did."""
        try:
            await self._runner.run()
            ended = self.meter.ended
            if ended is None or ended.status == "completed":
                await self._note_whole()
                return ""
            self.close()
            return ended.message or ended.status
        except BaseException:
            self.close()
            raise

    async def run_again(self, request: str) -> str:
        """Answer ``request``, which follows the last answer, as :meth:`run` does."""
        if self._cut:
            return "stopped"
        self.meter.begin_again()
        self._preparation.later = True
        self._runner = self._make_runner(f"{self._name}.{len(self.answers) + 1}", request)
        return await self.run()

    async def _note_whole(self) -> None:
        change = await self._thread.run(self.files.now)
        conversation, meter = self.memory.conversation, self.meter
        self.answers.append(
            Whole(
                change,
                len(conversation.items),
                conversation.tokens,
                len(meter.said),
                meter.output_tokens,
                self.memory.seen,
            )
        )

    def keep(self, answer: int) -> None:
        """Have the answer of this number count, whatever came after it."""
        if 0 < answer <= len(self.answers):
            self._kept = self.answers[answer - 1]

    @property
    def change(self) -> Change:
        """What it does to the project: by the answer that counts, or as far as it has come."""
        return self._kept.change if self._kept is not None else self.files.now()

    @property
    def said(self) -> str:
        """The text of its answers."""
        return "".join(self.meter.said[: self._kept.said if self._kept is not None else None])

    @property
    def kept_tokens(self) -> int:
        """Output tokens up to the end of the answer that counts."""
        return self._kept.output_tokens if self._kept is not None else self.meter.output_tokens

    def cut(self) -> None:
        """Drop the connection now: its socket is closed before this returns."""
        self._cut = True
        self.close()  # first, so that nothing is dialled in the place of what is dropped
        self._runner.interrupt()

    def remember(self, memory: TurnMemory) -> None:
        """Make the conversation of this attempt, up to the answer that counts, that of the session, whose
        ``memory`` is as it was when the attempt began."""
        prepared, kept = self._preparation.prepared, self._kept
        if prepared is None or kept is None:
            return
        prepared.commit(memory)
        mine, shared = self.memory.conversation, memory.conversation
        shared.extend(list(mine.items[len(shared.items) : kept.items]), kept.tokens - shared.tokens)
        memory.seen = kept.seen

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

    def close(self) -> None:
        """Close the connection: no more answers are asked for."""
        if self._closing is None:
            self._closing = asyncio.create_task(self._connection.close(), name="closing an attempt's link")
