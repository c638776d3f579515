"""Shows the findings of reviews on save, and carries out what the user decides about them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.app import App

from session.base.events import Event, FindingReported, SaveReviewed
from session.base.storage.private_files import StoreError
from tui.app.control.background import BackgroundTasks
from tui.app.panes.layout import Panes
from tui.editor.signs import FindingNotes
from tui.front.keys.keymap import shown
from tui.screen.drawing.palette import ThemeSwitch

if TYPE_CHECKING:
    from session.session import Session
    from tui.app.control.file_control import FileControl
    from tui.editor.shown_file import ShownFile


class SaveReviewControl:
    """See :class:`tui.app.review.review_finding_screen.FindingVerdicts`. The list is loaded when it is first
    opened.
    """

    def __init__(
        self,
        app: App[int],
        panes: Panes,
        themes: ThemeSwitch,
        background: BackgroundTasks,
        session: Session,
        shown_file: ShownFile,
        files: FileControl,
    ) -> None:
        self._app = app
        self._panes = panes
        self._themes = themes
        self._background = background
        self._session = session
        self._file = shown_file
        self._files = files
        self._said = ""
        """The line about the finding at the cursor, while it is shown."""
        self.notes = FindingNotes(panes.editor.notes, self._row_of)

    def take(self, event: Event) -> None:
        """Take one event of the session in."""
        if self.notes.take(event):
            self._panes.editor.redraw()
        elif isinstance(event, SaveReviewed) and event.findings and not event.stopped:
            many = f"{event.findings} finding{'s' if event.findings != 1 else ''}"
            self._panes.status.say(f"{many} in what you saved · {shown('findings')} shows them", "warning")

    def open(self) -> None:
        """Show the list, beginning with the finding at the cursor."""
        from tui.app.review.review_finding_screen import FindingsScreen

        here = self._here()
        screen = FindingsScreen(
            self._themes.palette,
            self.notes,
            self,
            str(self._session.assist.review.mode),
            here.finding if here is not None else "",
        )
        screen.on_closed = self._go
        self._app.push_screen(screen)

    def next_mode(self) -> None:
        """Review on save: all faults, security holes alone, or nothing."""
        from session.assist.review.on_save import Mode

        review = self._session.assist.review
        modes = (Mode.ON, Mode.SECURITY, Mode.OFF)
        review.use(modes[(modes.index(review.mode) + 1) % len(modes)])
        about = {
            Mode.ON: "on: what you save is reviewed",
            Mode.SECURITY: "security: what you save is searched for security holes alone",
            Mode.OFF: 'off (for good: review = "off" in [side])',
        }
        also = (
            "" if self._session.side.enabled or review.mode is Mode.OFF else f", once {shown('side')} is on"
        )
        self._panes.status.say(f"review on save is {about[review.mode]}{also}")

    def cursor_moved(self) -> None:
        """Tell of the finding that the cursor is on."""
        if not self.notes and not self._said:
            return
        here, status = self._here(), self._panes.status
        said = f"{here.severity}: {here.message} · {shown('findings')}" if here is not None else ""
        if said != self._said:
            if said:
                status.say(said, "warning" if here is not None and here.severity != "note" else "info")
            elif status.status.message == self._said:
                status.say("")
            self._said = said

    # The verdicts.

    def land(self, finding: FindingReported) -> None:
        """Land its fix."""
        self._background.start(self._land(finding), "landing a fix")

    async def _land(self, finding: FindingReported) -> None:
        why = await self._session.assist.review.land(finding.finding)
        self._panes.status.say(why or f"landed the fix of {finding.path}", "error" if why else "info")

    def dismiss(self, finding: FindingReported) -> None:
        """Close it, and show it no more."""
        self._background.start(self._dismiss(finding), "dismissing a finding")

    async def _dismiss(self, finding: FindingReported) -> None:
        try:
            await self._session.assist.review.dismiss(finding.finding)
        except StoreError as problem:
            self._panes.status.say(str(problem), "error")

    def discuss(self, finding: FindingReported) -> None:
        """Put it into the prompt, behind what is typed there."""
        composer, line = self._panes.composer, self.notes.line_of(finding)
        end = line + finding.end - finding.start
        place = f"@{_quoted(finding.path)}:{line}-{end}" if end > line else f"@{_quoted(finding.path)}:{line}"
        why = f" {finding.why}" if finding.why else ""
        said = f"{place} A review says: {finding.message}{why}\n"
        composer.put("\n".join(filter(str.strip, [composer.draft, said])))
        self._app.screen_stack[0].set_focus(composer)

    def _go(self, name: str | None) -> None:
        finding = next((each for each in self.notes.open if each.finding == name), None)
        if finding is not None:
            self._files.open(finding.path, self.notes.line_of(finding))

    def _here(self) -> FindingReported | None:
        editor = self._panes.editor
        return self.notes.at(editor.path, editor.cursor_location[0]) if editor.path else None

    def _row_of(self, path: str, start: int, end: int) -> int | None:
        buffer = self._file.buffers.of(path)
        return start if buffer is None else buffer.row_of(start, end)


def _quoted(path: str) -> str:
    return f'"{path}"' if " " in path else path
