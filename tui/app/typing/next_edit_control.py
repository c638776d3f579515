"""Shows the place that is offered in the editor, and takes it, passes it over or ends it by keys.

A key of the editor takes a place only while it is drawn. Typing anything hides it: the keys are then what
they always are, until the user asks for it again.
"""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING

from session.base.events import Event, NextEditOffered, NextEditsOver
from tui.app.control.background import BackgroundTasks
from tui.app.panes.layout import Layout, Panes
from tui.editor.buffers.buffer import Buffer
from tui.editor.keys import Part
from tui.editor.virtual_lines import HunkInFlight
from tui.front.keys.keymap import shown
from tui.screen.drawing.plain import visible

if TYPE_CHECKING:
    from session.session import Session
    from tui.editor.shown_file import ShownFile

TOO_LATE = 0.7
"""For this many seconds after the last place was taken Tab does nothing: it was pressed for one more."""


class NextEditControl:
    """Between the editor pane and the session's next edits."""

    def __init__(
        self, panes: Panes, layout: Layout, background: BackgroundTasks, session: Session, file: ShownFile
    ) -> None:
        self._panes = panes
        self._layout = layout
        self._background = background
        self._session = session
        self._file = file
        self._offer: NextEditOffered | None = None
        self._drawn: HunkInFlight | None = None
        self._going = False
        """Whether the user goes from place to place: each is gone to and drawn as it is offered."""
        self._taking = False
        self._over = -TOO_LATE
        """When the last place was taken, on the monotonic clock."""
        editor = panes.editor
        self._accept = editor.accept
        editor.accept = self.accept
        file.texts.append(self._text_changed)

    def take(self, event: Event) -> None:
        """Take one event of the session in."""
        match event:
            case NextEditOffered():
                self._offer = event
                if self._going:
                    self._background.start(self._show(event), "showing the next edit")
                else:
                    where = f"{visible(event.path)}:{event.line}"
                    told = f"{_many(event)} left: {visible(event.change)}"
                    self._panes.status.say(f"{shown('next_edit')} · {told} · {where}")
            case NextEditsOver(without=without):
                was, self._offer, self._going = self._going, None, False
                self._over = monotonic() if was and self._taking else self._over
                self._hide()
                if without:
                    self._panes.status.say(f"{_unfilled(without)}: look at them yourself", "warning")
                elif was:
                    self._panes.status.say("no next edit is left")
            case _:
                pass

    def accept(self, part: Part) -> bool:
        """Take the place that is drawn; else do what the key does without it. A key that comes too early for
        the next place, or right after the last one, is meant for one and does nothing."""
        late = monotonic() - self._over < TOO_LATE
        if part == "all" and (late or (self._going and self._drawn is None)):
            return True
        if self._drawn is None or self._drawn is not self._panes.editor.flight:
            return self._accept(part)
        if part != "all":
            return False
        self._hide()
        self._background.start(self._take(), "landing a next edit")
        return True

    def go(self) -> None:
        """Go to the place that is offered; where it is drawn already, pass it over for the next."""
        offer = self._offer
        if offer is None:
            self._panes.status.say("there is no next edit")
        elif self._drawn is not None:
            self._hide()
            self._session.assist.next_edits.pass_over()
        else:
            self._going = True
            self._background.start(self._show(offer), "showing the next edit")

    async def _take(self) -> None:
        self._taking = True
        try:
            await self._session.assist.next_edits.take()
        finally:
            self._taking = False

    async def _show(self, offer: NextEditOffered) -> None:
        await self._file.order.settled()
        shown_file = await self._file.open(offer.path)
        if offer is not self._offer:
            return
        if not shown_file:
            self._going = False  # the status line says why
            return
        editor = self._panes.editor
        if editor.buffer.dirty:
            self._going = False
            keys = f"{shown('save')} saves it, then {shown('next_edit')} goes on"
            self._panes.status.say(f"{visible(offer.path)} has unsaved text: {keys}", "warning")
            return
        row = editor.buffer.row_of(offer.line - 1, offer.line)
        if row is None or tuple(editor.buffer.lines[row : row + len(offer.old)]) != offer.old:
            self._session.assist.next_edits.pass_over()  # the user has changed it
            return
        self._layout.bring("editor")
        editor.reveal(row)
        editor.focus()
        flight = HunkInFlight(offer.change, offer.path, "update")
        flight.aim = (row + 1, row + 1 + len(offer.old))
        for line in offer.old:
            flight.feed("-", f"{line}\n")
        for line in offer.new:
            flight.feed("+", f"{line}\n")
        self._drawn = flight
        editor.draw_hunk(flight)
        keys = f"Tab takes it · {shown('next_edit')} the next · Esc ends"
        number = f"{offer.number} of {offer.total}"
        number += f" ({offer.found} in all)" if offer.found > offer.total else ""
        self._panes.status.say(f"{number} · {keys} · {visible(offer.change)}", stays=True)

    def _text_changed(self, buffer: Buffer) -> None:
        """What is drawn would stand in another text now."""
        offer = self._offer
        if self._drawn is not None and offer is not None:
            row = self._drawn.aim[0] - 1 if self._drawn.aim is not None else 0
            lines = tuple(buffer.lines[row : row + len(offer.old)])
            fits = buffer.path == offer.path and lines == offer.old and not buffer.dirty
            if buffer is self._panes.editor.buffer and not fits:
                self._going = False
                self._hide()

    def _hide(self) -> None:
        drawn, self._drawn = self._drawn, None
        if drawn is not None and self._panes.editor.flight is drawn:
            self._panes.editor.draw_hunk(None)


def _many(offer: NextEditOffered) -> str:
    """How many places are offered, of how many where that is not all."""
    many = f"{offer.total} place{'s' if offer.total != 1 else ''}"
    if offer.found > offer.total:
        many = f"{offer.total} of {offer.found} places"
    return f"{many} ({offer.unread} more files not looked at)" if offer.unread else many


def _unfilled(places: tuple[str, ...]) -> str:
    """The places for which there is no text, the first of them by name."""
    more = f" and {len(places) - 3} more" if len(places) > 3 else ""
    return f"no text for {', '.join(map(visible, places[:3]))}{more}"
