"""One client's connection: its lanes, the responses it may chain from, and their playing.

The default lane and each named one (``stream_id``) run one response at a time. A second request on a
busy lane is answered with the error ``response_in_progress`` (409) and leaves the first alone; servers'
own code for it is not documented.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from websockets.asyncio.server import ServerConnection
from websockets.exceptions import ConnectionClosed

from session.partner.script.script import Close, Fail, Stall, Step
from session.partner.script.story import Reply
from session.partner.server.answer import Answer, Asked, Frame
from session.partner.server.pace import Pace
from session.partner.server.playing import steps_for
from session.partner.server.requests import BadRequest, Request, check_calls, read_request

if TYPE_CHECKING:
    from session.partner.server.server import Partner

_MOST_IN_FLIGHT = 16
_MOST_LANES = 32
_REMEMBERED = 64
_FRAMES_BETWEEN_YIELDS = 64


@dataclass(frozen=True, slots=True)
class Remembered:
    """A finished response of this connection: the conversation up to its end, and its tokens."""

    items: tuple[dict[str, Any], ...]
    tokens: int


class Client:
    """A connected client. Nothing of it outlives the connection, as with ``store: false``."""

    def __init__(self, partner: Partner, connection: ServerConnection) -> None:
        self.connection = connection
        self._partner = partner
        self._remembered: OrderedDict[str, Remembered] = OrderedDict()
        self._running: dict[str | None, asyncio.Task[None]] = {}
        self._lanes: set[str] = set()
        self._served = 0

    async def run(self) -> None:
        """Serve until the connection ends; then every response still running is cut."""
        try:
            async for frame in self.connection:
                try:
                    await self._take(frame)
                except ConnectionClosed:
                    break
        except ConnectionClosed:
            pass
        finally:
            running = list(self._running.values())
            self._partner.cut += len(running)
            for task in running:
                task.cancel()
            await asyncio.gather(*running, return_exceptions=True)

    async def _take(self, frame: str | bytes) -> None:
        lane = None
        try:
            request = read_request(frame)
            lane = request.stream_id
            self._partner.requests.append(request)
            before = self._admit(request)
            check_calls((*before.items, *request.items))
        except BadRequest as problem:
            await self.connection.send(problem.event(lane))
            if problem.code == "websocket_connection_limit_reached":
                await self.connection.close(1000, "connection limit reached")
            return
        task = asyncio.create_task(self._respond(request, before), name=f"partner-response-{lane}")
        self._running[lane] = task
        task.add_done_callback(lambda done: self._over(lane, done))

    def _over(self, lane: str | None, task: asyncio.Task[None]) -> None:
        if self._running.get(lane) is task:
            del self._running[lane]

    def _admit(self, request: Request) -> Remembered:
        """What came before ``request``. Raises :class:`BadRequest` if it may not run."""
        script, lane = self._partner.script, request.stream_id
        self._served += 1
        limit = script.requests_per_connection
        if limit is not None and self._served > limit:
            message = "Responses websocket connection limit reached. Create a new connection to continue."
            raise BadRequest("websocket_connection_limit_reached", message)
        if lane in self._running:
            message = "A response is already running on this lane."
            raise BadRequest("response_in_progress", message, status=409)
        if lane is not None:
            self._lanes.add(lane)
        if len(self._running) >= _MOST_IN_FLIGHT or len(self._lanes) > _MOST_LANES:
            message = f"At most {_MOST_IN_FLIGHT} responses on {_MOST_LANES} lanes."
            raise BadRequest("too_many_responses", message, status=429)
        self._partner.check_model(request)
        if not request.generate and script.warm_up == "unsupported":
            raise BadRequest("unknown_parameter", "Unknown parameter: 'generate'.", param="generate")
        previous = request.previous_response_id
        if previous is None:
            return Remembered((), 0)
        if previous not in self._remembered:
            message = f"Previous response with id '{previous}' not found."
            raise BadRequest("previous_response_not_found", message, param="previous_response_id")
        return self._remembered[previous]

    async def _respond(self, request: Request, before: Remembered) -> None:
        items = (*before.items, *request.items)
        standing = request.standing_tokens()
        asked = Asked(
            response_id=f"resp_{secrets.token_hex(12)}",
            model=request.model,
            created_at=int(time.time()),
            input_tokens=before.tokens + standing + request.own_tokens(),
            cached_tokens=before.tokens + standing if request.previous_response_id else 0,
            previous_response_id=request.previous_response_id,
            stream_id=request.stream_id,
            patch_tool=request.patch_tool,
            bare=self._partner.script.bare,
        )
        answer = Answer(asked)
        steps: tuple[Step, ...] = ()
        told: Reply | None = None
        if request.generate or self._partner.script.warm_up == "ignored":
            steps, told = steps_for(
                self._partner, items, rounds=request.offers_patch_tool, tools=request.offers_functions
            )

        def settle() -> None:
            """Before the last frame goes out: the client may chain from it as soon as it arrives."""
            self._running.pop(request.stream_id, None)
            if not any(isinstance(step, Fail) for step in steps):
                tokens = asked.input_tokens - standing + answer.output_tokens
                self._remember(asked.response_id, Remembered((*items, *answer.output), tokens))
            elif request.previous_response_id is not None:
                self._remembered.pop(request.previous_response_id, None)

        with contextlib.suppress(ConnectionClosed):
            await self._play(answer, steps, told, settle)

    async def _play(
        self, answer: Answer, steps: tuple[Step, ...], told: Reply | None, settle: Callable[[], None]
    ) -> None:
        clock = asyncio.get_running_loop().time
        pace = Pace(self._partner.rate, clock())
        at_once = 0
        for what in answer.play(steps, told.scenario if told is not None else None):
            if isinstance(what, Frame):
                wait = pace.wait(what.tokens, clock()) if what.tokens else 0.0
                at_once = 0 if wait else at_once + 1
                if wait or at_once % _FRAMES_BETWEEN_YIELDS == 0:
                    await asyncio.sleep(wait)
                if answer.done:
                    settle()
                await self.connection.send(what.data)
            elif isinstance(what, Stall):
                pace.hold(what.seconds)
                await asyncio.sleep(what.seconds)
            elif isinstance(what, Close):
                if what.code:
                    await self.connection.close(what.code, what.reason)
                else:
                    self.connection.transport.abort()
                return

    def _remember(self, response_id: str, what: Remembered) -> None:
        self._remembered[response_id] = what
        while len(self._remembered) > _REMEMBERED:
            self._remembered.popitem(last=False)
