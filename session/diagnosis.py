"""What is wrong with the setup or the link, step by step: the engine of ``spark doctor``.

Each step is tried in turn and timed; what a step needs of an earlier one that failed is not tried.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import time
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import urlsplit

from session import system_keyring
from session.config import ConfigError, Flags
from session.connection import Connection, LinkError, RequestProfile
from session.credentials import CredentialsError, KeyPlace
from session.discovery import LocalServer, find_servers
from session.engine.model import LocalModel
from session.engine.process import Engine, said_bytes
from session.opening import Opening, open_project, with_key
from session.protocol.events import Finished, TextDelta
from session.protocol.request import user_message
from session.sanitize import clean_line
from session.workspace import WorkspaceError

STEP_SECONDS = 20.0


@dataclass(frozen=True, slots=True)
class Finding:
    """One step: what was looked at, whether it is well (None: it does not matter here), what was found,
    and the milliseconds it took where that says something."""

    step: str
    well: bool | None
    found: str
    milliseconds: float | None = None


def examine_setup(
    folder: Path, flags: Flags, environ: Mapping[str, str]
) -> tuple[list[Finding], Opening | None]:
    """Look at the folder, settings, key and tools; the opening is None where they cannot be used."""
    try:
        opening = open_project(folder, flags, environ)
    except (WorkspaceError, ConfigError, CredentialsError) as problem:
        return [Finding("settings", False, str(problem))], None
    settings, workspace = opening.settings, opening.workspace
    git = shutil.which("git")
    kept = "a git repository" if (workspace.root / ".git").exists() else "no git repository"
    model = f"{opening.model.name} from {settings.provider}, {opening.model.window:,} tokens"
    return [
        Finding("folder", True, f"{workspace.root} ({kept})"),
        Finding("git", bool(git) or None, git or "not installed: changed files are told by their content"),
        Finding("state", True, str(workspace.folders.state)),
        Finding("model", True, model),
        Finding("edits", True, f"in the format {opening.model.edit_format}"),
    ], opening


async def examine_keys(opening: Opening) -> tuple[list[Finding], Opening]:
    """Fetch the key as the connection would, and look whether there is a keyring; gives the opening
    with the key in it."""
    began = time.perf_counter()
    try:
        keyed = await with_key(opening)
    except CredentialsError as problem:
        key = Finding("key", False, str(problem), _since(began))
        keyed = replace(opening, endpoint=None)
    else:
        source = f"from {opening.key.source}" if opening.key is not None else "none needed on this machine"
        took = _since(began) if isinstance(opening.key, KeyPlace) else None
        key = Finding("key", not opening.missing, opening.missing or source, took)
    began = time.perf_counter()
    try:
        keyring = Finding("keyring", True, await system_keyring.look(), _since(began))
    except system_keyring.KeyringError as problem:
        keyring = Finding("keyring", None, f"not used: {problem}")
    return [key, keyring], keyed


async def examine_machine(opening: Opening) -> list[Finding]:
    """Look for model servers on this machine."""
    servers = await find_servers(opening.catalogue)
    if not servers:
        return [Finding("local", None, "no model server answers on the usual ports of this machine")]
    return [Finding("local", True, f"{server.told}: {_offered(server)}") for server in servers]


def _offered(server: LocalServer) -> str:
    if server.wants_key:
        return f"wants a key (spark login {server.provider})"
    more = f" and {len(server.models) - 3} more" if len(server.models) > 3 else ""
    return f"{', '.join(server.models[:3]) or 'no model'}{more}"


async def examine_link(opening: Opening) -> AsyncIterator[Finding]:
    """Resolve, connect, warm up and ask for one word; stops at the first step that fails."""
    endpoint = opening.endpoint
    if endpoint is None:
        return
    if opening.local is not None:
        async for finding in _examine_engine(opening, opening.local):
            yield finding
        return
    parts = urlsplit(endpoint.base_url)
    host, port = parts.hostname or "", parts.port or (443 if parts.scheme in ("https", "wss") else 80)
    loop = asyncio.get_running_loop()
    began = time.perf_counter()
    try:
        async with asyncio.timeout(STEP_SECONDS):
            found = await loop.getaddrinfo(host, port, type=1)
            yield Finding("resolve", True, f"{host} is {found[0][4][0]}", _since(began))
            began = time.perf_counter()
            _, writer = await asyncio.open_connection(host, port)
            writer.close()
    except (OSError, TimeoutError) as problem:
        said = os.strerror(problem.errno) if isinstance(problem, OSError) and problem.errno else str(problem)
        yield Finding(
            "connect", False, f"{host}:{port}: {clean_line(said) or 'no answer in time'}", _since(began)
        )
        return
    yield Finding("connect", True, f"{host}:{port}", _since(began))
    async for finding in _examine_answer(opening):
        yield finding


async def _examine_engine(opening: Opening, local: LocalModel) -> AsyncIterator[Finding]:
    engine = Engine(local)
    began = time.perf_counter()
    try:
        endpoint = await engine.serve(lambda _: None)
        found = f"{said_bytes(local.size)} loaded, serving at {endpoint.host}"
        yield Finding("engine", True, found, _since(began))
        async for finding in _examine_answer(replace(opening, endpoint=endpoint, local=None)):
            yield finding
    except LinkError as problem:
        yield Finding("engine", False, clean_line(problem.message), _since(began))
    finally:
        await engine.close()


async def _examine_answer(opening: Opening) -> AsyncIterator[Finding]:
    assert opening.endpoint is not None
    profile = RequestProfile(model=opening.model.name, instructions="Answer with the single word: ready.")
    connection = Connection(opening.endpoint, profile, service=opening.service)
    began = time.perf_counter()
    first = None
    try:
        async with asyncio.timeout(STEP_SECONDS):
            async for event in connection.respond([user_message("Are you there?")]):
                if first is None and isinstance(event, TextDelta | Finished):
                    first = _since(began)
    except (LinkError, TimeoutError) as problem:
        yield Finding("answer", False, clean_line(str(problem)) or "none in time", _since(began))
        return
    finally:
        await connection.close()
    yield Finding("first token", True, "handshake, warm-up and request included", first)
    yield Finding("answer", True, f"{opening.model.name} answers", _since(began))


def _since(began: float) -> float:
    return (time.perf_counter() - began) * 1000


def examine_terminal(environ: Mapping[str, str], is_terminal: bool) -> list[Finding]:
    """Look at the terminal as its variables describe it."""
    if not is_terminal:
        return [Finding("terminal", None, "none here: spark exec and spark apply work, the app does not")]
    term = environ.get("TERM", "")
    size = shutil.get_terminal_size()
    colours = "24-bit colour" if environ.get("COLORTERM") in ("truecolor", "24bit") else "256 or 16 colours"
    wide = "NO_COLOR is set: no colours" if environ.get("NO_COLOR") else colours
    where = [
        name for name, variable in (("tmux", "TMUX"), ("ssh", "SSH_CONNECTION")) if environ.get(variable)
    ]
    inside = f", in {' over '.join(where)}" if where else ""
    small = size.columns < 40 or size.lines < 10
    return [
        Finding("terminal", term not in ("", "dumb"), f"TERM={term or '(unset)'}{inside}; {wide}"),
        Finding("size", not small, f"{size.columns}×{size.lines}{' is small for the app' if small else ''}"),
    ]
