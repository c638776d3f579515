"""Gets one answer, with retries where its failures may pass."""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import AsyncGenerator
from datetime import datetime
from functools import partial
from typing import Any

from session.wire.link.exchange import Channel, Patience, Request, exchange
from session.wire.link.keeper import Keeper
from session.wire.link.refused_parts import refused_items
from session.wire.link.retries import TOO_OLD, Retries, Tries, when_to_ask_again
from session.wire.link.steer import Words
from session.wire.link.steering import Held, NotSteered, steered
from session.wire.protocol.dialects import Decoder
from session.wire.protocol.events import NOT_BEGUN, Finished, ServerError, WireEvent
from session.wire.protocol.responses import ResponseDecoder
from session.wire.transport.endpoint import Endpoint
from session.wire.transport.errors import NO_SUCH_PATH, LinkError, LinkProblem
from session.wire.transport.refusals import Refusal, from_server
from session.wire.transport.service import Transport

_LOSSES_BEFORE_FALLING_BACK = 3
"""The number of WebSockets lost in one answer after which the next route is taken: something on the way
may not let them through."""
_UNREADABLE = frozenset({"invalid_encrypted_content", "invalid_signature"})
_UNREADABLE_WORDS = re.compile(
    r"encrypted content .{0,80}could not be (?:verified|decrypted)|[Ii]nvalid `?signature`? in `?thinking`?"
)
"""How OpenAI and Anthropic refuse reasoning that they cannot read."""


