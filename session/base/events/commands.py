"""Events of commands that the user runs, and of a turn's tool calls.

Edits are hunks, and have events of their own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from session.base.events.event import Event


@dataclass(frozen=True, slots=True)
class CommandStarted(Event):
    """The user runs ``line``. ``command`` is unique within the session."""

    type: ClassVar[str] = "command.started"
    command: str
    line: str


@dataclass(frozen=True, slots=True)
class CommandOutput(Event):
    """A piece of what a running command prints, at a bounded rate; parts of it may be left out."""

    type: ClassVar[str] = "command.output"
    command: str
    text: str


@dataclass(frozen=True, slots=True)
class CommandEnded(Event):
    """The command has ended. ``status`` is ``done``, ``failed`` or ``stopped``; ``how`` says it in words.

    ``tail`` is its output, cut to what matters where it failed, else to the last lines. ``places`` are lines
    of the project that a failed one named, ``path:line: message`` each.
    """

    type: ClassVar[str] = "command.ended"
    command: str
    line: str
    status: str
    how: str
    tail: str = ""
    places: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class WatchTold(Event):
    """A watched command ran and says something else than before, or ran for the first time.

    ``red`` and ``green`` are what is newly wrong and no longer wrong; ``left`` counts all that is wrong now.
    ``how`` says how it ended.
    """

    type: ClassVar[str] = "watch.told"
    line: str
    how: str
    red: tuple[str, ...] = ()
    green: tuple[str, ...] = ()
    left: int = 0


@dataclass(frozen=True, slots=True)
class ToolCalled(Event):
    """The model called ``tool``; ``line`` says how, as in ``read tui/app/app.py 10–40``. ``call`` is unique
    within the session."""

    type: ClassVar[str] = "tool.called"
    turn: str
    call: str
    tool: str
    line: str


@dataclass(frozen=True, slots=True)
class ToolHeld(Event):
    """The call needs the user's approval. ``text`` says exactly what it would do, in one line or several.

    ``why`` is what it is asked for, such as what a command needs outside of the sandbox. ``always`` is what
    can be allowed for good, empty where nothing can. ``sources`` are parts of the text that the user never
    typed, with where they come from.
    """

    type: ClassVar[str] = "tool.held"
    turn: str
    call: str
    tool: str
    text: str
    why: str = ""
    always: str = ""
    sources: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ToolOutput(Event):
    """A piece of what a running call prints, at a bounded rate; parts of it may be left out."""

    type: ClassVar[str] = "tool.output"
    turn: str
    call: str
    text: str


@dataclass(frozen=True, slots=True)
class ToolEnded(Event):
    """The call is answered.

    ``status`` is ``done``, ``failed``, ``declined`` or ``stopped``. ``line`` is the line of the call with its
    result, as in ``search "foo" · 12 matches in 5 files``. ``tail`` holds the last lines that a command
    printed before it failed.
    """

    type: ClassVar[str] = "tool.ended"
    turn: str
    call: str
    tool: str
    status: str
    line: str
    tail: str = ""
