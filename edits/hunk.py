"""What an edit is: the pure values that the parsers make and the landing consumes.

A hunk is the smallest edit that is placed, landed, refused and undone on its own. Lines are held
without their endings: a hunk says *which* text it means, the file says which bytes that text has.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum, StrEnum


class Format(StrEnum):
    """The shape in which a model wrote an edit; the values are those of ``spark apply --format``."""

    V4A = "v4a"
    SEARCH_REPLACE = "search-replace"
    UNIFIED = "unified"
    JSON = "json"
    WHOLE = "whole"


class Action(StrEnum):
    """What a hunk does to its file."""

    UPDATE = "update"
    ADD = "add"
    DELETE = "delete"
    MOVE = "move"


class LineKind(StrEnum):
    """A hunk line's part in the edit."""

    CONTEXT = " "
    OLD = "-"
    NEW = "+"


class Status(StrEnum):
    """How a hunk landed."""

    APPLIED = "applied"
    APPLIED_FUZZY = "applied_fuzzy"
    ALREADY_APPLIED = "already_applied"


class RefusalCode(StrEnum):
    """Why a hunk did not land; the values are those of the command line's contract."""

    NO_MATCH = "no_match"
    AMBIGUOUS = "ambiguous"
    MALFORMED = "malformed"
    INCOMPLETE = "incomplete"
    OUTSIDE_PROJECT = "outside_project"
    MISSING_FILE = "missing_file"
    EXISTS = "exists"
    BINARY = "binary"
    LOCKED = "locked"
    CONFLICT = "conflict"
    IO = "io"


class Guard(StrEnum):
    """What holds an edit back until the user agrees."""

    LOCKED = "locked"
    OVERWRITES = "overwrites"
    SECRET = "secret"
    DELETES = "deletes"
    DEPENDENCY = "dependency"
    SYNTAX = "syntax"


class Rung(IntEnum):
    """The step of the matching ladder that placed a hunk, strictest first."""

    EXACT = 1
    FOLDED = 2
    INDENT = 3
    ELISION = 4
    ALIGNED = 5


@dataclass(frozen=True, slots=True)
class HunkLine:
    """One line of a hunk: its part in the edit and its text, without a line ending."""

    kind: LineKind
    text: str


@dataclass(frozen=True, slots=True)
class Replacement:
    """An edit by characters: ``old`` gives way to ``new``, and either may begin and end inside a line.

    Both are as the model typed them, line endings included; ``\\n`` and ``\\r\\n`` in them stand for
    whatever ending the file has there. The first rung is ``old`` found as it is, in one place (in
    all its places with ``Hunk.replace_all``); when ``old`` covers whole lines but for the last
    ending, ``Hunk.lines`` says the same edit by lines, for the looser rungs.
    """

    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Hunk:
    """One complete edit, as the model meant it.

    ``lines`` is the edit in order: context and old lines make the text to find, context and new
    lines the text to leave. ``alternatives`` holds other readings of the same text (a
    SEARCH/REPLACE block whose text itself holds ``=======`` can be split in several places); the
    reading whose old text is in the file is the one meant.

    A ``WHOLE`` hunk is an ``UPDATE`` whose lines are all new: they are the file's text from now on,
    whether or not the file exists.
    """

    path: str
    action: Action
    format: Format
    lines: tuple[HunkLine, ...] = ()
    anchors: tuple[str, ...] = ()
    """V4A ``@@`` anchors, outermost first: lines that stand somewhere above the hunk."""
    line_hint: int | None = None
    """The first line of the old text as the model believes it, from 1."""
    at_end_of_file: bool = False
    """True when the old text must be the last of the file (V4A ``*** End of File``)."""
    move_to: str | None = None
    """The new path, of a ``MOVE``."""
    replace_all: bool = False
    """True when every occurrence is meant (string-replace formats)."""
    replacement: Replacement | None = None
    """The edit by characters, where it is not by lines: of the string-replace format always (``lines`` are
    then for drawing and for the looser rungs), and of an ``ADD`` whose last line may have no ending
    (``old`` is then empty and ``new`` the file's whole text)."""
    final_newline: bool | None = None
    """What a unified diff says of the file's end (``\\ No newline at end of file``), where the hunk's lines
    are the file's last: True when the new text ends in a newline and the old did not, False when it
    is the other way round, None when it stays as it is."""
    alternatives: tuple[tuple[HunkLine, ...], ...] = ()
    newline: str = "\n"
    """The ending of the lines as the model typed them: used where the file has none of its own."""

    @property
    def old(self) -> tuple[str, ...]:
        """The lines to find, in order."""
        return tuple(line.text for line in self.lines if line.kind is not LineKind.NEW)

    @property
    def new(self) -> tuple[str, ...]:
        """The lines to leave in their place, in order."""
        return tuple(line.text for line in self.lines if line.kind is not LineKind.OLD)


@dataclass(frozen=True, slots=True)
class Landed:
    """A hunk that is on disk, or was there already.

    ``start`` and ``end`` are the first line and one past the last of the new text in the file as
    it is now, from 1; both are 0 for a file that was deleted.
    """

    hunk: str
    path: str
    action: Action
    status: Status
    rung: Rung
    start: int
    end: int
    moved_to: str | None = None


@dataclass(frozen=True, slots=True)
class Refused:
    """A hunk that was not landed: its code for programs, a message for the person and the model."""

    hunk: str
    path: str
    code: RefusalCode
    message: str


@dataclass(frozen=True, slots=True)
class Held(Refused):
    """A hunk that guards hold back: nothing was written, and it may land once the user agrees to all of
    them; ``message`` says of each why.

    Where nobody can be asked it is a refusal like any other, with the code ``locked``.
    """

    guards: tuple[Guard, ...]
