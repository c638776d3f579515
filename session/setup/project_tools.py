"""Makes the project's own tools: those that read it, and the one that runs commands in it."""

from __future__ import annotations

from collections.abc import Mapping

from context.project.project import Project
from session.setup.opening import Opening
from session.tools.command.run import RunTool
from session.tools.look import ListTool, OutlineTool, ReadTool
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
