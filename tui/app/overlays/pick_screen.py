"""A list to pick from, with a filter: earlier prompts, commands, themes, sessions."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Input

from tui.app.overlays.file_picker import PathInput
from tui.app.overlays.overlay import ClosingScreen, Lines
from tui.front.matching import Choice, filtered, marked
from tui.screen.drawing.palette import Palette
from tui.screen.drawing.plain import cell_len, clipped, fitting, visible
from tui.screen.drawing.rows import Row, Span, wrap

AROUND = 6
"""Rows of a box that is as tall as its choices beside them: its frame, the filter, and one detail."""
CORNERS = 4
"""Cells of the lower border, beside its corners, that tell nothing."""


class PickScreen(ClosingScreen[str | None]):
    """A filter and the choices that fit. The result is the value of the one taken, or None."""

    def __init__(
        self,
        palette: Palette,
        title: str,
        choices: Sequence[Choice],
        *,
        hint: str = "↑ ↓ choose · Enter selects · Esc closes",
        empty: str = "nothing matches",
        query: str = "",
        chosen: str = "",
        further: str = "",
        on_chosen: Callable[[str], None] = lambda value: None,
        previews: bool = False,
    ) -> None:
        """``query`` stands in the filter at first, ``chosen`` is the value that is chosen at first, and
        ``further`` a key that chooses the next one, as the arrow does. ``on_chosen`` is told of each choice,
        before it is taken; with ``previews`` that shows in the panes behind, of which the box leaves most in
        sight."""
        super().__init__()
        self.set_class(previews, "-previews")
        self._previews = previews
        self._palette = palette
        self.heading = title
        self._choices = choices
        self._hint = hint
        self._empty = empty
        self._query = query
        self._further = further
        self._on_chosen = on_chosen
        self._found = filtered(query, choices)
        values = [each.value for each in self._found]
        self._at = values.index(chosen) if chosen in values else 0
        self._lines = Lines(palette, id="lines")

    @property
    def chosen(self) -> Choice | None:
        """The choice that Enter would take."""
        return self._found[self._at] if self._found else None

    def compose(self) -> ComposeResult:
        """The box, the filter and the choices."""
        with Vertical(id="box") as box:
            box.border_title = Content(self.heading)
            field = PathInput(self._query, placeholder="type to filter", select_on_focus=False, id="query")
            field.cursor_blink = False
            yield field
            yield self._lines

    def on_mount(self) -> None:
        """Show the choices."""
        self.call_after_refresh(self._lay_out)

    def on_resize(self) -> None:
        """Draw for the new width."""
        self.call_after_refresh(self._lay_out)

    def _lay_out(self) -> None:
        if self._previews:
            self.query_one("#box").styles.height = len(self._choices) + AROUND
        self.hint(self._hint)
        self._draw()

    def hint(self, keys: str) -> None:
        """Tell as many of ``keys`` as fit into the lower border."""
        self._hint = keys
        self.query_one("#box").border_subtitle = Content(fitting(keys, self._lines.size.width - CORNERS))

    def offer(self, choices: Sequence[Choice], chosen: str = "") -> None:
        """Offer other choices; the same one stays chosen where it is still there. ``chosen`` is chosen
        instead, and the filter is cleared where it hides that one."""
        before = chosen or (self.chosen.value if self.chosen is not None else "")
        self._choices = choices
        self._found = filtered(self._query, choices)
        if chosen and chosen not in (each.value for each in self._found):
            self._query = self.query_one(PathInput).value = ""
            self._found = filtered("", choices)
        values = [each.value for each in self._found]
        self._at = values.index(before) if before in values else 0
        self._draw()

    def restyle(self, palette: Palette) -> None:
        """Draw in other colours from now on."""
        self._palette = self._lines.palette = palette
        self._draw()

    def on_input_changed(self, event: Input.Changed) -> None:
        """Filter again; the first that fits is chosen."""
        if event.value != self._query:
            self._query = event.value
            self._found = filtered(event.value, self._choices)
            self._at = 0
            self._tell()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Take the choice."""
        event.stop()
        self.dismiss(self.chosen.value if self.chosen is not None else None)

    def on_key(self, event: events.Key) -> None:
        """Move the choice."""
        page = max(1, self._lines.size.height - 1)
        steps = {"up": -1, "ctrl+k": -1, "down": 1, "ctrl+j": 1, "ctrl+n": 1, "tab": 1, "shift+tab": -1}
        steps |= {"pageup": -page, "pagedown": page, self._further: 1}
        if event.key in steps:
            event.stop()
            event.prevent_default()
            at = max(0, min(self._at + steps[event.key], len(self._found) - 1))
            if at != self._at:
                self._at = at
                self._tell()

    def _tell(self) -> None:
        self._draw()
        if self.chosen is not None:
            self._on_chosen(self.chosen.value)

    def _draw(self) -> None:
        lines = self._lines
        width = lines.size.width
        rows: list[Row] = []
        keep, end, heading = 0, 0, ""
        longest = max((cell_len(visible(each.name)) for each in self._found), default=0)
        for at, choice in enumerate(self._found):
            if choice.heading and choice.heading != heading:
                heading = choice.heading
                rows += [Row([], "panel")] if rows else []
                rows.append(Row([(clipped(f" {heading}", width), "heading")], "panel"))
            if at == self._at:
                keep = len(rows)
            row, cut = self._row(choice, width, longest, chosen=at == self._at)
            rows.append(row)
            if cut and at == self._at:
                lead: list[Span] = [("     ", "text")]
                rows += wrap(
                    [(visible(choice.detail), "muted")], width - 2, first=lead, rest=lead, fill="panel"
                )
            if at == self._at:
                end = len(rows) - 1
        if not rows:
            rows = [Row([(f"  {self._empty}", "muted")], "panel")]
        lines.show(rows, keep=end)
        if keep < lines.top:
            lines.top = keep

    def _row(self, choice: Choice, width: int, longest: int, *, chosen: bool) -> tuple[Row, bool]:
        """The row of a choice, and whether its detail does not fit there. That of the chosen one is drawn
        whole below it."""
        fill = "selection" if chosen and not self._palette.theme.ansi else "panel"
        room = max(8, width - 4)
        most = longest if longest <= room // 2 else max(12, room * 2 // 5)
        most = min(longest, most if choice.detail else room)
        name = clipped(visible(choice.name), most if choice.detail else room)
        hits = marked(self._query, name)
        spans: list[Span] = [(" ❯ " if chosen else "   ", "accent")]
        role = "strong" if chosen else "text"
        spans += (
            [(letter, "accent" if at in hits else role) for at, letter in enumerate(name)]
            if hits
            else [(name, role)]
        )
        left = room - most - 2
        detail = visible(choice.detail)
        cut = cell_len(detail) > left
        if detail and left >= 8 and not (cut and chosen):
            spans.append((" " * (most - cell_len(name) + 2), "text"))
            spans.append((clipped(detail, left), "muted"))
        return Row(spans, fill), cut
