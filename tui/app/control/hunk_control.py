"""Hunks as the user's keys work on them: go to, undo, redo, answer, take out after asking about those that
depend on it; and the context panel.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from textual.app import App

from session.assist.surgery import Cut, Dependent, SurgeryError
from tui.app.control.background import BackgroundTasks
from tui.app.control.overlay_control import OverlayControl
from tui.app.panes.held_bar import DROP, Question
from tui.app.panes.layout import Layout, Panes
from tui.editor.virtual_lines import before_drawn
from tui.front.keys.key_order import after_typing

if TYPE_CHECKING:
    from session.session import Session
    from tui.app.control.feed import Feed
    from tui.editor.shown_file import ShownFile
    from tui.front.words.held_items import Verdict


class HunkControl:
    """What the keys for hunks do, in the editor and in the session."""

    def __init__(
        self,
        app: App[int],
        panes: Panes,
        layout: Layout,
        overlays: OverlayControl,
        background: BackgroundTasks,
        session: Session,
        shown_file: ShownFile,
        open_file: Callable[[str], None],
        feed: Feed,
    ) -> None:
        self._app = app
        self._panes = panes
        self._layout = layout
        self._overlays = overlays
        self._background = background
        self._session = session
        self._shown_file = shown_file
        self._open_file = open_file
        self._feed = feed
        self._visited = ""
        """The landed hunk that the keys went to last, while the cursor may still be on it."""

    def toggle_context(self) -> None:
        """Show the context panel; if it is shown, close it."""
        if self._overlays.toggle_context():
            after_typing(self._app, self.show_context)

    def show_context(self) -> None:
        """Show what the model is shown, with the draft as the request."""
        from tui.app.overlays.context_panel import ContextScreen

        session, feed = self._session, self._feed
        screen = ContextScreen(
            self._overlays.themes.palette,
            session.context,
            session.files.list,
            self._panes.composer.draft,
            lambda: session.running,
            lambda: len(feed.held) > 0,
        )
        self._overlays.open(screen, self._open_file)

    # Hunks.

    def go(self, step: int) -> None:
        """Go to the next (1) or the previous (-1) landed hunk."""
        self._panes.editor.call_later(self._go, step)

    async def _go(self, step: int) -> None:
        file = self._shown_file
        await file.go(step)
        mark = file.marked_here()
        self._visited = mark.hunk if mark else ""
        if file.path:
            self._layout.bring("editor")

    def show(self, hunk: str) -> None:
        """Show a hunk in its file, where it landed."""
        self._panes.editor.call_later(self._show, hunk)

    async def _show(self, hunk: str) -> None:
        found = self._shown_file.marks.find(hunk)
        entry = self._panes.chat.hunk_named(hunk)
        if found is None:
            state = entry.fate.state if entry is not None else "gone"
            told = "being written: it has no lines in a file yet" if state == "typing" else None
            self._panes.status.say(f"{hunk} is {told or f'{state}: it has no lines in a file now'}")
        elif await self._shown_file.go_to(*found):
            self._visited = hunk
            self._layout.bring("editor")
            self._app.screen_stack[0].set_focus(self._panes.editor)

    def before(self) -> None:
        """Show what stood in the place of the hunk at the cursor, or show it no more."""
        self._panes.editor.call_later(self._before)

    async def _before(self) -> None:
        editor, mark = self._panes.editor, self._shown_file.marked_here()
        if editor.old_lines:
            editor.old_lines = []
            editor.redraw()
        elif mark is None:
            self._panes.status.say("there is no landed hunk at the cursor")
        else:
            buffer = editor.buffer
            found = await self._session.hunks.changes(mark.hunk)
            if not found:
                self._panes.status.say(f"what {mark.hunk} changed is no longer kept")
            elif editor.buffer is buffer:
                changes = [(each.old or "", each.new) for each in found]
                editor.old_lines = before_drawn(buffer.lines, mark.start, mark.hunk, changes)
                editor.redraw()

    def undo(self) -> None:
        """Undo the hunk at the cursor when the editor has the focus or the keys went there, else the last."""
        mark = self._shown_file.marked_here()
        meant = mark is not None and (self._panes.editor.has_focus or mark.hunk == self._visited)
        self._background.start(self._undo(mark.hunk if mark and meant else None), "undoing the hunk")

    async def _undo(self, hunk: str | None) -> None:
        await self._session.hunks.undo(hunk)

    def redo(self) -> None:
        """Redo the hunk that was undone last."""
        self._background.start(self._redo(), "redoing the hunk")

    async def _redo(self) -> None:
        await self._session.hunks.redo(None)

    def answer(self, verdict: Verdict, name: str = "") -> None:
        """Give the user's verdict on a held hunk or tool call, the oldest without a name."""
        if not self._feed.answer(self._session, verdict, name):
            self._panes.status.say(f"{name} is not held" if name else "nothing is held")


