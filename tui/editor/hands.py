"""What the editor's keys do beyond its own text."""

from __future__ import annotations

from typing import Protocol


class Hands(Protocol):
    """Implemented by the app, on all open files and the session: a method for each ``hand`` of the keys."""

    async def undo(self) -> None:
        """Take back the last step of the file's history."""

    async def redo(self) -> None:
        """Make the step again that was taken back last."""

    async def next_tab(self, step: int) -> None:
        """Show the next (1) or the previous (-1) open file."""

    async def close_tab(self) -> None:
        """Close the shown file."""

    async def find(self) -> None:
        """Find a text in the file."""

    async def symbol(self) -> None:
        """Go to a definition by its name."""

    async def outside(self) -> None:
        """Edit the text in the user's own editor."""

    async def refactor(self) -> None:
        """Rewrite the selected lines."""
