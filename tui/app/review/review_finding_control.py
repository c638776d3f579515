"""Shows the findings of reviews on save, and carries out what the user decides about them.

The screen is the list of findings: the chosen one with its reason and its fix, and a key for each verdict.
"""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Protocol

from textual import events
from textual.app import App

from session.base.events import Event, FindingClosed, FindingReported, SaveReviewed
from session.base.storage.private_files import StoreError
from tui.app.control.background import BackgroundTasks
from tui.app.overlays.chosen_list import ChosenList
from tui.app.panes.layout import Panes
from tui.app.review.review_book import FILL, unified
from tui.editor.signs import FindingNotes, signs
from tui.front.keys.keymap import key_line, scope, shown
from tui.screen.drawing.pacer import Pacer
from tui.screen.drawing.palette import Palette, ThemeSwitch
from tui.screen.drawing.plain import clipped, fitting, untabbed, visible
from tui.screen.drawing.rows import Row

if TYPE_CHECKING:
    from session.session import Session
    from tui.app.control.file_control import FileControl
    from tui.editor.shown_file import ShownFile


def finding_row(each: FindingReported, line: int, chosen: bool, width: int, *, ansi: bool) -> Row:
    """One line of the list."""
    sign = signs()[each.severity]
    lead = [("❯ " if chosen else "  ", "accent"), (f"{sign.glyph} ", sign.role)]
    told = clipped(visible(f"{each.path}:{line} {each.message}"), max(8, width - 4))
    return Row([*lead, (told, "text")], "selection" if chosen and not ansi else FILL)


def detail(each: FindingReported, line: int, width: int) -> list[Row]:
    """All of a finding: what is wrong and why, and its fix."""
    width = max(10, width)
    by = "" if each.by == "model" else f" · {each.by}"
    rows = [Row([(clipped(f" {visible(each.path)}:{line}", width), "heading")], FILL)]
    rows.append(
        Row(
            [(clipped(f" {each.severity} · {visible(each.kind)}{by}", width), signs()[each.severity].role)],
            FILL,
        )
    )
    rows.append(Row([], FILL))
    for text, role in ((each.message, "text"), (each.why, "muted")):
        for part in textwrap.wrap(visible(text), width - 2) if text else ():
            rows.append(Row([(f" {part}", role)], FILL))
    rows.append(Row([], FILL))
    if each.fix_old:
        rows.append(Row([(clipped(" The fix:", width), "heading")], FILL))
        lines = [("-", untabbed(text)) for text in each.fix_old] + [
            ("+", untabbed(text)) for text in each.fix_new
        ]
        rows += unified(lines, width)
    else:
        rows.append(Row([(clipped(" It has no fix; d asks about it.", width), "faint")], FILL))
    return rows


HINTS = (
    ("land", "land the fix"),
    ("dismiss_finding", "dismiss"),
    ("discuss", "discuss"),
    ("open", "go there"),
    ("close", "close"),
)
"""What the last row tells of the keys, those needed most first."""


class FindingVerdicts(Protocol):
    """What the keys of the list do."""

    def land(self, finding: FindingReported) -> None:
        """Land its fix."""

    def dismiss(self, finding: FindingReported) -> None:
        """Close it, and show it no more."""

    def discuss(self, finding: FindingReported) -> None:
        """Put it into the prompt."""


class FindingsScreen(ChosenList[FindingReported], inherit_bindings=False):
    """The screen. Its result is a finding to go to, or None."""

    def __init__(
        self, palette: Palette, notes: FindingNotes, verdicts: FindingVerdicts, mode: str, chosen: str = ""
    ) -> None:
        """``mode`` says what is looked for on save; ``chosen`` is the finding to begin with."""
        super().__init__(palette, Pacer(self._draw, 0.1))
        self._notes = notes
        self._verdicts = verdicts
        self._mode = mode
        self._begin = chosen
        self._told = ""

    def on_mount(self) -> None:
        """Show the list."""
        self._listed = list(self._notes.open)
        names = [each.finding for each in self._listed]
        self._chosen = names.index(self._begin) if self._begin in names else 0
        self.call_after_refresh(self._draw)

    def take(self, event: Event) -> None:
        """Something happened in the session."""
        if isinstance(event, FindingReported | FindingClosed):
            self._pacer.request()

    def back(self) -> bool:
        """Leave the finding for the list."""
        was, self._reading = self._reading, False
        if was:
            self._draw()
        return was

    # Drawing.

    def _draw(self) -> None:
        if not self.is_attached:
            return
        before = self._each
        self._list(self._notes.open)
        width = self.columns
        self._arrange(len(self._listed))
        many = len(self._listed)
        head = f" {many} finding{'s' if many != 1 else ''} · review on save: {self._mode}"
        self._head.show([Row([(clipped(head, width), "heading")], FILL)])
        pieces, ansi = self._pieces, self._palette.theme.ansi
        room = pieces.size.width or width
        rows = [
            finding_row(each, self._notes.line_of(each), at == self._chosen, room, ansi=ansi)
            for at, each in enumerate(self._listed)
        ]
        pieces.show(rows or [Row([("  no findings are open", "muted")], FILL)], keep=self._chosen)
        piece, each = self._piece, self._each
        shown = detail(each, self._notes.line_of(each), piece.size.width or width) if each is not None else []
        piece.show(shown, keep=piece.top if each is before else 0)
        told, role = fitting(f" {key_line('findings', *HINTS)}", width), "faint"
        if self._told:
            told, role = f" {self._told}", "warning"
        self._foot.show([Row([(clipped(visible(told), width), role)], FILL)])
        self._told = ""

    # Keys.

    async def on_key(self, event: events.Key) -> None:
        """Run the keys in the order in which they were pressed."""
        action = next((entry.action for entry in scope("findings").keys if event.key in entry.keys), None)
        if action is not None:
            event.stop()
            event.prevent_default()
            await self.run_action(action)

    def action_land(self) -> None:
        """Land the fix; the next finding is chosen."""
        if self._each is not None and not self._each.fix_old:
            self._told = "it has no fix: d asks about it"
        elif self._each is not None:
            self._verdicts.land(self._each)
        self._draw()

    def action_dismiss_finding(self) -> None:
        """Dismiss the finding; the next one is chosen."""
        if self._each is not None:
            self._verdicts.dismiss(self._each)
        self._draw()

    def action_discuss(self) -> None:
        """Close the list with the finding in the prompt."""
        if self._each is not None:
            each = self._each
            self.dismiss(None)
            self._verdicts.discuss(each)

    def action_open(self) -> None:
        """Go to the finding in its file."""
        if self._each is not None:
            self.dismiss(self._each.finding)

    def action_close(self) -> None:
        """Close the list."""
        self.dismiss(None)


class SaveReviewControl:
    """See :class:`tui.app.review.review_finding_control.FindingVerdicts`. The list is loaded when it is first
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
