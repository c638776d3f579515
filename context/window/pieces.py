"""The values that a window consists of, and the request for one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from context.window.seen import Shown


class Kind(StrEnum):
    """The kind of a piece, in the order of the pieces in a window."""

    INSTRUCTIONS = "instructions"
    PROJECT_INSTRUCTIONS = "project_instructions"
    MAP = "map"
    HISTORY = "history"
    CHANGED = "changed"
    MENTIONED = "mentioned"
    REQUEST = "request"


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a window: exactly the text that is sent, its tokens, and why it is there."""

    kind: Kind
    path: str | None
    text: str
    tokens: int
    why: str


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Something that is not in the window, and why.

    ``tokens`` is its size, 0 if unknown; ``named`` says that the request mentions it.
    """

    path: str
    tokens: int
    why: str
    named: bool = False


@dataclass(frozen=True, slots=True)
class Approved:
    """Which of the project's own instructions may instruct the model: contents, by their SHA-256 in hex, that
    the user agreed to for each path; with ``all``, any."""

    digests: Mapping[str, frozenset[str]] = field(default_factory=dict)
    all: bool = False

    @property
    def any(self) -> bool:
        """Whether anything is approved."""
        return self.all or bool(self.digests)

    def holds(self, path: str, digest: str) -> bool:
        """Whether the user agreed to this content of ``path``."""
        return self.all or digest in self.digests.get(path, ())


@dataclass(frozen=True, slots=True)
class WindowRequest:
    """The input for building a window.

    ``text`` is the user's request. ``budget`` is the largest number of tokens that the model may be
    shown, and ``used`` the number that its server already has of this conversation. ``history`` are the
    earlier messages that must be sent again, oldest first. ``open_files`` are the files open in the
    editor.

    ``map_limit``, in tokens, keeps the map from filling the room that the conversation needs later, and
    ``likely_limit`` does the same for the files that nobody named. With ``fills_up``, they take all the room
    that the map leaves.

    In a following turn about another subject, likely parts may take up to ``subject_limit`` tokens.

    ``fill_limit``, in tokens, keeps files and the map from filling the window further, so that a conversation
    can grow in it; the words may still take the whole budget. Beyond ``fill_comfort``, only parts that are
    surely about the request fill it.

    ``pinned`` targets, written like mentions, are shown whole in every window as long as they fit, after
    what the request names. Of ``removed`` targets (paths, folders, globs) only the names are shown. A pin
    wins over a removal.

    If a conversation continues in a window that starts afresh, ``earlier`` is the text of its last
    prompts, and ``recent`` are the files that it has been about, those of the newest turns first.
    ``at_work`` is the text of its last edits and failures.
    """

    text: str
    instructions: str
    budget: int
    history: tuple[str, ...] = ()
    open_files: tuple[str, ...] = ()
    used: int = 0
    map_limit: int | None = None
    likely_limit: int | None = None
    subject_limit: int | None = None
    fills_up: bool = False
    fill_limit: int | None = None
    fill_comfort: int | None = None
    pinned: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    at_work: str = ""
    earlier: str = ""
    recent: tuple[str, ...] = ()
    likeliest_last: bool = False
    """Whether the files that matter most stand last, next to the request, where a small model looks first.
    Then files that nobody named never take more than ``likely_limit``, whether they fill it up or not."""
    whole_files: bool = False
    """Whether files that nobody named are shown whole or not at all: the model writes whole files."""
    approved: Approved = field(default_factory=Approved)
    """Nothing of the project instructs the model unless it is approved here."""


@dataclass(frozen=True, slots=True)
class Window:
    """What the model is shown for one request.

    ``tokens`` counts the pieces and what the server already has; it never exceeds ``budget``. ``shown``
    is for :meth:`context.window.seen.Seen.after`.
    """

    budget: int
    tokens: int
    pieces: tuple[Piece, ...]
    left_out: tuple[LeftOut, ...]
    shown: Shown = field(default_factory=Shown, repr=False)
    unmet: int = 0
    """The estimated tokens of what matches the request of a following turn about another subject, and had no
    room; what a first window would not show is not counted."""
    unapproved: tuple[str, ...] = ()
    """The project's instructions that would stand here if they were approved, by path."""

    @property
    def text(self) -> str:
        """The text of all pieces in order."""
        return "".join(piece.text for piece in self.pieces)


class BudgetTooSmall(Exception):
    """The instructions and the request alone exceed the budget; ``needed`` and ``budget`` are in tokens."""

    def __init__(self, needed: int, budget: int) -> None:
        super().__init__(
            f"the request does not fit: the instructions and the request need {needed:,} tokens and the "
            f"budget is {budget:,}; shorten the request or raise the budget"
        )
        self.needed = needed
        self.budget = budget
