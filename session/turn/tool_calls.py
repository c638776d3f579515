"""Runs the tool calls of a turn, publishes their events, and collects their answers.

Calls that only read run at the same time. Calls that may change something run after them, one by one and in
their order, each once the user has agreed where that is needed. A call that fails answers with the reason.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from context.text.tokens import Counter
from edits.hunk import Hunk
from session.base.events import Publisher, ToolCalled, ToolEnded, ToolHeld, ToolOutput
from session.base.tasks import fault_line, log_fault
from session.base.text.sanitize import clean, clean_line
from session.record.outputs import Outputs
from session.tools.taint import no_sources
from session.tools.tool import (
    LEAST_ROOM,
    Asking,
    CallContext,
    Consent,
    NotAllowedError,
    Tool,
    ToolResult,
    failed,
)
from session.tools.toolbox import BadArguments, Toolbox, UnknownTool
from session.turn.response import Answers
from session.wire.protocol.items import FunctionCall

MOST_TOKENS = 8_000
"""Most tokens of one answer, however much room there is."""
MOST_AT_ONCE = 16
"""Most calls that run at the same time: each may start a program and open files."""
LONGEST_LABEL = 300
"""Most characters of a call's line."""
NO_ROOM = "There is no room left in the window for this. Go on with what you have been shown."
NOBODY = "This needs the developer's approval, and nobody can be asked here. Go on without it."
DECLINED = "The developer declined this call. Do not make it again; go on without it, or say what you need."


@dataclass(slots=True)
class _Call:
    """A call, and its state."""

    name: str
    tool: str
    call_id: str
    label: str
    answers: Answers
    ended: bool = False
    decision: asyncio.Future[Consent | None] | None = None
    """The user's answer, once the call is held; None for a no."""


