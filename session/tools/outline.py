"""The tool ``outline``: the definitions in a file with their lines, or in a folder's files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from context.text.lines import split_lines
from context.text.safe import fenced, fenced_lines, safe_text
from context.window.file_views import outline_of
from session.tools.allowed_paths import Refusal, read_file, resolve
from session.tools.look_tool import LookingTool
from session.tools.tool import CallContext, ToolResult, ToolSpec, failed
from session.tools.truncate import lines_that_fit, plural

_SPEC = ToolSpec(
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

    SPEC = _SPEC

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
