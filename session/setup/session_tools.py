"""Makes the tools of a session: those that read the project, the one that runs commands in it, and those of
MCP servers, which come to its toolbox as soon as they are known.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping

from context.project.project import Project
from session.base.events import Notice
from session.base.tasks import BackgroundTasks
from session.record.journal.recorder import Recorder
from session.setup.opening import Opening
from session.tools.command.run import RunTool
from session.tools.look import ListTool, OutlineTool, ReadTool
from session.tools.mcp.servers import McpServers
from session.tools.search import SearchTool
from session.tools.settings import Running, running
from session.tools.tool import Tool
from session.tools.toolbox import Toolbox


def project_tools(
    project: Project, *, read: bool, running: Running, environ: Mapping[str, str]
) -> tuple[Tool, ...]:
    """The tools that the user allows. ``environ`` is for commands and must hold no keys."""
    tools: list[Tool] = []
    if read:
        tools += [ReadTool(project), SearchTool(project), ListTool(project), OutlineTool(project)]
    if running is not Running.NEVER:
        tools.append(RunTool(project.root, environ, asks=running is Running.ASK))
    return tuple(tools)


def project_toolbox(opening: Opening, project: Project, *, attended: bool) -> Toolbox:
    """The tools that a session starts with; ``attended`` if there is somebody to ask."""
    settings = opening.settings
    allowed = running(settings.tools, attended=attended, trusted=settings.trusted)
    environ = opening.command_environ
    return Toolbox(project_tools(project, read=settings.tools.read, running=allowed, environ=environ))


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
