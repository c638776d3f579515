"""Which MCP servers there are: the tables ``[mcp.NAME]`` of the user's ``config.toml``.

A project's own file cannot name any: a server is a program that runs, or an address that is sent things.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,23}")
_KEYS = frozenset(
    {
        "command",
        "url",
        "cwd",
        "env",
        "env_from",
        "headers",
        "headers_from",
        "tools",
        "ask",
        "seconds",
        "start_seconds",
    }
)

SECONDS = 60.0
START_SECONDS = 20.0


PROJECT_FOLDER = "project"
"""The value of ``cwd`` that stands for the open project's folder."""


class Asking(StrEnum):
    """Before which calls the user is asked."""

    ALWAYS = "always"
    WRITES = "writes"
    """All but those that the server says only read."""
    NEVER = "never"


class McpError(ValueError):
    """A setting of the tables cannot be used; the message names it, and what it should be."""


@dataclass(frozen=True, slots=True)
class McpServer:
    """One server: a program on its standard streams (``command``) or a Streamable HTTP address (``url``).

    ``env`` and ``headers`` are given as they are, ``env_from`` and ``headers_from`` taken from variables of
    spark's environment by name. ``tools`` are those that are offered, all when empty. Secrets may stand
    in any of these, so none shows in a repr.
    """

    name: str
    command: tuple[str, ...] = field(default=(), repr=False)
    url: str = field(default="", repr=False)
    cwd: str = ""
    """Where the program starts: ``project``, an absolute path, or a private folder where it is empty."""
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    env_from: tuple[str, ...] = ()
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    headers_from: Mapping[str, str] = field(default_factory=dict)
    tools: tuple[str, ...] = ()
    ask: Asking = Asking.ALWAYS
    seconds: float = SECONDS
    """After which a call is given up."""
    start_seconds: float = START_SECONDS
    """After which a server that does not answer is."""


def read_servers(table: Any) -> tuple[McpServer, ...]:
    """The servers of the table ``mcp``. Raises McpError."""
    if not isinstance(table, Mapping):
        raise McpError("[mcp] must hold one table for each server, as [mcp.github]")
    return tuple(_server(name, entry) for name, entry in table.items())


def _server(name: str, entry: Any) -> McpServer:
    where = f"[mcp.{name}]"
    if not _NAME.fullmatch(name):
        raise McpError(f"{where}: a server's name is at most 24 letters, digits and hyphens")
    if not isinstance(entry, Mapping):
        raise McpError(f'{where} must be a table, as in command = ["program", "argument"]')
    for key in entry:
        if key not in _KEYS:
            raise McpError(f"{where} {key!r} cannot be set; what can is {', '.join(sorted(_KEYS))}")
    command, url = _strings(entry, "command", where), _string(entry, "url", where)
    if bool(command) == bool(url):
        raise McpError(f"{where} needs either command, a list of strings, or url")
    if url and not url.startswith(("http://", "https://")):
        raise McpError(f"{where} url must begin with http:// or https://, not {url.partition(':')[0]!r}")
    ask = entry.get("ask", Asking.ALWAYS)
    if ask not in tuple(Asking):
        raise McpError(f'{where} ask must be "always", "writes" or "never", not {ask!r}')
    return McpServer(
        name,
        command=command,
        url=url,
        cwd=_cwd(entry, where),
        env=_table(entry, "env", where),
        env_from=_strings(entry, "env_from", where),
        headers=_table(entry, "headers", where),
        headers_from=_table(entry, "headers_from", where),
        tools=_strings(entry, "tools", where),
        ask=Asking(ask),
        seconds=_seconds(entry, "seconds", SECONDS, where),
        start_seconds=_seconds(entry, "start_seconds", START_SECONDS, where),
    )


def _string(entry: Mapping[str, Any], key: str, where: str) -> str:
    value = entry.get(key, "")
    if not isinstance(value, str):
        raise McpError(f"{where} {key} must be a string")
    return value


def _cwd(entry: Mapping[str, Any], where: str) -> str:
    cwd = _string(entry, "cwd", where)
    if cwd and cwd != PROJECT_FOLDER and not Path(cwd).is_absolute():
        raise McpError(f'{where} cwd must be "{PROJECT_FOLDER}" or an absolute path, not {cwd!r}')
    return cwd


def _strings(entry: Mapping[str, Any], key: str, where: str) -> tuple[str, ...]:
    value = entry.get(key, [])
    if not isinstance(value, list) or not all(isinstance(part, str) and part for part in value):
        raise McpError(f"{where} {key} must be a list of strings")
    return tuple(value)


def _table(entry: Mapping[str, Any], key: str, where: str) -> dict[str, str]:
    value = entry.get(key, {})
    if not isinstance(value, Mapping) or not all(isinstance(part, str) for part in value.values()):
        raise McpError(f"{where} {key} must be a table of strings")
    return dict(value)


def _seconds(entry: Mapping[str, Any], key: str, default: float, where: str) -> float:
    value = entry.get(key, default)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= 3600:
        raise McpError(f"{where} {key} must be a number of seconds, up to 3600")
    return float(value)
