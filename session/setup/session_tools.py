"""Makes the tools of a session: those that read the project, the one that runs commands in it, and those of
MCP servers, which come to its toolbox as soon as they are known.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path

from context.project.project import Project
from session.base.events import Notice
from session.base.tasks import BackgroundTasks
from session.record.journal.recorder import Recorder
from session.setup.opening import Opening
from session.tools.command.rules import CommandRules, KeptRules
from session.tools.command.run import RunTool, WalledEnd, Walls
from session.tools.look import ListTool, OutlineTool, ReadTool
from session.tools.mcp.servers import McpServers
from session.tools.search import SearchTool
from session.tools.settings import Running, running
from session.tools.tool import Tool
from session.tools.toolbox import Toolbox


def project_tools(project: Project, *, read: bool) -> tuple[Tool, ...]:
    """The tools that read the project, if the user allows that."""
    if not read:
        return ()
    return ReadTool(project), SearchTool(project), ListTool(project), OutlineTool(project)


def project_toolbox(opening: Opening, project: Project, *, attended: bool) -> Toolbox:
    """The tools that a session starts with; ``attended`` if there is somebody to ask."""
    toolbox = Toolbox(project_tools(project, read=opening.settings.tools.read))
    CommandOffer(opening, toolbox, lambda: None, attended=attended)
    return toolbox


class CommandOffer:
    """The tool that runs commands, in the toolbox unless commands are off. ``changed`` is called when it
    comes or goes, or runs them in another way."""

    def __init__(
        self, opening: Opening, toolbox: Toolbox, changed: Callable[[], None], *, attended: bool
    ) -> None:
        settings, workspace = opening.settings, opening.workspace
        mode = running(settings.tools, attended=attended, trusted=settings.trusted)
        given = (*settings.tools.allow, *settings.allow)
        rules = CommandRules(given, KeptRules(workspace.folders.state), workspace.root)
        environ = opening.command_environ
        walls = _Walls(workspace.root, environ)
        self._tool = RunTool(workspace.root, environ, mode, rules=rules, walls=walls)
        self._toolbox = toolbox
        self._changed = changed
        self._offer()

    @property
    def mode(self) -> Running:
        """How commands are run."""
        return self._tool.mode

    def choose(self, mode: Running) -> None:
        """Run commands so from the next call on; the model is told with the next turn."""
        self._tool.mode = mode
        self._offer()
        self._changed()

    def _offer(self) -> None:
        if self._tool.mode is Running.NEVER:
            self._toolbox.withdraw(self._tool)
        else:
            self._toolbox.offer(self._tool)


class _Walls:
    """The walls around commands, made when the first one runs: they need many imports."""

    def __init__(self, root: Path, environ: Mapping[str, str]) -> None:
        self._root = root
        self._environ = environ
        self._made: Walls | None = None

    async def run(self, command: str, seconds: int, take: Callable[[bytes], bool]) -> WalledEnd:
        """See :class:`session.tools.command.run.Walls`."""
        if self._made is None:
            from session.checks.sandbox.sandbox import Sandboxes
            from session.checks.walled_commands import WalledCommands

            self._made = WalledCommands(Sandboxes(self._root, self._environ), self._environ)
        return await self._made.run(command, seconds, take)


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
