"""What an edit is: the pure values that the parsers make and the landing consumes.

A hunk is the smallest edit that is placed, landed, refused and undone on its own. Its lines have no
endings: a hunk says *which* text it means, the file says which bytes that text has.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum, StrEnum


class Format(StrEnum):
    """The format in which a model wrote an edit; the values are those of ``spark apply --format``."""

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
    """What a line of a hunk does: it is found and kept, found and removed, or added."""

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


class RefusedBy(StrEnum):
    """What kept a hunk from landing. Only where it is the edit may another one land."""

    EDIT = "edit"
    USER = "user"
    DISK = "disk"


class Guard(StrEnum):
    """What holds an edit back until the user agrees."""

    LOCKED = "locked"
    OVERWRITES = "overwrites"
    SECRET = "secret"
    RUNS = "runs"
    DELETES = "deletes"
    DEPENDENCY = "dependency"


class Rung(IntEnum):
    """The step of the ladder of comparisons that placed a hunk, strictest first."""

    EXACT = 1
    FOLDED = 2
    INDENT = 3
    ELISION = 4
    ALIGNED = 5


@dataclass(frozen=True, slots=True)
class HunkLine:
    """One line of a hunk: its kind and its text, without a line ending."""

    kind: LineKind
    text: str


@dataclass(frozen=True, slots=True)
class Replacement:
    """An edit by characters: ``old`` is replaced by ``new``, and either may begin and end inside a line.

    Both are as the model typed them, with line endings; ``\\n`` and ``\\r\\n`` in them match whatever
    ending the file has there. On the first rung ``old`` is found as it is, in one place (with
    ``Hunk.replace_all`` in all places). Where ``old`` covers whole lines but for the last ending,
    ``Hunk.lines`` is the same edit by lines, for the looser rungs.
    """

    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Hunk:
    """One complete edit, as the model meant it.

    ``lines`` is the edit in order: context and old lines are the text to find, context and new lines
    the text that replaces it. ``alternatives`` are other readings of the same edit (a SEARCH/REPLACE
    block whose text contains ``=======`` can be split in several places); the reading whose old text is
    in the file counts.

    A ``WHOLE`` hunk is an ``UPDATE`` with new lines only: they become the file's text, whether or not
    the file exists.
    """

    path: str
    action: Action
    format: Format
    lines: tuple[HunkLine, ...] = ()
    anchors: tuple[str, ...] = ()
    """V4A ``@@`` anchors, outermost first: lines somewhere above the hunk."""
    line_hint: int | None = None
    """The number of the first line of the old text according to the model, from 1."""
    at_end_of_file: bool = False
    """Whether the old text is the end of the file (V4A ``*** End of File``)."""
    move_to: str | None = None
    """The new path of a ``MOVE``."""
    replace_all: bool = False
    """Whether every occurrence is replaced (string-replace formats)."""
    replacement: Replacement | None = None
    """The edit by characters, where it is not by lines: always in the string-replace format (``lines`` are
    then for display and for the looser rungs), and in an ``ADD`` whose last line may have no ending
    (``old`` is then empty and ``new`` is the file's whole text)."""
    final_newline: bool | None = None
    """What a unified diff says about the end of the file (``\\ No newline at end of file``): True if the new
    text ends in a newline and the old did not, False if it is the other way round, None for no change."""
    alternatives: tuple[tuple[HunkLine, ...], ...] = ()
    names: tuple[str, ...] = ()
    """What the line above may name instead of ``path``, if the project has such a file."""
    unsure: bool = False
    """Whether ``names`` have words before ``path``, or in it, that may as well belong to the name as not:
    where no such file is there, another may be meant."""
    flaw: str = ""
    """What is malformed in the hunk, if anything: it lands only where the file shows that it is meant as it
    was read, which is on the first rungs."""
    newline: str = "\n"
    """The line ending that the model typed, for files without one of their own."""
    shown: tuple[str, ...] = ()
    """The files that the model was shown: where ``path`` names no file, the edit is for the one in which its
    text stands."""
    typed: str = ""
    """The name that the model wrote, where ``path`` was found by the text: no such file exists."""
    kept: str = ""
    """What a whole file left out and stays all the same, in words for the user; empty for nothing."""
    made: bool = False
    """Whether a program made it of two texts of the file (``edits.placing.made_hunks``): it lands only where
    its old text stands as it is, and its new text is not looked at for what models type beside the text."""
    loses: str = ""
    """What a whole file loses that nobody asked to lose; empty for nothing."""

    @property
    def old(self) -> tuple[str, ...]:
        """The lines to find, in order."""
        return tuple(line.text for line in self.lines if line.kind is not LineKind.NEW)

    @property
    def new(self) -> tuple[str, ...]:
        """The lines that replace them, in order."""
        return tuple(line.text for line in self.lines if line.kind is not LineKind.OLD)


@dataclass(frozen=True, slots=True)
class Extent:
    """How much a change changed: the lines that came and went, and one of them with its sign, ``+`` or ``-``,
    for lists; it is empty where no line changed."""

    added: int = 0
    removed: int = 0
    sample: str = ""


@dataclass(frozen=True, slots=True)
class Landed:
    """A hunk that is on disk, because it landed or because its text was there already.

    ``start`` and ``end`` are the first line and one past the last of the new text in the file as
    it is now, from 1; both are 0 for a file that was deleted. ``extent`` tells how much changed.
    """

    hunk: str
    path: str
    action: Action
    status: Status
    rung: Rung
    start: int
    end: int
    moved_to: str | None = None
    extent: Extent = field(default_factory=lambda: Extent(), compare=False)
    edited: tuple[str, ...] | None = None
    """The new lines, where the user changed them before they landed."""
    typed: str = ""
    """The name that the model wrote, where it is not that of the file: no such file exists."""


@dataclass(frozen=True, slots=True)
class Refused:
    """A hunk that did not land: a code for programs, a message for the user and the model, what it is due
    to, and the user's own word where they declined it."""

    hunk: str
    path: str
    code: RefusalCode
    message: str
    by: RefusedBy = field(default=RefusedBy.EDIT, kw_only=True)
    why: str = field(default="", kw_only=True)


@dataclass(frozen=True, slots=True)
class Held(Refused):
    """A hunk that guards hold back. Nothing was written; it can land once the user agrees to all of them.
    ``message`` gives the reason of each.

    Where nobody can be asked, it is a refusal with the code ``locked``.
    """

    guards: tuple[Guard, ...]
