"""One WebSocket connection to the partner: its lanes, and the responses that requests may chain from.

The default lane and each named one (``stream_id``) run one response at a time. Further requests on a named
lane wait for their turn, first in, first out. A second request on the busy default lane is answered with the
error ``response_in_progress`` (409) and leaves the first alone; servers' own code for it is not documented.

Prompts in the middle of an answer: reads ``response.steer``, and writes what the server says of it.

Source: OpenAI's guide "Mid-turn steering" and the event definitions of its ``openai`` package.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import secrets
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from websockets.asyncio.server import ServerConnection
from websockets.exceptions import ConnectionClosed

from session.partner.script import Close, Fail, Scenario, Step
from session.partner.server.answer import Answer, ResponseSpec
from session.partner.server.requests import BadRequest, Request, check_calls, owed_calls, read_request
from session.partner.server.schedule import paced
from session.partner.server.scripted_model import ScriptedModel
from session.wire.protocol.frames import NotAnObject, parse_object
from session.wire.protocol.items import text_of
from session.wire.protocol.turns import DEVELOPER_OPEN

_FIELDS = {"type", "previous_response_id", "input"}
_MOST_PENDING = 8


@dataclass(frozen=True, slots=True)
class SteerEvent:
    """A ``response.steer``. ``body`` is the frame as it came, ``problem`` what is wrong with it."""

    response_id: str
    body: dict[str, Any]
    items: tuple[dict[str, Any], ...]
    size: int
    problem: str = ""
    id: str = field(default_factory=lambda: f"steer_{secrets.token_hex(16)}")


@dataclass(slots=True)
class Steered:
    """A response that may be steered: its request, and the prompts that wait for its end."""

    request: Request
    queue: list[SteerEvent] = field(default_factory=list)

    @property
    def items(self) -> tuple[dict[str, Any], ...]:
        """The messages of the prompts, in order."""
        return tuple(item for steer in self.queue for item in steer.items)


def read_steer(frame: str | bytes) -> SteerEvent | None:
    """The ``response.steer`` in ``frame``; None where it is something else."""
    try:
        body = parse_object(frame)
    except NotAnObject:
        return None
    if body.get("type") != "response.steer":
        return None
    size = len(frame if isinstance(frame, bytes) else frame.encode("utf-8", "replace"))
    given = body.get("input")
    entries: Any = [{"role": "user", "content": given}] if isinstance(given, str) else given
    problem = ""
    if set(body) != _FIELDS or not isinstance(body["previous_response_id"], str):
        problem = "response.steer takes type, previous_response_id and input, and nothing else."
    elif not isinstance(entries, list) or not entries or not all(_is_users(entry) for entry in entries):
        problem = "input must be text, or messages of the user."
    items = () if problem else tuple(_item(entry) for entry in entries)
    return SteerEvent(str(body.get("previous_response_id")), body, items, size, problem)


def accepted(steer: SteerEvent) -> str:
    """The event that says that a prompt waits."""
    return _event("accepted", steer)


def pending(steer: SteerEvent, owed: Sequence[Mapping[str, Any]]) -> str:
    """The event that says that the outputs of the calls ``owed`` are wanted first."""
    stubs = [{"type": f"{call['type']}_output", "call_id": call["call_id"]} for call in owed]
    return _event("pending", steer, reason="waiting_for_required_input", required_input=stubs)


def failed(steer: SteerEvent, code: str, message: str) -> str:
    """The event that gives a prompt back."""
    error = {"type": "invalid_request_error", "code": code, "message": message}
    known = {"previous_response_id": steer.response_id, "input": steer.body.get("input")}
    return json.dumps({"type": "response.steer.failed", "sequence_number": 0, "steer": known, "error": error})


def refusal(steer: SteerEvent, running: Steered | None, *, offered: bool, ended: bool) -> str:
    """The event for a prompt that cannot wait for the response ``running``; empty for one that can."""
    if not offered:
        return failed(steer, "steering_not_supported", "This model takes no prompt while it answers.")
    if steer.problem:
        return failed(steer, "invalid_input", steer.problem)
    if running is None:
        code = "response_already_completed" if ended else "response_not_found"
        return failed(steer, code, f"Response '{steer.response_id}' does not run on this connection.")
    if len(running.queue) >= _MOST_PENDING:
        return failed(steer, "too_many_pending_steers", "Too many prompts wait for this response.")
    return ""


def _event(kind: str, steer: SteerEvent, **fields: Any) -> str:
    known = {"id": steer.id, "previous_response_id": steer.response_id}
    return json.dumps({"type": f"response.steer.{kind}", "sequence_number": 0, "steer": known, **fields})


def _is_users(entry: Any) -> bool:
    known = isinstance(entry, dict) and set(entry) <= {"type", "role", "content"}
    return known and entry.get("role") == "user" and entry.get("type", "message") == "message"


def _item(entry: Mapping[str, Any]) -> dict[str, Any]:
    """A message of the conversation; text marked as the program's has the developer role."""
    role = "developer" if text_of(entry).startswith(DEVELOPER_OPEN) else "user"
    return {"type": "message", "role": role, "content": entry["content"]}


