"""The tool ``run``: a shell command, run within walls, or with the user's consent."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from context.text.safe import fenced, safe_text
from edits.hunk import Hunk
from session.base.storage.private_files import StoreError
from session.base.text.sanitize import clean_line, invisible_character
from session.record.outputs import KeptOutput, plain, printable
from session.tools.command.live_output import LiveOutput
from session.tools.command.process import Exit, run_group
from session.tools.command.rules import CommandRules, rule_for
from session.tools.settings import Running
from session.tools.tool import (
    Asking,
    CallContext,
    Consent,
    ToolResult,
    ToolSpec,
    failed,
    lines_that_fit,
    plural,
    shortened,
)

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
_PARAMETERS: dict[str, Any] = {
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
_WALLS = (
    "It runs in a sandbox: no network, no keys, the home folder read-only. What it writes to the project "
    "lands as edits once it has ended; the rest is gone. If it cannot work there, say in needs what it needs."
)
_NEEDS = {
    "type": "string",
    "description": "what it needs outside of the sandbox and why, in a few words: the developer is asked",
}
_LONGEST_NEEDS = 200
TERMINAL = {"TERM": "dumb", "PAGER": "cat", "GIT_PAGER": "cat", "GIT_TERMINAL_PROMPT": "0"}


@dataclass(frozen=True, slots=True)
class WalledEnd:
    """How a command within walls ended: in words, whether well, the hunks of what it wrote to the project,
    and what of it was left and why."""

    how: str
    ok: bool
    hunks: tuple[Hunk, ...] = ()
    left: tuple[str, ...] = ()


class NoWallsError(Exception):
    """No walls can be put up here; the message says why. The command has not run."""


class Walls(Protocol):
    """Runs commands within walls."""

    async def run(self, command: str, seconds: int, take: Callable[[bytes], bool]) -> WalledEnd:
        """Run ``command``; ``take`` gets its output. When it is cancelled, nothing of it is left. Raises
        NoWallsError and OSError."""
        ...


class RunTool:
    """Runs commands in ``root``. ``environ`` must hold no keys; ``mode`` says when they are run."""

    def __init__(
        self,
        root: Path,
        environ: Mapping[str, str],
        mode: Running,
        *,
        rules: CommandRules | None = None,
        walls: Walls | None = None,
    ) -> None:
        self._root = root
        self._environ = {**environ, **TERMINAL}
        self.mode = mode
        self._rules = rules
        self._walls = walls

    @property
    def spec(self) -> ToolSpec:
        """See :class:`Tool`. The question is asked by the call itself, which knows what it needs."""
        if self.mode is not Running.SANDBOX:
            return ToolSpec("run", _DESCRIPTION, _PARAMETERS, reads_only=False)
        parameters = {**_PARAMETERS, "properties": {**_PARAMETERS["properties"], "needs": _NEEDS}}
        return ToolSpec("run", f"{_DESCRIPTION} {_WALLS}", parameters, reads_only=False)

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
        command, seconds = arguments["command"], arguments.get("timeout_seconds", SECONDS)
        needs = clean_line(str(arguments.get("needs", "")).strip())[:_LONGEST_NEEDS]
        why = f"it wants out of the sandbox: {needs}" if needs else ""
        if self.mode is Running.SANDBOX and self._walls is not None and not needs:
            try:
                return await self._within(self._walls, command, seconds, around)
            except NoWallsError as problem:
                why = f"it cannot run in a sandbox: {problem}"
        if self.mode is not Running.ALWAYS:
            await self._ask(command, why, around)
        return await self._outside(command, seconds, around)

    async def _ask(self, command: str, why: str, around: CallContext) -> None:
        """Return once the user has agreed, or a rule has. Raises NotAllowedError."""
        rules = self._rules
        try:
            if rules is not None and await asyncio.to_thread(rules.allow, command):
                return
        except StoreError as problem:
            why = f"{why}; {problem}" if why else str(problem)
        rule = await asyncio.to_thread(rules.rule_for if rules is not None else rule_for, command)
        always = f"{rule} …" if rule is not None else ""
        consent = await around.ask(Asking(self.label({"command": command}), why, always))
        if rules is None:
            return
        if consent is Consent.SESSION:
            rules.for_session(command)
        elif consent is Consent.ALWAYS:
            try:
                await asyncio.to_thread(rules.always, command)
            except StoreError as problem:
                around.say(f"The rule is not kept: {problem}\n")

    async def _within(self, walls: Walls, command: str, seconds: int, around: CallContext) -> ToolResult:
        output = _Output(around)
        began = time.monotonic()
        try:
            ended = await walls.run(command, seconds, output.take)
        finally:
            output.live.flush()
        took = time.monotonic() - began
        report = await around.land(ended.hunks) if ended.hunks else ""
        left = "\n".join(f"- {each}" for each in ended.left)
        told = "\n".join(
            part for part in (report, f"Not taken over from the sandbox:\n{left}" if left else "") if part
        )
        told = safe_text(told).text
        room = around.room - around.count(told)
        text = output.told(f"{ended.how}, in the sandbox", room) + told
        parts = [ended.how, f"{took:.1f} s", "in the sandbox"]
        parts += [plural(len(ended.hunks), "edit")] if ended.hunks else []
        parts += [f"{plural(len(ended.left), 'path')} not taken over"] if ended.left else []
        tail = "" if ended.ok else output.last()
        tail = "\n".join(part for part in (tail, left) if part)
        return ToolResult(text, " · ".join(parts), ok=ended.ok, tail=tail)

    async def _outside(self, command: str, seconds: int, around: CallContext) -> ToolResult:
        output = _Output(around)
        began = time.monotonic()
        try:
            ended = await run_group(
                [SHELL, "-c", command],
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
        return ToolResult(output.told(how, around.room), summary, ok=ok, tail="" if ok else output.last())


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

    def told(self, how: str, room: int) -> str:
        """The output for the model within ``room`` tokens; the end gets twice as much as the beginning."""
        lines = self._text().rstrip("\n").split("\n")
        count = self._around.count
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
