"""The interface of tools: a tool's specification, what a call gets, and its result, shortened to a number of
tokens.

A :class:`ToolProvider` lists tools: the project's own (``session.setup.session_tools``), or those of a
server. Arguments come from a model and are untrusted. A tool that cannot do what is asked answers with
:func:`failed` and does not raise.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol

from context.disk.source import Source
from edits.hunk import Hunk
from session.wire.protocol.items import FunctionTool


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """The description of a tool for the model. ``parameters`` is the JSON Schema of its arguments, an object.

    Calls of tools that only read run side by side, others one after the other in the order of the calls.
    ``asks`` means that the user is asked before each call.
    """

    name: str
    description: str
    parameters: Mapping[str, Any]
    reads_only: bool = True
    asks: bool = False

    def definition(self) -> FunctionTool:
        """The tool definition in the Responses dialect, which the other dialects convert."""
        return {
            "type": "function",
            "name": self.name,
            "description": self.description,
            "parameters": dict(self.parameters),
            "strict": False,
        }


@dataclass(frozen=True, slots=True)
class Reading:
    """A file that a call showed to the model; ``whole`` if nothing of it was left out."""

    source: Source
    whole: bool


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The result of a call. ``text`` is for the model; ``summary`` is a few words for the user after the
    call's own line, as in ``12 matches in 5 files``; ``tail`` holds lines to show below it."""

    text: str
    summary: str = ""
    ok: bool = True
    readings: tuple[Reading, ...] = ()
    tail: str = ""


def failed(text: str, summary: str = "") -> ToolResult:
    """The result of a call that could not be done: ``text`` says why and what to do instead.

    The user sees ``summary``, or without one the first sentence of ``text``.
    """
    return ToolResult(text, summary or text.split(". ")[0].removesuffix("."), ok=False)


class Consent(StrEnum):
    """For how long the user agrees to what was asked."""

    ONCE = ""
    SESSION = "session"
    ALWAYS = "always"


@dataclass(frozen=True, slots=True)
class Asking:
    """A question about a call. ``text`` is exactly what would be done; ``why`` it is asked, and ``always``
    what the user can allow for good, both in words and empty for nothing."""

    text: str
    why: str = ""
    always: str = ""


class NotAllowedError(Exception):
    """The user did not agree, or nobody can be asked; the message tells the model so, ``summary`` the
    user."""

    def __init__(self, message: str, summary: str = "declined") -> None:
        super().__init__(message)
        self.summary = summary


async def _nobody(asking: Asking) -> Consent:
    raise NotAllowedError(f"Nobody can be asked about {asking.text}.")


async def _nowhere(hunks: Sequence[Hunk]) -> str:
    return f"{len(hunks)} edits were not landed."


@dataclass(frozen=True, slots=True)
class CallContext:
    """The surroundings of a call. ``room`` is the most tokens that its text may take, measured by ``count``.

    ``say`` shows the user pieces of output while the call still runs, and ``keep`` keeps all of it for when
    the user asks; both are called on the event loop. ``ask`` asks the user, and raises NotAllowedError for a
    no. ``land`` lands hunks as if the model had sent them, and tells the model what became of each.
    """

    room: int
    count: Callable[[str], int]
    say: Callable[[str], None] = field(default=lambda text: None)
    keep: Callable[[bytes], None] = field(default=lambda piece: None)
    ask: Callable[[Asking], Awaitable[Consent]] = _nobody
    land: Callable[[Sequence[Hunk]], Awaitable[str]] = _nowhere


class Tool(Protocol):
    """Something a model can call."""

    @property
    def spec(self) -> ToolSpec:
        """The description for the model."""
        ...

    def label(self, arguments: Mapping[str, Any]) -> str:
        """The call in one line for the user, as in ``read tui/app/app.py 10–40``; never raises."""
        ...

    def refusal(self, arguments: Mapping[str, Any]) -> str:
        """Why a call is refused before it is tried or shown to the user; empty if it is not."""
        ...

    async def call(self, arguments: Mapping[str, Any], around: CallContext) -> ToolResult:
        """Run the call. ``arguments`` fit the schema as far as ``session.tools.toolbox`` checks it.

        When a cancelled call has returned, nothing that it started is left.
        """
        ...


class ToolProvider(Protocol):
    """A source of tools."""

    async def tools(self) -> Sequence[Tool]:
        """The tools that can be called now, with names that are unique within the provider."""
        ...


LEAST_ROOM = 200
"""Fewest tokens of room for which a call is made."""
LONGEST_LINE = 400
"""Most characters of a line if not all lines fit."""
_NOTE = 60
"""The tokens reserved for the text around the lines."""
_CHARS = 8
"""Tokens are rarely longer; text beyond this many characters per token is not counted."""


def lines_that_fit(lines: Sequence[str], room: int, count: Callable[[str], int]) -> int:
    """The number of first ``lines`` that fit into ``room`` tokens with a few words around them."""
    room -= _NOTE
    least, most = 0, _at_most(lines, room * _CHARS)
    if count("\n".join(lines[:most])) <= room:
        return most
    while least < most:
        middle = (least + most + 1) // 2
        if count("\n".join(lines[:middle])) <= room:
            least = middle
        else:
            most = middle - 1
    return least


def _at_most(lines: Sequence[str], characters: int) -> int:
    for number, line in enumerate(lines):
        characters -= len(line) + 1
        if characters < 0:
            return number
    return len(lines)


def shortened(line: str) -> str:
    """``line``, without its middle if it is long."""
    more, end = len(line) - LONGEST_LINE, LONGEST_LINE // 2
    return line if more <= 0 else f"{line[:end]}… {more:,} characters not shown …{line[-end:]}"


def plural(number: int, word: str, many: str = "") -> str:
    """A number with its noun: ``1 match``, ``1,200 matches``."""
    return f"{number:,} {word if number == 1 else many or word + 's'}"
