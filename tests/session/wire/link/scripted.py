"""A model server in memory: links without sockets, whose every word a test says."""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any

import pytest

from session.wire.link.connection import Connection, Endpoint, Login, RequestProfile
from session.wire.link.retries import Backoff, Retries
from session.wire.link.state import LinkChange
from session.wire.protocol.events import TextDelta, WireEvent
from session.wire.protocol.items import user_message
from session.wire.transport.errors import LinkError, LinkProblem
from session.wire.transport.links import Compression
from session.wire.transport.network import Address, Standing
from session.wire.transport.service import RESPONSES_OVER_WEBSOCKET, Route, Service, Transport

PROFILE = RequestProfile("m", "Be brief.")
HELLO = [user_message("hello")]
AT_ONCE = Backoff(first=0.0)
LOST = LinkError(LinkProblem.CLOSED, "lost")
SPARE = Service(spare=True)
SOCKET = Service(routes=(RESPONSES_OVER_WEBSOCKET,))

Frame = dict[str, Any]
Reply = Sequence[Frame | Exception | None]


def event(kind: str, **fields: Any) -> Frame:
    return {"type": f"response.{kind}", **fields}


def text(words: str) -> Frame:
    return event("output_text.delta", delta=words)


def completed(identity: str = "r1", words: str = "") -> Frame:
    content = [{"type": "output_text", "text": words}]
    output = [{"type": "message", "role": "assistant", "content": content}] if words else []
    return event("completed", response={"id": identity, "output": output})


def words(events: list[WireEvent]) -> str:
    return "".join(each.text for each in events if isinstance(each, TextDelta))


def refusal(code: str, status: int, message: str = "no", **fields: Any) -> Frame:
    return {"type": "error", "status": status, "error": {"code": code, "message": message, **fields}}


class ScriptedLink:
    """A link whose server says what the test has it say."""

    def __init__(self, server: ScriptedServer, route: Route, endpoint: Endpoint) -> None:
        self.server, self.route, self.endpoint = server, route, endpoint
        self.aborted = self.closed = False
        self.sent: list[Frame] = []
        self.ends: tuple[Address, Address] | None = (("10.0.0.1", 1), ("10.0.0.2", 443))
        self.round_trip_seconds: float | None = 0.25
        self.upgrade_seconds: float | None = 0.5 if route.transport is Transport.WEBSOCKET else None
        self._inbox: deque[Frame | Exception | None] = deque()
        self._news = asyncio.Event()
        self._gone = asyncio.Event()

    @property
    def is_open(self) -> bool:
        return not self._gone.is_set()

    def say(self, *frames: Frame | Exception | None) -> None:
        """Give the client frames, an error to raise, or the end of the stream."""
        self._inbox.extend(frames)
        self._news.set()

    def lose(self) -> None:
        """The server closes the connection."""
        self._gone.set()
        self.say(LOST)

    async def send(self, frame: str) -> None:
        body = json.loads(frame)
        self.sent.append(body)
        self.server.requests.append(body)
        self.say(*self.server.reply(body))

    async def receive(self) -> list[bytes] | None:
        while not self._inbox:
            self._news.clear()
            await self._news.wait()
        first = self._inbox.popleft()
        if isinstance(first, Exception):
            if isinstance(first, LinkError):
                self._gone.set()
            raise first
        return None if first is None else [json.dumps(first).encode()]

    async def drain(self) -> int:
        return 0

    async def wait_closed(self) -> None:
        await self._gone.wait()

    def abort(self) -> None:
        self.aborted = True
        self.lose()

    async def close(self) -> None:
        self.closed = True
        self.lose()


class ScriptedServer:
    """Opens links in place of sockets. ``opens`` are the results of the next attempts, None for a link."""

    def __init__(self) -> None:
        self.links: list[ScriptedLink] = []
        self.requests: list[Frame] = []
        self.opens: deque[Exception | None] = deque()
        self.replies: deque[Reply] = deque()
        """What is answered to the next requests; afterwards all is well."""
        self.warm_up: Reply = [completed("w1")]
        self.hangs = False
        """Whether attempts to open a link never end."""
        self.opened: list[tuple[Route, str | None, float, Compression | None]] = []

    def reply(self, body: Frame) -> Reply:
        if body.get("generate") is False:
            return self.warm_up
        if self.replies:
            return self.replies.popleft()
        return [text("Hi"), completed(f"r{len(self.requests)}", "Hi")]

    async def open(
        self, endpoint: Endpoint, route: Route, *, open_timeout: float, compression: Compression | None = None
    ) -> ScriptedLink:
        self.opened.append((route, endpoint.api_key, open_timeout, compression))
        if self.hangs:
            await asyncio.Event().wait()
        problem = self.opens.popleft() if self.opens else None
        if problem is not None:
            raise problem
        link = ScriptedLink(self, route, endpoint)
        self.links.append(link)
        return link

    @property
    def asked(self) -> list[Frame]:
        """The requests that asked for an answer."""
        return [request for request in self.requests if request.get("generate") is not False]


async def heard(following: AsyncIterator[LinkChange]) -> LinkChange:
    """The next change of the link's state; one that never comes is a failure."""
    return await asyncio.wait_for(anext(following), 10)


class Linked:
    """The real connection to a scripted server."""

    def __init__(
        self,
        server: ScriptedServer,
        service: Service | None = None,
        *,
        key: str | None = "k",
        profile: RequestProfile = PROFILE,
        **options: Any,
    ) -> None:
        self.server = server
        self.slept = 0.0
        self.standing = Standing.SAME
        options = {"backoff": AT_ONCE, "retries": Retries(backoff=AT_ONCE), **options}
        self.connection = Connection(
            Endpoint("https://api.test/v1", key),
            profile,
            service=service or Service(),
            slept=lambda: self.slept,
            judge=lambda here, there: self.standing,
            **options,
        )

    async def ask(self) -> list[WireEvent]:
        """All events of one answer."""
        return [event async for event in self.connection.respond(HELLO)]

    async def until(self, condition: Callable[[], object]) -> None:
        """Let the event loop go round until a condition holds; one that never does is a failure."""
        for _ in range(2_000):
            if condition():
                return
            await asyncio.sleep(0)
        raise AssertionError("it never came to that")


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> ScriptedServer:
    """A server that the connections of this test are made to."""
    made = ScriptedServer()
    for module in ("keeper", "parallel"):
        monkeypatch.setattr(f"session.wire.link.{module}.open_link", made.open)
    return made


async def beside(rig: Linked, **options: Any) -> list[WireEvent]:
    return [each async for each in rig.connection.ask_in_parallel(PROFILE, HELLO, **options)]


def logins(*keys: str | Exception | None) -> tuple[Login, list[object]]:
    left, asked = list(keys), list[object]()

    async def refresh() -> str | None:
        asked.append(left[0])
        found = left.pop(0)
        if isinstance(found, Exception):
            raise found
        return found

    return Login(refresh, "Log in again."), asked
