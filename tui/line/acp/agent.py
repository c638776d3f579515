"""The agent: what a client of the Agent Client Protocol can ask of spark.

Protocol: https://agentclientprotocol.com/protocol/overview. The library ``agent-client-protocol`` reads the
messages and calls the methods here, each in a task of its own.

MCP servers that a client configures for a session.
"""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from acp import PROTOCOL_VERSION, RequestError
from acp.interfaces import Client
from acp.schema import (
    AcpMcpServer,
    AgentCapabilities,
    AuthenticateResponse,
    ClientCapabilities,
    CloseSessionResponse,
    FileSystemCapabilities,
    HttpMcpServer,
    Implementation,
    InitializeResponse,
    ListSessionsResponse,
    LoadSessionResponse,
    McpCapabilities,
    McpServerStdio,
    NewSessionResponse,
    PromptCapabilities,
    PromptResponse,
    ResumeSessionResponse,
    SessionCapabilities,
    SessionCloseCapabilities,
    SessionInfo,
    SessionListCapabilities,
    SessionResumeCapabilities,
    SetSessionConfigOptionResponse,
    SetSessionModeResponse,
    SseMcpServer,
)

from session.base.storage.folders import config_folder
from session.base.storage.private_files import StoreError
from session.base.text.sanitize import clean_line
from session.models.catalogue import Catalogue
from session.models.credentials import CredentialsError
from session.project.workspace import WorkspaceError, open_workspace
from session.record.journal.session_list import NoSessionError, check_readable, find_session, list_sessions
from session.session import Session
from session.setup.config import ConfigError, Flags, Settings, load_settings
from session.setup.model_choice import ChoiceError
from session.setup.opening import open_project
from session.tools.mcp.settings import McpServer
from tui.line.acp.conversation import Conversation
from tui.line.acp.options import OptionError, choose, modes, options
from tui.line.acp.prompt_text import Block, ClientFiles, ContentError, prompt_text
from tui.line.acp.signing_in import AUTH_REQUIRED, AuthMethod, auth_methods, sign_in

ClientServer = HttpMcpServer | SseMcpServer | AcpMcpServer | McpServerStdio
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9]+")
_LONGEST_NAME = 24


class ServerError(ValueError):
    """A server that spark cannot use; the message says which and why."""


def with_client_servers(
    configured: Sequence[McpServer], given: Sequence[ClientServer]
) -> tuple[tuple[McpServer, ...], tuple[str, ...]]:
    """The user's configured servers and the client's, each by a name of its own; a configured one wins. The
    lines say which of the client's cannot be used, and why."""
    servers = {server.name: server for server in configured}
    unused = []
    for each in given:
        try:
            server = _server(each)
        except ServerError as problem:
            unused.append(f"{problem}; it is left out")
        else:
            servers.setdefault(server.name, server)
    return tuple(servers.values()), tuple(unused)


def _server(each: ClientServer) -> McpServer:
    name = _name(each.name)
    match each:
        case McpServerStdio(command=command, args=args, env=env):
            variables = {variable.name: variable.value for variable in env}
            return McpServer(name, command=(command, *args), env=variables)
        case HttpMcpServer(url=url, headers=headers) if url.startswith(("http://", "https://")):
            return McpServer(name, url=url, headers={header.name: header.value for header in headers})
        case SseMcpServer():
            raise ServerError(f"the MCP server {each.name!r} speaks SSE alone, which the protocol gave up")
        case _:
            raise ServerError(f"the MCP server {each.name!r} is neither a program nor an HTTP address")


def _name(given: str) -> str:
    """``given`` as a name that can be part of a tool's name."""
    name = _NOT_IN_NAMES.sub("-", given).strip("-")[:_LONGEST_NAME]
    if not name:
        raise ServerError(f"{given!r} is not a name for an MCP server: it has no letter and no digit")
    return name


_PAGE = 50
"""Sessions in one answer to ``session/list``."""
_LONGEST_CURSOR = 9
_NOT_FOUND = -32002
"""The protocol's error for a session that there is not: clients then begin another one."""


