"""The full-screen front end: editor, chat, composer and status line on one session.

It gives the session commands and shows its events; it keeps nothing that the journal could not give
it again. The panes are in ``tui/panes``, the files on the desk in ``tui/desk.py``, the reading of
events in ``tui/feed.py``, the keys in ``tui/keymap.toml``.
"""

from __future__ import annotations

import asyncio
import gc
import os
from collections.abc import AsyncIterator, Sequence
from typing import ClassVar

from rich.cells import cell_len
from textual import events, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static, TextArea

from session.events import Event
from session.models.offers import Offer
from session.store import StoreError
from themes.loader import load_theme
from tui.arrangement import Arrangement
from tui.completing import completer, foresee
from tui.context_panel import ContextScreen
from tui.desk import Desk
from tui.driver import SparkDriver
from tui.feed import Feed
from tui.keymap import bindings, shown
from tui.offer_screen import FindOffers, OfferScreen
from tui.pacer import Pacer
from tui.palette import Palette
from tui.panes.blank import Blank
from tui.panes.chat import ChatView
from tui.panes.code import warm
from tui.panes.composer import Composer
from tui.panes.editor import EditorPane
from tui.panes.marks import Mark, Marks
from tui.panes.status import StatusLine
from tui.plain import clipped_left, visible
from tui.port import SessionPort
from tui.screens import HelpScreen
from tui.slash import SlashError, hint, obey, split_slash
from tui.work_keys import WorkKeys

SLICE = 0.004
"""Seconds of event handling after which keys and frames get their turn."""
TWICE = 1.5
"""Seconds within which a second Ctrl+C quits."""
REACHABLE = frozenset({"interrupt", "cancel", "quit_spark", "next_theme", "mouse", "context", "open_file"})
"""What the keys do even while help or the file list is open."""
CANNOT_OPEN = 3
"""The exit code when the session cannot be kept on disk, as in the command line's contract."""


