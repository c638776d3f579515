"""The tool ``list``: the files in a folder of the project."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from context.project.snapshot import Snapshot
from context.text.safe import fenced_lines
from session.tools.allowed_paths import Refusal, resolve
from session.tools.look_tool import LookingTool
from session.tools.tool import CallContext, ToolResult, ToolSpec, failed
from session.tools.truncate import lines_that_fit, plural

DEEPEST = 8
"""Most levels of folders that one call lists."""
_DEPTH = 2
"""Levels of folders that a call lists by default."""

_SPEC = ToolSpec(
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

    SPEC = _SPEC

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
