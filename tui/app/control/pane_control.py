"""Moves among the panes: focus, sizes, the mouse, suspending."""

from __future__ import annotations

from time import monotonic
from typing import Protocol, runtime_checkable

from textual import events
from textual.app import App
from textual.dom import DOMNode
from textual.widget import Widget
from textual.widgets import Input, TextArea

from tui.app.panes.layout import Layout, Panes
from tui.front.keys.key_order import KeyTurns, hand_on
from tui.front.keys.keymap import shown
from tui.screen.terminal.driver import suspend
from tui.screen.terminal.lending import set_mouse


@runtime_checkable
class TakesText(Protocol):
    """A widget that is not a field, and yet takes text at times."""

    @property
    def takes_text(self) -> bool:
        """Whether pasted text is for this widget now."""


class PaneControl:
    """What the keys for the screen itself do; none of it concerns the session."""

    def __init__(self, app: App[int], panes: Panes, layout: Layout, key_turns: KeyTurns) -> None:
        self._app = app
        self._panes = panes
        self._layout = layout
        self._key_turns = key_turns
        self._continued = 0.0
        """When the shell brought spark back last."""

    def focus(self, name: str) -> None:
        """Go to a pane, bringing it into sight."""
        if name == "editor" and not self._panes.editor.path:
            self._panes.status.say(f"no file is open: {shown('open_file')} opens one")
            return
        match name:
            case "editor" | "chat":
                self._layout.bring(name)
        # At once: the next key of the same read goes there.
        self._app.screen_stack[0].set_focus(self._pane(name))

    def focus_next(self) -> None:
        """Go to the next pane in sight."""
        order = [name for name in ("composer", "editor", "chat") if self._pane(name).display]
        if not self._panes.editor.path and "editor" in order:
            order.remove("editor")
        focused = self._app.focused.id if self._app.focused is not None else None
        at = order.index(focused) + 1 if focused in order else 0
        self.focus(order[at % len(order)])

    def zoom(self) -> None:
        """Show one pane alone, the focused one or else the chat; or both again."""
        if not self._layout.file_shown:
            self._panes.status.say(f"no file is open: {shown('open_file')} opens one beside the chat")
            return
        self._layout.zoom("editor" if self._panes.editor.has_focus else "chat")

    def suspend(self) -> None:
        """Leave the terminal to the shell until it brings spark back. Of keys that were read together, the
        first does it."""
        if self._key_turns.read_at < self._continued:
            return
        if suspend(self._app):
            self._continued = monotonic()
        else:
            self._panes.status.say("cannot suspend: no shell would bring spark back")

    def takes(self, paste: events.Paste) -> bool:
        """Put a paste into the prompt where nothing that has the focus takes text; false where something
        does."""
        focused = self._app.focused or self._app.screen
        if any(_takes_text(node) for node in focused.ancestors_with_self):
            return False
        hand_on(self._panes.composer, paste)
        if len(self._app.screen_stack) > 1:
            self._panes.status.say("pasted into the prompt")
        else:
            self.focus("composer")
        return True

    def toggle_mouse(self) -> None:
        """Turn mouse reporting on or off; off leaves selecting to the terminal."""
        on = set_mouse(self._app)
        self._panes.status.say("mouse on" if on else "mouse off: the terminal selects text")

    def _pane(self, name: str) -> Widget:
        return self._app.screen_stack[0].query_one(f"#{name}", Widget)


def _takes_text(node: DOMNode) -> bool:
    return isinstance(node, TextArea | Input) or (isinstance(node, TakesText) and node.takes_text)