class SparkApp(WorkKeys, inherit_bindings=False):
    """The screen of one session. Its return value is the command's exit code."""

    CSS_PATH = "spark.tcss"
    BINDINGS: ClassVar[list[BindingType]] = bindings("app")
    ENABLE_COMMAND_PALETTE = False
    TITLE = "spark"

    def __init__(
        self,
        session: SessionPort,
        *,
        theme: str,
        prompt: str | None = None,
        notice: str | None = None,
        suggestions: Sequence[str] = (),
        offers: FindOffers | None = None,
    ) -> None:
        """``offers`` finds what can be begun with where a key is missing."""
        no_colour = bool(os.environ.get("NO_COLOR"))
        super().__init__(driver_class=SparkDriver, ansi_color=True if no_colour else None)
        self.session = session
        # Read before there is a screen: what cannot be read is then said in a line.
        self._kept = session.prompts(), session.draft()
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
        self._last_cancel = 0.0
        self._hinted = False
        """Whether the composer's title tells of a command."""
        self._chosen = ""
        self._warned_of: str | None = None
        """The unsaved text of which the user was told on the way out."""
        self._ticker = Pacer(self._tick, 0.2)

    def compose(self) -> ComposeResult:
        """The panes, from top to bottom."""
        with Container(id="work"):
            yield EditorPane(self._palette, self._marks, id="editor")
            yield Blank(self._palette, str(self.session.root), self._suggestions, id="blank")
            yield ChatView(self._palette, id="chat")
        yield Static("too small:\nmake it larger,\nnothing is lost", id="too-small", markup=False)
        prompts, draft = self._kept
        prompts = [*prompts, *reversed(self._suggestions)]
        yield Composer(prompts, draft, completer(self.session), id="composer")
        yield StatusLine(self._palette, id="status")

    async def on_mount(self) -> None:
        """Wire the parts together and begin to listen."""
        self.editor = self.query_one(EditorPane)
        self.chat = self.query_one(ChatView)
        self.composer = self.query_one(Composer)
        self.status = self.query_one(StatusLine)
        self.blank = self.query_one(Blank)
        self.desk = Desk(self.editor, self._marks, self.session.files, self.status.say)
        self.desk.on_change = self._retitle
        self.editor.on_edited = self._retitle
        self.feed = Feed(self.chat, self.desk, self.status, self.session.window_tokens)
        self.status.show(model=self.session.model, effort=self.session.effort, fast=self.session.fast)
        self.chat.border_title = _title("Chat")
        self._retitle()
        self.feed.replay(self.session.past())
        self.feed.on_turn = self._turned
        self.feed.on_unanswered = self._give_back
        self._turned(False)
        if self._notice:
            self.chat.remark(self._notice)
        self._listen(self.session.listen())
        self._warm_up()
        self.composer.focus()
        self._begin()

    @work(group="session")
    async def _begin(self) -> None:
        """Open the session behind the first frame, and send what the command line asked."""
        try:
            await self.session.open()
        except StoreError as problem:
            self.exit(CANNOT_OPEN, message=str(problem))
            return
        for place in await self.session.landed():
            self._marks.set(place.path, Mark(place.hunk, place.start - 1, place.end - 1))
        prompt = self._prompt if self._prompt and self._prompt.strip() else ""
        if self._offers is not None:
            if prompt:
                self.composer.put(prompt)
            if not self.session.past():
                self._offer()
        elif prompt:
            self.session.submit(prompt)

    def _offer(self) -> None:
        """Nobody can answer yet: say what can be begun with."""
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
        gc.collect()
        gc.freeze()

    @work(group="events")
    async def _listen(self, stream: AsyncIterator[Event]) -> None:
        """Show events as they come; the loop's other work gets its turn every few milliseconds."""
        loop = asyncio.get_running_loop()
        began = loop.time()
        async for event in stream:
            self.feed.take(event)
            for screen in self.screen_stack:
                if isinstance(screen, ContextScreen):
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
        if event.text_area is self.composer:
            said = bool(hint(self.composer.text))
            if said or self._hinted:
                self._turned(self.session.running)
            self._hinted = said

    def on_text_area_selection_changed(self, event: TextArea.SelectionChanged) -> None:
        """The cursor moved in the editor."""
        if event.text_area is self.editor:
            self._retitle()

    # Sending and stopping.

    def on_composer_sent(self, event: Composer.Sent) -> None:
        """The user sends a prompt."""
        if event.queued:
            self.session.queue(event.text)
            return
        command = split_slash(event.text)
        if command is not None:
            self._command(event.text, *command)
            return
        if self.session.running:
            self.feed.stop()
        self.session.submit(event.text)

    def on_composer_completing(self, event: Composer.Completing) -> None:
        """Say which match was put in."""
        self.status.say(event.told)

    @work(group="command")
    async def _command(self, text: str, name: str, argument: str) -> None:
        """Obey a command typed in place of a prompt; one that cannot be obeyed is given back, to be
        corrected, or overwritten by what is typed next."""
        if not await self._obey(name, argument) and not self.composer.draft.strip():
            self.composer.put(text)
            self.composer.select_all()

    async def _obey(self, name: str, argument: str) -> bool:
        match name, argument:
            case "context", "":
                self._show_context()
                return True
            case "help", "":
                self.action_help()
                return True
            case "quit", "":
                self.action_quit_spark()
                return True
            case ("land", "" | "all") | ("decline", ""):
                self.action_answer("rest" if argument else name)
                return True
        try:
            told = await obey(self.session, name, argument)
        except SlashError as problem:
            self.status.say(str(problem), "error")
            return False
        if "\n" in told:
            self.chat.remark(told)
        elif told:
            self.status.say(told)
        return True

    def on_composer_draft_changed(self, event: Composer.DraftChanged) -> None:
        """Keep the draft, and what it takes ready by the time it is sent or completed."""
        self._keep_draft(event.text)
        foresee(self.session, event.text)
        self.session.wake()

    def on_app_focus(self) -> None:
        """The terminal gains focus: the user was elsewhere, where files change."""
        self.session.wake()

    def _keep_draft(self, text: str) -> None:
        try:
            self.session.save_draft(text)
        except StoreError as problem:
            self.status.say(str(problem), "warning")

    def action_interrupt(self) -> None:
        """Stop the turn before anything else happens; then close what lies over the panes."""
        if self.session.running:
            self.session.interrupt()
            self.feed.stop()
            self.status.show(phase="stopping", waiting=0)
            if queued := self.session.unqueue():
                # What follows a turn is not wanted unread when that turn had to be stopped.
                self.composer.put("\n\n".join(filter(str.strip, [*queued, self.composer.draft])))
                self.status.say("what was queued is in the composer again", "warning")
        else:
            self.status.show(message="")
        self._uncover()

    def _uncover(self) -> bool:
        """Close the screen that lies over the panes, or what is open in it, if there is one."""
        screen = self.screen
        if isinstance(screen, ModalScreen):
            if not (isinstance(screen, ContextScreen) and screen.back()):
                screen.dismiss(None)
            return True
        return False

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Under a screen that lies over them the panes are out of reach, stopping and leaving are not."""
        covered = len(self.screen_stack) > 1 and isinstance(self.screen, ModalScreen)
        return not covered or action in REACHABLE

    def action_cancel(self) -> None:
        """Ctrl+C: stop at once; else copy, or set the draft aside; twice in a row quits."""
        if self.session.running:
            self.action_interrupt()
        else:
            self._in_turn(self._cancel)

    async def _cancel(self) -> None:
        now = asyncio.get_running_loop().time()
        again, self._last_cancel = now - self._last_cancel < TWICE, now
        focused = self.focused
        if self._uncover():
            self._last_cancel = 0.0
        elif isinstance(focused, TextArea) and focused.selected_text:
            self.copy_to_clipboard(focused.selected_text)
            self.status.say("copied")
            self._last_cancel = 0.0
        elif again:
            await self._quit()
        else:
            kept = self.composer.set_aside()
            told = "draft set aside (↑ brings it back); " if kept else ""
            self.status.say(f"{told}Ctrl+C again quits")

    def action_quit_spark(self) -> None:
        """Leave."""
        self._in_turn(self._quit)

    async def _quit(self) -> None:
        """Leave, keeping the draft; unsaved text in the editor must be saved or left on purpose."""
        if self.desk.dirty and self._warned_of != self.editor.content:
            self._warned_of = self.editor.content
            told = f"{self.desk.path} has unsaved text: {shown('save')} saves it, quitting again drops it"
            self.status.say(told, "warning")
            return
        self._keep_draft(self.composer.draft)
        await self.session.close()
        self.exit(0)

    def action_help(self) -> None:
        """Show every key."""
        self.push_screen(HelpScreen(self._palette))


def _title(name: str, remark: str = "") -> Content:
    """A pane's title: never markup, whatever a file is called."""
    pieces = [Content(f" {name} ")]
    if remark:
        pieces.append(Content(f" {remark} ").stylize("not bold $spark-faint"))
    return Content("").join(pieces)
