"""Describes a window for the user: its pieces, and why each is in it or was left out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from context.window.pieces import Kind, LeftOut, Piece, Window


@dataclass(frozen=True, slots=True)
class ReportedPiece:
    """A piece of a window.

    ``kind`` is one of those of ``spark context``; ``path`` is empty if the piece is not of a single file.
    ``text`` is as it is sent: front ends make it safe to show. ``earlier`` says that an earlier request
    carried the piece, and the model still holds it.
    """

    kind: str
    path: str
    tokens: int
    why: str
    text: str
    earlier: bool


_DETAIL = re.compile(r" \([^()]*\)$")
"""Matches the details of one file at the end of a reason."""


@dataclass(frozen=True, slots=True)
class LeftOutFile:
    """A file that is not in a window, its tokens (0 if unknown) and the reason."""

    path: str
    tokens: int
    why: str

    @property
    def reason(self) -> str:
        """The reason without the details of this file, to group files by."""
        return _DETAIL.sub("", self.why)


@dataclass(frozen=True, slots=True)
class WindowReport:
    """All that the model is shown with one request.

    ``tokens`` is their sum, at most ``budget``. ``talk`` of them are in no part: those of answers, of
    reports on edits, and of the tools' definitions.
    """

    budget: int
    tokens: int = 0
    parts: tuple[ReportedPiece, ...] = ()
    talk: int = 0
    left_out: tuple[LeftOutFile, ...] = ()
    pins: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """The pinned files, each with the target that pins it."""
    removals: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """The removed files, each with the target that removes it."""
    known: int = 0
    """Number of files that have been read."""
    total: int = 0
    """Number of files of the project."""
    complete: bool = True
    """Whether all files had been read."""
    problem: str = ""
    """Why there is no window; empty if there is one."""


class SentWindows:
    """The windows that were sent since the conversation last started afresh."""

    def __init__(self) -> None:
        self._earlier: tuple[Piece, ...] = ()
        self._last: Window | None = None

    @property
    def last(self) -> Window | None:
        """The window sent last; None before the first."""
        return self._last

    @property
    def pieces(self) -> tuple[Piece, ...]:
        """All pieces that the model was sent."""
        return (*self._earlier, *(self._last.pieces if self._last is not None else ()))

    def take(self, window: Window) -> None:
        """Add ``window``, which is being sent."""
        self._earlier = self.pieces
        self._last = window

    def clear(self) -> None:
        """Forget all windows: the model no longer has any of them."""
        self._earlier = ()
        self._last = None

    def parts(self) -> tuple[ReportedPiece, ...]:
        """All pieces that the model was sent, in the form that is shown."""
        last = self._last.pieces if self._last is not None else ()
        return (*reported_pieces(self._earlier, earlier=True), *reported_pieces(last, earlier=False))


def reported_pieces(pieces: Iterable[Piece], *, earlier: bool) -> tuple[ReportedPiece, ...]:
    """``pieces`` in the form that is shown. An empty request is left out."""
    return tuple(
        ReportedPiece(str(piece.kind), piece.path or "", piece.tokens, piece.why, piece.text, earlier)
        for piece in pieces
        if piece.kind is not Kind.REQUEST or piece.text.removeprefix("## Request").strip()
    )


def left_out_files(left_out: Iterable[LeftOut]) -> tuple[LeftOutFile, ...]:
    """``left_out`` in the form that is shown."""
    return tuple(LeftOutFile(left.path, left.tokens, left.why) for left in left_out)
