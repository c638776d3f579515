"""The values that a window is made of."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from context.window.seen import Shown


class Kind(StrEnum):
    """What a piece is, in the order in which pieces stand in a window."""

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
    """Something that is not in the window: how many tokens it would take (0: not known), and why not.
    ``named``: the request asks for it."""

    path: str
    tokens: int
    why: str
    named: bool = False


@dataclass(frozen=True, slots=True)
class WindowRequest:
    """What a window is built for.

    ``text`` is the user's request; ``budget`` the most tokens the model may be shown, ``used`` those its
    server already holds of this conversation; ``history`` earlier messages that have to be sent again,
    oldest first; ``open_files`` those open in the editor. ``map_limit``, in tokens, keeps a map from
    filling the room that a conversation will want.
    Files that nobody named get at most a quarter of ``map_limit``, where that is given.
    ``pinned`` (each in the grammar of a mention) is shown whole in every window as long as it fits, after
    what the request names; of ``removed`` (paths, folders, globs) no more than the names are shown. What
    is pinned is not removed.
    Where a conversation goes on in a window that starts afresh, ``earlier`` is what its last prompts asked,
    and ``recent`` the files that it has been about, those of the newest turns first.
    """

    text: str
    instructions: str
    budget: int
    history: tuple[str, ...] = ()
    open_files: tuple[str, ...] = ()
    used: int = 0
    map_limit: int | None = None
    pinned: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    earlier: str = ""
    recent: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Window:
    """What the model is shown. ``tokens`` counts the pieces and what the server already holds; it never
    exceeds ``budget``. ``shown`` is for :meth:`context.window.seen.Seen.after`."""

    budget: int
    tokens: int
    pieces: tuple[Piece, ...]
    left_out: tuple[LeftOut, ...]
    shown: Shown = field(default_factory=Shown, repr=False)

    @property
    def text(self) -> str:
        """All pieces, one after the other: what is counted."""
        return "".join(piece.text for piece in self.pieces)


class BudgetTooSmall(Exception):
    """The instructions and the request alone do not fit. ``needed`` and ``budget`` are tokens."""

    def __init__(self, needed: int, budget: int) -> None:
        super().__init__(
            f"the request does not fit: the instructions and the request need {needed:,} tokens and the "
            f"budget is {budget:,}; shorten the request or raise the budget"
        )
        self.needed = needed
        self.budget = budget
