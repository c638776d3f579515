"""The review: the hunks of the turn or the session in a list, the chosen one's change, and verdicts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from textual import events

from session.base import events as said
from tui.app.overlays.chosen_list import ChosenList
from tui.app.review.review_book import FILL, Line, ReviewBook, Reviewed, hunk_row, side_by_side, unified
from tui.front.keys.keymap import key_line, scope
from tui.screen.drawing.pacer import Pacer
from tui.screen.drawing.palette import Palette
from tui.screen.drawing.plain import clipped, fitting, visible
from tui.screen.drawing.rows import Row, breaks

HINTS = (
    ("keep", "keep"),
    ("reject", "reject"),
    ("drop", "drop"),
    ("keep_all", "keep all"),
    ("edit", "edit"),
    ("close", "close"),
    ("open", "open"),
    ("beside", "columns"),
    ("range", "turn/session"),
)
"""What the last row tells of the keys, those needed most first."""


class Verdicts(Protocol):
    """What the keys of the review do to hunks."""

    def keep(self, each: Reviewed) -> None:
        """Apply a held hunk; note of a landed one that it stays."""

    def reject(self, each: Reviewed, why: str) -> None:
        """Reject a hunk that has not landed, or undo one that has; ``why`` goes to the model."""

    def keep_all(self) -> None:
        """Apply all that is held, and note of all that landed that it stays."""

    def drop(self, each: Reviewed) -> None:
        """Undo a landed hunk with those that depend on it, once the user agrees."""

    def edit(self, each: Reviewed) -> None:
        """Edit what a held hunk would land."""

    async def lines(self, each: Reviewed) -> list[Line]:
        """What a hunk changes, or would change."""
        ...


class ReviewScreen(ChosenList[Reviewed], inherit_bindings=False):
    """The screen. Its result is a hunk to go to, or None."""

    def __init__(self, palette: Palette, book: ReviewBook, verdicts: Verdicts) -> None:
        super().__init__(palette, Pacer(self._draw, 0.1))
        self._book = book
        self._verdicts = verdicts
        self._whole_session = False
        self._beside = False
        self._lines: list[Line] = []
        self._lines_of: tuple[str, str] = ("", "")
        self._why: str | None = None
        """The word that is typed to a rejection; None while none is typed."""
        self._told = ""

    def on_mount(self) -> None:
        """Show the list."""
        self._whole_session = not self._book.listed(whole_session=False)
        self.call_after_refresh(self._draw)

    def take(self, event: said.Event) -> None:
        """Something happened in the session."""
        if isinstance(event, _CHANGES):
            self._pacer.request()

    def tell(self, text: str) -> None:
        """Say what came of a verdict, until the next key."""
        self._told = text
        self._draw()

    def back(self) -> bool:
        """Give up the rejection that is being typed, or leave the change for the list."""
        if self._why is not None:
            self._why = None
        elif self._reading:
            self._reading = False
        else:
            return False
        self._draw()
        return True

    # Drawing.

    def _draw(self) -> None:
        if not self.is_attached:
            return
        self._list(self._book.listed(whole_session=self._whole_session))
        width = self.columns
        self._arrange(len(self._listed))
        self.set_class(self._beside, "columns")
        self._draw_head(width)
        pieces, ansi = self._pieces, self._palette.theme.ansi
        room = pieces.size.width or width
        rows = [hunk_row(each, at == self._chosen, room, ansi=ansi) for at, each in enumerate(self._listed)]
        pieces.show(rows or [Row([("  no hunks yet", "muted")], FILL)], keep=self._chosen)
        self._draw_change()
        self._draw_foot(width)
        each = self._each
        if each is not None and self._lines_of != (each.hunk, each.state):
            self._lines_of = (each.hunk, each.state)
            self.run_worker(self._fetch(each), exclusive=True, group="change")

    async def _fetch(self, each: Reviewed) -> None:
        lines = await self._verdicts.lines(each)
        if self._each is each:
            self._lines = lines
            self._piece.top = 0
            self._draw_change()

    def _draw_head(self, width: int) -> None:
        held = sum(each.state == "held" for each in self._listed)
        what = "of the session" if self._whole_session else "of the last turn"
        told = f" {len(self._listed)} hunk{'s' if len(self._listed) != 1 else ''} {what}"
        told += f" · {held} need{'s' if held == 1 else ''} your OK" if held else ""
        if self._each is not None:
            told += f" · {self._chosen + 1}: {self._each.hunk} {visible(self._each.path)}"
        self._head.show([Row([(clipped(told, width), "heading")], FILL)])

    def _draw_change(self) -> None:
        piece = self._piece
        width = self.columns if self._beside else piece.size.width or self.columns
        each = self._each
        rows: list[Row] = []
        if each is not None and each.message:
            told = [f" {visible(line)}" for line in each.message.split("\n")]
            pieces = [line[start:end] for line in told for start, end in breaks(line, max(1, width))]
            rows = [Row([(line, "warning")], FILL) for line in pieces]
        if self._lines:
            rows += (side_by_side if self._beside else unified)(self._lines, width)
        elif each is not None:
            rows.append(Row([(clipped(" its lines are not known any more", width), "muted")], FILL))
        piece.show(rows, keep=piece.top)

    def _draw_foot(self, width: int) -> None:
        if self._why is not None:
            told = f" why? {self._why}▏ Enter rejects, and your reason is sent to the model · Esc cancels"
            role = "warning"
        elif self._told:
            told, role = f" {self._told}", "warning"
        else:
            told, role = fitting(f" {key_line('review', *HINTS)}", width), "faint"
        self._foot.show([Row([(clipped(visible(told), width), role)], FILL)])

    # Keys.

    async def on_key(self, event: events.Key) -> None:
        """Run the keys in the order in which they were pressed."""
        self._told = ""
        if self._why is not None and self._typed(event):
            event.stop()
            event.prevent_default()
            return
        action = next((entry.action for entry in scope("review").keys if event.key in entry.keys), None)
        if action is not None:
            event.stop()
            event.prevent_default()
            await self.run_action(action)

    @property
    def takes_text(self) -> bool:
        """Whether the word of a rejection is typed."""
        return self._why is not None

    def on_paste(self, event: events.Paste) -> None:
        """Add pasted letters to the word of a rejection."""
        if self._why is not None:
            self._why += "".join(each for each in event.text if each.isprintable())
            self._draw()

    def _typed(self, event: events.Key) -> bool:
        why = self._why or ""
        if event.key == "enter":
            self._why = None
            if (each := self._each) is not None:
                self._go_on()
                self._verdicts.reject(each, why.strip())
        elif event.key in ("backspace", "ctrl+h"):
            self._why = why[:-1]
        elif event.key == "ctrl+u":
            self._why = ""
        elif event.is_printable and event.character is not None:
            self._why = why + event.character
        else:
            return False
        self._draw()
        return True

    def action_scroll(self, by: int) -> None:
        """Scroll the change."""
        piece = self._piece
        piece.move(by * max(1, piece.size.height - 2))

    def action_beside(self) -> None:
        """One column, or two."""
        self._beside = not self._beside
        self._draw()

    def action_range(self) -> None:
        """The last turn, or the whole session."""
        self._whole_session = not self._whole_session
        self._draw()

    def action_keep(self) -> None:
        """Apply a held hunk; keep a landed one. The next one is chosen."""
        self._judge(lambda each: self._verdicts.keep(each), ("held", "landed"))

    def action_keep_all(self) -> None:
        """Apply all that is held, and keep all that landed."""
        self._verdicts.keep_all()
        self._draw()

    def action_reject(self) -> None:
        """Type why, then reject. What is typed is never taken for keys, even where it comes too late."""
        if self._each is not None:
            self._why = ""
        self._draw()

    def action_drop(self) -> None:
        """Undo a landed hunk with those that depend on it; what depends on it is asked about."""
        each = self._each
        if each is None or each.state != "landed":
            self._told = "only what is landed can be dropped"
            self._draw()
            return
        self.dismiss(None)
        self._verdicts.drop(each)

    def action_edit(self) -> None:
        """Edit what a held hunk would land; go to a landed one."""
        each = self._each
        if each is not None and each.state == "landed":
            self.dismiss(each.hunk)
        else:
            self._judge(lambda each: self._verdicts.edit(each), ("held",))

    def action_open(self) -> None:
        """Go to the hunk in its file."""
        if self._each is not None:
            self.dismiss(self._each.hunk)

    def action_close(self) -> None:
        """Close the review."""
        self.dismiss(None)

    def _judge(self, verdict: Callable[[Reviewed], None], states: tuple[str, ...]) -> None:
        each = self._each
        if each is None or each.state not in states:
            self._told = _UNFIT.get(each.told_state if each is not None else "", "nothing to do here")
        else:
            self._go_on()
            verdict(each)
        self._draw()

    def _go_on(self) -> None:
        """Choose the next hunk that can be judged: the choice does not move away with the judged one."""
        later = range(self._chosen + 1, len(self._listed))
        self._chosen = next((at for at in later if self._listed[at].rank[0] < 6), self._chosen)


_CHANGES = (
    said.HunkOpened,
    said.HunkHeld,
    said.HunkLanded,
    said.HunkRefused,
    said.HunkDropped,
    said.HunkUndone,
    said.HunkRedone,
)
_UNFIT = {
    "agreed": "you agreed to it: it lands once the hunks before it in its file have ended",
    "typing": "it is not whole yet",
    "waiting": "it lands once the hunks before it have ended",
    "landed": "it has landed already",
}
"""Why a hunk in such a state cannot be applied, kept or edited; held and landed ones can."""
