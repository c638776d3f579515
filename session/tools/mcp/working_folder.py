"""The working folder that an MCP server's program is started in.

Programs read code from where they are started: ``python -m NAME`` imports NAME from there, ``npx`` looks for
packages there and in the folders above. So no server starts in the project, which may be a stranger's,
unless the user's configuration says so.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from session.base.storage.folders import private_folder
from session.tools.mcp.settings import PROJECT_FOLDER, McpServer


@dataclass(frozen=True, slots=True)
class ServerFolders:
    """The folders for servers: the open ``project``, and private ones below spark's ``state`` folder."""

    project: Path
    state: Path

    def working_folder(self, server: McpServer) -> Path:
        """The folder for ``server``: what its ``cwd`` says, else a private one of its own, made here.

        The private folder lies below the user's home and not in a shared folder for temporary files, where
        other users could place packages above it. Raises OSError where it cannot be made.
        """
        if server.cwd == PROJECT_FOLDER:
            return self.project
        if server.cwd:
            return Path(server.cwd)
        return private_folder(self.state / "mcp" / server.name)
