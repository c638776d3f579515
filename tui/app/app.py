"""The full-screen front end: editor, chat, composer and status line on one session.

It gives the session commands and shows its events; it keeps nothing that the journal could not give
it again. The panes are in ``tui/panes``, the files on the desk in ``tui/app/desk.py``, the reading of
events in ``tui/app/feed.py``, the keys in ``tui/keys/keymap.toml``.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Sequence
from typing import TYPE_CHECKING, ClassVar

from rich.cells import cell_len
from rich.text import Text
from textual import events, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static, TextArea

from session.storage.line_files import StoreError
from themes.loader import load_theme
from tui.app.behind import Parts
from tui.app.layout import Arrangement
from tui.app.pending_session import Coming, look_of
from tui.app.prompt_keys import PromptKeys
from tui.drawing.code import warm
from tui.drawing.pacer import Pacer
from tui.drawing.palette import Palette
from tui.drawing.plain import clipped_left, visible
from tui.exits import CONFIGURATION, FAILED
from tui.keys.keymap import bindings, shown
from tui.overlays.overlay import Overlay
from tui.panes.blank import Blank
from tui.panes.chat.chat import ChatView
from tui.panes.composer.composer import Composer
from tui.panes.composer.suggestions import Suggestions
from tui.panes.editor.editor import EditorPane
from tui.panes.editor.marks import Mark, Marks
from tui.panes.status import StatusLine
from tui.terminal.driver import LateDriver, ask_for_turns, take_keys
from tui.terminal.startup import loaded
from tui.words.slash import hint

if TYPE_CHECKING:
    from session.events import Event
    from session.model_choice.offers import Offer
    from tui.overlays.offer_screen import FindOffers
    from tui.port import SessionPort

SLICE = 0.004
"""Seconds of event handling after which keys and frames get their turn."""


class SparkApp(PromptKeys, inherit_bindings=False):
    """The screen of one session. Its return value is the command's exit code."""

    CSS_PATH = "spark.tcss"
    BINDINGS: ClassVar[list[BindingType]] = bindings("app")
    ENABLE_COMMAND_PALETTE = False
    TITLE = "spark"

    def __init__(
        self,
        session: SessionPort | Coming,
        *,
        theme: str,
        prompt: str | None = None,
        notice: str | None = None,
        suggestions: Sequence[str] = (),
        offers: FindOffers | None = None,
    ) -> None:
        """``offers`` finds what can be begun with where a key is missing."""
        no_colour = bool(os.environ.get("NO_COLOR"))
        super().__init__(driver_class=LateDriver, ansi_color=True if no_colour else None)
        self._await_parts()
        self._coming = session
        self._look = session.look if isinstance(session, Coming) else look_of(session)
        self._palette = Palette(load_theme("ansi16" if no_colour else theme))
        self._prompt, self._notice, self._suggestions = prompt, notice, suggestions
        self.register_theme(self._palette.textual_theme())
        self.theme = self._palette.textual_name
        self.animation_level = "none"
        self._offers = offers
        self.taken: Offer | None = None
        """What to open again with, once the app is left."""
        self._marks = Marks()
        self.arrangement = Arrangement(lambda: self.screen_stack[0], self.size)
        self._hinted = False
        """Whether the composer's title tells of a command."""
        self._chosen = ""
        self._ticker = Pacer(self._tick, 0.2)

    def compose(self) -> ComposeResult:
        """The panes, from top to bottom."""
        with Container(id="work"):
            yield EditorPane(self._palette, self._marks, id="editor")
            yield Blank(self._palette, self._look.root, self._suggestions, id="blank")
            yield ChatView(self._palette, id="chat")
        yield Static("too small:\nmake it larger,\nnothing is lost", id="too-small", markup=False)
        prompts = [*self._look.prompts, *reversed(self._suggestions)]
        yield Composer(prompts, self._look.draft, self._complete, id="composer")
        yield StatusLine(self._palette, id="status")
        yield Suggestions(self._palette, id="suggestions")

    async def on_mount(self) -> None:
        """Show what there is, and have the rest made behind the first frame."""
        self.editor = self.query_one(EditorPane)
        self.chat = self.query_one(ChatView)
        self.composer = self.query_one(Composer)
        self.status = self.query_one(StatusLine)
        self.suggestions = self.query_one(Suggestions)
        self.blank = self.query_one(Blank)
        look = self._look
        self.status.show(model=look.model, effort=look.effort, fast=look.fast)
        self.chat.border_title = _title("Chat")
        self.screen.set_class(True, "no-file")
        self._turned(False)
        self.composer.focus()
        if isinstance(self._coming, Coming):
            self.call_after_refresh(self._fetch, self._coming)
        else:
            self._arrived(self._coming)
            take_keys(self)

    @work(group="session")
    async def _fetch(self, coming: Coming) -> None:
        """Take keys, now that the first frame is there; and have the session made behind it."""
        take_keys(self)
        try:
            self._arrived(await coming.made())
        except StoreError as problem:
            self._give_up(str(problem), CONFIGURATION)
        except OSError as problem:
            where = f"{problem.filename}: " if problem.filename else ""
            self._give_up(f"{where}{problem.strerror or problem}", FAILED)
        finally:
            self._there.set()

    def _arrived(self, session: SessionPort) -> None:
        """Wire the parts together and begin to listen."""
        from tui.app.desk import Desk
        from tui.app.feed import Feed

        desk = Desk(self.editor, self._marks, session.files, self.status.say)
        feed = Feed(self.chat, desk, self.status, session.models.window_tokens)
        self._parts = Parts(session, desk, feed)
        ask_for_turns(self, lambda: session.running)
        desk.on_change = self._retitle
        self.editor.on_edited = self._retitle
        self.status.show(model=session.models.model, effort=session.models.effort, fast=session.models.fast)
        self._retitle()
        feed.replay(session.past())
        feed.on_turn = self._turned
        feed.on_unanswered = self._give_back
        self._turned(False)
        if self._notice:
            self.chat.remark(self._notice)
        self._listen(session.listen())
        self._warm_up()
        self._begin()
        if self.composer.draft != self._look.draft:
            session.typing()
            self._keep_draft(self.composer.draft)
        self._there.set()

    @work(group="session")
    async def _begin(self) -> None:
        """Open the session behind the first frame, and send what the command line asked."""
        try:
            await self.session.open()
        except StoreError as problem:
            self._give_up(str(problem), CONFIGURATION)
            return
        for place in await self.session.hunks.places():
            self._marks.set(place.path, Mark(place.hunk, place.start - 1, place.end - 1))
        prompt = self._prompt if self._prompt and self._prompt.strip() else ""
        if self._offers is not None:
            if prompt:
                self.composer.put(prompt)
            if not self.session.past():
                self._offer()
        elif prompt:
            self.session.submit(prompt)

    def _give_up(self, problem: str, code: int) -> None:
        """Leave, and say why where the app was."""
        self.exit(return_code=code, message=Text(f"spark: {visible(problem)}"))

    def _offer(self) -> None:
        """Nobody can answer yet: say what can be begun with."""
        from tui.overlays.offer_screen import OfferScreen

        if self._offers is not None and not isinstance(self.screen, ModalScreen):
            why = f"There is no key for {self.session.provider} yet."
            self.push_screen(OfferScreen(self._palette, self._offers, why, self._type), self._take)

    def _type(self, event: events.Key) -> None:
        """A key that was meant for the prompt, in its turn among those that go there by themselves."""
        self.composer.post_message(events.Key(event.key, event.character))

    def _take(self, offer: Offer | None) -> None:
        """Leave the app to begin with ``offer``."""
        if offer is None or self.desk.dirty:
            self.status.say("save the file in the editor first" if offer else "nothing to ask yet: no key")
            return
        self.taken = offer
        self._in_turn(self._quit)

    @work(group="warm")
    async def _warm_up(self) -> None:
        """Pay for first uses now, and keep what was made so far out of the collector's way."""
        await asyncio.to_thread(warm)
        loaded()

    @work(group="events")
    async def _listen(self, stream: AsyncIterator[Event]) -> None:
        """Show events as they come; the loop's other work gets its turn every few milliseconds."""
        loop = asyncio.get_running_loop()
        began = loop.time()
        async for event in stream:
            self.feed.take(event)
            for screen in self.screen_stack:
                if isinstance(screen, Overlay):
                    screen.take(event)
            self._ticker.request()
            if loop.time() - began > SLICE:
                await asyncio.sleep(0)
                began = loop.time()

    def _tick(self) -> None:
        if self.feed.tick():
            self._ticker.request()

    def _turned(self, running: bool) -> None:
        """A turn began or ended."""
        if told := hint(self.composer.text):
            self.composer.border_title = _title("Command", told)
            return
        send = "Enter redirects" if running else "Enter sends"
        queue = f" · {shown('queue', 'composer')} queues · {shown('interrupt')} stops" if running else ""
        keys = f"{send}{queue} · {shown('newline', 'composer')} new line · {shown('help')} keys"
        self.composer.border_title = _title("Redirect" if running else "Ask", keys)

    def _give_back(self, prompt: str) -> None:
        """Nothing came of a prompt: have it ready to be sent again, unless something else is typed."""
        if not self.composer.draft.strip():
            self.composer.put(prompt)
        self._offer()

    def _retitle(self) -> None:
        """Say which file is shown, and how it stands."""
        desk, base = self.desk, self.desk.base
        path = desk.path
        self.screen_stack[0].set_class(not path, "no-file")
        if not path:
            self.blank.say(desk.problem)
            return
        row, column = self.editor.cursor_location
        remarks = [f"{row + 1}:{column + 1}"]
        if base is None:
            remarks = ["new file"]
        elif base.read_only:
            remarks.append("read-only")
        if base is not None and base.encoding not in ("utf-8", "ascii"):
            remarks.append(base.encoding)
        remark = " · ".join(remarks)
        room = (self.editor.size.width or self.size.width) - cell_len(remark) - 8
        title = clipped_left(visible(path), max(12, room)) + (" ●" if desk.dirty else "")
        self.editor.border_title = _title(title, remark)
        self.session.looking_at((path,))

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        """Say what the command does that is being typed."""
        if self._parts is not None:
            self.session.typing()
        if event.text_area is self.composer:
            said = bool(hint(self.composer.text))
            if said or self._hinted:
                self._turned(self._parts is not None and self.session.running)
            self._hinted = said
            self._suggest()

    def on_text_area_selection_changed(self, event: TextArea.SelectionChanged) -> None:
        """The cursor moved in the editor."""
        if event.text_area is self.editor and self._parts is not None:
            self._retitle()


def _title(name: str, remark: str = "") -> Content:
    """A pane's title: never markup, whatever a file is called."""
    pieces = [Content(f" {name} ")]
    if remark:
        pieces.append(Content(f" {remark} ").stylize("not bold $spark-faint"))
    return Content("").join(pieces)
