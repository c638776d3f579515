"""What the text before the cursor could become: the list of suggestions, a few lines over the composer and
above everything else, and the matches that Tab puts in one after the other.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.strip import Strip
from textual.widget import Widget

from tui.front.matching import best
from tui.front.slash.completion import Completer, from_files
from tui.screen.drawing.palette import Palette
from tui.screen.drawing.plain import cell_len, clipped, clipped_left, visible
from tui.screen.drawing.rows import Row, Span

if TYPE_CHECKING:
    from tui.front.slash.completion import Candidates


MOST = 8
"""The most lines shown."""
_FILL = "panel"


def rows(
    texts: Sequence[str], details: Sequence[str], chosen: int, width: int, most: int, word: str = ""
) -> list[Row]:
    """At most ``most`` suggestions as rows. The ``chosen`` one (-1: none) is among them and has a sign, not
    only a colour; the letters of ``word`` stand out, and details follow where there is room."""
    first = max(0, min(chosen - most + 1, len(texts) - most))
    longest = max((cell_len(visible(text)) for text in texts), default=0)
    named = min(width - 3, max(longest, 12))
    shown: list[Row] = []
    for at in range(first, min(first + most, len(texts))):
        here = at == chosen
        name = clipped_left(visible(texts[at]), named)
        spans: list[Span] = [(" ❯ " if here else "   ", "accent")]
        spans += _marked(name, word, "strong" if here else "text")
        room = width - 3 - named - 2
        if room >= 8 and details[at]:
            detail = clipped(visible(details[at]), room)
            spans.append((" " * (named - cell_len(name) + 2) + detail, "muted"))
        shown.append(Row(spans, _FILL))
    return shown


def _marked(name: str, word: str, role: str) -> list[Span]:
    """``name`` with the letters that ``word`` matched in another colour."""
    found = best(word, [name], 1) if word else []
    hits = found[0][1] if found else frozenset[int]()
    return (
        [(letter, "accent" if at in hits else role) for at, letter in enumerate(name)]
        if hits
        else [(name, role)]
    )


class Suggestions(Widget):
    """The list, shown while there are suggestions. The composer's keys choose one and put it in."""

    def __init__(self, palette: Palette, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.palette = palette
        self.texts: Sequence[str] = ()
        self.word = ""
        """The word that the suggestions are for."""
        self._details: Sequence[str] = ()
        self._chosen = -1
        self._stepped = False
        """Whether the user chose by an arrow since the text changed."""
        self._rows: list[Row] = []

    def offer(self, found: Candidates, width: int, room: int, over: int) -> None:
        """Show suggestions in at most ``room`` lines and ``width`` cells, ``over`` lines above the lower
        edge; hide the list where there are none or there is no room. The first is chosen, unless nothing of
        it is typed yet, or all of it, or the user chose another one while these were looked for."""
        texts, before = found.texts, self.chosen if self._stepped else None
        self.texts, self._details, self.word = texts, found.details, found.word
        first = 0 if found.word and found.word not in texts else -1
        self._chosen = texts.index(before) if before in texts else first
        most = min(MOST, room, len(texts))
        self.display = most > 0
        if most > 0:
            self.styles.height = most
            self.styles.width = width
            self.styles.margin = (0, 0, over, 0)
            self._lay()

    def typed(self) -> None:
        """The text has changed: the next list chooses by itself."""
        self._stepped = False

    def choose(self, text: str) -> bool:
        """Mark ``text`` in the list; false when it is not in it."""
        if not self.display or text not in self.texts:
            return False
        self._chosen = self.texts.index(text)
        self._lay()
        return True

    @property
    def chosen(self) -> str | None:
        """The chosen suggestion; None where none is shown or chosen."""
        return self.texts[self._chosen] if self.display and 0 <= self._chosen < len(self.texts) else None

    def step(self, by: int) -> bool:
        """Choose the next suggestion, or the previous one; false where none is shown."""
        if not self.display or not self.texts:
            return False
        start = self._chosen if self._chosen >= 0 or by > 0 else 0
        self._chosen = (start + by) % len(self.texts)
        self._stepped = True
        self._lay()
        return True

    def hide(self) -> None:
        """Hide the list."""
        self.texts = ()
        if self.display:
            self.display = False

    def restyle(self, palette: Palette) -> None:
        """Draw in other colours from now on."""
        self.palette = palette
        self.refresh()

    def on_resize(self) -> None:
        """Lay out for the new size."""
        self._lay()

    def _lay(self) -> None:
        width, height = self.size
        self._rows = rows(self.texts, self._details, self._chosen, width, height, self.word) if height else []
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """One line."""
        row = self._rows[y] if y < len(self._rows) else Row([], _FILL)
        return row.strip(self.palette, self.size.width)


@dataclass(frozen=True, slots=True)
class Completed:
    """A completion: ``cut`` characters before the cursor are replaced by ``text``, match ``at`` of ``of``,
    from 1."""

    cut: int
    text: str
    at: int
    of: int


class CompletionCycle:
    """Cycles through the matches of the text that was before the cursor when Tab was first pressed."""

    def __init__(self, completer: Completer) -> None:
        self._completer = completer
        self._matches: Sequence[str] = ()
        self._at = 0

    async def complete(self, before: str, chosen: str | None = None) -> Completed | None:
        """The completion of the text ``before`` the cursor, or None where there is nothing to complete: the
        ``chosen`` match if there is one, else the first. Files are searched in a thread, so that other keys
        are not held up."""
        look = self._completer
        found = await asyncio.to_thread(look, before) if from_files(before) else look(before)
        if found is None:
            return None
        word = found.word
        if self._matches and word == self._matches[self._at]:
            self._at = (self._at + 1) % len(self._matches)
        else:
            self._matches, self._at = found.texts, 0
            if chosen is not None and chosen != word and chosen in self._matches:
                self._at = self._matches.index(chosen)
            elif word in self._matches and len(self._matches) > 1:
                self._at = (self._matches.index(word) + 1) % len(self._matches)
        if not self._matches:
            return Completed(0, "", 0, 0)
        return Completed(len(word), self._matches[self._at], self._at + 1, len(self._matches))
