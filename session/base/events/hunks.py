"""Events of hunks, and of the project's files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from session.base.events.event import Event


@dataclass(frozen=True, slots=True)
class HunkOpened(Event):
    """The model began to type an edit of ``path``."""

    type: ClassVar[str] = "hunk.open"
    turn: str
    hunk: str
    path: str
    action: str = "update"


@dataclass(frozen=True, slots=True)
class HunkTyped(Event):
    """A piece of a line of an open hunk; ``kind`` is `` ``, ``-`` or ``+``, ``\\n`` ends the line."""

    type: ClassVar[str] = "hunk.typed"
    turn: str
    hunk: str
    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class HunkAimed(Event):
    """The lines that an open hunk will replace, as far as its old text is known.

    They are ``start`` to ``end``, from 1, ``end`` one past the last. They may change until the hunk lands.
    """

    type: ClassVar[str] = "hunk.aimed"
    turn: str
    hunk: str
    path: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class HunkHeld(Event):
    """A hunk needs the user's answer, and the hunks behind it wait for it.

    Several may be held at a time, and be answered in any order. ``guard`` is one of ``edits.hunk.Guard``,
    or ``review``: the first of the reasons in ``message``. A second event for the same hunk replaces the
    question; the event that ends the hunk (landed, refused or dropped) also ends the question.
    """

    type: ClassVar[str] = "hunk.held"
    turn: str
    hunk: str
    path: str
    guard: str
    message: str


@dataclass(frozen=True, slots=True)
class HunkLanded(Event):
    """A hunk is on disk. Fields as in the command line's contract; ``moved_to`` is set for a move.

    ``added`` and ``removed`` count its lines; ``sample`` is one of them with its sign, empty where there is
    none.
    """

    type: ClassVar[str] = "hunk.landed"
    turn: str
    hunk: str
    path: str
    status: str
    tier: int
    start: int
    end: int
    action: str = "update"
    moved_to: str | None = None
    added: int = 0
    removed: int = 0
    sample: str = ""


@dataclass(frozen=True, slots=True)
class HunkRefused(Event):
    """A hunk was not landed; ``code`` is one of ``edits.hunk.RefusalCode``, and ``by`` one of ``RefusedBy``.
    ``why`` is the word of a user who declined it, if any."""

    type: ClassVar[str] = "hunk.refused"
    turn: str
    hunk: str
    path: str
    code: str
    message: str
    by: str = "edit"
    why: str = ""


@dataclass(frozen=True, slots=True)
class HunkDropped(Event):
    """A hunk in flight when its turn was interrupted or failed: nothing of it was written."""

    type: ClassVar[str] = "hunk.dropped"
    turn: str
    hunk: str
    path: str


@dataclass(frozen=True, slots=True)
class FileBroken(Event):
    """The hunks of a turn that has ended left a file with a syntax error, which it did not have before.

    ``hunks`` are those since it last parsed, the oldest first: with them undone, it parses again.
    """

    type: ClassVar[str] = "file.broken"
    turn: str
    path: str
    message: str
    hunks: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class HunkUndone(Event):
    """The user undid a hunk; ``start`` and ``end`` are the lines of the old text in the file now, which is
    ``moved_to`` where a move was undone. ``why`` is the user's word on it, if any."""

    type: ClassVar[str] = "hunk.undone"
    hunk: str
    path: str
    start: int
    end: int
    moved_to: str | None = None
    why: str = ""

    @property
    def place(self) -> str:
        """The file that the lines are in now."""
        return self.moved_to or self.path


@dataclass(frozen=True, slots=True)
class HunkRedone(Event):
    """The user landed an undone hunk again; ``start`` and ``end`` are the lines of its new text, in
    ``moved_to`` where it is a move."""

    type: ClassVar[str] = "hunk.redone"
    hunk: str
    path: str
    start: int
    end: int
    moved_to: str | None = None

    @property
    def place(self) -> str:
        """The file that the lines are in now."""
        return self.moved_to or self.path


@dataclass(frozen=True, slots=True)
class FileSaved(Event):
    """The user saved ``path`` from the editor pane."""

    type: ClassVar[str] = "file.saved"
    path: str


@dataclass(frozen=True, slots=True)
class FilesChanged(Event):
    """Files of the project changed on disk, whoever changed them. Paths are relative to the root."""

    type: ClassVar[str] = "files.changed"
    paths: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ApplyEnded(Event):
    """The last event of ``spark apply``: how many hunks landed, were refused, or were there already."""

    type: ClassVar[str] = "apply.ended"
    landed: int
    refused: int
    already_applied: int
