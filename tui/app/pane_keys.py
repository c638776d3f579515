"""What the keys for the screen itself do: its panes, their sizes and colours, reading, copying."""

from __future__ import annotations

from textual import events
from textual.widget import Widget

from themes.loader import load_theme, theme_names
from tui.app.behind import Behind
from tui.app.layout import Arrangement
from tui.drawing.palette import Palette
from tui.keys.keymap import shown
from tui.overlays.overlay import Overlay
from tui.panes.blank import Blank
from tui.panes.chat.chat import ChatView
from tui.panes.composer.suggestions import Suggestions
from tui.panes.editor.editor import EditorPane
from tui.panes.status import StatusLine
from tui.terminal.driver import set_mouse


class PaneKeys(Behind, inherit_bindings=False):
    """The half of the app that moves among its panes; none of it concerns the session."""

    editor: EditorPane
    chat: ChatView
    status: StatusLine
    arrangement: Arrangement
    blank: Blank
    suggestions: Suggestions
    _palette: Palette

    def action_focus_pane(self, name: str) -> None:
        """Go to a pane, bringing it into sight."""
        match name:
            case "editor" | "chat":
                self.arrangement.bring(name)
        if name == "editor" and not self.desk.path:
            self.status.say(f"no file is open: {shown('open_file')} opens one")
            return
        self.query_one(f"#{name}", Widget).focus()

    def action_next_pane(self) -> None:
        """Go to the next pane in sight."""
        order = [name for name in ("composer", "editor", "chat") if self.query_one(f"#{name}").display]
        if not self.desk.path and "editor" in order:
            order.remove("editor")
        focused = self.focused.id if self.focused is not None else None
        at = order.index(focused) + 1 if focused in order else 0
        self.action_focus_pane(order[at % len(order)])

    def action_zoom(self) -> None:
        """Show one pane alone, the focused one or else the chat; or both again."""
        self.arrangement.zoom("editor" if self.editor.has_focus else "chat")

    def action_resize(self, by: int) -> None:
        """Give the editor more or less of the room."""
        self.arrangement.share(by)

    def on_resize(self, event: events.Resize) -> None:
        """Arrange the panes for the terminal's size."""
        self.arrangement.resize(event.size)

    def action_chat_page(self, pages: int) -> None:
        """Scroll the chat from the composer."""
        self.chat.action_scroll_page(pages)

    def action_chat_end(self) -> None:
        """Back to the end of the chat."""
        self.chat.action_to_end()

    def action_reasoning(self) -> None:
        """Unfold or fold the reasoning."""
        self.chat.fold(unfolded=not self.chat.unfolded)

    def action_copy_answer(self) -> None:
        """Copy the last answer."""
        self._copy(self.chat.last_answer(), "the last answer")

    def action_copy_code(self) -> None:
        """Copy the last code block."""
        self._copy(self.chat.last_code(), "the last code block")

    def _copy(self, text: str, what: str) -> None:
        if text:
            self.copy_to_clipboard(text)
            self.status.say(f"copied {what} ({len(text):,} characters)")
        else:
            self.status.say("there is nothing to copy yet")

    def action_mouse(self) -> None:
        """Turn mouse reporting on or off; off leaves selecting to the terminal."""
        on = set_mouse(self)
        self.status.say("mouse on" if on else "mouse off: the terminal selects text")

    def action_next_theme(self) -> None:
        """The next theme, at once."""
        order = theme_names()
        current = self._palette.theme.name
        at = order.index(current) + 1 if current in order else 0
        self.use_theme(order[at % len(order)])

    def use_theme(self, name: str) -> None:
        """Draw everything in another theme."""
        self._palette = Palette(load_theme(name))
        self.register_theme(self._palette.textual_theme())
        self.theme = self._palette.textual_name
        for pane in (self.editor, self.chat, self.status, self.blank, self.suggestions):
            pane.restyle(self._palette)
        for screen in self.screen_stack:
            if isinstance(screen, Overlay):
                screen.restyle(self._palette)
        self.status.say(f"theme: {name}")
