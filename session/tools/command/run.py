"""The tool ``run``: a shell command, run only with the user's consent."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from context.text.safe import fenced
from session.base.text.sanitize import invisible_character
from session.record.outputs import KeptOutput, plain, printable
from session.tools.command.live_output import LiveOutput
from session.tools.command.process import Exit, run_group
from session.tools.tool import CallContext, ToolResult, ToolSpec, failed, lines_that_fit, plural, shortened

SHELL = "/bin/sh"
KEPT = 8_192
"""The bytes of output kept from the beginning, and as many from the end."""
SECONDS = 120
"""Time limit of a command, unless the model asks for another."""
MOST_SECONDS = 600
"""Longest time limit that the model can ask for."""
LONGEST_COMMAND = 2_000
"""Most characters of a command: the user has to read it."""
MOST_LINES = 20
"""Most lines of a command."""
LAST, LONGEST_LAST = 3, 200
"""Number of last lines of a failed command's output that stay visible, and their most characters."""
_SAY_MOST = 2_000
"""Most bytes of one piece of output that is shown."""

_DESCRIPTION = (
    f"Runs a command with {SHELL} in the project's root, without input or a terminal, and gives its output. "
    "Only for what the developer asked to have run."
)
_PARAMETERS = {
    "type": "object",
    "properties": {
        "command": {"type": "string"},
        "timeout_seconds": {
            "type": "integer",
            "minimum": 1,
            "maximum": MOST_SECONDS,
            "description": f"{SECONDS} by default",
        },
    },
    "required": ["command"],
    "additionalProperties": False,
}
_TERMINAL = {"TERM": "dumb", "PAGER": "cat", "GIT_PAGER": "cat", "GIT_TERMINAL_PROMPT": "0"}


class RunTool:
    """Runs commands in ``root``. ``environ`` must hold no keys; ``asks`` means that each needs approval."""

    def __init__(self, root: Path, environ: Mapping[str, str], *, asks: bool) -> None:
        self._root = root
        self._environ = {**environ, **_TERMINAL}
        self._spec = ToolSpec("run", _DESCRIPTION, _PARAMETERS, reads_only=False, asks=asks)

    @property
    def spec(self) -> ToolSpec:
        """See :class:`Tool`."""
        return self._spec

    def label(self, arguments: Mapping[str, Any]) -> str:
        """See :class:`Tool`."""
        return f"run {arguments.get('command', '')}"

    def refusal(self, arguments: Mapping[str, Any]) -> str:
        """See :class:`Tool`; refuses a command that could not be shown exactly."""
        command: str = arguments["command"]
        if not command.strip():
            return "The command is empty."
        if len(command) > LONGEST_COMMAND or command.count("\n") >= MOST_LINES:
            return (
                f"The command is longer than {LONGEST_COMMAND:,} characters or {MOST_LINES} lines; "
                "put it into a script, or run less of it."
            )
        if code := invisible_character(command):
            return f"The command contains an invisible character ({code}); leave it out."
        return ""

    async def call(self, arguments: Mapping[str, Any], around: CallContext) -> ToolResult:
        """See :class:`Tool`."""
        seconds = arguments.get("timeout_seconds", SECONDS)
        output = _Output(around)
        began = time.monotonic()
        try:
            ended = await run_group(
                [SHELL, "-c", arguments["command"]],
                folder=self._root,
                environ=self._environ,
                seconds=seconds,
                take=output.take,
                supervised=True,
            )
        except OSError as problem:
            return failed(f"{SHELL} cannot be started: {problem.strerror or problem}.")
        finally:
            output.live.flush()
        took = time.monotonic() - began
        how = f"stopped after {seconds} s, with all it had started" if ended.timed_out else _code(ended)
        summary = f"{how} · {took:.1f} s"
        ok = ended.code == 0 and not ended.timed_out
        return ToolResult(output.told(how), summary, ok=ok, tail="" if ok else output.last())


def _code(ended: Exit) -> str:
    return f"exit {ended.code}" if ended.code >= 0 else f"ended by signal {-ended.code}"


class _Output:
    """A command's output: keeps its beginning and end, and shows the newest part at a bounded rate."""

    def __init__(self, around: CallContext) -> None:
        self._around = around
        self._kept = KeptOutput(KEPT, KEPT)
        self.live = LiveOutput(around.say, plain, _SAY_MOST)

    def take(self, piece: bytes) -> bool:
        """Take the next piece; always asks for more."""
        self._around.keep(piece)
        self._kept.take(piece)
        self.live.take(piece)
        return True

    def last(self) -> str:
        """The last lines that are not blank, shortened; they usually say why a command failed."""
        lines = [line.rstrip() for line in self._text().split("\n") if line.strip()]
        return "\n".join(line[:LONGEST_LAST] for line in lines[-LAST:])

    def told(self, how: str) -> str:
        """The output for the model within its room; the end gets twice as much as the beginning."""
        lines = self._text().rstrip("\n").split("\n")
        room, count = self._around.room, self._around.count
        if lines_that_fit(lines, room, count) < len(lines):
            lines = [shortened(line) for line in lines]
        if lines_that_fit(lines, room, count) < len(lines):
            first = lines_that_fit(lines, room // 3, count)
            last = max(first, len(lines) - lines_that_fit(lines[::-1], room - room // 3, count))
            lines = [*lines[:first], f"… {plural(last - first, 'line')} not shown …", *lines[last:]]
        body = "\n".join(lines).strip("\n")
        return f"{how}\n{fenced('', body)}" if body else f"{how}, without output\n"

    def _text(self) -> str:
        """What was kept, as text without keys."""
        return printable(self._kept.text())
