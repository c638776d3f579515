"""A list of files, filtered by a few letters of a path."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection

from textual import events, work
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Input
from textual.worker import Worker

from tui.app.overlays.overlay import ClosingScreen, Lines
from tui.front.keys.key_order import run_key_in_order
from tui.front.matching import best
from tui.screen.drawing.palette import Palette
from tui.screen.drawing.plain import cell_len, clipped_left, visible
from tui.screen.drawing.rows import Row, Span


def split_line(typed: str) -> tuple[str, int | None]:
    """The letters of a path and the line behind them, as in ``file.py:40``; None without a line."""
    letters, colon, number = typed.rpartition(":")
    if not colon or not (number.isdecimal() or not number):
        return typed, None
    return letters, int(number[:9]) if number else None


LIST_KEYS = frozenset({"ctrl+k", "ctrl+n", "up", "down", "pageup", "pagedown", "tab", "shift+tab"})
"""Keys that move the choice in the list below the field."""


class PathInput(Input):
    """The field for the letters. The keys of the list are not its own: a field would scroll by them."""

    async def on_key(self, event: events.Key) -> None:
        """See :mod:`tui.front.keys.key_order`."""
        if event.key not in LIST_KEYS:
            await run_key_in_order(self, event)


class FilePicker(ClosingScreen[str | None]):
    """Type a part of a path and take a match with Enter. The result is the path, or None; ``line`` is the
    line that was typed behind it."""

    MOST = 200
    """The most matches shown."""
    LOOK_AGAIN = 0.3
    """The list is updated this often, in seconds: the project may still be scanned."""

    def __init__(
        self,
        palette: Palette,
        listed: Callable[[], tuple[str, ...]],
        recent: str,
        title: str = "Open a file",
        hint: str = "Enter opens · Esc closes",
        typed: str = "type a part of the path, :40 for a line",
        reading: Callable[[], bool] = lambda: False,
        first: Collection[str] = (),
        makes: bool = False,
    ) -> None:
        """``listed`` returns the current paths, and ``reading`` whether more may come; ``recent`` is marked
        as the file being shown. ``typed`` says what to type. Of paths that match as well, those in ``first``
        come first. Where it ``makes`` files, a name that nothing matches is the result once Enter was pressed
        twice."""
        super().__init__()
        self._makes = makes
        self._asked = ""
        """The name that the next Enter makes a file of."""
        self.new = False
        """Whether the result is the name of a file to be made."""
        self._title, self._hint = title, hint
        self._palette = palette
        self._lines = Lines(palette, id="lines")
        self._listed, self._reading = listed, reading
        self._first = frozenset(first)
        self._paths = listed()
        self._recent = recent
        self._found: list[tuple[str, frozenset[int]]] = []
        self._chosen = 0
        self._searching: Worker[None] | None = None
        self._field = PathInput(placeholder=typed, id="query")
        self._field.cursor_blink = False
        self.line: int | None = None
        """The line that was typed behind the path, from 1."""

    def compose(self) -> ComposeResult:
        """The box, what is typed, and the matches."""
        with Vertical(id="box") as box:
            box.border_title = Content(self._title)
            box.border_subtitle = Content(self._hint)
            yield self._field
            yield self._lines

    def on_mount(self) -> None:
        """Show all files."""
        self._found = best("", self._paths, self.MOST, self._first)
        self.call_after_refresh(self._draw)
        self.set_interval(self.LOOK_AGAIN, self._look_again)

    def _look_again(self) -> None:
        """Search again if the files of the project changed."""
        if self._searching is None or self._searching.is_finished:  # Enter may wait for it
            self._update()

    def _update(self) -> bool:
        """Search again if the files of the project changed, and return whether they did; the choice stays on
        its file."""
        paths = self._listed()
        if paths is self._paths or paths == self._paths:
            return False
        self._paths = paths
        chosen = self._found[self._chosen][0] if self._found else ""
        self._searching = self._search(self._field.value, chosen)
        return True

    def on_input_changed(self, event: Input.Changed) -> None:
        """Search again."""
        self._asked = ""
        self._searching = self._search(event.value)

    async def on_input_submitted(self) -> None:
        """Take the chosen match, once the search for all that was typed is over. Where nothing matches while
        the project is still being read, as right after the start, wait for a match."""
        while await self._searched() and not self._found:
            reading = self._reading()  # asked first: what ends with the last files is known to have them
            if self._update():
                continue
            if not reading:
                break
            self.query_one("#box").border_subtitle = Content("waits for the file to be found · Esc closes")
            await asyncio.sleep(self.LOOK_AGAIN)
        letters, self.line = split_line(self._field.value)
        if not self._found and self._makes and letters.strip():
            self._make_or_ask(letters)
            return
        self.dismiss(self._found[self._chosen][0] if self._found else None)

    def _make_or_ask(self, letters: str) -> None:
        """Say what another Enter makes; the second one makes it."""
        self.new = self._asked == letters
        if self.new:
            self.dismiss(letters.strip())
        else:
            self._asked = letters
            self.query_one("#box").border_subtitle = Content(self._hint)
            self._draw()

    async def _searched(self) -> bool:
        """Wait for the search that runs; whether the screen is still open."""
        if self._searching is not None:
            await self._searching.wait()
        return self.is_current

    def on_key(self, event: events.Key) -> None:
        """Move the choice."""
        lines = self._lines
        page = max(1, lines.size.height - 1)
        steps = {"up": -1, "ctrl+k": -1, "down": 1, "ctrl+j": 1, "pageup": -page, "pagedown": page}
        if event.key in steps:
            event.stop()
            event.prevent_default()
            self._chosen = max(0, min(self._chosen + steps[event.key], len(self._found) - 1))
            self._draw()

    def on_resize(self) -> None:
        """Draw for the new width."""
        self.call_after_refresh(self._draw)

    @work(exclusive=True)
    async def _search(self, query: str, chosen: str = "") -> None:
        """Search in a thread: a large project has many files. ``chosen`` stays chosen if it is found."""
        letters, line = split_line(query)
        if line is not None and not letters and self._recent:
            letters = self._recent
        self._found = await asyncio.to_thread(best, letters, self._paths, self.MOST, self._first)
        found = [path for path, _ in self._found]
        self._chosen = found.index(chosen) if chosen in found else 0
        self._draw()

    def _draw(self) -> None:
        lines = self._lines
        width = lines.size.width
        rows = [self._row(index, width) for index in range(len(self._found))]
        if not rows:
            rows = [self._nothing(width)]
        lines.show(rows, keep=self._chosen)

    def _nothing(self, width: int) -> Row:
        """What is told where no file matches."""
        if self._asked:
            told = f"Enter makes {clipped_left(visible(self._asked.strip()), max(8, width - 16))}"
            return Row([(" ❯ ", "accent"), (told, "strong")], "panel")
        told = "no file matches" if self._paths else "there are no files in this folder yet"
        offers = (
            " · Enter offers to make it" if self._makes and split_line(self._field.value)[0].strip() else ""
        )
        return Row([(f"  {told}", "muted"), (offers, "text")], "panel")

    def _row(self, index: int, width: int) -> Row:
        path, hits = self._found[index]
        chosen = index == self._chosen
        fill = "selection" if chosen and not self._palette.theme.ansi else "panel"
        shown = visible(path)
        if cell_len(shown) > width - 4:
            shown, hits = clipped_left(shown, width - 4), frozenset()
        spans: list[Span] = [(" ❯ " if chosen else "   ", "accent")]
        spans += [(char, "accent" if at in hits else "text") for at, char in enumerate(shown)]
        if path == self._recent:
            spans.append(("  shown now", "faint"))
        return Row(spans, fill)
