"""Opens and closes the screens over the panes: lists to pick from, files, the context panel, offers."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, Any

from textual import events
from textual.app import App
from textual.screen import ModalScreen, Screen

from tui.app.overlays.overlay import ClosingScreen, Overlay
from tui.front.keys.keymap import shown
from tui.screen.drawing.palette import ThemeSwitch

if TYPE_CHECKING:
    from session.base.events import Event
    from session.setup.model_offers import Offer
    from tui.app.overlays.offer_screen import FindOffers
    from tui.front.matching import Choice

REACHABLE = frozenset(
    {
        *("interrupt", "cancel", "quit_spark", "suspend", "repaint"),
        *("next_theme", "mouse", "context", "open_file", "help"),
    }
)
"""The actions whose keys work while another screen lies over the panes."""


class OverlayControl:
    """At most one screen lies over the panes, or two where one opens another."""

    def __init__(self, app: App[int], themes: ThemeSwitch) -> None:
        self._app = app
        self.themes = themes
        self.running: Callable[[], bool] = lambda: False
        """Whether a turn runs, which Esc stops, whatever lies over the panes."""
        self.listed: Callable[[], tuple[str, ...]] = tuple
        """The project's files."""
        self.reading: Callable[[], bool] = lambda: False
        """Whether the project is still being read."""

    @property
    def covered(self) -> bool:
        """Whether a screen lies over the panes."""
        return len(self._app.screen_stack) > 1 and isinstance(self._app.screen, ModalScreen)

    def take(self, event: Event) -> None:
        """Hand an event to the screens that follow the session."""
        for screen in self._app.screen_stack:
            if isinstance(screen, Overlay) and screen.takes_keys.is_set():  # before, it has nothing to show
                screen.take(event)

    def uncover(self) -> bool:
        """Close the screen over the panes, or what is open in it; false when there is none."""
        screen = self._app.screen
        if isinstance(screen, ModalScreen):
            if not (isinstance(screen, ClosingScreen) and screen.back()):
                screen.dismiss(None)
            return True
        return False

    def pick(
        self,
        title: str,
        choices: Sequence[Choice],
        taken: Callable[[str], None],
        *,
        left: Callable[[], None] = lambda: None,
        **look: Any,
    ) -> None:
        """Have the user pick one of ``choices`` for ``taken``, unless something else is shown; ``left`` is
        called where they take none. Where this list is shown already, close it. ``look`` is passed on to the
        screen."""
        from tui.app.overlays.pick_screen import PickScreen

        covered, shown_now = self.covered, self._app.screen
        if isinstance(shown_now, PickScreen) and shown_now.heading == title:
            shown_now.dismiss(None)
        elif not covered:
            screen = PickScreen(self.themes.palette, title, choices, **look)
            screen.on_closed = lambda value: left() if value is None else taken(value)
            self._app.push_screen(screen)

    def how_to_leave(self, action: str = "") -> str:
        """The hint for a list, which the key of ``action`` closes too: while a turn runs, Esc stops it."""
        if not self.running():
            return "Esc closes"
        return f"{shown(action)} leaves, Esc stops the turn" if action else "Esc stops the turn and leaves"

    def open(self, screen: ClosingScreen[str | None], taken: Callable[[str], None]) -> None:
        """Show a screen, unless something else is shown; ``taken`` gets what the user takes there."""
        if not self.covered:
            screen.on_closed = _with_path(taken)
            self._app.push_screen(screen)

    def pick_file(
        self,
        current: str,
        edited: Collection[str],
        opened: Callable[[str, int | None], None],
        made: Callable[[str], None],
    ) -> None:
        """Have the user pick a file, and a line from 1 if they type one, for ``opened``, or name one that is
        not there, for ``made``; where the list is shown already, close it. ``edited`` come first."""
        from tui.app.overlays.file_picker import FilePicker

        if self._left(FilePicker):
            return
        hint, reading = f"Enter opens · {self.how_to_leave('open_file')}", self.reading
        palette = self.themes.palette
        picker = FilePicker(
            palette, self.listed, current, hint=hint, reading=reading, first=edited, makes=True
        )
        picker.on_closed = _with_path(lambda path: made(path) if picker.new else opened(path, picker.line))
        self._app.push_screen(picker)

    def pick_symbol(self, labels: tuple[str, ...], picked: Callable[[str | None], None]) -> None:
        """Have the user pick one of ``labels``; None where they leave."""
        from tui.app.overlays.file_picker import FilePicker

        title, typed = "Go to a definition", "type letters of its name"
        picker = FilePicker(self.themes.palette, lambda: labels, "", title, "Enter goes there", typed)
        picker.on_closed = picked
        self._app.push_screen(picker)

    def toggle_context(self) -> bool:
        """Close the context panel if it is shown; true when it can be opened now."""
        from tui.app.overlays.context_panel import ContextScreen

        return not self._left(ContextScreen)

    def offer(
        self,
        offers: FindOffers,
        why: str,
        typed: Callable[[events.Key | events.Paste], None],
        taken: Callable[[Offer | None], None],
        title: str = "Begin with",
    ) -> None:
        """Show what ``offers`` finds, and ``why``, unless something else is shown. ``typed`` gets the keys
        and pastes that are meant for the prompt, ``taken`` what the user takes."""
        from tui.app.overlays.offer_screen import OfferScreen

        if not self.covered:
            screen = OfferScreen(self.themes.palette, offers, why, typed, title)
            screen.on_closed = taken
            self._app.push_screen(screen)

    def _left(self, kind: type[Screen[str | None]]) -> bool:
        """Whether a screen lies over the panes; one of this kind is closed, and a running turn goes on."""
        covered = self.covered
        if isinstance(self._app.screen, kind):
            self._app.screen.dismiss(None)
        return covered


def _with_path(opened: Callable[[str], None]) -> Callable[[str | None], None]:
    def answered(path: str | None) -> None:
        if path is not None:
            opened(path)

    return answered
