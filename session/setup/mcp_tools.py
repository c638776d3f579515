"""Adds the tools of a session's MCP servers to its toolbox as soon as they are known."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from session.base.events import Notice
from session.base.tasks import BackgroundTasks
from session.record.journal.recorder import Recorder
from session.setup.opening import Opening
from session.tools.mcp.servers import McpServers
from session.tools.toolbox import Toolbox


class McpOffer:
    """The configured servers, if any. ``changed`` is called when the offered tools change."""

    def __init__(
        self,
        opening: Opening,
        toolbox: Toolbox,
        recorder: Recorder,
        changed: Callable[[], None],
        tasks: BackgroundTasks,
        *,
        attended: bool,
    ) -> None:
        self._toolbox = toolbox
        self._changed = changed
        self._tasks = tasks
        self._configured = bool(opening.settings.mcp)
        self._servers = McpServers(
            opening.settings.mcp,
            opening.program_environ,
            opening.server_folders,
            lambda level, line: recorder.publish(Notice(level=level, text=line)),
            self._refresh,
            tasks,
            attended=attended,
        )
        toolbox.add(self._servers)

    def start(self) -> asyncio.Task[None] | None:
        """Start opening the servers. The task is done when each of them has opened or failed; None if there
        is no server."""
        if not self._configured:
            return None
        self._servers.start()
        return self._tasks.start(self._servers.opened(), "waiting for the MCP servers")

    async def _refresh(self) -> None:
        before = self._toolbox.definitions()
        await self._toolbox.refresh()
        if self._toolbox.definitions() != before:
            self._changed()

    async def close(self) -> None:
        """End the servers."""
        await self._servers.close()
