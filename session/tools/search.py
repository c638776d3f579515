"""The tool ``search``: lines of the project that match."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from typing import Any

from context.disk.source import Source
from context.project.project import Project
from context.project.snapshot import Snapshot
from context.text.fences import fenced_lines
from context.text.globs import glob
from context.text.lines import split_lines
from context.text.safe import safe_text
from context.text.secrets import is_secret_file
from session.tools.allowed_paths import Refusal, resolve
from session.tools.search_engines import SECONDS, BadPattern, Places, Query, search
from session.tools.tool import CallContext, ToolResult, ToolSpec, failed
from session.tools.truncate import lines_that_fit, plural

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