class DropControl:
    """What ``/drop HUNK`` and the key of the review do."""

    def __init__(self, app: App[int], panes: Panes, background: BackgroundTasks, session: Session) -> None:
        self._app = app
        self._panes = panes
        self._background = background
        self._session = session
        self._asked: tuple[Cut, tuple[Dependent, ...]] | None = None
        self._each: tuple[list[Dependent], list[Dependent]] | None = None
        """While each dependent is asked about by itself: those to ask about, and those that go."""

    def meant(self, argument: str) -> Cut | None:
        """The hunk that ``/drop ARGUMENT`` names, if the user is to be asked; else the command answers."""
        if self._session.standing.owner:
            return None
        try:
            cut = self._session.surgery.parsed(argument)
        except SurgeryError:
            return None
        return cut if cut is not None and not cut.with_dependents else None

    def ask(self, cut: Cut) -> None:
        """Take a hunk out; ask first where others depend on it."""
        self._background.start(self._ask(cut), "looking for what depends on a hunk")

    async def _ask(self, cut: Cut) -> None:
        found = await self._session.surgery.dependents(cut.hunk)
        if not found:
            await self._drop(cut)
            return
        self._asked, self._each = (cut, found), None
        others = "one that depends" if len(found) == 1 else f"{len(found)} that depend"
        title = f"Drop {cut.hunk} with {others} on it?"
        listed = "\n".join(map(str, found))
        each: tuple[tuple[Verdict, str], ...] = (("edit", "each by itself"),) if len(found) > 1 else ()
        self._question(
            Question(
                DROP, title, listed, "drop them, ask for these again", "keep all", "only drop them", each
            )
        )

    def _question(self, question: Question) -> None:
        self._panes.held.confirm(question)
        self._app.screen_stack[0].set_focus(self._panes.held)

    def _ask_each(self, cut: Cut, found: tuple[Dependent, ...]) -> None:
        """Ask about the next dependent; once there is none, drop the hunk with those that are to go."""
        left, going = self._each or ([], [])
        if left:
            number = f"{len(found) - len(left) + 1} of {len(found)}"
            title = f"Drop {left[0].hunk} too? ({number})"
            self._question(Question(DROP, title, str(left[0]), "drop it", "keep it", ""))
            return
        self._asked, chosen = None, tuple(each.hunk for each in going)
        self._panes.held.confirm(None)
        if chosen:
            again = replace(cut, with_dependents=True, chosen=chosen)
            self._background.start(self._agreed(cut, again, found), "dropping hunks")
        else:
            self._background.start(self._drop(replace(cut, alone=True)), "dropping a hunk")

    def answer(self, verdict: Verdict) -> None:
        """Act on the answer."""
        if self._asked is not None and (verdict == "edit" or self._each is not None):
            cut, found = self._asked
            left, going = self._each or (list(found), [])
            if self._each is not None:
                going += [left[0]] if verdict == "apply" else []
                left = left[1:]
            self._each = left, going
            self._ask_each(cut, found)
            return
        asked, self._asked = self._asked, None
        self._panes.held.confirm(None)
        if asked is not None and verdict != "reject":
            cut, found = asked
            again = replace(cut, with_dependents=True, again=verdict == "apply")
            self._background.start(self._agreed(cut, again, found), "dropping hunks")

    async def _agreed(self, cut: Cut, again: Cut, found: tuple[Dependent, ...]) -> None:
        """Drop what was asked about; where something else depends on it now, ask anew."""
        if await self._session.surgery.dependents(cut.hunk) != found:
            await self._ask(cut)
        else:
            await self._drop(again)

    async def _drop(self, cut: Cut) -> None:
        try:
            told = await self._session.surgery.drop(cut)
            self._panes.chat.remark(told, "info")
        except SurgeryError as problem:
            self._panes.status.say(str(problem), "error")
            self._panes.chat.remark(str(problem), "error")
