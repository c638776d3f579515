"""Opens the review, and carries out what is decided there."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from textual.app import App

from session.assist.surgery import Cut
from session.base.events import HunkRefused
from session.commands.diff_commands import DiffError
from session.project.opened import FileProblem
from tui.app.control.background import BackgroundTasks
from tui.app.control.hunk_control import DropControl
from tui.app.panes.layout import Panes
from tui.app.review.review_book import MOST_LINES, Line, ReviewBook, Reviewed, patch_lines, replaced_lines
from tui.screen.drawing.palette import ThemeSwitch
from tui.screen.terminal.lending import EditorProblem, edit_outside, editor_command, given_back

if TYPE_CHECKING:
    from session.session import Session
    from tui.app.control.feed import Feed
    from tui.app.control.hunk_control import HunkControl
    from tui.app.review.review_screen import ReviewScreen


class ReviewControl:
    """See :class:`tui.app.review.review_screen.Verdicts`."""

    def __init__(
        self,
        app: App[int],
        panes: Panes,
        themes: ThemeSwitch,
        background: BackgroundTasks,
        session: Session,
        feed: Feed,
        hunks: HunkControl,
        drops: DropControl,
    ) -> None:
        self._app = app
        self._panes = panes
        self._themes = themes
        self._background = background
        self._session = session
        self._feed = feed
        self._hunks = hunks
        self._drops = drops
        self._screen: ReviewScreen | None = None
        """The review while it is shown, which covers the status line."""
        self.stop: Callable[[], None] = lambda: None
        """Stops the running turn."""

    @property
    def book(self) -> ReviewBook:
        """The hunks."""
        return self._feed.book

    def open(self) -> None:
        """Show the review."""
        from tui.app.review.review_screen import ReviewScreen

        def closed(hunk: str | None) -> None:
            self._screen = None
            if hunk is not None:
                self._hunks.show(hunk)

        screen = self._screen = ReviewScreen(self._themes.palette, self.book, self)
        screen.on_closed = closed
        self._app.push_screen(screen)

    def _say(self, text: str, level: str) -> None:
        self._panes.status.say(text, level)
        if self._screen is not None:
            self._screen.tell(text)

    # The verdicts.

    def keep(self, each: Reviewed) -> None:
        """Apply a held hunk; note of a landed one that it stays."""
        if each.state == "held":
            if not self._feed.answer(self._session, "apply", each.hunk):
                self._say(f"{each.hunk} is not held any more", "warning")
        else:
            each.kept = True

    def keep_all(self) -> None:
        """Apply all that is held, and note of all that landed that it stays."""
        for each in self.book.held:
            self._feed.answer(self._session, "apply", each.hunk)
        for each in self.book.listed(whole_session=True):
            each.kept = each.kept or each.state == "landed"

    def reject(self, each: Reviewed, why: str) -> None:
        """Reject a hunk that has not landed, or undo one that has. While a turn runs a word stops it and is
        sent."""
        # A word that is sent at once is not told a second time with what became of the hunk.
        now = bool(why) and self._session.running
        if each.state in ("held", "agreed", "typing"):
            if not self._session.answer(each.hunk, land=False, why="" if now else why):
                self._keep_word(each, why)
                return
            self._redirect(each, why, now=now)
        elif each.state != "landed":
            self._keep_word(each, why)
        else:
            if now:
                self.stop()  # at once: the undo may have to wait
            self._background.start(self._undo(each, why, now=now), "undoing the hunk")

    def _keep_word(self, each: Reviewed, why: str) -> None:
        """A rejection came too late: nothing that was typed for it is lost."""
        told = f"too late to reject {each.hunk}"
        if why:
            self._panes.composer.put_before([why])
            told += ": your word is in the prompt"
        self._say(told, "warning")

    async def _undo(self, each: Reviewed, why: str, *, now: bool) -> None:
        result = await self._session.hunks.undo(each.hunk, why="" if now else why)
        if not isinstance(result, HunkRefused):
            self._redirect(each, why, now=now)
        elif now:
            self._session.submit(
                f"I reject {each.hunk} in {each.path}, which could not be undone: {why}", typed=why
            )

    def _redirect(self, each: Reviewed, why: str, *, now: bool) -> None:
        """Send the word on a hunk, ``now`` or with the next prompt."""
        if now:
            if self._session.running:
                self._feed.stop()
            self._session.submit(f"I rejected {each.hunk} in {each.path}: {why}", typed=why)
        elif why:
            self._panes.chat.remark(
                f"{each.hunk} rejected: {why} (the model is told with your next prompt)", "quiet"
            )

    def drop(self, each: Reviewed) -> None:
        """Undo a landed hunk with those that depend on it, once the user agrees."""
        self._drops.ask(Cut(each.hunk))

    def edit(self, each: Reviewed) -> None:
        """Edit what a held hunk would land, in the user's own editor; then land that."""
        self._background.start(self._edit(each), "editing a hunk")

    async def _edit(self, each: Reviewed) -> None:
        try:
            command = editor_command(self._session.root)
            with given_back(self._app):
                text = "\n".join(each.new) + "\n"
                edited = await edit_outside(command, each.path, text)
        except EditorProblem as problem:
            self._say(str(problem), "error")
            return
        new = edited.removesuffix("\n").split("\n") if edited.strip("\n") else []
        if not self._session.answer(each.hunk, land=True, new=new):
            self._say(f"cannot edit {each.hunk}: it is not whole yet, or not held any more", "warning")
            return
        self._feed.agreed(each.hunk)
        self._say(f"{each.hunk} lands as you edited it", "info")

    async def lines(self, each: Reviewed) -> list[Line]:
        """What a hunk changes, or would change."""
        if each.state == "landed":
            found = await self._session.surgery.dependents(each.hunk)
            marked = [("@", f" depends on it: {other}") for other in found]
            try:
                return [*marked, *patch_lines((await self._session.hunks.diff(each.hunk)).text)]
            except DiffError:
                return list(each.lines)
        if each.state == "held" and each.action == "add" and len(each.lines) < MOST_LINES:
            with suppress(FileProblem):
                file = await self._session.files.read(each.path)
                return await asyncio.to_thread(replaced_lines, file.text, each.new)
        return list(each.lines)
