"""The context panel: what the model is shown, why, and what was left out; pieces are pinned and taken out."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from textual import events, work

from session.base import events as said
from session.commands.context_commands import ContextCommands
from session.project.pins import PinError
from session.turn.window_report import WindowReport
from tui.app.overlays.chosen_list import Choices, ListScreen
from tui.app.overlays.context_rows import FILL, Entry, Group, detail, groups, head, hints, list_rows
from tui.app.overlays.file_picker import FilePicker
from tui.front.keys.keymap import scope, shown
from tui.screen.drawing.pacer import Pacer
from tui.screen.drawing.palette import Palette
from tui.screen.drawing.plain import clipped, fitting, visible
from tui.screen.drawing.rows import Row

LOW = 14
"""Below this height the hints are left out."""
CALM = 0.25
"""The least time between two windows that are built after events, in seconds."""
READING = 3.0
"""The same while the project is scanned."""
NOW, LAST = "to be sent now", "last sent"

CHANGES = (
    said.ContextPinned,
    said.ContextUnpinned,
    said.ContextRemoved,
    said.ContextRestored,
    said.DialogueCompacted,
    said.FilesChanged,
    said.FileSaved,
    said.HunkLanded,
    said.HunkUndone,
    said.HunkRedone,
    said.LineForgotten,
    said.LineRemembered,
    said.ModelChosen,
    said.ReadingProgress,
    said.TurnStarted,
    said.TurnEnded,
)
"""Events that can change the window."""
ASKING = (
    said.HunkHeld,
    said.HunkLanded,
    said.HunkRefused,
    said.PromptSubmitted,
    said.ToolHeld,
    said.ToolEnded,
    said.TurnEnded,
)
"""Events that can change what the bottom line says of the turn."""


class ContextScreen(ListScreen, inherit_bindings=False):
    """The panel. Its result is a file to open in the editor, or None."""

    WIDE = 110

    def __init__(
        self,
        palette: Palette,
        context: ContextCommands,
        listed: Callable[[], tuple[str, ...]],
        draft: str,
        running: Callable[[], bool] = bool,
        held: Callable[[], bool] = bool,
    ) -> None:
        """``listed`` gives the project's files, ``draft`` is the prompt that the window would be sent with;
        ``running`` says whether a turn runs, ``held`` whether something needs the user's OK meanwhile."""
        super().__init__(palette, Pacer(self._ask, CALM))
        self._window_commands = context
        self._listed = listed
        self._turn_runs = running
        self._draft = draft
        self._held = held
        self._view = NOW
        self._window: WindowReport | None = None
        self._groups: list[Group] = []
        self._entries: list[Entry] = []
        self._places: list[int] = []
        self._chosen = 0
        self._query = ""
        self._stale = self._unsorted = False
        self._busy = False
        self._typing = False
        self._built = self._took = 0.0

    def on_mount(self) -> None:
        """Start building the window."""
        self._ask()
        self._draw()

    def take(self, event: said.Event) -> None:
        """Something happened in the session."""
        if isinstance(event, said.ReadingProgress) and event.known < event.total:
            # Building a window slows down the scan, which should end soon.
            spell = max(READING, self._took * 10)
            if asyncio.get_running_loop().time() - self._built < spell:
                return
        if isinstance(event, ASKING):
            self._draw()
        if isinstance(event, CHANGES):
            self._pacer.request()

    def back(self) -> bool:
        """Clear the filter, or go back from the text to the list. False when there is neither."""
        if self._typing or self._query:
            self._typing = False
            self._search("")
            return True
        if self._reading:
            self.action_read()
            return True
        return False

    # The window.

    def _ask(self) -> None:
        self._stale = True
        self._work()

    def _search(self, query: str) -> None:
        self._query = query
        self._unsorted = True
        self._work()
        self._draw()

    def _work(self) -> None:
        if not self._busy and self.is_attached:
            self._busy = True
            self._build()

    @work(group="explain")
    async def _build(self) -> None:
        """Build and sort the window in threads until it is the one that was asked for last."""
        try:
            while self._stale or self._unsorted:
                if self._stale:
                    self._stale, view = False, self._view
                    began = asyncio.get_running_loop().time()
                    window = await self._window_commands.explain(self._draft if view == NOW else None)
                    self._built = asyncio.get_running_loop().time()
                    self._took = self._built - began
                    if view != self._view:
                        continue
                    self._window, self._unsorted = window, True
                self._unsorted, query = False, self._query
                if self._window is not None:
                    pinned = self._window_commands.pinned
                    found = await asyncio.to_thread(groups, self._window, pinned, query)
                    if not self._unsorted:
                        self._show(found)
        finally:
            self._busy = False

    def _show(self, found: list[Group]) -> None:
        """Show a sorted window, keeping the choice."""
        before = self._entry
        self._groups = found
        self._entries = [entry for group in found for entry in group.entries]
        if before is not None:
            same = [at for at, each in enumerate(self._entries) if each.name == before.name]
            alike = [at for at in same if self._entries[at].group == before.group]
            self._chosen = (alike or same or [self._chosen])[0]
        self._chosen = max(0, min(self._chosen, len(self._entries) - 1))
        self._draw()

    @property
    def _entry(self) -> Entry | None:
        return self._entries[self._chosen] if self._chosen < len(self._entries) else None

    # Drawing.

    def _draw(self, told: str = "", level: str = "muted") -> None:
        if not self.is_attached:
            return
        width, height = self.columns, self.size.height
        top = head(self._window, self._view, width, height)[: max(1, height // 3)]
        foot = self._foot_rows(told, level, width, height)
        for lines, rows in ((self._head, top), (self._foot, foot)):
            if lines.styles.height is None or lines.styles.height.value != len(rows):
                lines.styles.height = len(rows)
            lines.show(rows)
        self.call_after_refresh(self._draw_body)

    def _fit(self) -> None:
        self._draw_body()

    def _draw_body(self) -> None:
        if not self.is_attached:
            return
        pieces, piece = self._pieces, self._piece
        budget = self._window.budget if self._window else 1
        rows, self._places = list_rows(
            self._groups,
            self._chosen,
            pieces.size.width or self.columns,
            budget,
            ansi=self._palette.theme.ansi,
        )
        if not rows and self._window is not None and not self._window.problem:
            rows = [Row([("  nothing matches" if self._query else "  nothing", "muted")], FILL)]
        self._arrange(len(rows))
        keep = self._places[self._chosen] if self._places else 0
        heading = keep - 1 if self._chosen == 0 and keep else keep
        pieces.show(rows, keep=heading)
        entry = self._entry
        piece.top = piece.top if self._reading else 0
        piece.show(detail(entry, piece.size.width or self.columns, budget) if entry else [], keep=piece.top)

    def _foot_rows(self, told: str, level: str, width: int, height: int) -> list[Row]:
        entry = self._entry
        if self._typing or (self._query and not told):
            keep = "Enter keeps, Esc clears" if self._typing else "Esc clears"
            told = f"/{self._query}{'▏' if self._typing else ''}  {len(self._entries)} found · {keep}"
            level = "accent"
        elif not told and self._held():
            told = f"the turn needs your OK: {shown('close', 'context')} goes back to answer"
            level = "warning"
        elif not told and entry is not None:
            told = f"{self._chosen + 1}/{len(self._entries)} {entry.why}"
        rows = [Row([(f" {clipped(visible(told), width - 2)}", level)], FILL)]
        if height >= LOW:
            line = hints(reading=self._reading, now=self._view == NOW, running=self._turn_runs())
            rows.append(Row([(f" {fitting(line, width - 2, '  ')}", "faint")], FILL))
        return rows

    def _say(self, text: str, level: str = "warning") -> None:
        self._draw(text, level)

    # Keys.

    def action_move(self, by: int) -> None:
        """Move the choice, or scroll the text while it is read."""
        if self._reading:
            self._piece.move(by)
        elif self._entries:
            self._chosen = max(0, min(self._chosen + by, len(self._entries) - 1))
            self._draw()

    def action_page(self, by: int) -> None:
        """A page up or down."""
        lines = self._piece if self._reading else self._pieces
        self.action_move(by * max(1, lines.size.height - 2))

    def action_edge(self, by: int) -> None:
        """To the start or the end."""
        self.action_move(by * 1_000_000_000)

    def on_choices_chosen(self, event: Choices.Chosen) -> None:
        """Choose what was clicked."""
        if event.row in self._places:
            self._chosen = self._places.index(event.row)
            self._draw()

    def on_choices_turned(self, event: Choices.Turned) -> None:
        """The wheel moves the choice."""
        self.action_move(event.by)

    def action_view(self) -> None:
        """Switch between the next window and the last one sent."""
        self._view = LAST if self._view == NOW else NOW
        self._ask()

    def action_read(self) -> None:
        """Read the text of the piece, or go back to the list."""
        self._reading = not self._reading and self._entry is not None
        self._draw()

    def action_open(self) -> None:
        """Open the file in the editor; read the text of a piece that is no file."""
        entry = self._entry
        if entry is None:
            return
        if entry.path in self._listed():
            self.dismiss(entry.path)
        elif not self._reading:
            self.action_read()

    def action_pin(self) -> None:
        """Pin or unpin the chosen file."""
        entry = self._file()
        if entry is not None and entry.pinned:
            self._obey(self._window_commands.unpin, entry.pinned)
        elif entry is not None:
            self._obey(self._window_commands.pin, entry.path)

    def action_remove(self) -> None:
        """Take the chosen file out of the window, or put it back."""
        entry = self._file()
        if entry is not None and entry.removed:
            self._obey(self._window_commands.restore, entry.removed)
        elif entry is not None:
            self._obey(self._window_commands.remove, entry.path)

    def _file(self) -> Entry | None:
        if (entry := self._entry) is not None and not entry.path:
            self._say("only files can be pinned or taken out")
            return None
        return entry

    def _obey(self, command: Callable[[str], Awaitable[None]], target: str) -> None:
        # The app runs it, so that it is done even if the panel is closed meanwhile.
        self.app.run_worker(self._carry_out(command, target), group="pins")

    async def _carry_out(self, command: Callable[[str], Awaitable[None]], target: str) -> None:
        try:
            await command(target)
        except PinError as problem:
            if self.is_attached:
                self._say(str(problem))

    def action_add(self) -> None:
        """Pick a file to pin."""

        def picked(path: str | None) -> None:
            if path is not None:
                self._obey(self._window_commands.pin, path)

        listed = self._listed
        self.app.push_screen(
            FilePicker(self._palette, listed, "", "Pin a file", "Enter pins · Esc closes"), picked
        )

    def action_close(self) -> None:
        """Close the panel; a running turn goes on."""
        self.dismiss(None)

    def action_filter(self) -> None:
        """Start typing the filter."""
        self._typing = True
        self._draw()

    async def on_key(self, event: events.Key) -> None:
        """Run the keys in the order in which they were pressed. An input field for the filter would get the
        focus only after some letters had been read as keys."""
        action = next((entry.action for entry in scope("context").keys if event.key in entry.keys), None)
        if self._typing and self._typed(event):
            event.stop()
        elif action is not None:
            event.stop()
            event.prevent_default()
            await self.run_action(action)

    def _typed(self, event: events.Key) -> bool:
        """Handle a key as part of the filter; false when it is not."""
        if event.key == "enter":
            self._typing = False
            self._draw()
        elif event.key in ("backspace", "ctrl+h"):
            self._search(self._query[:-1])
        elif event.key == "ctrl+u":
            self._search("")
        elif event.is_printable and event.character is not None:
            self._search(self._query + event.character)
        else:
            return False
        return True

    @property
    def takes_text(self) -> bool:
        """Whether letters go into the filter."""
        return self._typing

    def on_paste(self, event: events.Paste) -> None:
        """Add pasted letters to the filter."""
        if self._typing:
            self._search(self._query + "".join(each for each in event.text if each.isprintable()))
