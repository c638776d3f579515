"""Everything that needs the session, made as soon as the session is there."""

from __future__ import annotations

from dataclasses import dataclass

from textual.app import App

from tui.app.background import BackgroundTasks
from tui.app.feed import Feed
from tui.app.hunk_control import HunkControl
from tui.app.overlay_control import OverlayControl
from tui.app.prompt_control import PromptControl
from tui.app.quit_control import QuitControl
from tui.app.suggestion_control import SuggestionControl
from tui.panes.editor.marks import Marks
from tui.panes.editor.shown_file import ShownFile
from tui.panes.layout import Layout, Panes
from tui.port import SessionPort


@dataclass(frozen=True, slots=True)
class Controls:
    """A session, what shows it, and what the keys do with it."""

    session: SessionPort
    shown_file: ShownFile
    feed: Feed
    hunks: HunkControl
    prompts: PromptControl
    quitting: QuitControl
    suggestions: SuggestionControl


def make_controls(
    app: App[int],
    panes: Panes,
    layout: Layout,
    overlays: OverlayControl,
    background: BackgroundTasks,
    marks: Marks,
    session: SessionPort,
) -> Controls:
    """Wire the session to the panes."""
    shown_file = ShownFile(panes.editor, marks, session.files, panes.status.say)
    feed = Feed(panes.chat, shown_file, panes.status, panes.held, session.models.window_tokens)
    hunks = HunkControl(app, panes, layout, overlays, background, session, shown_file, feed)
    quitting = QuitControl(app, panes, overlays, session, shown_file)
    suggestions = SuggestionControl(app, panes, background, session)
    prompts = PromptControl(app, panes, overlays, background, session, feed, hunks, quitting, suggestions)
    return Controls(session, shown_file, feed, hunks, prompts, quitting, suggestions)
