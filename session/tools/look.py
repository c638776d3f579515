"""The tools that look at the project: ``list``, ``outline`` and ``read``.

They give the files in a folder; the definitions in a file with their lines, or in a folder's files; and a
file, or a range of its lines, as it is on disk now.
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Mapping
from typing import Any, ClassVar

from context.project.snapshot import ReadsProject, Snapshot
from context.text.lines import split_lines
from context.text.safe import fenced, fenced_lines, safe_text
from context.window.file_views import outline_of
from session.tools.allowed_paths import Refusal, read_file, resolve
from session.tools.tool import CallContext, Reading, ToolResult, ToolSpec, failed, lines_that_fit, plural


class LookingTool(ABC):
    """A tool that reads, in a thread. A subclass has the specification, the label and the work."""

    SPEC: ClassVar[ToolSpec]

    def __init__(self, project: ReadsProject) -> None:
        self._project = project

    def looking_at(self, project: ReadsProject) -> LookingTool:
        """The same tool for another project."""
        return type(self)(project)

    @property
    def spec(self) -> ToolSpec:
        """See :class:`session.tools.tool.Tool`."""
        return self.SPEC

    @abstractmethod
    def label(self, arguments: Mapping[str, Any]) -> str:
        """See :class:`session.tools.tool.Tool`."""

    def refusal(self, arguments: Mapping[str, Any]) -> str:
        """See :class:`session.tools.tool.Tool`."""
        return ""

    async def call(self, arguments: Mapping[str, Any], around: CallContext) -> ToolResult:
        """See :class:`session.tools.tool.Tool`."""
        return await asyncio.to_thread(self._look, arguments, around)

    @abstractmethod
    def _look(self, arguments: Mapping[str, Any], around: CallContext) -> ToolResult:
        """Do the work, in a thread."""


DEEPEST = 8
"""Most levels of folders that one call lists."""
_DEPTH = 2
"""Levels of folders that a call lists by default."""

_LIST = ToolSpec(
    name="list",
    description=(
        "Lists the files of a folder. A folder deeper than depth stands as one line with the number "
        "of files in it. Ignored files are not listed."
    ),
    parameters={
        "type": "object",
        "properties": {
            "path": {"type": "string", "description": "a folder; the project's root by default"},
            "depth": {"type": "integer", "minimum": 1, "maximum": DEEPEST, "description": "2 by default"},
        },
        "additionalProperties": False,
    },
)


class ListTool(LookingTool):
    """Lists folders from the project's snapshot."""

    SPEC = _LIST

    def label(self, arguments: Mapping[str, Any]) -> str:
        """See :class:`Tool`."""
        return f"list {arguments.get('path') or '.'}"

    def _look(self, arguments: Mapping[str, Any], around: CallContext) -> ToolResult:
        folder = resolve(self._project, arguments.get("path", "."))
        if isinstance(folder, Refusal):
            return failed(folder.why)
        snapshot = self._project.snapshot
        if folder in snapshot.paths:
            return failed(f"{folder} is a file; use read or outline.")
        prefix = "" if folder == "." else f"{folder}/"
        inside = [path for path in snapshot.paths if path.startswith(prefix)]
        if not inside:
            return failed(f"There are no files of this project in {folder}.")
        lines = _lines(snapshot, inside, prefix, arguments.get("depth", _DEPTH))
        shown = lines_that_fit(lines, around.room, around.count)
        more = len(lines) - shown
        note = (
            [f"… {plural(more, 'more line')}: list a folder of it, or with a smaller depth"] if more else []
        )
        summary = plural(len(inside), "file")
        head = f"{folder}: {summary}{'' if snapshot.complete else ' (the project is still being read)'}"
        return ToolResult(f"{head}\n{fenced_lines([*lines[:shown], *note])}", summary)


def _lines(snapshot: Snapshot, inside: list[str], prefix: str, depth: int) -> list[str]:
    """One line for each file down to ``depth`` and for each folder below, in order."""
    counts = Counter(folder for path in inside if (folder := _folder(path, prefix, depth)) is not None)
    lines: dict[str, None] = {}
    for path in inside:
        folder = _folder(path, prefix, depth)
        if folder is not None:
            lines[f"{folder} ({plural(counts[folder], 'file')})"] = None
        else:
            why = snapshot.unread.get(path)
            lines[f"{path} ({why})" if why else path] = None
    return list(lines)


def _folder(path: str, prefix: str, depth: int) -> str | None:
    """The folder that is listed instead of ``path`` because it lies deeper; None for a file to list."""
    parts = path[len(prefix) :].split("/")
    return prefix + "/".join(parts[:depth]) + "/" if len(parts) > depth else None


_OUTLINE = ToolSpec(
    name="outline",
    description=(
        "Lists the definitions in a file, each with its first line's number, or those in all files of a "
        "folder. Cheaper than reading; follow it with read for the lines that matter."
    ),
    parameters={
        "type": "object",
        "properties": {"path": {"type": "string", "description": "a file, or a folder"}},
        "required": ["path"],
        "additionalProperties": False,
    },
)


