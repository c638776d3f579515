"""A bundle for a report about spark: what doctor finds, the settings, the log of faults; no keys, no content.

Nothing of the project or of a conversation is in it: of sessions only their names, sizes and damage.
"""

from __future__ import annotations

import platform
import re
import sys
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from context.text.secrets import redact
from session.base.storage.folders import ProjectFolders
from session.base.storage.private_files import StoreError, open_to_read
from session.base.text.masking import mask
from session.record.journal.reading import damaged_lines, journal_size
from session.record.journal.session_list import list_sessions
from session.setup.doctor_setup import Finding

_LOG_BYTES = 100_000
"""Bytes of the end of the log that are in a bundle."""
_MOST_SESSIONS = 20
_EMAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
"""The account of a plan is called by its e-mail address."""
_LIBRARIES = ("textual", "rich", "websockets", "httpx", "prompt_toolkit", "tree_sitter", "tiktoken")


def bundle(findings: Iterable[Finding], folders: ProjectFolders, home: Path) -> str:
    """The text of a bundle. The name of the ``home`` folder is not in it."""
    signs = {True: "ok", False: "!!", None: "--"}
    parts = [
        "# A report about spark\n\nNothing in here was sent anywhere. Read it before you pass it on.\n",
        _section("Versions", _versions()),
        _section("What spark doctor found", (f"{signs[f.well]}  {f.step:<12} {f.found}" for f in findings)),
        _section("config.toml", _end_of(folders.config / "config.toml", _LOG_BYTES).splitlines()),
        _section("Sessions", _sessions(folders.sessions)),
        _section("The log of faults", _end_of(folders.error_log, _LOG_BYTES).splitlines()),
    ]
    return scrubbed("\n".join(parts), home)


def scrubbed(text: str, home: Path) -> str:
    """``text`` without keys, passwords, e-mail addresses and the name of the ``home`` folder."""
    safe = _EMAIL.sub("[e-mail]", redact(mask(text)).text)
    return safe.replace(str(home), "~") if len(home.parts) > 1 else safe


def _section(title: str, lines: Iterable[str]) -> str:
    told = list(lines) or ["(nothing)"]
    return f"## {title}\n\n" + "".join(f"    {line}\n" for line in told)


def _versions() -> list[str]:
    told = [f"Python {sys.version.split()[0]} on {platform.platform()}"]
    for name in ("spark", *_LIBRARIES):
        try:
            told.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            told.append(f"{name} is not installed")
    return told


def _sessions(folder: Path) -> list[str]:
    found = list_sessions(folder)
    told = [*found.problems]
    for row in found.rows[:_MOST_SESSIONS]:
        file = folder / f"{row.name}.jsonl"
        try:
            size, damaged = journal_size(file), damaged_lines(file)
        except StoreError as problem:
            told.append(str(problem))
        else:
            told.append(f"{row.name}  {row.turns} turns  {size:,} bytes  {damaged} damaged lines")
    if len(found.rows) > _MOST_SESSIONS:
        told.append(f"and {len(found.rows) - _MOST_SESSIONS} more")
    return told


def _end_of(file: Path, most: int) -> str:
    """The end of a file of spark's own; why it cannot be read, where that is so."""
    try:
        with open_to_read(file) as opened:
            size = opened.seek(0, 2)
            opened.seek(max(0, size - most))
            text = opened.read().decode("utf-8", "replace")
    except FileNotFoundError:
        return ""
    except OSError as problem:
        return f"cannot read {file}: {problem.strerror}"
    return text.partition("\n")[2] if size > most else text
