"""Everything that needs the session, made as soon as the session is there."""

from __future__ import annotations

from dataclasses import dataclass

from textual.app import App

from session.session import Session
from tui.app.control.background import BackgroundTasks
from tui.app.control.feed import Feed
from tui.app.control.file_control import FileControl
from tui.app.control.find_control import FindControl
from tui.app.control.hands import ChatControl, EditorHands
from tui.app.control.hunk_control import DropControl, HunkControl
from tui.app.control.overlay_control import OverlayControl
from tui.app.control.prompt_control import PromptControl
from tui.app.control.quit_control import QuitControl
from tui.app.control.review_control import ReviewControl
from tui.app.control.suggestion_control import SuggestionControl
from tui.app.panes.layout import Layout, Panes
from tui.app.panes.questions import ReadingQuestion, TrustQuestion
from tui.app.picking.model_offer import ModelOffer
from tui.app.picking.palette_control import PaletteControl
from tui.app.picking.session_control import SessionControl
from tui.app.race.races import Races
from tui.app.review.check_finding_control import FindingControl
from tui.app.review.review_finding_control import SaveReviewControl
from tui.app.typing.ghost_control import GhostControl
from tui.app.typing.next_edit_control import NextEditControl
from tui.app.typing.refactor_control import RefactorControl
from tui.app.typing.side_control import SideControl
from tui.app.typing.touch_control import TouchControl
from tui.chat.composer.history import KeptTexts
from tui.editor.disk_changes import DiskChanges
from tui.editor.flights import Flights
from tui.editor.shown_file import ShownFile
from tui.front.keys.key_order import KeyTurns
from tui.front.slash.session_values import completer
from tui.screen.clipboard import Clipboard
from tui.screen.drawing.palette import ThemeSwitch


@dataclass(frozen=True, slots=True)
class Controls:
    """A session, what shows it, and what the keys do with it."""

    session: Session
    shown_file: ShownFile
    disk: DiskChanges
    feed: Feed
    files: FileControl
    hunks: HunkControl
    prompts: PromptControl
    kept: KeptTexts
    quitting: QuitControl
    suggestions: SuggestionControl
    trust: TrustQuestion
    reading: ReadingQuestion
    clipboard: Clipboard
    find: FindControl
    sessions: SessionControl
    races: Races
    review: ReviewControl
    findings: FindingControl
    reviews: SaveReviewControl
    side: SideControl
    ghosts: GhostControl
    next_edits: NextEditControl
    touches: TouchControl
    model_offer: ModelOffer
    palette: PaletteControl

    def key_pressed(self, key: str) -> None:
        """Note that somebody is there, whatever the key does."""
        self.session.side.typed()
        if key != "ctrl+c":
            self.quitting.disarm()


def make_controls(
    app: App[int],
    panes: Panes,
    layout: Layout,
    overlays: OverlayControl,
    background: BackgroundTasks,
    session: Session,
    themes: ThemeSwitch,
    key_turns: KeyTurns,
) -> Controls:
    """Wire the session to the panes."""
    say, undoable = panes.status.say, session.hunks.undoable
    overlays.running, overlays.listed = lambda: session.running, session.files.list
    overlays.reading = lambda: session.context.reading
    editor = panes.editor
    shown_file = ShownFile(editor, editor.marks, session.files, say, background.start, undoable.landed_in)
    flights = Flights(shown_file)
    disk = DiskChanges(shown_file, flights)
    window = session.models.budget_tokens
    feed = Feed(panes.chat, shown_file, flights, disk, panes.status, panes.held, window)
    files = FileControl(
        app, panes, layout, overlays, background, session.hunks, session.unsaved, shown_file, disk
    )
    composer, held = panes.composer, panes.held
    held.may_come = lambda: composer.has_focus and not composer.draft and len(app.screen_stack) == 1
    held.type_on = composer.go_on
    feed.on_broken = files.broken
    feed.on_queue = panes.queue.take
    ghosts = GhostControl(editor, session, shown_file, background.start)
    find = FindControl(app, editor, panes.find)
    refactor = RefactorControl(app, panes, background, session).open
    editor.hands = EditorHands(app, panes, overlays, background, session, files, find, refactor)
    hunks = HunkControl(app, panes, layout, overlays, background, session, shown_file, files.open, feed)
    clipboard = Clipboard(app, say, background.start, session.copied.write, session.root)
    drops = DropControl(app, panes, background, session)
    review = ReviewControl(app, panes, overlays.themes, background, session, feed, hunks, drops)
    kept = KeptTexts(session.draft, session.prompts, say)
    quitting = QuitControl(
        app, panes, overlays, background, session.close, session.closing, shown_file, files, clipboard, kept
    )
    suggestions = SuggestionControl(app, panes, background, completer(session))
    trust = TrustQuestion(app, panes, session.trust, background.start)
    reading = ReadingQuestion(panes, session.context)
    sessions = SessionControl(app, panes, overlays, background, session, shown_file, quitting, key_turns)
    prompts = PromptControl(
        app,
        panes,
        overlays,
        background,
        session,
        feed,
        hunks,
        quitting,
        kept,
        suggestions,
        trust,
        reading,
        drops,
    )
    touches = TouchControl(panes, session, shown_file, prompts.stop_turn)
    files.on_saved, files.on_closed, review.stop = touches.saved, touches.closed, prompts.stop_turn
    panes.composer.on_sending = sessions.sending
    panes.chat.keys.hands = chat = ChatControl(clipboard, hunks.show, say, session, panes.chat, background)
    feed.on_landed_turn = lambda: background.start(chat.name_hunks(), "naming hunks")
    return Controls(
        session,
        shown_file,
        disk,
        feed,
        files,
        hunks,
        prompts,
        kept,
        quitting,
        suggestions,
        trust,
        reading,
        clipboard,
        find,
        sessions,
        Races(app, panes, themes, session.race, background),
        review,
        FindingControl(panes, layout, session, shown_file),
        SaveReviewControl(app, panes, overlays.themes, background, session, shown_file, files),
        SideControl(session.side, panes.status),
        ghosts,
        NextEditControl(panes, layout, background, session, shown_file),
        touches,
        ModelOffer(panes, overlays, background, session),
        PaletteControl(app, panes, overlays),
    )
