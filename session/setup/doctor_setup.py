"""Checks the setup and the terminal: the part of ``spark doctor`` that asks no server; and the result of one
check.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from session.base.storage.folders import private_folder
from session.models import system_keyring
from session.models.credentials import CredentialsError, KeyPlace
from session.models.discovery import LocalServer, find_servers
from session.project.workspace import Workspace, WorkspaceError
from session.record.journal.session_list import damaged_sessions
from session.setup.config import ConfigError, Flags
from session.setup.opening import Opening, open_project, with_key


@dataclass(frozen=True, slots=True)
class Finding:
    """One check: its name, whether it passed (None if it does not matter here), what was found, and the
    milliseconds it took where those mean something."""

    step: str
    well: bool | None
    found: str
    milliseconds: float | None = None


_LONGEST_COMMAND = 10.0
_TRIED = 4096
"""Bytes that are written to find out whether there is room."""


def examine_setup(
    folder: Path, flags: Flags, environ: Mapping[str, str]
) -> tuple[list[Finding], Opening | None]:
    """Check the folder, settings, key and tools; the opening is None if they cannot be used."""
    try:
        opening = open_project(folder, flags, environ)
    except (WorkspaceError, ConfigError, CredentialsError) as problem:
        return [Finding("settings", False, str(problem))], None
    settings, workspace = opening.settings, opening.workspace
    kept, git = examine_git(workspace.root)
    model = f"{opening.model.name} from {settings.provider}, {opening.model.window:,} tokens"
    return [
        Finding("folder", True, f"{workspace.root} ({kept})"),
        git,
        examine_state(workspace.folders.state),
        _ledger(workspace),
        *_damaged_sessions(workspace.folders.sessions),
        Finding("model", True, model),
        Finding("edits", True, f"in the format {opening.model.edit_format}"),
        Finding("tokens", True, _counted(opening)),
    ], opening


def examine_git(root: Path) -> tuple[str, Finding]:
    """Whether ``root`` is in a repository, in words, and whether git can list its files: only a try finds an
    index that is damaged or a repository of another user."""
    from context.disk.file_list import list_git
    from context.disk.git import Git, GitUnavailable
    from context.disk.programs import find_program

    program = find_program("git", root)
    kept = "a git repository" if os.path.lexists(root / ".git") else "no git repository"
    if program is None:
        return kept, Finding("git", None, "not installed: changed files are found by their content")
    try:
        git = Git.open(root)
        list_git(git)
    except GitUnavailable as problem:
        why = f"{program}: {problem}; changed files are found by their content"
        return kept, Finding("git", True, program) if problem.expected else Finding("git", False, why)
    return "in a git repository" if git.prefix else "a git repository", Finding("git", True, program)


def examine_state(folder: Path) -> Finding:
    """Whether a file can be made and written in the folder that holds the ledger and the sessions: only a try
    finds a disk without inodes, a full quota or a disk that became read-only."""
    try:
        with tempfile.TemporaryFile(dir=private_folder(folder)) as file:
            file.write(b"\0" * _TRIED)
            file.flush()
            os.fsync(file.fileno())
    except OSError as problem:
        why = (
            "the file system has no free inodes"
            if _lacks_inodes(folder)
            else problem.strerror or str(problem)
        )
        told = f"{why}: nothing new is kept in {folder}, and no edit can land; make room there"
        return Finding("state", False, told)
    return Finding("state", True, str(folder))


def _lacks_inodes(folder: Path) -> bool:
    try:
        status = os.statvfs(folder)
    except OSError:
        return False
    return status.f_files > 0 and status.f_favail == 0


def _ledger(workspace: Workspace) -> Finding:
    """Whether the record of past edits can be read, and all of it."""
    try:
        ledger = workspace.ledger
        damaged = ledger.damaged_records()
        hunks = len(ledger.hunks())
    except OSError as problem:
        return Finding("ledger", False, problem.strerror or str(problem))
    if damaged:
        found = f"{damaged} damaged records in {ledger.damaged_file}; delete that file when you have seen it"
        return Finding("ledger", False, found)
    return Finding("ledger", True, f"{hunks} edits that can be undone" if hunks else "no edits yet")


def _damaged_sessions(folder: Path) -> list[Finding]:
    """One finding for each session that cannot be read, or not all of it."""
    return [
        Finding("sessions", False, f"{problem}; other sessions are not affected: repair or remove this file")
        for problem in damaged_sessions(folder)
    ]


async def examine_keys(opening: Opening) -> tuple[list[Finding], Opening]:
    """Fetch the key as the connection would and check for a keyring; returns the opening with the key."""
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
    """Find what walls commands get, and model servers on this machine."""
    return [await _examine_walls(opening), *await _examine_servers(opening)]


async def _examine_walls(opening: Opening) -> Finding:
    """Run a command that does nothing in a sandbox of its own, in an empty folder."""
    from session.checks.sandbox.command import Command, SandboxRefused
    from session.checks.sandbox.sandbox import Sandboxes

    began = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="spark-doctor-") as folder:
        try:
            sandbox = await Sandboxes(Path(folder), opening.command_environ).make()
            try:
                await sandbox.run(Command(["/bin/sh", "-c", ":"], _LONGEST_COMMAND), lambda _: True)
            finally:
                await sandbox.remove()
        except (SandboxRefused, OSError) as problem:
            return Finding("walls", False, str(problem), _since(began))
    if sandbox.walls == "namespaces":
        return Finding("walls", True, "commands run in namespaces of their own", _since(began))
    return Finding("walls", True, f"commands run in {sandbox.note}", _since(began))


async def _examine_servers(opening: Opening) -> list[Finding]:
    servers = await find_servers(opening.catalogue)
    if not servers:
        return [Finding("local", None, "no model server answers on the usual ports of this machine")]
    return [Finding("local", True, f"{server.told}: {_offered(server)}") for server in servers]


def _offered(server: LocalServer) -> str:
    if server.wants_key:
        return f"wants a key (spark login {server.provider})"
    more = f" and {len(server.models) - 3} more" if len(server.models) > 3 else ""
    return f"{', '.join(server.models[:3]) or 'no model'}{more}"


def _since(began: float) -> float:
    return (time.perf_counter() - began) * 1000


def examine_terminal(environ: Mapping[str, str], is_terminal: bool) -> list[Finding]:
    """Check the terminal as its environment variables describe it."""
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


def _counted(opening: Opening) -> str:
    """How the model's server counts, and how many tokens of spark's count a request may have."""
    model = opening.model
    measured = f"{opening.settings.provider}/{model.name}" in opening.catalogue.ratios
    how = "measured" if measured else "by its row"
    return (
        f"{model.token_ratio:g} at the server for one of spark's ({how}), {model.budget:,} a request at most"
    )
