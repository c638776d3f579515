"""From the first frame to a running session: it is made, wired to the panes, opened and followed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from functools import partial
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

from rich.text import Text
from textual.app import App

from session.base.storage.private_files import StoreError
from tui.app.attention import Attention
from tui.app.control.background import BackgroundTasks
from tui.app.control.overlay_control import OverlayControl
from tui.app.lean import LeanLook
from tui.app.panes.layout import Layout, Panes
from tui.app.panes.status import NO_KEY
from tui.app.panes.titles import Titles, cost_told
from tui.app.pending_session import FirstFrame, PendingSession
from tui.front.exits import CONFIGURATION, FAILED
from tui.front.keys.key_order import KeyTurns, hand_on
from tui.front.keys.keymap import harmless_letters, save_first
from tui.screen.drawing.code import warm
from tui.screen.drawing.pacer import Pacer
from tui.screen.drawing.plain import visible
from tui.screen.terminal.driver import brake_turns, take_keys
from tui.screen.terminal.frames import frames_of, release_frames, when_painted
from tui.screen.terminal.lending import keep_keys
from tui.screen.terminal.startup import loaded

if TYPE_CHECKING:
    from session.base.events import Event, OwnerGone, TakeoverAsked
    from session.record.sharing.standing import Elsewhere
    from session.session import Session
    from session.setup.model_offers import Offer
    from tui.app.controls import Controls
    from tui.app.overlays.offer_screen import FindOffers
    from tui.app.picking.session_screens import ElsewhereWish

LATER_STYLES = str(Path(__file__).with_name("later.tcss"))
"""The style sheet of the panes that come with the session, and of the screens over the panes."""
JUST_ENDED = 1.0
"""Seconds after the end of a turn in which Esc may have been pressed to stop it."""
SLICE = 0.004
"""Seconds of event handling after which keys and frames get their turn."""


class SessionStart:
    """Starts the session behind the first frame, and from then on hands its events to the screen."""

    def __init__(
        self,
        app: App[int],
        panes: Panes,
        titles: Titles,
        layout: Layout,
        overlays: OverlayControl,
        background: BackgroundTasks,
        attention: Attention,
        key_turns: KeyTurns,
        first_frame: FirstFrame,
        *,
        prompt: str | None,
        notice: str | None,
        offers: FindOffers | None,
    ) -> None:
        """``prompt`` is sent once the session is open, ``notice`` is shown in the chat; ``offers`` finds
        what the user can begin with where a key is missing."""
        self._app = app
        self._panes = panes
        self._titles = titles
        self._layout = layout
        self._overlays = overlays
        self._background = background
        self._attention = attention
        self._key_turns = key_turns
        self._first_frame = first_frame
        self._prompt = prompt if prompt and prompt.strip() else ""
        self._notice = notice
        self._offers = offers
        self.controls: Controls | None = None
        """What came with the session; None until it is there."""
        self._pending: PendingSession | None = None
        """The session that is made as soon as the first frame is painted."""
        self._settled = asyncio.Event()
        self.taken: Offer | None = None
        """What to open again with, once the app is left."""
        self.detached = False
        """Whether the session was left open, to go on without this screen."""
        self.left_on_purpose = False
        """Whether the user left the screen, and let what runs go on."""
        self.taken_by = 0
        """The process that asked for the session, or 0."""
        self.successor: Path | None = None
        """The journal of the followed session, which is free now: the app opens again with it."""
        self.tour: Callable[[Event], None] = lambda event: None
        """Follows the events of the tour of the demo."""
        self.lean = LeanLook(app, overlays.themes, panes.status, first_frame.lean)
        self._turned = -JUST_ENDED
        """When a turn began or ended last."""
        self._ticker = Pacer(self._tick, lambda: self.lean.figures_interval)
        layout.on_resized = self._name_composer

    @property
    def made(self) -> Controls:
        """The session and what shows it; only asked for where it must be there."""
        if self.controls is None:
            raise RuntimeError("the session is not there yet")
        return self.controls

    def fetch(self, pending: PendingSession) -> None:
        """Take keys, now that the first frame is laid out; and have the session made once it is painted: the
        two would share one interpreter, and the frame would come later."""
        self._pending = pending
        when_painted(self._app, self._fetch)
        take_keys(self._app)

    def _fetch(self) -> None:
        pending, self._pending = self._pending, None
        if pending is not None:
            self._background.start(self._make(pending), "making the session", failed=self._give_up)

    async def settle(self) -> None:
        """Wait until the session is there, or it is known that there will be none. Keys that wait here hold
        up what comes behind them, so the first frame and the session come before it."""
        release_frames(self._app)
        self._fetch()
        await self._settled.wait()

    async def _make(self, pending: PendingSession) -> None:
        try:
            await self.begin(await asyncio.to_thread(_made, pending))
        except StoreError as problem:
            self._give_up(str(problem), CONFIGURATION)
        except OSError as problem:
            where = f"{problem.filename}: " if problem.filename else ""
            self._give_up(f"{where}{problem.strerror or problem}")
        finally:
            self._settled.set()

    async def begin(self, session: Session) -> None:
        """Wire the session to the panes, and begin to open and to follow it."""
        from tui.app.controls import make_controls

        sheet = self._app.stylesheet
        sheet.read(LATER_STYLES)
        sheet.parse()  # of this file alone: what was parsed before is kept
        await self._panes.add_later(self._overlays.themes.palette)
        self._key_turns.helpers = (self._panes.editor,)
        self.controls = controls = make_controls(
            self._app,
            self._panes,
            self._layout,
            self._overlays,
            self._background,
            session,
            self._overlays.themes,
            self._key_turns,
        )
        brake_turns(self._app, session, self._esc_acts, harmless_letters())
        controls.shown_file.on_change = self._name_editor
        self._panes.editor.on_edited = self._name_editor
        self._panes.status.show(
            model=session.models.model, effort=session.models.effort, tier=session.models.tier
        )
        self._name_editor()
        controls.feed.replay(session.past())
        controls.feed.on_turn = self._turn
        controls.feed.on_waiting, controls.feed.on_heard = self._attention.waits, self._attention.heard
        self._attention.on_still = lambda line: self._panes.chat.remark(line, "warning")
        controls.feed.on_unanswered = self._give_back
        self._titles.owner = session.standing.owner
        self._titles.name_composer(running=False)
        if self._notice:
            self._panes.chat.remark(self._notice)
        start = self._background.start
        start(self._follow(controls, session.listen()), "showing the session", failed=self._give_up)
        start(self._warm_up(session), "warming up")
        session.context.on_cost = self._cost_known
        start(session.context.rehearse_drafts(), "rehearsing prompts")
        start(self._open(session), "opening the session", failed=self._give_up)
        show_silence(session, self._app)
        if self._panes.composer.draft != self._first_frame.draft:
            session.typing()
            controls.kept.keep_draft(self._panes.composer.draft)
        self._settled.set()

    def _turn(self, running: bool) -> None:
        """A turn began or ended."""
        self._turned = monotonic()
        self._titles.cost = ""
        self._titles.name_composer(running=running)
        self._attention.turn(running=running)

    def _esc_acts(self) -> bool:
        """Whether Esc does something, or was meant to stop the turn that has just ended."""
        just_ended = monotonic() - self._turned < JUST_ENDED
        return just_ended or len(self._app.screen_stack) > 1 or self._panes.esc_acts

    async def _open(self, session: Session) -> None:
        """Open the session, and send what the command line asked."""
        from tui.editor.marks import Mark, kind_of

        try:
            await session.open()
        except StoreError as problem:
            self._give_up(str(problem), CONFIGURATION)
            return
        places = await session.hunks.places()
        if places:
            self.made.feed.on_landed_turn()
        for place in places:
            known = self.made.feed.book.named(place.hunk)
            kind = kind_of(known.added, known.removed) if known is not None else "changed"
            self._panes.editor.marks.set(place.path, Mark(place.hunk, place.start - 1, place.end - 1, kind))
        if self.controls is not None:
            self.controls.findings.resume(session.past())
            await self.controls.files.find_left()
        if self._offers is not None and not session.standing.owner:
            if self._prompt:
                self._panes.composer.put(self._prompt)
            if not session.past():
                self._offer()
        elif self._prompt:
            session.submit(self._prompt)
        else:
            self._ask_about(next((each for each in session.elsewhere if each.dropped), None))

    def _ask_about(self, other: Elsewhere | None) -> None:
        """Ask what to do about a turn that runs elsewhere, with nobody at its screen."""
        if other is None:
            return
        from tui.app.picking.session_screens import ElsewhereScreen

        def answered(wish: ElsewhereWish | None) -> None:
            if wish is not None:
                self.made.sessions.resume(other.name, take_over=wish == "take over")

        palette, typed = self._overlays.themes.palette, partial(hand_on, self._panes.composer)
        if not self._overlays.covered:
            screen = ElsewhereScreen(palette, other.where, typed)
            screen.on_closed = answered
            self._app.push_screen(screen)

    async def _warm_up(self, session: Session) -> None:
        """Load what is slow at first use, and keep the objects made so far out of garbage collection."""
        await asyncio.to_thread(_warm)
        await session.assist.load()
        session.assist.watch_saves(lambda: session.standing.alone)
        await self.made.ghosts.load()
        loaded()
        await session.context.rehearse()

    async def _follow(self, controls: Controls, stream: AsyncIterator[Event]) -> None:
        """Show events as they come; the loop's other work gets its turn every few milliseconds."""
        from session.base.events import OwnerGone, TakeoverAsked

        loop = asyncio.get_running_loop()
        began = loop.time()
        async for event in stream:
            with self._background.guarding("showing what happened"):
                controls.feed.take(event)
                controls.trust.take(event)
                controls.reading.take(event)
                controls.races.take(event)
                controls.findings.take(event)
                controls.reviews.take(event)
                controls.next_edits.take(event)
                controls.touches.take(event)
                controls.model_offer.take(event)
                self._overlays.take(event)
                self.tour(event)
                if isinstance(event, OwnerGone | TakeoverAsked):
                    self._change_hands(event)
            self._ticker.request()
            if loop.time() - began > SLICE:
                await asyncio.sleep(0)
                began = loop.time()

    def _change_hands(self, event: OwnerGone | TakeoverAsked) -> None:
        """Leave the screen where another process takes the session over, or this one the followed session."""
        from session.base.events import TakeoverAsked

        if isinstance(event, TakeoverAsked):
            self.taken_by = event.pid
            self.lose_screen(0)
        else:
            standing = self.made.session.standing
            self.successor = standing.journal
            if standing.unanswered:
                self._panes.composer.put_before(standing.unanswered)
            self._keep_keys()
            self.made.quitting.leave(0)

    def _keep_keys(self) -> None:
        """From now on leave keys for the app that opens in this one's place."""
        self._key_turns.hold()
        keep_keys(self._app)

    def lose_screen(self, code: int) -> bool:
        """Leave with an exit code. True if a turn runs, which goes on without the screen."""
        if self.detached:  # one drop is told more than once
            return True
        if self.controls is None:
            self._app.exit(return_code=code)
        elif self.controls.session.standing.goes_on:
            self.detached = True
            self.controls.quitting.detach(code)
        else:
            self.controls.quitting.leave(code)
        return self.detached

    def detach(self) -> bool:
        """Leave the screen on purpose. False where nothing runs that would go on."""
        goes_on = self.controls is not None and self.controls.session.standing.goes_on
        self.left_on_purpose = goes_on
        return goes_on and self.lose_screen(0)

    def _tick(self) -> None:
        if self.controls is not None and self.controls.feed.tick():
            self._ticker.request()

    def _cost_known(self, cost: float | None) -> None:
        """Show what the prompt that is being typed costs at least."""
        self._titles.cost = cost_told(cost)
        self._name_composer()

    def _name_composer(self) -> None:
        """Title the composer for its width."""
        self._titles.name_composer(running=self.controls is not None and self.controls.session.running)

    def _name_editor(self) -> None:
        """Title the editor, and tell the session which file the user looks at."""
        if self.controls is not None:
            file = self.controls.shown_file
            self._layout.show_file(bool(file.path))
            self._titles.name_editor(file)
            if file.path:
                self.controls.session.context.looking_at((file.path,))

    def _give_up(self, problem: str, code: int = FAILED) -> None:
        """Quit, and print why."""
        self._app.exit(return_code=code, message=Text(f"spark: {visible(problem)}"))

    # Offers: what the user can begin with where a key is missing.

    def _give_back(self, prompt: str) -> None:
        """A prompt was not answered: put it back to be sent again, unless something else is typed."""
        if not self._panes.composer.draft.strip():
            self._panes.composer.put(prompt)
        self._offer()

    def _offer(self) -> None:
        if self._offers is not None and self.controls is not None:
            # That nobody can answer yet is where everybody begins, and no failure.
            self._panes.status.say("")
            self._panes.status.show(link=NO_KEY)
            why = f"Welcome. There is no key for {self.controls.session.provider} yet: choose who answers."
            self._overlays.offer(self._offers, why, partial(hand_on, self._panes.composer), self._take)

    def _take(self, offer: Offer | None) -> None:
        """Quit the app to begin with ``offer``."""
        if offer is None or self.controls is None:
            told = "nobody can answer before there is a key: quit, and store one with spark login"
            self._panes.status.say(told)
        elif self.controls.shown_file.buffers.dirty:
            self._panes.status.say(save_first())
        else:
            self.taken = offer
            if not offer.asks:
                self._keep_keys()
            self.controls.quitting.quit()


def _made(pending: PendingSession) -> Session:
    session = pending.make()
    # Import here what shows the session: on the event loop these imports would hold up the keys.
    import tui.app.controls
    import tui.app.overlays.context_panel
    import tui.app.overlays.offer_screen
    import tui.app.panes.later_panes  # noqa: F401 (loaded for later)

    return session


def _warm() -> None:
    """Load what draws the first answer."""
    import tui.chat.transcript.markdown  # noqa: F401 (loaded for later)

    warm()


def show_silence(session: Session, app: App[int]) -> None:
    """Let processes that look for sessions here know how long this terminal has been silent."""
    frames = frames_of(app)
    if frames is not None and session.standing.host is not None:
        session.standing.host.silence = frames.line.silence