class SparkAgent:
    """All sessions of one client. It is an ``acp.Agent``."""

    def __init__(self, flags: Flags) -> None:
        """``flags`` hold for every session."""
        self._flags = flags
        self._open: dict[str, Conversation] = {}
        self._client: Client | None = None
        self._files = FileSystemCapabilities()

    def on_connect(self, conn: Client) -> None:
        """Take the connection to the client."""
        self._client = conn

    async def close(self) -> None:
        """Close every session, with all writes finished."""
        conversations, self._open = list(self._open.values()), {}
        await asyncio.gather(*(each.close() for each in conversations))

    async def initialize(
        self,
        protocol_version: int,
        client_capabilities: ClientCapabilities | None = None,
        client_info: Implementation | None = None,
        **_: Any,
    ) -> InitializeResponse:
        """Say what spark can do, and take what the client can do."""
        if client_capabilities is not None and client_capabilities.fs is not None:
            self._files = client_capabilities.fs
        return InitializeResponse(
            protocol_version=min(protocol_version, PROTOCOL_VERSION) or PROTOCOL_VERSION,
            agent_info=Implementation(name="spark", title="spark", version=version("spark")),
            agent_capabilities=AgentCapabilities(
                load_session=True,
                prompt_capabilities=PromptCapabilities(embedded_context=True, image=False, audio=False),
                mcp_capabilities=McpCapabilities(http=True, sse=False),
                session_capabilities=SessionCapabilities(
                    list=SessionListCapabilities(),
                    resume=SessionResumeCapabilities(),
                    close=SessionCloseCapabilities(),
                ),
            ),
            auth_methods=self._auth_methods(),
        )

    async def authenticate(self, method_id: str, **_: Any) -> AuthenticateResponse:
        """Sign in with a plan, or see that a key is there."""
        with _told_to_the_client():
            settings, catalogue = self._settings()
            await sign_in(method_id, catalogue, settings)
        return AuthenticateResponse()

    async def new_session(
        self, cwd: str, mcp_servers: list[ClientServer] | None = None, **_: Any
    ) -> NewSessionResponse:
        """Begin a session in the folder ``cwd``."""
        conversation = await self._begin(cwd, mcp_servers)
        session = conversation.session
        conversation.follow()
        return NewSessionResponse(
            session_id=conversation.id, modes=modes(session), config_options=list(options(session))
        )

    async def load_session(
        self, cwd: str, session_id: str, mcp_servers: list[ClientServer] | None = None, **_: Any
    ) -> LoadSessionResponse:
        """Open an earlier session again, and send all that was said in it."""
        session = await self._again(cwd, session_id, mcp_servers, replay=True)
        return LoadSessionResponse(modes=modes(session), config_options=list(options(session)))

    async def resume_session(
        self, session_id: str, cwd: str, mcp_servers: list[ClientServer] | None = None, **_: Any
    ) -> ResumeSessionResponse:
        """Open an earlier session again for a client that knows what was said in it."""
        session = await self._again(cwd, session_id, mcp_servers, replay=False)
        return ResumeSessionResponse(modes=modes(session), config_options=list(options(session)))

    async def list_sessions(
        self, cwd: str | None = None, cursor: str | None = None, **_: Any
    ) -> ListSessionsResponse:
        """The sessions of the folder ``cwd``, those changed last first; without a folder, the open ones."""
        if cwd is None:
            rows = [
                SessionInfo(session_id=each.id, cwd=str(each.session.root)) for each in self._open.values()
            ]
        else:
            folder = _folder(cwd)
            with _told_to_the_client():
                workspace = open_workspace(folder, os.environ)
            found = await asyncio.to_thread(list_sessions, workspace.folders.sessions)
            rows = [
                SessionInfo(
                    session_id=row.name,
                    cwd=str(folder),
                    title=clean_line(row.title) or None,
                    updated_at=datetime.fromtimestamp(row.changed, UTC).isoformat(),
                )
                for row in found.rows
            ]
        start = int(cursor) if cursor and cursor.isdecimal() and len(cursor) <= _LONGEST_CURSOR else 0
        more = str(start + _PAGE) if start + _PAGE < len(rows) else None
        return ListSessionsResponse(sessions=rows[start : start + _PAGE], next_cursor=more)

    async def close_session(self, session_id: str, **_: Any) -> CloseSessionResponse:
        """Stop a session; it can be loaded again."""
        conversation = self._conversation(session_id)
        del self._open[session_id]
        await conversation.close()
        return CloseSessionResponse()

    async def set_session_mode(self, session_id: str, mode_id: str, **_: Any) -> SetSessionModeResponse:
        """Choose whether hunks land at once or ask first."""
        await self._choose(session_id, "mode", mode_id)
        return SetSessionModeResponse()

    async def set_config_option(
        self, config_id: str, session_id: str, value: str | bool, **_: Any
    ) -> SetSessionConfigOptionResponse:
        """Choose the mode, the model, its effort or its tier."""
        session = await self._choose(session_id, config_id, value)
        return SetSessionConfigOptionResponse(config_options=list(options(session)))

    async def prompt(self, session_id: str, prompt: list[Block], **_: Any) -> PromptResponse:
        """Run one turn."""
        conversation = self._conversation(session_id)
        try:
            text = prompt_text(prompt, conversation.session.root)
        except ContentError as problem:
            raise RequestError(-32602, str(problem)) from None
        if not text.strip():
            raise RequestError(-32602, "the prompt is empty")
        return await conversation.prompt(text)

    async def cancel(self, session_id: str, **_: Any) -> None:
        """Stop the running turn of a session."""
        conversation = self._open.get(session_id)
        if conversation is not None:
            conversation.cancel()

    def _auth_methods(self) -> list[AuthMethod]:
        try:
            return auth_methods(self._settings()[1])
        except ConfigError:
            return []  # a session that is opened says why

    def _settings(self) -> tuple[Settings, Catalogue]:
        """The user's own settings: no project decides where a key goes."""
        config = config_folder()
        return load_settings(config, config, os.environ, self._flags)

    async def _again(
        self, cwd: str, session_id: str, mcp_servers: list[ClientServer] | None, *, replay: bool
    ) -> Session:
        folder = _folder(cwd)  # before anything is closed
        running = self._open.get(session_id)
        if running is not None and running.session.standing.empty and folder.samefile(running.session.root):
            return running.session  # closed, there would be nothing to open
        if self._open.pop(session_id, None) is not None and running is not None:
            await running.close()
        conversation = await self._begin(cwd, mcp_servers, resume=session_id, replay=replay)
        conversation.follow()
        return conversation.session

    async def _begin(
        self,
        cwd: str,
        mcp_servers: list[ClientServer] | None,
        *,
        resume: str | None = None,
        replay: bool = False,
    ) -> Conversation:
        """Open a session, and follow it. Raises RequestError."""
        if self._client is None:
            raise RequestError(-32603, "no client is connected")
        client, folder = self._client, _folder(cwd)
        with _told_to_the_client():
            session = await asyncio.to_thread(self._session, folder, mcp_servers or [], resume)
            session.edits_in(
                ClientFiles(client, session.name, session.root, self._files, asyncio.get_running_loop())
            )
            conversation = Conversation(session, client)
            await conversation.begin(replay=replay)
        self._open[conversation.id] = conversation
        return conversation

    def _session(self, folder: Path, mcp_servers: list[ClientServer], resume: str | None) -> Session:
        opening = open_project(folder, self._flags, os.environ)
        if opening.endpoint is None:
            raise RequestError(AUTH_REQUIRED, clean_line(opening.missing))
        servers, unused = with_client_servers(opening.settings.mcp, mcp_servers)
        opening = replace(opening, settings=replace(opening.settings, mcp=servers))
        journal = None
        if resume is not None:
            journal = _journal(opening.workspace.folders.sessions, resume)
            check_readable(journal)
        session = Session(opening, resume=journal)
        session.notes += unused
        return session

    async def _choose(self, session_id: str, option: str, value: str | bool) -> Session:
        conversation = self._conversation(session_id)
        try:
            told = await choose(conversation.session, option, value)
        except (OptionError, ChoiceError) as problem:
            raise RequestError(-32602, clean_line(str(problem))) from None
        await conversation.tell_options()
        await conversation.tell(told)
        return conversation.session

    def _conversation(self, session_id: str) -> Conversation:
        conversation = self._open.get(session_id)
        if conversation is None:
            raise RequestError(_NOT_FOUND, f"no session {clean_line(session_id)!r} is open: load it first")
        return conversation


@contextmanager
def _told_to_the_client() -> Iterator[None]:
    """Answer with what is wrong where a session cannot be opened."""
    try:
        yield
    except (ConfigError, CredentialsError, WorkspaceError, StoreError) as problem:
        raise RequestError(-32602, clean_line(str(problem))) from None


def _journal(folder: Path, session_id: str) -> Path:
    """The journal of a session by its whole name: a client knows it by no other. Raises RequestError."""
    try:
        found = find_session(folder, session_id)
    except NoSessionError as problem:
        raise RequestError(_NOT_FOUND, clean_line(str(problem))) from None
    if found.stem != session_id:
        raise RequestError(_NOT_FOUND, f"no session is called {clean_line(session_id)!r}")
    return found


def _folder(cwd: str) -> Path:
    folder = Path(cwd)
    if not folder.is_absolute():
        raise RequestError(-32602, f"cwd must be an absolute path, not {clean_line(cwd)!r}")
    if not folder.is_dir():
        raise RequestError(-32602, f"cwd: there is no folder {clean_line(cwd)}")
    return folder
