"""The base of screens that list things of one kind, of which one is chosen and shown beside the list."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Generic, TypeVar

from tui.app.overlays.choices import Choices
from tui.app.overlays.lines import Lines
from tui.app.overlays.list_screen import ListScreen
from tui.screen.drawing.pacer import Pacer
from tui.screen.drawing.palette import Palette

T = TypeVar("T")


class ChosenList(ListScreen, Generic[T], inherit_bindings=False):
    """Keys, clicks and the wheel move the choice, one row for each thing."""

    def __init__(self, palette: Palette, pacer: Pacer) -> None:
        """See :class:`ListScreen`."""
        super().__init__(palette, pacer)
        self._listed: list[T] = []
        self._chosen = 0
        """The row that is chosen."""

    @property
    def _each(self) -> T | None:
        """What is chosen; None in an empty list."""
        return self._listed[self._chosen] if self._chosen < len(self._listed) else None

    def _list(self, listed: Sequence[T]) -> None:
        """List what there is now. What was chosen stays chosen, or else what has come into its row."""
        before = self._each
        self._listed = list(listed)
        if before is not None and before in self._listed:
            self._chosen = self._listed.index(before)
        self._choose(self._chosen)

    def _choose(self, row: int) -> None:
        self._chosen = max(0, min(row, len(self._listed) - 1))

    def action_move(self, by: int) -> None:
        """Move the choice, or scroll what is chosen while it is read."""
        if self._reading:
            self.query_one("#piece", Lines).move(by)
        else:
            self._choose(self._chosen + by)
            self._draw()

    def action_read(self) -> None:
        """Read what is chosen in the list's place, where both do not fit side by side."""
        self._reading = not self._reading
        self._draw()

    def on_choices_chosen(self, event: Choices.Chosen) -> None:
        """Choose what was clicked."""
        self._choose(event.row)
        self._draw()

    def on_choices_turned(self, event: Choices.Turned) -> None:
        """The wheel moves the choice."""
        self.action_move(event.by)
