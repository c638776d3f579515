"""The link to one MCP server: a task of its own opens it and keeps it open, any other task can use it.

The ``mcp`` package requires that the task which opened a client also closes it, so that task waits here
until the link is closed. A server that has ended is opened again by the next :meth:`McpLink.open`.

Notices when a server's tools change.

Before the protocol version 2026-07-28 a server reports it unasked (``notifications/tools/list_changed``);
from that version on it reports it to subscribers (``subscriptions/listen``).
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, TextIO

from session.base.programs import command_outside
from session.base.tasks import imported
from session.base.text.sanitize import clean_line
from session.base.text.wording import install_command
from session.tools.command.environment import server_environment
from session.tools.mcp.odd_tools import pass_over_odd_tools
from session.tools.mcp.program import LONGEST_MESSAGE, streams
from session.tools.mcp.settings import McpServer, ServerFolders

if TYPE_CHECKING:
    from mcp import Client
    from mcp.types import CallToolResult, Tool


_AGAIN = 5.0
"""Seconds to wait before a lost subscription is renewed."""


def hearing(changed: Callable[[], None]) -> Callable[[Any], Awaitable[None]]:
    """The message handler for a client, which calls ``changed``."""
    kind = import_module("mcp.types").ToolListChangedNotification

    async def hear(message: Any) -> None:
        if isinstance(message, kind):
            changed()

    return hear


async def listen(client: Client, changed: Callable[[], None]) -> None:
    """Listen until the server ends the subscription or refuses it."""
    subscriptions = import_module("mcp.client.subscriptions")
    refused = (subscriptions.ListenNotSupportedError, import_module("mcp").MCPError, TimeoutError)
    while True:
        try:
            async with client.listen(tools_list_changed=True) as changes:
                async for _ in changes:
                    changed()
            return
        except refused:
            return
        except subscriptions.SubscriptionLost:
            # Changes in between are not reported again.
            await asyncio.sleep(_AGAIN)
            changed()


_TAIL = 2_000
"""The bytes of a server's standard error that are kept, to say why it ended."""
_MOST_PAGES = 50
_MOST_TOOLS = 1_000
"""The tools after which no more pages are asked for; a user is shown far fewer."""
_NAMES_AN_ERROR = re.compile(
    r"\b[A-Za-z]*(?:Error|Exception)\b|\berr(?:or)?\b[^a-z]|not found|cannot find|no such|denied",
    re.IGNORECASE,
)
"""Package runners write more lines after the one that says what is wrong."""
_CLOSING = 10.0
"""Seconds to wait for a server to end; the mcp package ends its process after a few."""


class McpLinkError(Exception):
    """The server cannot be opened or did not answer; the message is one line for the user."""


class _WasGoneError(McpLinkError):
    """The server was gone before it was asked."""


