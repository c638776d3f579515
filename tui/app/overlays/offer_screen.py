"""Offers where nobody answers: for a user without a key, and for a model that the server refuses."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from textual import events, work
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content

from session.setup.model_offers import Offer
from tui.app.overlays.overlay import ClosingScreen, Lines
from tui.screen.drawing.palette import Palette
from tui.screen.drawing.plain import cell_len, clipped, visible
from tui.screen.drawing.rows import Row, Span, breaks

AGAIN_SECONDS = 2.0
"""The time between two searches, in seconds."""
FRAME, SMALLEST, MOST_HEIGHT = 2, 6, 20
"""Rows of the box: of its frame, and the fewest and the most of all."""
FindOffers = Callable[[], Awaitable[Sequence[Offer]]]


class OfferScreen(ClosingScreen[Offer | None]):
    """Lists offers as they are found. The result is the one taken, or None."""

    def __init__(
        self,
        palette: Palette,
        find: FindOffers,
        why: str,
        typed: Callable[[events.Key | events.Paste], None],
        title: str = "Begin with",
    ) -> None:
        """``typed`` gets keys that are text, and pastes: they belong to the prompt, and close this screen."""
        super().__init__()
        self._heading = title
        self._typed = typed
        self._leaving = False
        self._palette = palette
        self._lines = Lines(palette, id="lines")
        self._find = find
        self._why = why
        self._offers: Sequence[Offer] = ()
        self._looking = True
        self._chosen = 0
        self._height = 0
        """The rows of the box; 0 before it was drawn."""

    def compose(self) -> ComposeResult:
        """The box and its lines."""
        with Vertical(id="box") as box:
            box.border_title = Content(self._heading)
            box.border_subtitle = Content("↑ ↓ choose · Enter selects · Esc closes")
            yield self._lines

    def on_mount(self) -> None:
        """Start searching."""
        self._look()

    @work
    async def _look(self) -> None:
        # Search repeatedly: a server may be started meanwhile, or answer late.
        while True:
            found = await self._find()
            chosen = self._offers[self._chosen] if self._offers else None
            self._offers, self._looking = found, False
            # Keep the choice on the same offer, so that Enter never takes one that just moved there.
            self._chosen = found.index(chosen) if chosen in found else 0
            self._draw()
            await asyncio.sleep(AGAIN_SECONDS)

    def on_resize(self) -> None:
        """Draw for the new width."""
        self.call_after_refresh(self._draw)

    def on_key(self, event: events.Key) -> None:
        """Move the choice, or take it."""
        event.stop()
        page = max(1, self._lines.size.height - 4)
        steps = {"up": -1, "down": 1, "pageup": -page, "pagedown": page}
        steps |= {"home": -len(self._offers), "end": len(self._offers)}
        if self._leaving or event.is_printable:
            self._hand_on(event)
        elif event.key in steps:
            self._chosen = max(0, min(self._chosen + steps[event.key], len(self._offers) - 1))
            self._draw()
        elif event.key == "enter" and self._offers:
            self.dismiss(self._offers[self._chosen])

    def on_paste(self, event: events.Paste) -> None:
        """Leave, with the paste in the prompt."""
        self._hand_on(event)

    @property
    def takes_text(self) -> bool:
        """A paste is taken, to be handed on."""
        return True

    def _hand_on(self, event: events.Key | events.Paste) -> None:
        self._typed(event)
        if not self._leaving:
            self._leaving = True
            self.dismiss(None)

    def _draw(self) -> None:
        lines = self._lines
        width = lines.size.width
        told = [self._why[start:end] for start, end in breaks(self._why, max(1, width - 4))]
        rows = [Row([(f"  {line}", "muted")], "panel") for line in told]
        rows.append(Row([], "panel"))
        first = len(rows)
        rows += [self._row(index, width) for index in range(len(self._offers))]
        if self._looking:
            rows.append(Row([("   looking for servers on this machine …", "faint")], "panel"))
        self._fit(len(rows))
        lines.show(rows, keep=first + self._chosen if self._chosen else 0)

    def _fit(self, rows: int) -> None:
        """Make the box as tall as what it shows, where that fits."""
        height = min(rows + FRAME, MOST_HEIGHT, max(SMALLEST, self.app.size.height * 4 // 5))
        if height != self._height:
            self._height = self.query_one("#box").styles.height = height
            self.call_after_refresh(self._draw)

    def _row(self, index: int, width: int) -> Row:
        offer, chosen = self._offers[index], index == self._chosen
        fill = "selection" if chosen and not self._palette.theme.ansi else "panel"
        longest = max(cell_len(each.title) for each in self._offers)
        room = max(12, min(longest, (width - 6) // 2))
        title = clipped(visible(offer.title), room)
        spans: list[Span] = [(" ❯ " if chosen else "   ", "accent"), (title, "text")]
        spans.append((" " * (room - cell_len(title) + 2), "text"))
        spans.append((clipped(visible(offer.detail), max(1, width - room - 6)), "faint"))
        return Row(spans, fill)
