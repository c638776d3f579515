"""The tables ``[mcp.NAME]`` of the user's ``config.toml``: which MCP servers to use, and where they are
started.

A project's file cannot add any, because a server is a program that runs or an address that receives data.

Programs read code from where they are started: ``python -m NAME`` imports NAME from there, ``npx`` looks for
packages there and in the folders above. So no server starts in the project, which may be a stranger's,
unless the user's configuration says so.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from session.base.storage.folders import private_folder
from session.base.text.tables import Table, TableError

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,23}")
SECONDS = 60.0
START_SECONDS = 20.0
_MOST_SECONDS = 3600


PROJECT_FOLDER = "project"
"""The value of ``cwd`` that stands for the open project's folder."""


class Asking(StrEnum):
    """The calls that need the user's approval."""

    ALWAYS = "always"
    WRITES = "writes"
    """All calls except those of tools that only read, according to the server."""
    NEVER = "never"


@dataclass(frozen=True, slots=True)
class McpServer:
    """One server: a program on its standard streams (``command``) or a Streamable HTTP address (``url``).

    ``env`` and ``headers`` are used as they are; ``env_from`` and ``headers_from`` name variables of spark's
    environment. ``tools`` lists those to offer, all if it is empty. Settings that may hold a secret are kept
    out of the repr.
    """

    name: str
    command: tuple[str, ...] = field(default=(), repr=False)
    url: str = field(default="", repr=False)
    cwd: str = ""
    """The program's working folder: ``project``, an absolute path, or empty for a private folder."""
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    env_from: tuple[str, ...] = ()
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    headers_from: Mapping[str, str] = field(default_factory=dict)
    tools: tuple[str, ...] = ()
    ask: Asking = Asking.ALWAYS
    seconds: float = SECONDS
    """The time limit of a call."""
    start_seconds: float = START_SECONDS
    """The time limit for a server to start and answer."""


def read_servers(values: Any) -> tuple[McpServer, ...]:
    """The servers of the table ``mcp``. Raises TableError."""
    if not isinstance(values, Mapping):
        raise TableError("[mcp] must hold one table for each server, as [mcp.github]")
    return tuple(_server(name, entry) for name, entry in values.items())


def _server(name: str, values: Any) -> McpServer:
    table = Table(f"[mcp.{name}]", values)
    if not _NAME.fullmatch(name):
        raise table.wrong("is not a name for a server: at most 24 letters, digits and hyphens")
    server = McpServer(
        name,
        command=table.texts("command"),
        url=table.text("url", ""),
        cwd=table.text("cwd", ""),
        env=table.text_table("env"),
        env_from=table.texts("env_from"),
        headers=table.text_table("headers"),
        headers_from=table.text_table("headers_from"),
        tools=table.texts("tools"),
        ask=Asking(table.choice("ask", tuple(Asking), Asking.ALWAYS)),
        seconds=table.seconds("seconds", _MOST_SECONDS) or SECONDS,
        start_seconds=table.seconds("start_seconds", _MOST_SECONDS) or START_SECONDS,
    )
    table.end()
    if bool(server.command) == bool(server.url):
        raise table.wrong("needs either command, a list of strings, or url")
    if server.command and not server.command[0]:
        raise table.wrong("command names no program")
    if server.url and not server.url.startswith(("http://", "https://")):
        scheme = server.url.partition(":")[0]
        raise table.wrong(f"url must begin with http:// or https://, not {scheme!r}")
    if server.cwd and server.cwd != PROJECT_FOLDER and not Path(server.cwd).is_absolute():
        raise table.wrong(f'cwd must be "{PROJECT_FOLDER}" or an absolute path, not {server.cwd!r}')
    return server


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
