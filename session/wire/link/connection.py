"""The connection to a model: open and warm before it is needed, kept across turns, replaced when lost.

A caller asks :meth:`Connection.respond` with the full input each time; what goes over the wire is only what
is new, whenever that is legal. Failures that may pass are tried again. Everything runs on one event loop and
needs no lock.
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence

from session.wire.link.answer import Answer
from session.wire.link.exchange import Patience, Request
from session.wire.link.keeper import Keeper
from session.wire.link.parallel import ParallelRequests
from session.wire.link.retries import Backoff, Retries
from session.wire.link.state import LinkChange, LinkState
from session.wire.link.steer import Words
from session.wire.link.steering import PATIENCE, Held
from session.wire.protocol.efforts import EFFORT_ITEM_DIALECTS, SteadyEfforts
from session.wire.protocol.events import CONTENT, Garbled, WireEvent
from session.wire.protocol.items import Item
from session.wire.protocol.request import RequestProfile
from session.wire.transport.endpoint import Endpoint, Login
from session.wire.transport.errors import LinkError, LinkProblem
from session.wire.transport.links import OPEN_TIMEOUT, Host
from session.wire.transport.network import Judge, slept_seconds, standing
from session.wire.transport.service import Route, Service

__all__ = [
    "Connection",
    "Endpoint",
    "LinkError",
    "LinkProblem",
    "Login",
    "RequestProfile",
    "Retries",
    "Service",
]

IDLE_TIMEOUT = 300.0
"""Seconds of silence in the middle of an answer after which it is given up."""
EMPTY_TIMEOUT = 1_800.0
"""Seconds of nothing but signs of life after which it is given up: models think unseen for many minutes."""


class Connection:
    """A link to one endpoint. Assign ``request`` to change model, tools or instructions for what follows.

    For measuring: ``first_token_seconds`` is the time from the last call of ``respond`` to the first piece
    of its answer (None before), ``garbled`` counts the frames that were no events.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        request: RequestProfile,
        *,
        service: Service | None = None,
        open_timeout: float = OPEN_TIMEOUT,
        idle_timeout: float = IDLE_TIMEOUT,
        empty_timeout: float = EMPTY_TIMEOUT,
        backoff: Backoff | None = None,
        retries: Retries | None = None,
        slept: Callable[[], float] = slept_seconds,
        judge: Judge = standing,
        login: Login | None = None,
        host: Host | None = None,
    ) -> None:
        """``host`` starts a server of our own, and gives its address in place of ``endpoint``."""
        self._request = request
        self._given = endpoint
        self._patience = Patience(endpoint, idle_timeout, empty_timeout)
        self._retries = retries or Retries()
        self._keeper = Keeper(
            endpoint,
            service or Service(),
            self._steady_request,
            open_timeout=open_timeout,
            backoff=backoff or Backoff(),
            slept=slept,
            judge=judge,
            login=login or Login(),
            host=host,
        )
        self._efforts = SteadyEfforts()
        self._parallel = ParallelRequests(self._keeper, self._patience, self._retries, open_timeout)
        self._answer: Answer | None = None
        self._latest: Answer | None = None
        self._held: tuple[Held, asyncio.TimerHandle] | None = None
        """The answer that runs on unseen, for the next prompt to steer it, and its end where none comes."""
        self._closed = False
        self.first_token_seconds: float | None = None
        self.garbled = 0

    # -- how it is -----------------------------------------------------------------------------

    @property
    def endpoint(self) -> Endpoint:
        """The server, and the key in use."""
        return self._keeper.endpoint

    @property
    def state(self) -> LinkState:
        """Where the link is now; never ``waiting``, which only :meth:`states` shows."""
        return self._keeper.state

    @property
    def last_request_bytes(self) -> int:
        """The size of the last ``respond``'s request in UTF-8, as sent."""
        return 0 if self._latest is None else self._latest.request_bytes

    @property
    def dials(self) -> int:
        """Connections tried so far."""
        return self._keeper.dials

    @property
    def warm_ups(self) -> int:
        """Warm-ups that gave an id to continue from."""
        return self._keeper.warm_ups.given

    @property
    def promotions(self) -> int:
        """How often the spare has taken the active connection's place."""
        return self._keeper.promotions

    @property
    def times(self) -> tuple[float | None, float | None]:
        """Seconds of the last upgrade, and of a message to the server and back; None where unknown."""
        active = self._keeper.active
        return self._keeper.upgrade_seconds, active.link.round_trip_seconds if active is not None else None

    @property
    def way(self) -> str:
        """The route in use, in words, such as "Responses over WebSocket"."""
        return str(self._keeper.route)

    @property
    def left_out(self) -> tuple[str, ...]:
        """The optional fields that the server refused for the model in use, and no longer gets."""
        return tuple(sorted(self._keeper.optional_fields.left_out(self._request.model)))

    @property
    def has_spare(self) -> bool:
        """Whether a second connection stands ready behind the active one."""
        return self._keeper.spare is not None

    def states(self) -> AsyncIterator[LinkChange]:
        """The state now, and every change from now on, until :meth:`close`."""
        return self._keeper.feed.follow()

    # -- what is asked, and of whom ------------------------------------------------------------

    @property
    def request(self) -> RequestProfile:
        """Everything of the requests but their input."""
        return self._request

    @request.setter
    def request(self, profile: RequestProfile) -> None:
        self._request = profile
        if self.state is LinkState.FAILED:
            self._keeper.try_again()

    def use(self, endpoint: Endpoint) -> None:
        """Ask ``endpoint`` from now on; a new connection is opened where it differs from the one in use.

        To be called between answers. A key that was renewed meanwhile is kept for the one it stands for.
        """
        before, self._given = self._given, endpoint
        if endpoint == before:
            return
        if endpoint.api_key == before.api_key:
            endpoint = dataclasses.replace(endpoint, api_key=self.endpoint.api_key)
        self._keeper.use(endpoint)

    # -- asking --------------------------------------------------------------------------------

    def start(self) -> None:
        """Begin to connect and warm up in the background. Needs a running loop; may be repeated."""
        if not self._closed:
            self._keeper.start()

    def wake(self) -> None:
        """Have a connection ready: a request is likely soon, since the user types. Cheap; may be repeated.

        Where the connection that it will take does not have the conversation yet, as after an interrupt or
        while an answer runs, that is sent ahead; not where the prompt can steer the answer.
        """
        if not self._closed:
            self._wake()
            steers = self._held is not None or (self._answer is not None and self._answer.steerable())
            if self._latest is not None and not steers:
                self._keeper.send_ahead(self._latest.request)

    def _wake(self) -> None:
        self._keeper.start()
        self._keeper.wake()

    async def respond(self, items: Sequence[Item]) -> AsyncGenerator[WireEvent, None]:
        """Ask for the answer to ``items``, the full input, and give its events as they come.

        The last event is ``Finished`` (``completed`` or ``incomplete``). After :meth:`drop` the events
        end at once without one. Leaving the loop early drops the answer too, and so does asking again: a
        generator that was left is not always finalised at once. A second ``Created`` means that the first
        attempt was lost before it said anything.

        What may pass is tried again before anything was given (``retries.py``); the states show
        ``waiting`` meanwhile. Raises :class:`LinkError`; ValueError for what cannot be written as JSON;
        RuntimeError after :meth:`close`.
        """
        self._check_open()
        request = self._spread(Request(self._request, self._keeper.accepted(items)), keep=True)
        steers = self._take_held(request)
        self.drop()
        self._wake()
        self._parallel.answer_begins()
        self._keeper.answer_begins()
        answer = Answer(request, self._keeper, self._patience, self._retries, steers)
        self._answer = self._latest = answer
        clock = asyncio.get_running_loop().time
        began = clock()
        self.first_token_seconds = None
        try:
            async with contextlib.aclosing(answer.batches()) as batches:
                async for batch in batches:
                    for event in batch:
                        if answer.is_dropped():
                            return
                        if self.first_token_seconds is None and isinstance(event, CONTENT):
                            self.first_token_seconds = clock() - began
                        elif isinstance(event, Garbled):
                            self.garbled += 1
                        yield event
        finally:
            answer.let_go()
            if self._answer is answer:
                self._answer_ends()

    def ask_in_parallel(
        self,
        profile: RequestProfile,
        items: Sequence[Item],
        *,
        route: Route | None = None,
        at_once: bool = False,
    ) -> AsyncGenerator[WireEvent, None]:
        """Ask something beside the running answer, which it neither delays nor stops (``parallel.py``).

        ``items`` is the whole input. The last event is ``Finished``, whose ``output`` is what to rely on:
        an attempt that was lost is made again, and a ``Created`` says that what came before it does not
        count. Close the generator to give it up. ``route`` is another one than the answers', ``at_once`` is
        for what is of use now or never. No state is shown for it, and after :meth:`close` it ends without a
        ``Finished``. Raises as :meth:`respond` does.
        """
        self._check_open()
        request = Request(profile, self._keeper.accepted(items), route, at_once)
        return self._parallel.ask(self._spread(request, keep=False))

    def _steady_request(self) -> RequestProfile:
        """Everything of a warm-up."""
        takes = self._keeper.optional_fields.takes_effort_items(self._request)
        return self._efforts.steady(self._request) if takes else self._request

    def _spread(self, request: Request, *, keep: bool) -> Request:
        """``request`` with its effort where the server takes it: in the field, or where it changes."""
        speaks = (request.route or self._keeper.route).dialect in EFFORT_ITEM_DIALECTS
        if not speaks or not self._keeper.optional_fields.takes_effort_items(request.profile):
            return request
        profile, efforts = self._efforts.spread(request.profile, request.items, keep=keep)
        return dataclasses.replace(request, profile=profile, efforts=efforts)

    def redirect(self) -> None:
        """Stop the running answer as :meth:`drop` does, for another prompt.

        Where the model takes a prompt in the middle of its answer, the server goes on with it for a short
        time, and the next ``respond`` steers it, so that nothing is sent again.
        """
        answer = self._answer
        held = None if answer is None else answer.steerable()
        if answer is None or held is None:
            self.drop()
            return
        answer.hold()
        self._answer = None
        self._held = held, asyncio.get_running_loop().call_later(PATIENCE, self.drop)

    def _take_held(self, request: Request) -> tuple[Held, Words] | None:
        """The answer that ``request`` steers, and what it is told; None for one to be asked by itself."""
        if self._held is None or self._answer is not None:
            return None
        held, end = self._held
        said = held.takes(request)
        if said is None:
            return None
        end.cancel()
        self._held = None
        return held, said

    def drop(self) -> None:
        """Stop the running answer now: its socket is closed before this returns, no event follows.

        The spare connection is in its place when this returns, where the service allows one; else a new
        one is opened and warmed at once. A wait for the next attempt ends. Without a running answer this
        does nothing: the connection in hand is as good as a new one.
        """
        answer, held = self._answer, self._held
        if held is not None:
            self._held = None
            held[1].cancel()
            self._keeper.cut(held[0].channel)
            self._answer_ends()
        if answer is not None:
            answer.drop()  # the server is told before anything else is done
            self._answer_ends()

    async def pause(self, seconds: float, message: str) -> None:
        """Show ``waiting`` for ``seconds``; cancelling the caller ends it."""
        self._keeper.feed.wait(seconds, message)
        try:
            await asyncio.sleep(seconds)
        finally:
            self._keeper.feed.resume()

    async def close(self) -> None:
        """End everything; the state becomes ``offline`` and :meth:`states` ends. May be repeated."""
        if self._closed:
            return
        self.drop()
        self._closed = True
        await self._parallel.close()
        await self._keeper.close()

    def _check_open(self) -> None:
        if self._closed:
            raise RuntimeError("the connection is closed")

    def _answer_ends(self) -> None:
        self._answer = None
        self._parallel.answer_ends()
        self._keeper.answer_ends()
