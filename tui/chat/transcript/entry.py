"""What the transcript knows of its entries: they own their rows and say from which row on they changed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Protocol

from tui.screen.drawing.rows import Row


class Entry(Protocol):
    """An entry of the conversation; ``rows`` is as of the last :meth:`settle`."""

    dirty: bool
    tight: bool
    """Whether an entry of the same kind follows without a blank row."""
    width: int
    """The cells for which its rows are wrapped; 0 until it is settled first."""

    @property
    def rows(self) -> Sequence[Row]:
        """The rows of the entry."""
        ...

    def settle(self, width: int) -> int:
        """Update ``rows`` and return the index of the first changed row. An entry that has rows of another
        width may keep that width until :meth:`rewrap` changes it."""
        ...

    def rewrap(self, width: int) -> Iterator[None]:
        """Wrap for ``width`` cells in short steps. ``rows`` and ``width`` change in the last of them, and the
        entry may grow meanwhile."""
        ...


class DrawnEntry(ABC):
    """An entry of a few rows, which are all drawn anew where one of them changes. See :class:`Entry`."""

    tight = False

    def __init__(self) -> None:
        self.rows: list[Row] = []
        self.dirty = True
        self.width = 0

    @abstractmethod
    def draw(self, width: int) -> list[Row]:
        """Its rows in ``width`` cells."""

    def settle(self, width: int) -> int:
        """See :class:`Entry`."""
        self.dirty = False
        self.width = width
        self.rows = self.draw(width)
        return 0

    def rewrap(self, width: int) -> Iterator[None]:
        """See :class:`Entry`: one step."""
        self.settle(width)
        yield from ()
