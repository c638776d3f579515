"""The full-screen front end: editor, chat, composer and status line on one session.

The app gives the session commands and shows its events; it keeps nothing that the journal could not give
it again. Textual looks for event handlers here, so they are here and thin: what they do is in the modules of
:mod:`tui.app.control`, which :mod:`tui.app.controls` makes once the session is there.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, ClassVar

from rich.console import RenderableType
from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container
from textual.message import Message
from textual.screen import Screen
from textual.widgets import Static, TextArea

from session.base.closing import Limit
from tui.app.actions import Actions
from tui.app.attention import Attention
from tui.app.control.background import BackgroundTasks, fault
from tui.app.control.overlay_control import REACHABLE, OverlayControl
from tui.app.control.pane_control import PaneControl
from tui.app.panes.layout import Layout, Panes
from tui.app.panes.status import StatusLine
from tui.app.panes.titles import Titles
from tui.app.panes.welcome import Welcome
from tui.app.parts import PATIENCE, AppParts, Ending
from tui.app.pending_session import PendingSession, first_frame_of_session, needs_no_session
from tui.app.picking.theme_control import ThemeControl
from tui.app.session_start import SessionStart
from tui.chat.chat import ChatView
from tui.chat.composer.composer import Composer
from tui.chat.composer.suggestions import Suggestions
from tui.front.keys.key_order import KeyTurns
from tui.front.keys.keymap import bindings, vi_keys
from tui.front.slash.table import hint
from tui.screen.drawing.palette import ThemeSwitch
from tui.screen.grid.row_compositor import row_screen
from tui.screen.terminal.driver import LateDriver, ask_for_background, take_keys
from tui.screen.terminal.frames import holds_frames
from tui.screen.textual_memory import FreeingStylesheet, forget_old_layouts

if TYPE_CHECKING:
    from session.session import Session
    from tui.app.overlays.offer_screen import FindOffers
    from tui.app.panes.find_bar import FindBar
    from tui.app.panes.held_bar import HeldBar
    from tui.app.panes.queue_list import QueueList
    from tui.front.slash.completion import Candidates
    from tui.screen.theme_choice import ThemeChoice


class SparkApp(AppParts, inherit_bindings=False):
    """The screen of one session. Its return value is the command's exit code."""

    CSS_PATH = "spark.tcss"
    BINDINGS: ClassVar[list[BindingType]] = bindings("app")
    ENABLE_COMMAND_PALETTE = False
    TITLE = "spark"

    def __init__(
        self,
        session: Session | PendingSession,
        *,
        theme: str,
        theme_choice: ThemeChoice | None = None,
        notify: str = "off",
        prompt: str | None = None,
        notice: str | None = None,
        suggestions: Sequence[str] = (),
        offers: FindOffers | None = None,
        tour: bool = False,
    ) -> None:
        """``theme_choice`` keeps the theme that the user picks, ``notify`` is one of
        :data:`~session.setup.config.NOTIFY`; ``offers`` finds what the user can begin with where a key is
        missing; ``tour`` guides through the demo."""
        no_colour = bool(os.environ.get("NO_COLOR"))
        super().__init__(driver_class=LateDriver, ansi_color=True if no_colour else None)
        self.stylesheet = FreeingStylesheet(variables=self.get_css_variables())
        self._given = session
        self._first_frame = (
            session.first_frame if isinstance(session, PendingSession) else first_frame_of_session(session)
        )
        self._prompt, self._notice, self._suggestions = prompt, notice, suggestions
        self._offers, self._notify, self._tour = offers, notify, tour
        self._theme_choice = None if no_colour else theme_choice
        self.animation_level = "none"
        self.themes = ThemeSwitch(self, "ansi16" if no_colour else theme)
        self.overlays = OverlayControl(self, self.themes)
        self.layout = Layout(lambda: self.screen_stack[0], self.size)
        self.background = BackgroundTasks(lambda line, level: self.status.say(line, level))
        self.ending = Ending(self)
        """Ends the app although a widget hangs."""
        self.key_turns = KeyTurns(self)
        self._hinted = False  # whether the composer's title tells of a command

    def get_default_screen(self) -> Screen[None]:
        """The screen of the panes."""
        return row_screen(self.layout.classes, lambda: holds_frames(self))

    def refresh_css(self, animate: bool = True) -> None:
        """Style everything anew for another theme. Before the first screen only the colours are noted: the
        style sheet is parsed for that screen, and would be parsed twice."""
        if self.screen_stack:
            super().refresh_css(animate)
        else:
            self.stylesheet.set_variables(self.get_css_variables())

    def compose(self) -> ComposeResult:
        """The panes of the first frame, from top to bottom."""
        palette, first = self.themes.palette, self._first_frame
        with Container(id="work"):
            yield ChatView(palette, Welcome(first.root, self._suggestions), id="chat")
        yield Static("too small:\nmake it larger,\nnothing is lost", id="too-small", markup=False)
        prompts = [*first.prompts, *reversed(self._suggestions)]
        suggestions = Suggestions(palette, id="suggestions")
        yield Composer(prompts, first.draft, self._complete, self._turn_runs, suggestions, id="composer")
        yield StatusLine(palette, id="status")
        yield suggestions

    async def on_mount(self) -> None:
        """Show what there is, and have the session made behind the first frame."""
        self.ending.know(asyncio.current_task())
        self.panes = panes = Panes(self.screen)
        self.pane_control = PaneControl(self, panes, self.layout, self.key_turns)
        self._titles = Titles(self, panes)
        first = self._first_frame
        self.attention = Attention(self, panes.status, PurePath(first.root).name, self._notify)
        self.attention.begin()
        self._start = start = SessionStart(
            self,
            panes,
            self._titles,
            self.layout,
            self.overlays,
            self.background,
            self.attention,
            self.key_turns,
            first,
            prompt=self._prompt,
            notice=self._notice,
            offers=self._offers,
        )
        if self._tour:
            from tui.app.tour import Tour  # only the demo has one

            start.tour = Tour(panes).take
        theme = ThemeControl(self.themes, self.overlays, self.background, panes.status, self._theme_choice)
        self.actions = Actions(self, panes, self.layout, theme, self.overlays, self.pane_control, start)
        if self._theme_choice is not None:
            ask_for_background(self, theme.background_told)
        tier = "fast" if first.fast else ""
        self.status.show(model=first.model, effort=first.effort, tier=tier, plan=first.plan)
        self.layout.resize(self.size)
        self._titles.name_composer(running=False)
        if vi_keys():
            self.composer.use_vi_keys()
        self.composer.focus()
        if isinstance(self._given, PendingSession):
            self.call_after_refresh(start.fetch, self._given)
        else:
            await start.begin(self._given)
            take_keys(self)
        self.key_turns.release()

    def exit(
        self, result: int | None = None, return_code: int = 0, message: RenderableType | None = None
    ) -> None:
        """Leave, though a widget may never end. What runs in the background must not find the screen without
        its widgets."""
        self.background.stop()
        super().exit(result, return_code, message)
        self.ending.begin()

    async def on_unmount(self) -> None:
        """End what runs in the background."""
        if self._start is not None:  # else a fault came before there was anything to end
            self.attention.end()
        await Limit(PATIENCE).wait(self.background.close(), "background tasks of the screen")

    # What happens on the screen.

    def _fatal_error(self) -> None:
        """End in one line after an exception in a handler. Textual would print a traceback with the values
        of all local variables, which may hold keys and files."""
        problem = sys.exc_info()[1] or RuntimeError("unknown")
        self.panic(Text(f"spark: {fault('drawing the screen or handling a key', problem)}"))

    def post_message(self, message: Message) -> bool:
        """Note what comes."""
        return super().post_message(message) and self.key_turns.coming(message)

    async def on_event(self, event: events.Event) -> None:
        """Let text for the composer through at once. Other keys and clicks, and all behind them, wait for
        the session, which is there in a moment."""
        if self.ready and isinstance(event, events.Key) and not event.is_forwarded:
            self.panes.held.key_pressed()
            self.controls.key_pressed(event.key)
        typed = event if isinstance(event, events.Key | events.Paste) and not event.is_forwarded else None
        if typed is not None and not await self.key_turns.before(typed):
            return
        if isinstance(event, events.InputEvent) and not self.ready and not needs_no_session(event):
            await self.start.settle()
            if not self.ready:  # it could not be made: the app is about to end
                return
        if not (isinstance(event, events.Paste) and typed and self.pane_control.takes(event)):
            await super().on_event(event)

    def on_resize(self, event: events.Resize) -> None:
        """Arrange the panes for the terminal's size."""
        forget_old_layouts()
        self.layout.resize(event.size)

    def _watch_app_focus(self, focus: bool) -> None:
        """Keep the focus of every screen while the terminal has not got it. Textual takes it away and gives
        it back, but not where another screen has come or gone meanwhile: nothing would take keys there."""
        self.screen.update_node_styles()
        if focus:
            self.screen._update_auto_focus()

    def on_app_focus(self) -> None:
        """The terminal gains focus: the user was elsewhere, where files change."""
        self.attention.focus(focused=True)
        if self.ready:
            self.panes.held.looked_at()
            self.session.wake()

    def on_app_blur(self) -> None:
        """The terminal loses focus: the user is told what needs them."""
        self.attention.focus(focused=False)

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        """Show what the typed command does, and what the text could become."""
        if self.ready:
            self.session.typing()
        if event.text_area is self.composer:
            if self.ready and not self._turn_runs():
                self.session.context.drafted(self.composer.draft)
            hinted = bool(hint(self.composer.text))
            if hinted or self._hinted:
                self._titles.name_composer(running=self._turn_runs())
            self._hinted = hinted
            self._suggest()

    def on_text_area_selection_changed(self, event: TextArea.SelectionChanged) -> None:
        """The cursor moved in the editor."""
        if self.ready and event.text_area is self.editor:
            self._titles.name_editor(self.shown_file)
            self.controls.reviews.cursor_moved()

    def on_composer_sent(self, event: Composer.Sent) -> None:
        """The user sends a prompt."""
        self.controls.prompts.typed(event.text, queued=event.queued)

    def on_composer_completing(self, event: Composer.Completing) -> None:
        """Tab put a match in."""
        self.controls.suggestions.completed(event.told)

    def on_composer_mode_changed(self) -> None:
        """The composer's vi keys went to another mode."""
        self._titles.name_composer(running=self._turn_runs())

    def on_composer_outside(self) -> None:
        """The user edits the prompt in an editor of their own."""
        self.controls.prompts.edit_outside()

    def on_composer_left(self) -> None:
        """The focus left the composer."""
        self._suggest()

    def on_composer_draft_changed(self, event: Composer.DraftChanged) -> None:
        """The draft was changed, and then left alone for a moment."""
        if self.ready:
            self.controls.prompts.draft_changed(event.text)

    def on_held_bar_answered(self, event: HeldBar.Answered) -> None:
        """The user answers what needs an OK."""
        if not self.controls.files.answer(event.name, event.verdict):
            self.controls.prompts.answer(event.name, event.verdict)

    def on_find_bar_typed(self) -> None:
        """The user types what is searched for in the editor."""
        self.controls.find.typed()

    def on_find_bar_acted(self, event: FindBar.Acted) -> None:
        """The user goes on to another match, replaces, or ends the search."""
        self.controls.find.act(event.action)

    def on_queue_list_asked(self, event: QueueList.Asked) -> None:
        """The user edits, removes or sends a message that waits."""
        self.controls.prompts.dequeue(event.number, event.wish)

    def on_queue_list_left(self) -> None:
        """The user goes back from the messages that wait."""
        self.pane_control.focus("composer")

    def on_held_bar_left(self, event: HeldBar.Left) -> None:
        """The user goes back from the question."""
        gone = event.to == "editor" and not self.editor.path
        self.pane_control.focus("composer" if gone else event.to)

    def _suggest(self) -> None:
        if self.ready:
            self.controls.suggestions.update()

    def _turn_runs(self) -> bool:
        return self.ready and self.session.running

    def _complete(self, before: str) -> Candidates | None:
        return self.controls.suggestions.complete(before)

    def copy_to_clipboard(self, text: str) -> None:
        """Copy what a pane cut or copied. Cutting an empty line copies nothing."""
        if self.ready and text:
            self.controls.clipboard.copy(text)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Disable the keys of the panes while another screen covers them; stopping and leaving still work."""
        name = parameters[0] if action == "do" else action
        if name == "answer_held" and not (self.ready and self.panes.held.question):
            return False
        if name == "suspend" and self.ready and (self.editor.has_focus or self.panes.find.has_focus_within):
            return False  # there the key undoes
        if name == "interrupt" and not self._turn_runs() and self.focused and self.focused.id == "refactor":
            return False  # there Esc gives the sentence up
        return not self.overlays.covered or name in REACHABLE

    def action_do(self, name: str, *arguments: Any) -> None:
        """Run an action of the app's keys: a method of :class:`~tui.app.actions.Actions`."""
        getattr(self.actions, name)(*arguments)
