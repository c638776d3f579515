"""A client of the Agent Client Protocol, with files open: the library's own, on a real ``spark acp``."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from acp import PROTOCOL_VERSION, Client, RequestError, spawn_agent_process
from acp.client.connection import ClientSideConnection
from acp.schema import (
    AllowedOutcome,
    ClientCapabilities,
    DeniedOutcome,
    FileEditToolCallContent,
    FileSystemCapabilities,
    PermissionOption,
    ReadTextFileResponse,
    RequestPermissionResponse,
    TextContentBlock,
    ToolCallUpdate,
    WriteTextFileResponse,
)

from tui.line.acp.prompt_text import Block

PATIENCE = 30.0


@dataclass
class Editor:
    """What a client has heard, and how it answers."""

    buffers: dict[str, str] = field(default_factory=dict)
    """Unsaved texts by absolute path; a file without one is what is on disk."""
    answers: list[str] = field(default_factory=list)
    """The options that the user picks, in order; with none left the question stays open."""
    updates: list[Any] = field(default_factory=list)
    asked: list[ToolCallUpdate] = field(default_factory=list)
    written: list[str] = field(default_factory=list)
    on_read: Callable[[str], None] = lambda path: None
    news: asyncio.Event = field(default_factory=asyncio.Event)

    async def session_update(self, session_id: str, update: Any, **_: Any) -> None:
        self.updates.append(update)
        self.news.set()

    async def request_permission(
        self, session_id: str, tool_call: ToolCallUpdate, options: list[PermissionOption], **_: Any
    ) -> RequestPermissionResponse:
        self.asked.append(tool_call)
        self.news.set()
        while not self.answers:
            await asyncio.sleep(0.01)
        answer = self.answers.pop(0)
        if answer == "cancelled":
            return RequestPermissionResponse(outcome=DeniedOutcome(outcome="cancelled"))
        assert answer in {option.option_id for option in options}
        return RequestPermissionResponse(outcome=AllowedOutcome(outcome="selected", option_id=answer))

    async def read_text_file(self, session_id: str, path: str, **_: Any) -> ReadTextFileResponse:
        self.on_read(path)
        if path in self.buffers:
            return ReadTextFileResponse(content=self.buffers[path])
        try:
            return ReadTextFileResponse(content=Path(path).read_text())
        except OSError:
            raise RequestError.resource_not_found(path) from None

    async def write_text_file(
        self, session_id: str, path: str, content: str, **_: Any
    ) -> WriteTextFileResponse:
        self.written.append(path)
        self.buffers.pop(path, None)
        Path(path).write_text(content)
        return WriteTextFileResponse()

    def on_connect(self, conn: Any) -> None:
        """Nothing to keep."""

    def all(self, kind: str) -> list[Any]:
        """The updates of one kind."""
        return [update for update in self.updates if update.session_update == kind]

    @property
    def said(self) -> str:
        """All that the model and spark said."""
        return "".join(update.content.text for update in self.all("agent_message_chunk"))

    def diffs(self) -> list[FileEditToolCallContent]:
        """The diffs of all edits."""
        return [
            each
            for update in self.all("tool_call_update")
            for each in update.content or ()
            if isinstance(each, FileEditToolCallContent)
        ]

    async def until(self, fits: Callable[[], bool]) -> None:
        """Wait until something has been heard."""
        async with asyncio.timeout(PATIENCE):
            while not fits():
                self.news.clear()
                await self.news.wait()


def text(prompt: str) -> list[Block]:
    """A prompt of one text."""
    return [TextContentBlock(type="text", text=prompt)]


@asynccontextmanager
async def agent(
    spark: Path, editor: Editor, *options: str, files: bool = False
) -> AsyncIterator[tuple[ClientSideConnection, asyncio.subprocess.Process]]:
    """A client connected to ``spark acp``; with ``files`` it lets the agent read and write through it."""
    capabilities = ClientCapabilities(fs=FileSystemCapabilities(read_text_file=files, write_text_file=files))
    async with (
        asyncio.timeout(4 * PATIENCE),
        spawn_agent_process(
            cast(Client, editor),
            str(spark),
            "acp",
            *options,
            env=dict(os.environ),
            use_unstable_protocol=True,
        ) as (connection, process),
    ):
        answer = await connection.initialize(
            protocol_version=PROTOCOL_VERSION, client_capabilities=capabilities
        )
        assert answer.protocol_version == PROTOCOL_VERSION
        yield connection, process
