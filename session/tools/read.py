"""The tool ``read``: a file, or a range of its lines, as it is on disk now."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from context.text.lines import split_lines
from context.text.safe import fenced, safe_text
from session.tools.allowed_paths import Refusal, read_file
from session.tools.look_tool import LookingTool
from session.tools.tool import CallContext, Reading, ToolResult, ToolSpec, failed
from session.tools.truncate import lines_that_fit, plural

LONGEST_LINE = 2_000
"""The most characters of one line that are shown."""

_SPEC = ToolSpec(
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

    SPEC = _SPEC

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