class Answer:
    """The answer to ``request``: :meth:`events` gives it, :meth:`drop` ends it at any time."""

    def __init__(
        self,
        request: Request,
        keeper: Keeper,
        patience: Patience,
        retries: Retries,
        steers: tuple[Held, Words] | None = None,
    ) -> None:
        """``steers`` is the answer that this one steers, and what it is told."""
        self.request_bytes = 0
        """The size of the last request, as sent."""
        self.request = request
        self._keeper = keeper
        self._patience = patience
        self._retries = retries
        self._steers = steers
        self._dropped = False
        self._channel: Channel | None = None
        """The channel on which the server is working on this answer."""
        self._waiter: asyncio.Future[Channel | None] | None = None
        self._other_effort = False
        """Whether the last request continued a conversation with another effort."""
        self._was_whole = True
        """Whether the last request held the full input."""
        self._left_out_items = False
        """Whether the request was made without items that the server refused: that is tried once."""
        self._decoder: Decoder | None = None
        """The decoder of what the channel brings."""

    def drop(self) -> None:
        """End the answer now: its socket is closed before this returns, and no event follows."""
        self._dropped = True
        self.let_go()
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    def let_go(self) -> None:
        """Cut the channel that still streams this answer, so that the server stops working on it."""
        channel, self._channel = self._channel, None
        if channel is not None:
            self._keeper.cut(channel)

    def hold(self) -> None:
        """End the answer as :meth:`drop` does, but leave the server to it: the next prompt steers it."""
        self._channel = None
        self._dropped = True

    def steerable(self) -> Held | None:
        """The answer as one that the next prompt may steer; None where the server would not take it."""
        channel, decoder = self._channel, self._decoder
        if channel is None or channel.route.transport is not Transport.WEBSOCKET:
            return None
        if not isinstance(decoder, ResponseDecoder) or not channel.link.is_open:
            return None
        runs = decoder.response_id and not decoder.finished
        if not runs or not self._keeper.optional_fields.can_steer(self.request.profile):
            return None
        return Held(channel, self.request, decoder)

    @property
    def _model(self) -> str:
        return self.request.profile.model

    def is_dropped(self) -> bool:
        """Whether :meth:`drop` was called; that may happen between any two steps."""
        return self._dropped

    async def batches(self) -> AsyncGenerator[list[WireEvent], None]:
        """The answer's events, in batches as they come. Raises as ``Connection.respond`` does."""
        tries = Tries(self._retries)
        losses = 0
        while not self.is_dropped():
            channel: Channel | None = None
            begun = False
            try:
                steers, self._steers = self._steers, None
                channel = steers[0].channel if steers is not None else await self._usable_channel()
                if channel is None:
                    return
                async with contextlib.aclosing(self._exchange(channel, steers)) as batches:
                    async for batch in batches:
                        begun = begun or not all(isinstance(event, NOT_BEGUN) for event in batch)
                        yield batch
                return
            except NotSteered:
                self.let_go()
                continue
            except Refusal as refusal:
                # Reasoning first: the refusal of a signature also names the field `thinking`.
                error = refusal.error
                if not begun and (
                    self._forgets_reasoning(error)
                    or self._leaves_out(error)
                    or self._leaves_out_items(error, channel)
                ):
                    self._channel = None
                    continue
                problem = from_server(error, self._keeper.endpoint, self._model)
                if channel is not None and problem.code == TOO_OLD:
                    self._keeper.cut(channel)
            except LinkError as lost:
                problem = lost
                if not self.is_dropped() and problem.kind is LinkProblem.CLOSED:
                    losses += self._keeper.route.transport is Transport.WEBSOCKET
                if channel is not None and not self.is_dropped():
                    self._keeper.cut(channel)
                    problem = await self._keeper.why_lost(lost)
            self._channel = None
            if self.is_dropped():
                return
            if begun:
                raise self._keeper.advised(problem)
            if tries.at_once(problem, asked=channel is not None):
                continue
            unsolved = await self._keeper.renew(problem)
            if unsolved is None:
                continue
            if self._falls_back(unsolved, losses):
                losses = 0
                continue
            wait = tries.wait(unsolved)
            if wait is None:
                raise await _explained(unsolved, self._retries, self._keeper.endpoint)
            if not await self._sit_out(wait, unsolved):
                return

    async def _usable_channel(self) -> Channel | None:
        """An open channel, as soon as there is one; None if the answer is dropped first."""
        active = self._keeper.active
        if active is not None and active.link.is_open:
            return active
        self._waiter = self._keeper.wait()
        try:
            channel = await self._waiter
        finally:
            self._keeper.forget(self._waiter)
            self._waiter = None
        if channel is None or channel.link.is_open:
            return channel
        message = f"{self._keeper.endpoint.host} closed the connection right after it opened."
        raise LinkError(LinkProblem.CLOSED, message)

    async def _exchange(
        self, channel: Channel, steers: tuple[Held, Words] | None
    ) -> AsyncGenerator[list[WireEvent], None]:
        """One attempt on ``channel``. Raises :class:`NotSteered` where it should steer and could not."""
        if steers is None:
            await self._read_ahead(channel)
            written = self.request.written_for(channel, self._keeper.optional_fields)
            await channel.link.drain()
            attempt = exchange(channel, self.request, written, self._patience)
        else:
            written, attempt = steered(*steers, self.request, self._keeper.optional_fields, self._patience)
        if self.is_dropped():
            return
        self._other_effort, self._was_whole = written.other_effort, written.whole
        self.request_bytes = len(written.frame.encode("utf-8"))
        self._channel, self._decoder = channel, written.decoder
        del written  # see exchange
        async with contextlib.aclosing(attempt) as batches:
            async for batch in batches:
                if self.is_dropped():
                    return
                if isinstance(batch[-1], Finished):
                    self._channel = None
                    self._keeper.answered(channel)
                yield batch

    async def _read_ahead(self, channel: Channel) -> None:
        """Wait until the server has read what went ahead of the prompt; :meth:`drop` ends it."""
        if channel.reading is not None:
            self._waiter = asyncio.get_running_loop().create_future()
            either: set[asyncio.Future[Any]] = {channel.reading, self._waiter}
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
            self._waiter = None

    def _leaves_out(self, error: ServerError) -> bool:
        """Leave out of the request what the server refuses, if it is optional."""
        request = self.request
        changes = bool(request.efforts)
        left = self._keeper.leave_out(
            error, request.profile, other_effort=self._other_effort, effort_items=changes
        )
        if left and not self._keeper.optional_fields.takes_effort_items(request.profile):
            self.request = request.with_one_effort()
        return left

    def _forgets_reasoning(self, error: ServerError) -> bool:
        """Leave the earlier reasoning out of the request where the server cannot read it: it was sealed or
        signed for another account, or by a server that is gone. False where it is out already."""
        if error.code not in _UNREADABLE and not _UNREADABLE_WORDS.search(error.message):
            return False
        items = tuple(item for item in self.request.items if item["type"] != "reasoning")
        changed = len(items) < len(self.request.items)
        self.request = self.request.with_one_effort(items)
        return changed

    def _leaves_out_items(self, error: ServerError, channel: Channel | None) -> bool:
        """Leave out what the model said or did, where the server refuses the request for that."""
        if self._left_out_items or channel is None:
            return False
        request, optional = self.request, self._keeper.optional_fields
        count = partial(request.messages, channel, optional) if self._was_whole else None
        refused = refused_items(error, request.items, count)
        self._left_out_items = bool(refused)
        if refused:
            self._keeper.refused(request.items[index] for index in sorted(refused))
            self.request = request.with_one_effort(self._keeper.accepted(request.items))
        return self._left_out_items

    def _falls_back(self, problem: LinkError, losses: int) -> bool:
        """Switch to the next route if ``problem`` calls for it; return whether that was done."""
        if problem.code == NO_SUCH_PATH or problem.kind is LinkProblem.NO_WEBSOCKET:
            return self._keeper.fall_back(str(problem.status or "refused"))
        if losses >= _LOSSES_BEFORE_FALLING_BACK and problem.kind is LinkProblem.CLOSED:
            return self._keeper.fall_back("the connection was lost repeatedly")
        return False

    async def _sit_out(self, seconds: float, problem: LinkError) -> bool:
        """Wait for the next try, showing so; false if the answer is dropped meanwhile."""
        self._waiter = asyncio.get_running_loop().create_future()
        self._keeper.feed.wait(seconds, problem.message)
        try:
            async with asyncio.timeout(seconds):
                await self._waiter
        except TimeoutError:
            return not self.is_dropped()
        finally:
            self._waiter = None
            self._keeper.feed.resume()
        return False


async def _explained(problem: LinkError, retries: Retries, endpoint: Endpoint) -> LinkError:
    """``problem``; about a model, with those that the key can use; about a limit, with its end."""
    more = when_to_ask_again(problem, retries, datetime.now())
    if problem.kind is LinkProblem.MODEL:
        from session.wire.transport.model_list import list_models, usable_models

        more = usable_models(await list_models(endpoint))
    return problem.saying(more) if more else problem