_MOST_IN_FLIGHT = 16
_MOST_LANES = 32
_REMEMBERED = 64


@dataclass(frozen=True, slots=True)
class Remembered:
    """A finished response of this connection: the conversation up to its end, and its tokens."""

    items: tuple[dict[str, Any], ...]
    tokens: int


class WebSocketConnection:
    """A connected client. Nothing is kept when the connection ends, as with ``store: false``."""

    def __init__(self, model: ScriptedModel, connection: ServerConnection) -> None:
        self.connection = connection
        self._model = model
        self._remembered: OrderedDict[str, Remembered] = OrderedDict()
        self._running: dict[str | None, asyncio.Task[None]] = {}
        self._lanes: set[str] = set()
        self._waiting: dict[str, deque[Request]] = {}
        self._steered: dict[str, Steered] = {}
        """The responses that run, or that wait for outputs while prompts are queued for them, by id."""
        self._served = 0
        self._starting: set[asyncio.Task[None]] = set()

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
            self._waiting.clear()
            running = list(self._running.values())
            self._model.cut += len(running)
            for task in (*running, *self._starting):
                task.cancel()
            await asyncio.gather(*running, *self._starting, return_exceptions=True)

    async def _take(self, frame: str | bytes) -> None:
        steer = None if self._model.script.steer == "unknown" else read_steer(frame)
        if steer is not None:
            await self._queue(steer)
            return
        try:
            request = read_request(frame)
        except BadRequest as problem:
            await self.connection.send(problem.event(None))
            return
        lane = request.stream_id
        if lane is not None and (lane in self._running or self._waiting.get(lane)):
            self._waiting.setdefault(lane, deque()).append(request)
            return
        await self._begin(request)

    async def _queue(self, steer: SteerEvent) -> None:
        """Have a prompt wait for the end of what the running response is writing, or give it back."""
        running, script = self._steered.get(steer.response_id), self._model.script
        if running is not None and script.steer == "late":
            await asyncio.wait({self._running[running.request.stream_id]})
            running = None
        ended = steer.response_id in self._remembered
        refused = refusal(steer, running, offered=script.steer != "unsupported", ended=ended)
        if running is not None and not refused:
            running.queue.append(steer)
        await self.connection.send(refused or accepted(steer))

    async def _follow(self, response_id: str, steered: Steered, items: Sequence[Mapping[str, Any]]) -> None:
        """After a response's end: begin its successor, or say which outputs are wanted first."""
        if owed := owed_calls(items):
            for steer in steered.queue:
                await self.connection.send(pending(steer, owed))
            return
        last, size = steered.queue[-1], sum(steer.size for steer in steered.queue)
        request = replace(steered.request, body=last.body, items=(), size=size, generate=True)
        await self._begin(replace(request, previous_response_id=response_id))

    async def _begin(self, request: Request) -> None:
        lane = request.stream_id
        try:
            if known := self._remembered.get(request.previous_response_id or ""):
                request = request.after(known.items)
            if waiting := self._steered.pop(request.previous_response_id or "", None):
                # OpenAI puts prompts that were queued first; scripts read outputs behind their calls.
                request = replace(request, items=(*request.items, *waiting.items))
            self._model.requests.append(request)
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
        problem = None if task.cancelled() else task.exception()
        if problem is not None:
            # A fault of the partner's own: the client would wait for the rest of the answer for ever.
            self.connection.logger.error("the partner failed in an answer", exc_info=problem)
            self._start(self.connection.close(1011, "internal error"))
        elif lane is not None and not task.cancelled() and self._waiting.get(lane):
            self._start(self._next(lane))

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        """Do what follows the end of a response, for which nobody waits."""
        task = asyncio.create_task(work, name="partner-next")
        self._starting.add(task)
        task.add_done_callback(self._starting.discard)

    async def _next(self, lane: str) -> None:
        """Begin the request that has waited longest on ``lane``; a refused one lets the next one begin."""
        with contextlib.suppress(ConnectionClosed):
            while lane not in self._running and self._waiting.get(lane):
                await self._begin(self._waiting[lane].popleft())

    def _admit(self, request: Request) -> Remembered:
        """What came before ``request``. Raises :class:`BadRequest` if it may not run."""
        script, lane = self._model.script, request.stream_id
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
        self._model.check_model(request)
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
        spec = ResponseSpec(
            response_id=f"resp_{secrets.token_hex(12)}",
            model=request.model,
            created_at=int(time.time()),
            input_tokens=before.tokens + standing + request.own_tokens(),
            cached_tokens=before.tokens + standing if request.previous_response_id else 0,
            previous_response_id=request.previous_response_id,
            stream_id=request.stream_id,
            patch_tool=request.patch_tool,
            patch_shell=request.patch_shell,
            bare=self._model.script.bare,
        )
        answer = Answer(spec)
        steered = self._steered[spec.response_id] = Steered(request)
        steps: tuple[Step, ...] = ()
        scenario: Scenario | None = None
        if request.generate or self._model.script.warm_up == "ignored":
            steps, scenario = self._model.answer(request, items)

        def settle() -> None:
            """Before the last frame goes out: the client may chain from it as soon as it arrives."""
            self._running.pop(request.stream_id, None)
            if not any(isinstance(step, Fail) for step in steps):
                tokens = spec.input_tokens - standing + answer.output_tokens
                self._remember(spec.response_id, Remembered((*items, *answer.output), tokens))
            elif request.previous_response_id is not None:
                self._remembered.pop(request.previous_response_id, None)

        with contextlib.suppress(ConnectionClosed):
            await self._play(answer, steps, scenario, settle, steered)
            if steered.queue and spec.response_id in self._remembered:
                await self._follow(spec.response_id, steered, self._remembered[spec.response_id].items)
            else:
                self._steered.pop(spec.response_id, None)

    async def _play(
        self,
        answer: Answer,
        steps: tuple[Step, ...],
        scenario: Scenario | None,
        settle: Callable[[], None],
        steered: Steered,
    ) -> None:
        frames = answer.play(steps, scenario)
        async for frame in paced(frames, self._model.rate, self._model.going):
            if not isinstance(frame, Close):
                if answer.done:
                    settle()
                await self.connection.send(frame.data)
                if steered.queue and answer.between_items:
                    last = answer.complete() if owed_calls(answer.output) else answer.steered()
                    settle()
                    await self.connection.send(last.data)
                    return
            elif frame.code:
                await self.connection.close(frame.code, frame.reason)
            else:
                self.connection.transport.abort()

    def _remember(self, response_id: str, what: Remembered) -> None:
        self._remembered[response_id] = what
        while len(self._remembered) > _REMEMBERED:
            self._remembered.popitem(last=False)