class McpLink:
    """A link to ``server``; ``environ`` holds its variables, and ``folders`` says where it starts.

    ``changed`` is called when the server reports that its tools changed, or has started again.
    """

    def __init__(
        self,
        server: McpServer,
        environ: Mapping[str, str],
        folders: ServerFolders,
        changed: Callable[[], None] = lambda: None,
    ) -> None:
        self.server = server
        self._environ = environ
        self._folders = folders
        self._changed = changed
        self._was_open = False
        self._holder: asyncio.Task[None] | None = None
        self._closing = asyncio.Event()
        self._client: Client | None = None
        self._errors = _LastWords()
        self._odd: list[str] = []

    @property
    def odd(self) -> tuple[str, ...]:
        """A line for each tool that the last list of the server describes wrongly."""
        return tuple(dict.fromkeys(self._odd))

    async def open(self) -> None:
        """Open the server; does nothing if it is open. Raises McpLinkError."""
        if self._client is not None and self._holder is not None and not self._holder.done():
            return
        await self.close()
        if find_spec("mcp") is None:
            raise McpLinkError(f"the package mcp is not installed: {install_command('mcp')}")
        await imported("mcp")
        # Its log must not reach the screen; failures are raised as errors.
        logger = logging.getLogger("mcp")
        logger.propagate = False
        if not logger.handlers:
            logger.addHandler(logging.NullHandler())  # without a handler it would write to standard error
        opened: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._closing = asyncio.Event()
        self._holder = asyncio.create_task(self._hold(opened), name=f"mcp {self.server.name}")
        try:
            async with asyncio.timeout(self.server.start_seconds):
                await asyncio.shield(opened)
        except TimeoutError:
            await self.close()
            raise McpLinkError(self._told(f"no answer in {self.server.start_seconds:g} s")) from None
        except asyncio.CancelledError:
            await self.close()
            raise

    async def close(self) -> None:
        """End the server or close the connection. May be repeated."""
        holder, self._holder = self._holder, None
        opened, self._client = self._client is not None, None
        if holder is None:
            return
        self._closing.set()
        if not opened:
            holder.cancel()
        done, _ = await asyncio.wait({holder}, timeout=_CLOSING)
        if not done:
            # A server that never stops writing can keep its reader busy; it ends with spark.
            holder.cancel()
            await asyncio.wait({holder}, timeout=1.0)

    async def tools(self) -> list[Tool]:
        """All the server's tools. Raises McpLinkError."""
        found: list[Tool] = []
        self._odd.clear()
        cursor: str | None = None
        for _ in range(_MOST_PAGES):
            listed = await self._ask("list_tools", self.server.start_seconds, cursor=cursor)
            found += listed.tools
            before, cursor = cursor, listed.next_cursor
            if not cursor or cursor == before or len(found) >= _MOST_TOOLS:
                break
        return found

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> CallToolResult:
        """Call a tool. Raises McpLinkError."""
        result: CallToolResult = await self._ask("call_tool", self.server.seconds, tool, dict(arguments))
        return result

    async def _ask(self, method: str, seconds: float, *arguments: Any, **named: Any) -> Any:
        try:
            return await self._ask_once(method, seconds, *arguments, **named)
        except _WasGoneError:
            # It ended while nobody asked, and has heard nothing of this: start it again and ask.
            return await self._ask_once(method, seconds, *arguments, **named)

    async def _ask_once(self, method: str, seconds: float, *arguments: Any, **named: Any) -> Any:
        await self.open()
        client, holder = self._client, self._holder
        if client is None or holder is None:
            raise McpLinkError(self._told("it is closed"))
        asking = asyncio.create_task(getattr(client, method)(*arguments, **named))
        at_once = False
        try:
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            at_once = asking.done()  # no server answers within two steps of the loop
            # Wait for both, since a server that ends leaves its callers waiting.
            await asyncio.wait({asking, holder}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
            if asking.done():
                return asking.result()
        except _failures() as problem:
            if _is_lost(problem):
                await self.close()
                if at_once or isinstance(problem, import_module("httpx2").ConnectError):
                    raise _WasGoneError(self._told(_innermost(problem))) from problem
            raise McpLinkError(self._told(_innermost(problem))) from problem
        finally:
            asking.cancel()
            await asyncio.wait({asking})
        raise McpLinkError(self._told("it ended" if holder.done() else f"no answer in {seconds:g} s"))

    async def _hold(self, opened: asyncio.Future[None]) -> None:
        """Keep the client open until :meth:`close` is called."""
        try:
            async with contextlib.AsyncExitStack() as stack:
                client = await stack.enter_async_context(self._make(stack))
                # A server's patterns can take forever to match, and nothing here reads what they are about.
                vars(client.session)["validate_tool_result"] = _taken_as_it_is
                pass_over_odd_tools(client.session, self._odd.append)
                self._client = client
                opened.set_result(None)
                if self._was_open:
                    self._changed()
                self._was_open = True
                listening = asyncio.create_task(
                    listen(client, self._changed), name=f"listen to mcp {self.server.name}"
                )
                try:
                    await self._closing.wait()
                finally:
                    listening.cancel()
                    await asyncio.gather(listening, return_exceptions=True)
        except _failures() as problem:
            if not opened.done():
                opened.set_exception(McpLinkError(self._told(_innermost(problem))))
                opened.exception()  # perhaps nobody is waiting any more
        finally:
            self._client = None
            if not opened.done():
                opened.set_exception(McpLinkError(self._told("it ended")))
                opened.exception()

    def _make(self, stack: contextlib.AsyncExitStack) -> Client:
        mcp = import_module("mcp")
        server, environ = self.server, self._environ
        info = import_module("mcp.types").Implementation(name="spark", version="1")
        if server.url:
            http = import_module("mcp.client.streamable_http")
            headers = {
                name: environ[source] for name, source in server.headers_from.items() if source in environ
            }
            client = import_module("httpx2").AsyncClient(
                headers={**headers, **server.headers},
                timeout=server.seconds,
                follow_redirects=False,
                event_hooks={"response": [import_module("session.tools.mcp.bounded_answers").bound]},
            )
            streamed = http.streamable_http_client(
                server.url, http_client=client, max_sse_event_size=LONGEST_MESSAGE
            )
            made: Client = mcp.Client(
                streamed,
                client_info=info,
                message_handler=hearing(self._changed),
            )
            return made
        given = {**server_environment(environ, server.env_from), **server.env}
        program = streams(
            command_outside(server.command, self._folders.project, given),
            given,
            self._folders.working_folder(server),
            stack.enter_context(self._errors.pipe()),
            self._errors.add,
        )
        started: Client = mcp.Client(program, client_info=info, message_handler=hearing(self._changed))
        return started

    def _told(self, problem: object) -> str:
        said = self._errors.why()
        return clean_line(f"MCP server {self.server.name}: {problem}{f' ({said})' if said else ''}")[:300]


def _failures() -> tuple[type[Exception], ...]:
    """The errors that the packages raise for a failing server, program or connection."""
    anyio = import_module("anyio")
    return (
        OSError,
        ValueError,
        RuntimeError,
        ExceptionGroup,
        anyio.ClosedResourceError,
        anyio.BrokenResourceError,
        import_module("mcp").MCPError,
        import_module("httpx2").HTTPError,
    )


async def _taken_as_it_is(name: str, result: CallToolResult) -> None:
    """In place of the check of an answer against the schema that its server gave for it."""


def _is_lost(problem: Exception) -> bool:
    """Whether the server is gone; otherwise it only answered with an error."""
    mcp = import_module("mcp")
    closed = import_module("mcp.types").CONNECTION_CLOSED
    return not isinstance(problem, mcp.MCPError) or problem.error.code == closed


def _innermost(problem: Exception) -> object:
    while isinstance(problem, ExceptionGroup):
        problem = problem.exceptions[0]
    if isinstance(problem, OSError) and problem.strerror:
        return f"{problem.filename}: {problem.strerror}" if problem.filename else problem.strerror
    return problem or type(problem).__name__


class _LastWords:
    """The end of what a program writes to its standard error."""

    def __init__(self) -> None:
        self._tail = b""

    @contextlib.contextmanager
    def pipe(self) -> Iterator[TextIO]:
        """A file for the program to write to; the event loop reads it during the context."""
        loop = asyncio.get_running_loop()
        reading, writing = os.pipe()
        os.set_blocking(reading, False)
        loop.add_reader(reading, self._read, reading)
        try:
            with os.fdopen(writing, "w") as file:
                yield file
        finally:
            self._read(reading)
            loop.remove_reader(reading)
            os.close(reading)

    def _read(self, reading: int) -> None:
        with contextlib.suppress(BlockingIOError):
            self._tail = (self._tail + os.read(reading, 65_536))[-_TAIL:]

    def add(self, line: str) -> None:
        """Take a line of spark's own about the program."""
        self._tail = f"{line}\n".encode()

    def why(self) -> str:
        """The last line that names an error, else the last line, cleaned; empty if there is none."""
        lines = [line for line in self._tail.decode("utf-8", "replace").splitlines() if line.strip()]
        named = [line for line in lines if _NAMES_AN_ERROR.search(line)]
        return clean_line((named or lines or [""])[-1])