class Calls:
    """Runs the calls of one turn, which are numbered through."""

    def __init__(
        self,
        turn: str,
        toolbox: Toolbox,
        counter: Counter,
        recorder: Publisher,
        *,
        attended: bool,
        outputs: Outputs | None = None,
    ) -> None:
        """``counter`` measures the answers; ``attended`` says that a user can be asked about a call.
        ``outputs`` keeps what they print, where somebody can ask for it."""
        self.land: Callable[[Sequence[Hunk]], Awaitable[str]] = _nowhere
        """Lands the hunks of what a call wrote to the project."""
        self.sources: Callable[[str], Awaitable[Sequence[str]]] = no_sources
        """Says where parts of a text come from that the user did not type."""
        self._turn = turn
        self._toolbox = toolbox
        self._counter = counter
        self._publish = recorder.publish
        self._attended = attended
        self._outputs = outputs
        self._calls: list[_Call] = []
        self._allow_all = False
        self._stopped = False

    async def answer(self, items: Sequence[FunctionCall], room: int, answers: Answers) -> None:
        """Answer the function calls ``items`` of one response, which together may take ``room`` tokens.

        Each answer is entered in ``answers`` as soon as it is there: cancelling this stops the calls that
        still run, and keeps the answers of the others.
        """
        each = min(MOST_TOKENS, room // max(1, len(items)))
        ready = [self._begin(item, answers) for item in items]
        reading = [one for one in ready if one[1] is not None and one[1][0].spec.reads_only]
        some = asyncio.Semaphore(MOST_AT_ONCE)

        async def in_turn(call: _Call, work: tuple[Tool, Mapping[str, Any]] | None) -> None:
            async with some:
                await self._one(call, work, each)

        async with asyncio.TaskGroup() as together:
            for call, work in reading:
                together.create_task(in_turn(call, work))
        for call, work in ready:
            if work is not None and not work[0].spec.reads_only:
                await self._one(call, work, each)

    def decide(self, call: str, *, agreed: bool, rest: bool = False, scope: Consent = Consent.ONCE) -> bool:
        """Allow or decline a held call. With ``rest`` a yes also holds for all later calls of this turn; with
        ``scope``, for others like it, where the call can say which these are.

        False when that call is not held.
        """
        held = next((each for each in self._calls if each.name == call and each.decision is not None), None)
        if held is None or held.decision is None or held.decision.done():
            return False
        self._allow_all = self._allow_all or (agreed and rest)
        held.decision.set_result(scope if agreed else None)
        return True

    def stop(self) -> None:
        """Tell of each running call that it was stopped, and nothing after that. Returns at once."""
        self._stopped = True
        for call in self._calls:
            if not call.ended:
                self._end(call, "stopped", "stopped")

    def _begin(
        self, item: FunctionCall, answers: Answers
    ) -> tuple[_Call, tuple[Tool, Mapping[str, Any]] | None]:
        """Publish the call. Returns it with its tool and arguments, or None if it is answered already."""
        name = item["name"]
        tool_name = _one_line(name)
        number = len(self._calls) + 1
        call = _Call(f"{self._turn}.c{number}", tool_name, item["call_id"], tool_name, answers)
        self._calls.append(call)
        problem = ""
        work: tuple[Tool, Mapping[str, Any]] | None = None
        try:
            tool = self._toolbox.find(name)
            arguments = self._toolbox.arguments(tool, item["arguments"])
            call.label = tool.label(arguments)
            work = tool, arguments
        except (UnknownTool, BadArguments) as wrong:
            problem = str(wrong)
        except Exception as fault:  # noqa: BLE001 - a tool may raise anything; the model is told
            problem = _fault(tool_name, fault)
        call.label = _one_line(call.label)
        self._publish(ToolCalled(turn=self._turn, call=call.name, tool=call.tool, line=call.label))
        if work is None:
            self._conclude(call, failed(problem))
        return call, work

    async def _one(self, call: _Call, work: tuple[Tool, Mapping[str, Any]] | None, room: int) -> None:
        if work is None:
            return
        tool, arguments = work
        if room < LEAST_ROOM:
            self._conclude(call, failed(NO_ROOM, "no room left in the window"))
            return
        around = CallContext(
            room,
            self._counter.count,
            lambda text: self._say(call, text),
            ask=lambda asking: self._ask(call, asking),
            land=lambda hunks: self.land(hunks),
        )
        if self._outputs is not None:
            around = replace(around, keep=self._outputs.keep(call.name))
        try:
            if tool.spec.asks:
                await self._ask(call, Asking(tool.label(arguments)))
            self._conclude(call, await _done(tool, arguments, around))
        except NotAllowedError as refused:
            self._conclude(call, failed(str(refused), refused.summary), "declined")

    async def _ask(self, call: _Call, asking: Asking) -> Consent:
        """Ask the user about a call. Raises NotAllowedError."""
        if not self._attended:
            raise NotAllowedError(NOBODY, "nobody can be asked here")
        if self._allow_all:
            return Consent.ONCE
        sources = await self.sources(asking.text)
        call.decision = asyncio.get_running_loop().create_future()
        self._publish(
            ToolHeld(
                turn=self._turn,
                call=call.name,
                tool=call.tool,
                text=clean(asking.text),
                why=clean_line(asking.why),
                always=clean_line(asking.always),
                sources=tuple(map(clean_line, sources)),
            )
        )
        consent = await call.decision
        call.decision = None
        if consent is None:
            raise NotAllowedError(DECLINED)
        return consent

    def _say(self, call: _Call, text: str) -> None:
        if not self._stopped:
            self._publish(ToolOutput(turn=self._turn, call=call.name, text=clean(text)))

    def _conclude(self, call: _Call, result: ToolResult, status: str = "") -> None:
        if self._stopped:
            return
        call.answers.texts[call.call_id] = result.text
        if self._outputs is not None:
            self._outputs.keep_text(call.name, result.text)
        call.answers.readings += result.readings
        self._end(call, status or ("done" if result.ok else "failed"), result.summary, result.tail)

    def _end(self, call: _Call, status: str, summary: str, tail: str = "") -> None:
        call.ended = True
        line = f"{call.label} · {_one_line(summary)}" if summary else call.label
        told = {"call": call.name, "tool": call.tool, "status": status, "line": line, "tail": clean(tail)}
        self._publish(ToolEnded(turn=self._turn, **told))


async def _done(tool: Tool, arguments: Mapping[str, Any], around: CallContext) -> ToolResult:
    try:
        return await tool.call(arguments, around)
    except NotAllowedError:
        raise
    except OSError as problem:  # a full disk, too many open files
        return failed(f"{tool.spec.name} could not be done: {problem.strerror or problem}.")
    except Exception as fault:  # noqa: BLE001 - a tool may raise anything; the model is told
        return failed(_fault(tool.spec.name, fault))


async def _nowhere(hunks: Sequence[Hunk]) -> str:
    raise RuntimeError(f"{len(hunks)} hunks of a tool have no lane")


def _fault(tool: str, fault: Exception) -> str:
    """The answer to a call whose ``tool`` raised an unexpected exception, which is logged."""
    doing = f"running the tool {tool}"
    log_fault(doing, fault)
    return f"{fault_line(doing, fault)}. Go on without this call."


def _one_line(text: str) -> str:
    """``text`` on one line, with its line ends shown as ⏎."""
    line = clean_line(text.strip().replace("\n", " ⏎ "))
    return line if len(line) <= LONGEST_LABEL else f"{line[:LONGEST_LABEL]}…"
