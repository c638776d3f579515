"""The layout of the panes: side by side, stacked, or one alone.

Without an open file the chat has the whole room.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal, cast

from textual.geometry import Size
from textual.screen import Screen

from tui.app.panes.status import StatusLine
from tui.chat.chat import ChatView
from tui.chat.composer.composer import Composer
from tui.chat.composer.suggestions import Suggestions
from tui.front.keys.keymap import vi_keys

if TYPE_CHECKING:
    from tui.app.panes.find_bar import FindBar
    from tui.app.panes.held_bar import HeldBar
    from tui.app.panes.later_panes import LaterPanes
    from tui.app.panes.queue_list import QueueList
    from tui.editor.editor import EditorPane
    from tui.screen.drawing.palette import Palette

STACKED_BELOW = 100
"""Below this width the panes are stacked."""
LOW_BELOW = 16
"""Below this height one pane is shown alone."""
SMALLEST = Size(20, 6)
"""The smallest usable terminal."""
LEAST, MOST = 20, 80
"""The limits of the editor's share, in per cent."""

Pane = Literal["editor", "chat"]


class Panes:
    """The widgets of the app's own screen: those of the first frame, and those that come with the session,
    which are only asked for where there is one."""

    def __init__(self, screen: Screen[object]) -> None:
        self._screen = screen
        self.chat = screen.query_one(ChatView)
        self.composer = screen.query_one(Composer)
        self.status = screen.query_one(StatusLine)
        self.suggestions = screen.query_one(Suggestions)
        self._later: LaterPanes | None = None

    async def add_later(self, palette: Palette) -> None:
        """Add the panes that come with the session."""
        from tui.app.panes.later_panes import add_later_panes

        self._later = await add_later_panes(self._screen, palette)

    @property
    def editor(self) -> EditorPane:
        """The pane that shows a file."""
        return self._added.editor

    @property
    def find(self) -> FindBar:
        """The bar for finding and replacing in the editor."""
        return self._added.find

    @property
    def held(self) -> HeldBar:
        """The bar that asks about what is held."""
        return self._added.held

    @property
    def queue(self) -> QueueList:
        """The messages that wait."""
        return self._added.queue

    @property
    def _added(self) -> LaterPanes:
        if self._later is None:
            raise RuntimeError("these panes come with the session")
        return self._later

    @property
    def esc_acts(self) -> bool:
        """Whether Esc closes or ends something here. Asked in the thread that reads keys."""
        composer, chat = self.composer, self.chat
        return (
            (composer.has_focus and (vi_keys() or self.suggestions.display))
            or (chat.has_focus and chat.keys.in_use)
            or self.find.display
            or self.held.confirms
        )


_CLASSES = ("too-small", "low", "stacked", "only-editor", "only-chat")
"""The classes that the style sheet has a layout for."""


class Layout:
    """Chooses the layout by the terminal's size and the user's wishes, and sets the classes that the style
    sheet lays out."""

    def __init__(self, screen: Callable[[], Screen[object]], size: Size) -> None:
        self._screen = screen
        self._size = size
        self._share = 58
        self._alone: Pane | None = None
        self._low_pane: Pane = "chat"
        """The pane in sight where there is room for one alone."""
        self._file_shown = False
        self.on_resized: Callable[[], None] = lambda: None
        """Called after the terminal got another size."""

    def resize(self, size: Size) -> None:
        """The terminal has another size. The pane with the focus stays in sight."""
        was_low, self._size = self._low, size
        if self._low and not was_low:
            self._low_pane = self._focused_pane
        self._apply()
        self._screen().call_after_refresh(self.on_resized)

    @property
    def file_shown(self) -> bool:
        """Whether a file is open, so that the editor has a part of the room."""
        return self._file_shown

    def show_file(self, shown: bool) -> None:
        """A file is open from now on, or none."""
        if shown != self._file_shown:
            self._file_shown = shown
            if not shown:  # the next file comes beside the chat
                self._alone = None
            self._apply()

    def share(self, by: int) -> None:
        """Give the editor ``by`` per cent more of the room."""
        self._share = max(LEAST, min(MOST, self._share + by))
        self._apply()

    def zoom(self, pane: Pane) -> None:
        """Show ``pane`` alone, or both again."""
        self._alone = None if self._alone else pane
        self._apply()

    def bring(self, pane: Pane) -> None:
        """Bring ``pane`` into sight, if only one is shown."""
        if self._alone:
            self._alone = pane
        self._low_pane = pane
        self._apply()

    @property
    def _focused_pane(self) -> Pane:
        focused = self._screen().focused
        return "editor" if focused is not None and focused.id == "editor" else "chat"

    @property
    def _low(self) -> bool:
        return self._size.height < LOW_BELOW

    @property
    def _shown_alone(self) -> Pane | None:
        """The pane that has all the room."""
        if not self._file_shown:
            return "chat"
        return self._alone or (self._low_pane if self._low else None)

    @property
    def _stacked(self) -> bool:
        """Whether one pane is above the other."""
        return self._size.width < STACKED_BELOW and self._shown_alone is None

    @property
    def classes(self) -> set[str]:
        """The classes of the screen. A screen that begins with them is not styled twice at the start."""
        width, height = self._size
        states = {
            "too-small": width < SMALLEST.width or height < SMALLEST.height,
            "low": self._low,
            "stacked": self._stacked,
            "only-editor": self._shown_alone == "editor",
            "only-chat": self._shown_alone == "chat",
        }
        return {name for name, holds in states.items() if holds}

    def _apply(self) -> None:
        screen, classes = self._screen(), self.classes
        for name in _CLASSES:
            screen.set_class(name in classes, name)
        alone, stacked = self._shown_alone, self._stacked
        for editor in screen.query("#editor"):  # it comes with the session
            editor.styles.width = None if stacked or alone else f"{self._share}%"
            # Stacked, the chat gets a little more room than beside the editor: its lines are wide.
            editor.styles.height = f"{self._share - 6}%" if stacked else None
            cast("EditorPane", editor).beside_chat(beside=not (stacked or alone))
