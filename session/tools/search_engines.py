"""Searches with ripgrep if it is installed, else git, else Python; each is a program that can be killed.

They are only asked for places (path and line). Which lines may be shown, and the lines themselves, come from
the project, so the answer is the same whichever program searched.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from context.disk.git import Git, GitUnavailable
from context.disk.programs import find_program, plain_environment
from context.disk.source import LARGEST
from session.tools.command.process import run_group

SECONDS = 15.0
"""The time limit of a search."""
MOST_PLACES = 20_000
_PLACE = re.compile(rb"(?:\./)?([^\0\n]+)\0(\d+)[:\0]")
_LONGEST_REST = 8 * 1024 * 1024
_MOST_ERRORS = 2_000


@dataclass(frozen=True, slots=True)
class Query:
    """A search: ``pattern`` is a regular expression, or plain text if ``literal``."""

    pattern: str
    literal: bool = False
    ignore_case: bool = False


@dataclass(frozen=True, slots=True)
class Places:
    """The matches: line numbers from 1, by path. ``cut`` means that there are more; ``broken`` is the
    engine's own message if it gave up before the end."""

    lines: dict[str, set[int]]
    cut: bool = False
    slow: bool = False
    broken: str = ""


class BadPattern(ValueError):
    """The engine in use does not accept the pattern; the message says why."""


async def search(query: Query, root: Path, paths: Sequence[str], *, git: bool) -> Places:
    """Find ``query`` in the project at ``root``; ``git`` says whether that is a repository.

    Only ``paths`` matter, but the answer may contain others. Raises BadPattern.
    """
    if program := await asyncio.to_thread(find_program, "rg", root):
        with contextlib.suppress(OSError):  # It could not be started.
            return await _run([program, *_ripgrep(query)], root, ())
    if git:
        # git cannot search if the repository is gone or unreadable.
        with contextlib.suppress(GitUnavailable, OSError):
            return await _run_git(query, root)
    return await _run([sys.executable, "-P", "-m", "session.tools.plain_search", *_plain(query)], root, paths)


async def _run_git(query: Query, root: Path) -> Places:
    opened = await asyncio.to_thread(Git.open, root)
    return await _run(opened.command(*_git(query)), root, (), opened.environment)


def _ripgrep(query: Query) -> list[str]:
    flags = ["--no-config", "--color=never", "--no-heading", "--with-filename", "--line-number", "--null"]
    flags += ["--hidden", "--glob=!.git", "--no-ignore-dot", "--no-messages", "--crlf"]
    flags += [f"--max-filesize={LARGEST}", *_case(query), *(["--fixed-strings"] if query.literal else [])]
    return [*flags, "-e", query.pattern, "./"]


def _git(query: Query) -> list[str]:
    flags = ["grep", "--no-color", "--no-column", "-n", "-z", "-I", "--untracked", "--no-full-name"]
    return [*flags, *_case(query), "-F" if query.literal else "-P", "-e", query.pattern]


def _plain(query: Query) -> list[str]:
    return [*_case(query), *(["-F"] if query.literal else []), "--", query.pattern]


def _case(query: Query) -> list[str]:
    return ["-i"] if query.ignore_case else []


async def _run(
    command: list[str], root: Path, paths: Sequence[str], environment: Mapping[str, str] | None = None
) -> Places:
    gathered = _Gathered()
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as errors:
        given.write(b"\0".join(os.fsencode(path) for path in paths))
        given.seek(0)
        ended = await run_group(
            command,
            folder=root,
            environ=plain_environment() if environment is None else environment,
            seconds=SECONDS,
            take=gathered.take,
            stdin=given,
            errors=errors,
            grace=0.0,
        )
        errors.seek(0)
        said = errors.read(_MOST_ERRORS).decode("utf-8", "replace").strip()
    # 1 means that nothing was found; ripgrep also returns 2 for a file it could not read.
    broke = ended.code not in (0, 1) and not (ended.cut or ended.timed_out)
    if broke and not gathered.lines:
        raise BadPattern(said or f"the search failed with exit code {ended.code}")
    return Places(gathered.lines, ended.cut, ended.timed_out, said.split("\n")[-1] if broke else "")


class _Gathered:
    """Reads places from an engine's output, whose lines begin with ``path NUL line``."""

    def __init__(self) -> None:
        self.lines: dict[str, set[int]] = {}
        self._count = 0
        self._rest = b""

    def take(self, piece: bytes) -> bool:
        """Take a piece of output; returns false when it is enough."""
        *whole, self._rest = (self._rest + piece).split(b"\n")
        for line in whole:
            found = _PLACE.match(line)
            if found is not None:
                self.lines.setdefault(os.fsdecode(found[1]), set()).add(int(found[2]))
                self._count += 1
        return self._count < MOST_PLACES and len(self._rest) < _LONGEST_REST
