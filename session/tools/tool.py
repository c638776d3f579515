"""What a tool is: its specification, what a call is given, and what it comes to.

A :class:`ToolProvider` lists tools and can be anything: the project's own (``session.setup.project_tools``),
or a server that offers further ones. Whatever a call is given comes from a model and is untrusted; a tool
answers what it cannot do in words (:func:`failed`) and never raises for it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from context.disk.source import Source
from session.protocol.items import FunctionTool


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as the model is told of it. ``parameters`` is the JSON Schema of its arguments, an object's.

    Calls of tools that only read run side by side; the others one after the other, in the order of the
    calls. ``asks`` says that the user is asked before each call.
    """

    name: str
    description: str
    parameters: Mapping[str, Any]
    reads_only: bool = True
    asks: bool = False

    def definition(self) -> FunctionTool:
        """The Responses tool definition, from which the other dialects make theirs."""
        return {
            "type": "function",
            "name": self.name,
            "description": self.description,
            "parameters": dict(self.parameters),
            "strict": False,
        }


@dataclass(frozen=True, slots=True)
class Reading:
    """A file that a call showed the model; ``whole`` if all of it, with nothing left out."""

    source: Source
    whole: bool


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a call came to. ``text`` is for the model; ``summary`` are a few words for the person, which
    follow the call's own line, as in ``12 matches in 5 files``; ``tail`` some lines below it."""

    text: str
    summary: str = ""
    ok: bool = True
    readings: tuple[Reading, ...] = ()
    tail: str = ""


def failed(text: str, summary: str = "") -> ToolResult:
    """The answer to a call that could not be done: ``text`` says why, and what would be right. The person
    is told its first sentence, where there is no ``summary``."""
    return ToolResult(text, summary or text.split(". ")[0].removesuffix("."), ok=False)


@dataclass(frozen=True, slots=True)
class Around:
    """What a call runs in. ``room`` is the most tokens its text may take by ``count``; ``say`` takes pieces
    of output that the person may see while the call still runs, on the event loop."""

    room: int
    count: Callable[[str], int]
    say: Callable[[str], None] = field(default=lambda text: None)


class Tool(Protocol):
    """Something a model can call."""

    @property
    def spec(self) -> ToolSpec:
        """How the model is told of it."""
        ...

    def label(self, arguments: Mapping[str, Any]) -> str:
        """The call in one line for the person, as in ``read tui/app/app.py 10–40``; never raises."""
        ...

    def refusal(self, arguments: Mapping[str, Any]) -> str:
        """Why a call is not even tried, nor put to the user; empty if it may be."""
        ...

    async def call(self, arguments: Mapping[str, Any], around: Around) -> ToolResult:
        """Do it. ``arguments`` fit the schema as far as ``session.tools.arguments`` checks it.

        Cancelling it stops it: what it started is gone when the cancellation comes through.
        """
        ...


class ToolProvider(Protocol):
    """Where tools come from."""

    async def tools(self) -> Sequence[Tool]:
        """The tools that can be called now; names are unique within one provider."""
        ...