class OutlineTool(LookingTool):
    """Outlines files from disk, folders from the project's snapshot."""

    SPEC = _OUTLINE

    def label(self, arguments: Mapping[str, Any]) -> str:
        """See :class:`Tool`."""
        return f"outline {arguments.get('path', '')}"

    def _look(self, arguments: Mapping[str, Any], around: CallContext) -> ToolResult:
        path = resolve(self._project, arguments["path"])
        if isinstance(path, Refusal):
            return failed(path.why)
        if (self._project.root / path).is_dir():
            return self._folder(path, around)
        source = read_file(self._project, arguments["path"])
        if isinstance(source, Refusal):
            return failed(source.why)
        found = outline_of(source)
        symbols = [symbol for symbol in found.symbols if not symbol.inside_function]
        if not symbols:
            head = fenced("", safe_text(found.text).text)
            return ToolResult(f"{source.path} defines nothing; it begins:\n{head}", "no definitions")
        text = "".join(
            f"{symbol.start + 1:>5}  {'  ' * symbol.depth}{' '.join(symbol.signature.split())}\n"
            for symbol in symbols
        )
        lines = split_lines(safe_text(text).text)
        if found.more:
            lines.append("… more entries")
        shown = lines_that_fit(lines, around.room, around.count)
        rest = [f"… {plural(len(lines) - shown, 'more definition')}"] if shown < len(lines) else []
        head = f"{source.path} ({plural(len(source.lines), 'line')})"
        summary = plural(len(symbols), "definition")
        return ToolResult(f"{head}\n{fenced_lines([*lines[:shown], *rest])}", summary)

    def _folder(self, folder: str, around: CallContext) -> ToolResult:
        snapshot = self._project.snapshot
        prefix = "" if folder == "." else f"{folder}/"
        entries = sorted(snapshot.entries.items())
        blocks = [entry.block.rstrip("\n") for path, entry in entries if path.startswith(prefix)]
        if not blocks:
            return failed(f"There are no readable files of this project in {folder}.")
        shown = lines_that_fit(blocks, around.room, around.count)
        more = len(blocks) - shown
        rest = [f"… {plural(more, 'more file')}: outline a folder or a file of it"] if more else []
        return ToolResult(fenced_lines([*blocks[:shown], *rest]), plural(len(blocks), "file"))


LONGEST_LINE = 2_000
"""The most characters of one line that are shown."""

_READ = ToolSpec(
    name="read",
    description=(
        "Shows a file of the project, or a range of its lines, exactly as it is on disk now. "
        "Lines come without numbers, so that they can be copied into an edit."
    ),
    parameters={
        "type": "object",
        "properties": {
            "path": {"type": "string", "description": "relative to the project's root"},
            "first_line": {"type": "integer", "minimum": 1, "description": "from 1; the first by default"},
            "last_line": {"type": "integer", "minimum": 1, "description": "inclusive; the last by default"},
        },
        "required": ["path"],
        "additionalProperties": False,
    },
)


class ReadTool(LookingTool):
    """Reads files for the model, without line numbers, since those would end up in edits."""

    SPEC = _READ

    def label(self, arguments: Mapping[str, Any]) -> str:
        """See :class:`Tool`."""
        first, last = arguments.get("first_line"), arguments.get("last_line")
        lines = "" if first is None and last is None else f" {first or 1}–{'end' if last is None else last}"
        return f"read {arguments.get('path', '')}{lines}"

    def _look(self, arguments: Mapping[str, Any], around: CallContext) -> ToolResult:
        source = read_file(self._project, arguments["path"])
        if isinstance(source, Refusal):
            return failed(source.why)
        safe = safe_text(source.text)
        lines = split_lines(safe.text)
        first, last = arguments.get("first_line", 1), min(arguments.get("last_line", len(lines)), len(lines))
        if not lines:
            return ToolResult(f"{source.path} is empty.", "empty", readings=(Reading(source, whole=True),))
        if first > len(lines):
            return failed(f"{source.path} has only {plural(len(lines), 'line')}.")
        if last < first:
            return failed(f"last_line ({last}) is before first_line ({first}).")
        wanted = [_cut(line) for line in lines[first - 1 : last]]
        shown = lines_that_fit(wanted, around.room, around.count)
        if not shown:
            return failed(f"Line {first} of {source.path} is too long for the room that is left.")
        end = first + shown - 1
        whole = shown == len(lines)
        parts = plural(len(lines), "line") if whole else f"lines {first}-{end} of {len(lines):,}"
        text = f"## File: {source.path} ({parts})\n\n{fenced(source.path, _joined(wanted[:shown]))}"
        if end < last:
            more = f"… {plural(last - end, 'more line')}: ask for them with first_line {end + 1}"
            text += f"{more}\n"
        summary = parts + (f" · masked: {', '.join(safe.kinds)}" if safe.kinds else "")
        cut = any(len(line) > LONGEST_LINE for line in lines[first - 1 : end])
        return ToolResult(text, summary, readings=(Reading(source, whole=whole and not cut),))


def _joined(lines: list[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def _cut(line: str) -> str:
    more = len(line) - LONGEST_LINE
    return f"{line[:LONGEST_LINE]} … {more:,} more characters not shown" if more > 0 else line
