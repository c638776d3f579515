"""The help: every key and every command."""

from __future__ import annotations

from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content

from tui.drawing.palette import Palette
from tui.drawing.rows import Row, Span, breaks
from tui.keys.keymap import keymap
from tui.overlays.lines import Lines
from tui.overlays.overlay import ClosingScreen
from tui.words.slash import slashes

LONGEST_KEY = 15
"""Cells of the longest name of a key, which is never broken."""


class HelpScreen(ClosingScreen[None]):
    """The keys and commands. Keys that scroll do so; any other key closes the screen."""

    def __init__(self, palette: Palette) -> None:
        super().__init__()
        self._palette = palette
        self._lines = Lines(palette, id="lines")

    def compose(self) -> ComposeResult:
        """The box and its lines."""
        with Vertical(id="box") as box:
            box.border_title = Content("Keys")
            box.border_subtitle = Content("↑ ↓ PgUp PgDn scroll · any other key closes")
            yield self._lines

    def on_resize(self) -> None:
        """Lay the table out for the new width."""
        self.call_after_refresh(self._fill)

    def _fill(self) -> None:
        lines = self._lines
        lines.show(help_rows(lines.size.width))

    def on_key(self, event: events.Key) -> None:
        """Scroll, or close."""
        event.stop()
        lines = self._lines
        page = max(1, lines.size.height - 2)
        steps = {"up": -1, "k": -1, "down": 1, "j": 1, "pageup": -page, "pagedown": page, "space": page}
        steps |= {"home": -len(lines.rows), "end": len(lines.rows)}
        if event.key in steps:
            lines.move(steps[event.key])
        else:
            self.dismiss()


def help_rows(width: int) -> list[Row]:
    """The table of keys as rows, and the commands below it."""
    keys_width = min(30, max(LONGEST_KEY + 2, width // 3))
    rows: list[Row] = []
    sections = [(scope.title, [(key.shown, key.help) for key in scope.keys]) for scope in keymap()]
    sections.append(("In place of a prompt", [(slash.shown, slash.help) for slash in slashes()]))
    for title, entries in sections:
        if rows:
            rows.append(Row([], "panel"))
        rows.append(Row([(" " + title, "heading")], "panel"))
        for named, helped in entries:
            left = [named[start:end] for start, end in breaks(named, keys_width - 2)]
            right = [helped[start:end] for start, end in breaks(helped, width - keys_width - 2)]
            for index in range(max(len(left), len(right))):
                name = left[index] if index < len(left) else ""
                told = right[index] if index < len(right) else ""
                spans: list[Span] = [(f"   {name:<{keys_width - 2}} ", "status_key"), (told, "text")]
                rows.append(Row(spans, "panel"))
    return rows
