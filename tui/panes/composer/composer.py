"""The composer: a text area for prompts that never loses what was typed."""

from __future__ import annotations

from collections.abc import Callable

from textual import events
from textual.actions import SkipAction
from textual.message import Message
from textual.timer import Timer
from textual.widgets import TextArea
from textual.widgets.text_area import Edit, EditResult, Location, Selection

from tui.keys.key_order import run_key_in_order
from tui.keys.keymap import bindings
from tui.panes.composer.completion_cycle import CompletionCycle
from tui.panes.composer.history import History
from tui.panes.composer.paste_chips import Chips, is_big
from tui.words.completion import Completer, nothing

DRAFT_DELAY = 0.4
"""The draft is saved after this many seconds without a change."""
LARGEST_SHOWN_DRAFT = 20_000
NOTHING_TO_COMPLETE = "Tab completes @files, @names and /commands; while a turn runs it queues the prompt"


class Composer(TextArea):
    """A text of several lines; Enter sends it."""

    BINDINGS = bindings("composer")

    class Sent(Message):
        """The user sends ``text``; ``queued``: after the running turn."""

        def __init__(self, text: str, *, queued: bool) -> None:
            super().__init__()
            self.text, self.queued = text, queued

    class DraftChanged(Message):
        """The draft changed, and then did not change for a moment."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class Left(Message):
        """The focus left the composer."""

    class Completing(Message):
        """Tab completed a word; ``told`` says which match of how many."""

        def __init__(self, told: str) -> None:
            super().__init__()
            self.told = told

    def __init__(
        self,
        prompts: list[str],
        draft: str,
        completes: Completer = nothing,
        running: Callable[[], bool] = lambda: False,
        *,
        id: str | None = None,
    ) -> None:
        self._chips = Chips()  # asked for while the text area is made
        super().__init__(id=id, soft_wrap=True, highlight_cursor_line=False, max_checkpoints=500)
        self.cursor_blink = False
        self.match_cursor_bracket = False
        self.history_of_prompts = History(prompts)
        self._cycle = CompletionCycle(completes)
        self._turn_runs = running
        self._timer: Timer | None = None
        if draft:
            self.put(draft)

    @property
    def draft(self) -> str:
        """The text that would be sent."""
        return self._chips.whole(self.text)

    def put(self, text: str) -> None:
        """Put ``text`` in place of the draft, with the cursor at its end."""
        short = self._chips.short(text)
        self.load_text(self._chips.chip(text) if len(short) > LARGEST_SHOWN_DRAFT else short)
        self.move_cursor(self.document.end)

    def set_aside(self) -> bool:
        """Clear the draft and add it to the history of prompts. False when it is empty."""
        draft = self.draft
        if not draft.strip():
            return False
        self.history_of_prompts.add(draft)
        self.put("")
        return True

    # Keys.

    async def on_key(self, event: events.Key) -> None:
        """Run the bound keys in the order in which they were pressed.

        A priority binding would overtake the characters before it, and Enter would send less than was typed.
        """
        await run_key_in_order(self, event)

    def action_send(self) -> None:
        """Send the draft."""
        self._send(queued=False)

    def _send(self, *, queued: bool) -> None:
        draft = self.draft
        if not draft.strip():
            return
        self.history_of_prompts.add(draft)
        self.put("")
        self.post_message(self.Sent(draft, queued=queued))

    def action_try_it(self) -> None:
        """Send the draft as a race of attempts."""
        draft = self.draft
        if draft.strip() and not draft.startswith("/"):
            self.history_of_prompts.add(draft)
            self.put("")
            self.post_message(self.Sent(f"/try {draft}", queued=False))

    def action_newline(self) -> None:
        """Insert a line break."""
        start, end = self.selection
        self.replace("\n", start, end, maintain_selection_offset=False)

    def action_earlier(self) -> None:
        """Show the earlier prompt when on the first line; else move up a line."""
        if self.navigator.is_first_wrapped_line(self.cursor_location):
            self._walk(-1)
        else:
            self.action_cursor_up()

    def action_later(self) -> None:
        """Show the later prompt when on the last line; else move down a line."""
        if self.navigator.is_last_wrapped_line(self.cursor_location):
            self._walk(1)
        else:
            self.action_cursor_down()

    def _walk(self, by: int) -> None:
        text = self.history_of_prompts.step(by, self.draft)
        if text is not None:
            self.put(text)

    async def action_complete(self) -> None:
        """Complete the text before the cursor, Tab again for the next match; else queue the draft after the
        running turn. The focus stays here: text typed next must not go into a source file."""
        row, column = self.cursor_location
        completed = await self._cycle.complete(self.document.get_line(row)[:column])
        if self.cursor_location != (row, column):
            return  # another text came meanwhile
        if completed is None and self._turn_runs():
            self._send(queued=True)
        elif completed is None:
            self.post_message(self.Completing(NOTHING_TO_COMPLETE))
        elif completed.of:
            self.replace(completed.text, (row, column - completed.cut), (row, column))
            self.post_message(self.Completing(f"{completed.at} of {completed.of}: {completed.text}"))
        else:
            self.post_message(self.Completing("nothing matches"))

    async def action_quit_or_delete(self) -> None:
        """Quit on an empty draft; else delete to the right."""
        if self.text:
            self.action_delete_right()
        else:
            await self.app.run_action("app.do('quit_spark')")

    # Chips: the cursor goes over one as over a character, and a change in one takes all of it.

    def validate_selection(self, selection: Selection) -> Selection:
        """Keep the cursor out of chips. Textual calls this with every selection, before it is set."""
        old = self.selection
        return Selection(self._outside(selection.start, old.start), self._outside(selection.end, old.end))

    def _outside(self, new: Location, old: Location) -> Location:
        row, column = new
        if row >= self.document.line_count:
            return new
        line = self.document.get_line(row)
        before = old[1] if old[0] == row else column
        return row, self._chips.beside(line, column, before)

    def edit(self, edit: Edit) -> EditResult:
        """Change the text; a chip that would be changed is replaced whole."""
        top, bottom = sorted((edit.from_location, edit.to_location))
        first = self._chips.around(self.document.get_line(top[0]), top[1])
        last = self._chips.around(self.document.get_line(bottom[0]), bottom[1])
        if first is not None and top == bottom:
            edit.from_location = edit.to_location = (top[0], first[1])
        elif first is not None or last is not None:
            edit.from_location = (top[0], first[0] if first is not None else top[1])
            edit.to_location = (bottom[0], last[1] if last is not None else bottom[1])
        return super().edit(edit)

    def undo(self) -> None:
        """Undo typing."""
        self._from_the_start(super().undo)

    def redo(self) -> None:
        """Redo typing."""
        self._from_the_start(super().redo)

    def _from_the_start(self, step: Callable[[], None]) -> None:
        """Run ``step`` with the cursor where there is text in any case: Textual scrolls to the old place of
        the cursor before it moves it, and raises where that line is gone."""
        before, text = self.selection, self.text
        self.selection = Selection.cursor((0, 0))
        step()
        if self.text == text:
            self.selection = before

    @property
    def selected_text(self) -> str:
        """The selected text, with its pastes whole."""
        return self._chips.whole(super().selected_text)

    def action_paste(self) -> None:
        """Insert what was cut or copied in spark last."""
        self._insert_paste(self.app.clipboard)

    def on_paste(self, event: events.Paste) -> None:
        """Insert a paste; a big one as a chip."""
        event.prevent_default()
        event.stop()
        if not event.text:
            raise SkipAction
        self._insert_paste(event.text.replace("\r\n", "\n").replace("\r", "\n"))

    def _insert_paste(self, text: str) -> None:
        short = self._chips.short(text)
        start, end = self.selection
        insert = self._chips.chip(text) if short == text and is_big(text) else short
        self.replace(insert, start, end, maintain_selection_offset=False)

    def on_blur(self) -> None:
        """Hide what is shown while typing."""
        self.post_message(self.Left())

    # The draft.

    def on_text_area_changed(self) -> None:
        """Save the draft once typing pauses."""
        if self._timer is not None:
            self._timer.stop()
        self._timer = self.set_timer(DRAFT_DELAY, self._keep)

    def _keep(self) -> None:
        self.post_message(self.DraftChanged(self.draft))
