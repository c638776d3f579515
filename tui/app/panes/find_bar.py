"""The bar under the editor for finding and replacing: two fields, and a line that says what is found."""

from __future__ import annotations

from typing import Literal, cast

from rich.segment import Segment
from textual import events
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Input

from tui.editor.buffers.text_search import HINTS, Mode
from tui.front.keys.key_order import run_key_in_order
from tui.front.keys.keymap import scope
from tui.screen.drawing.palette import Palette
from tui.screen.drawing.plain import clipped, fitting, visible

FindAction = Literal["next", "previous", "mode", "replace", "replace_all", "undo", "other_field", "close"]


class FindInput(Input):
    """One of the fields."""

    async def on_key(self, event: events.Key) -> None:
        """See :mod:`tui.front.keys.key_order`; the keys of the bar come first."""
        bar = self.query_ancestor(FindBar)
        if bar.acted(event.key, in_replacement=self.id == "replacement"):
            event.stop()
            event.prevent_default()
        else:
            await run_key_in_order(self, event)


class _Told(Widget):
    """One line of text."""

    def __init__(self, palette: Palette) -> None:
        super().__init__()
        self.palette = palette
        self.text, self.role = "", "muted"

    def render_line(self, y: int) -> Strip:
        """The line."""
        width = self.size.width
        style = self.palette.style(self.role, "panel")
        told = clipped(fitting(visible(self.text), width), width)
        return Strip([Segment(told, style)]).adjust_cell_length(width, style)


class FindBar(Widget):
    """Shown while the user searches. It tells what is typed; :mod:`tui.app.control.find_control` searches."""

    class Typed(Message):
        """The text that is searched for, or how it is read, changed."""

    class Acted(Message):
        """A key of the bar was pressed."""

        def __init__(self, action: FindAction) -> None:
            super().__init__()
            self.action = action

    def __init__(self, palette: Palette, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._told = _Told(palette)
        self.mode = Mode.SMART
        self.display = False

    def compose(self) -> ComposeResult:
        """The fields side by side, and the line below them."""
        with Horizontal(id="find-fields"):
            yield FindInput(placeholder="find", id="find", compact=True)
            yield FindInput(placeholder="replace with", id="replacement", compact=True)
        yield self._told

    def on_mount(self) -> None:
        """Keep still."""
        for field in self.query(Input):
            field.cursor_blink = False

    @property
    def text(self) -> str:
        """What is searched for."""
        return self.query_one("#find", Input).value

    @property
    def replacement(self) -> str:
        """What takes its place."""
        return self.query_one("#replacement", Input).value

    @property
    def replacing(self) -> bool:
        """Whether the second field is shown."""
        return self.query_one("#replacement", Input).display

    def open(self, text: str) -> None:
        """Show the bar, with ``text`` to search for; an empty one leaves the last."""
        find, replacement = self.query_one("#find", Input), self.query_one("#replacement", Input)
        self.display = True
        replacement.display = False
        if text:
            with self.prevent(Input.Changed):
                find.value = text
        find.select_all()
        self.screen.set_focus(find)

    def leave(self) -> None:
        """Ask for the end of the search."""
        if self.display:
            self.post_message(self.Acted("close"))

    def close(self) -> None:
        """Hide the bar."""
        self.display = False

    def tell(self, text: str, role: str = "muted") -> None:
        """Say what is found."""
        self._told.text, self._told.role = f" {HINTS[self.mode]} · {text}", role
        self._told.refresh()

    def restyle(self, palette: Palette) -> None:
        """Draw in other colours from now on."""
        self._told.palette = palette
        self._told.refresh()

    def acted(self, key: str, *, in_replacement: bool) -> bool:
        """Act on a key of the bar; false for one that belongs to the field."""
        for entry in scope("find").keys:
            if key in entry.keys:
                action = cast(FindAction, entry.action)  # the table has no others
                if action == "next" and in_replacement:
                    action = "replace"
                self._act(action)
                return True
        return False

    def _act(self, action: FindAction) -> None:
        if action == "mode":
            modes = list(Mode)
            self.mode = modes[(modes.index(self.mode) + 1) % len(modes)]
            self.post_message(self.Typed())
        elif action == "other_field":
            find, replacement = self.query_one("#find", Input), self.query_one("#replacement", Input)
            replacement.display = True
            self.screen.set_focus(find if replacement.has_focus else replacement)
            self.post_message(self.Typed())  # which says what the keys do now
        else:
            self.post_message(self.Acted(action))

    def on_input_changed(self, event: Input.Changed) -> None:
        """Tell of another text to search for."""
        event.stop()
        if event.input.id == "find":
            self.post_message(self.Typed())
