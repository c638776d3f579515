"""The tool ``search``: lines of the project that match.

Searches with ripgrep if it is installed, else git, else Python; each is a program that can be killed.

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
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from context.disk.git import Git, GitUnavailable
from context.disk.programs import find_program, plain_environment
from context.disk.source import LARGEST, Source
from context.project.project import Project
from context.project.snapshot import Snapshot
from context.text.globs import glob
from context.text.lines import split_lines
from context.text.safe import fenced_lines, safe_text
from context.text.secrets import is_secret_file
from session.tools.allowed_paths import Refusal, resolve
from session.tools.command.process import run_group
from session.tools.tool import CallContext, ToolResult, ToolSpec, failed, lines_that_fit, plural

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


MOST_SHOWN = 200
"""The most lines that one search shows."""
MOST_IN_FILE = 25
LONGEST_LINE = 240
LONGEST_PATTERN = 1_000

_SPEC = ToolSpec(
    name="search",
    description=(
        "Finds the lines of the project's files that match a regular expression, line by line. "
        "Ignored files are not searched."
    ),
    parameters={
        "type": "object",
        "properties": {
            "pattern": {"type": "string"},
            "literal": {"type": "boolean", "description": "take the pattern as it stands; false by default"},
            "ignore_case": {"type": "boolean", "description": "false by default"},
            "path": {
                "type": "string",
                "description": "only here: a file, a folder, or a glob such as *.py or src/**/*.ts",
            },
        },
        "required": ["pattern"],
        "additionalProperties": False,
    },
)


class SearchTool:
    """Searches the text files of the project's snapshot."""

    def __init__(self, project: Project) -> None:
        self._project = project

    @property
    def spec(self) -> ToolSpec:
        """See :class:`Tool`."""
        return _SPEC

    def label(self, arguments: Mapping[str, Any]) -> str:
        """See :class:`Tool`."""
        where = f" in {arguments['path']}" if arguments.get("path") else ""
        return f'search "{arguments.get("pattern", "")}"{where}'

    def refusal(self, arguments: Mapping[str, Any]) -> str:
        """See :class:`Tool`."""
        return _unusable(arguments["pattern"])

    async def call(self, arguments: Mapping[str, Any], around: CallContext) -> ToolResult:
        """See :class:`Tool`."""
        query = Query(
            arguments["pattern"], arguments.get("literal", False), arguments.get("ignore_case", False)
        )
        snapshot = self._project.snapshot
        paths = await asyncio.to_thread(self._candidates, snapshot, arguments.get("path", ""))
        if isinstance(paths, Refusal):
            return failed(paths.why)
        try:
            places = await search(query, self._project.root, paths, git=snapshot.git)
        except BadPattern as problem:
            return failed(f"That pattern cannot be searched: {problem}", "the pattern is wrong")
        return await asyncio.to_thread(_told, snapshot, places, paths, around)

    def _candidates(self, snapshot: Snapshot, where: str) -> tuple[str, ...] | Refusal:
        """The files to search, in order."""
        paths = [path for path in snapshot.paths if path not in snapshot.unread and not is_secret_file(path)]
        if where:
            if any(mark in where for mark in "*?["):
                matches = glob(where.strip().removeprefix("@").removeprefix("/"))
                paths = [path for path in paths if any(map(matches, _with_folders(path)))]
            else:
                inside = resolve(self._project, where)
                if isinstance(inside, Refusal):
                    return inside
                paths = [path for path in paths if inside in (".", path) or path.startswith(f"{inside}/")]
            if not paths:
                return Refusal(f"There are no files of this project in {where}.")
        return tuple(paths)


def _with_folders(path: str) -> Iterator[str]:
    """The path and the folders it is in."""
    while path:
        yield path
        path = path.rpartition("/")[0]


def _unusable(pattern: str) -> str:
    if not pattern.strip():
        return "The pattern is empty."
    if len(pattern) > LONGEST_PATTERN:
        return f"The pattern is longer than {LONGEST_PATTERN:,} characters."
    if "\n" in pattern or "\0" in pattern:
        return "The pattern must not hold a line end: lines are matched one by one."
    if any("\ud800" <= character <= "\udfff" for character in pattern):
        return "The pattern holds half of a surrogate pair."
    return ""


def _told(snapshot: Snapshot, places: Places, paths: tuple[str, ...], around: CallContext) -> ToolResult:
    """The answer: matches under their file's path, files in order."""
    files = [path for path in paths if path in places.lines]
    count = sum(len(places.lines[path]) for path in files)
    summary = f"{plural(count, 'match', 'matches')} in {plural(len(files), 'file')}"
    if places.cut:
        summary = f"more than {summary}"
    if places.slow:
        summary += f" (stopped after {SECONDS:.0f} s)"
    if places.broken:
        summary += f" (given up before the end: {places.broken})"
    if not snapshot.complete:
        summary += " (the project is still being read)"
    lines: list[str] = []
    shown = 0
    for path in files:
        if shown >= MOST_SHOWN:
            break
        matches = _matches(snapshot, path, sorted(places.lines[path]))[: MOST_SHOWN - shown]
        if matches:
            lines += [path, *matches]
            shown += len(matches)
    fits = lines_that_fit(lines, around.room, around.count)
    if fits < len(lines) or shown < count:
        note = [f"… not all of {summary}: narrow the search with path, or with a longer pattern"]
    else:
        note = []
    found = fenced_lines([*lines[:fits], *note]) if lines else ""
    return ToolResult(f"{summary}\n{found}", summary)


def _matches(snapshot: Snapshot, path: str, numbers: list[int]) -> list[str]:
    source = snapshot.read(path)
    if not isinstance(source, Source):
        return []
    lines = split_lines(safe_text(source.text).text)
    shown = [f"{number}: {_cut(lines[number - 1])}" for number in numbers if number <= len(lines)]
    more = len(shown) - MOST_IN_FILE
    return shown[:MOST_IN_FILE] + (
        [f"… {plural(more, 'more match', 'more matches')} here"] if more > 0 else []
    )


def _cut(line: str) -> str:
    return line if len(line) <= LONGEST_LINE else f"{line[:LONGEST_LINE]}…"
