"""A suggestion over the text of the editor: what is drawn where."""

from __future__ import annotations

from dataclasses import dataclass

from session.assist.suggest.suggestion import Insertion, Suggestion


@dataclass(frozen=True, slots=True)
class Ghost:
    """``text`` is drawn at ``column`` of ``row``, ``lines`` before the row ``above``, and ``struck`` rows are
    to go. Rows and columns count from 0."""

    row: int = -1
    column: int = 0
    text: str = ""
    above: int = 0
    lines: tuple[str, ...] = ()
    struck: range = range(0)

    def at(self, row: int) -> tuple[int, str] | None:
        """What is drawn in a row, and at which column."""
        return (self.column, self.text) if row == self.row and self.text else None


NO_GHOST = Ghost()


def ghost_of(suggestion: Suggestion | None) -> Ghost:
    """How a suggestion is drawn."""
    if suggestion is None:
        return NO_GHOST
    if isinstance(suggestion, Insertion):
        first, *rest = suggestion.text.split("\n")
        place = suggestion.place
        return Ghost(place.row, len(place.left), first, place.row + 1, tuple(rest))
    after = suggestion.first + len(suggestion.old)
    return Ghost(above=after, lines=suggestion.new, struck=range(suggestion.first, after))
