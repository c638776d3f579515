"""Gives the keys of normal mode to a text area."""

from __future__ import annotations

from collections.abc import Callable

from textual import events
from textual.widgets import TextArea
from textual.widgets.text_area import Selection

from tui.chat.composer.vi_modes import OTHERS, ViKeys
from tui.chat.composer.vi_motions import SAME_AS
from tui.editor.buffers.places import index_at, place_at

NAMED = frozenset({*OTHERS, *SAME_AS})
"""Keys that are no characters, and mean something in normal mode."""


class ViHands:
    """The modes of one text area."""

    def __init__(self, area: TextArea, changed: Callable[[], None]) -> None:
        """``changed`` is called when :attr:`told` is another."""
        self._area = area
        self._changed = changed
        self.told = ""
        """The mode as the user is shown it, with what is typed of a command; empty in insert mode."""
        self._keys = ViKeys()

    async def take(self, event: events.Key) -> bool:
        """Handle a key of normal mode; false for a key that is none."""
        key = event.character if event.is_printable and event.character else event.key
        if self._keys.mode == "insert" or not (event.is_printable or key in NAMED):
            return False
        area = self._area
        before = area.text
        done = self._keys.press(key, before, index_at(area.text, area.cursor_location))
        if done.text != before:
            self._replace(before, done.text)
        if done.text != before or not done.action:
            area.selection = Selection.cursor(place_at(area.text, min(done.cursor, len(area.text))))
        self._show()
        if done.action:
            await area.run_action(done.action)
        return True

    def escape(self) -> None:
        """Go to normal mode."""
        area = self._area
        cursor = self._keys.escape(area.text, index_at(area.text, area.cursor_location))
        area.selection = Selection.cursor(place_at(area.text, cursor))
        self._show()

    def insert(self) -> None:
        """Go to insert mode."""
        self._keys.insert()
        self._show()

    def _replace(self, before: str, after: str) -> None:
        """Change only what differs, so that undo takes back just that."""
        start = 0
        shortest = min(len(before), len(after))
        while start < shortest and before[start] == after[start]:
            start += 1
        end = 0
        while end < shortest - start and before[-1 - end] == after[-1 - end]:
            end += 1
        first, last = place_at(before, start), place_at(before, len(before) - end)
        self._area.history.checkpoint()
        self._area.replace(after[start : len(after) - end], first, last, maintain_selection_offset=False)

    def _show(self) -> None:
        normal = self._keys.mode == "normal"
        told = f"NORMAL {self._keys.typed}".rstrip() if normal else ""
        if told != self.told:
            self.told = told
            self._changed()
