"""Moves among the panes: focus, sizes, the mouse, suspending."""

from __future__ import annotations

from textual.app import App
from textual.widget import Widget

from tui.keys.keymap import shown
from tui.panes.layout import Layout, Panes
from tui.terminal.driver import suspend
from tui.terminal.lending import set_mouse


class PaneControl:
    """What the keys for the screen itself do; none of it concerns the session."""

    def __init__(self, app: App[int], panes: Panes, layout: Layout) -> None:
        self._app = app
        self._panes = panes
        self._layout = layout

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
        """Leave the terminal to the shell until it brings spark back."""
        if not suspend(self._app):
            self._panes.status.say("cannot suspend: no shell would bring spark back")

    def toggle_mouse(self) -> None:
        """Turn mouse reporting on or off; off leaves selecting to the terminal."""
        on = set_mouse(self._app)
        self._panes.status.say("mouse on" if on else "mouse off: the terminal selects text")

    def _pane(self, name: str) -> Widget:
        return self._app.screen_stack[0].query_one(f"#{name}", Widget)
