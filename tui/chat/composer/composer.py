"""The composer: a text area for prompts that never loses what was typed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from textual import events
from textual.actions import SkipAction
from textual.message import Message
from textual.timer import Timer
from textual.widgets import TextArea
from textual.widgets.text_area import Edit, EditResult, Location, Selection

from tui.chat.composer.cut_and_paste import CUT, Chips, CutChord, KillRing, is_big
from tui.chat.composer.history import History
from tui.chat.composer.suggestions import CompletionCycle, Suggestions
from tui.editor.buffers.rows import index_at
from tui.front.keys.key_order import own_actions, run_key_in_order
from tui.front.keys.keymap import bindings
from tui.front.slash.completion import Completer, Kind, nothing, typed

if TYPE_CHECKING:
    from tui.chat.composer.vi_hands import ViHands

DRAFT_DELAY = 0.4
"""The draft is saved after this many seconds without a change."""
LARGEST_SHOWN_DRAFT = 20_000
KILLS = frozenset({"kill_word_left", "kill_word_right", "kill_to_start", "kill_to_end"})
"""Actions whose text is joined when they come in a row."""
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

    class ModeChanged(Message):
        """The vi keys went to another mode."""

    class Left(Message):
        """The focus left the composer."""

    class Outside(Message):
        """The user wants to edit the prompt in an editor of their own."""

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
        suggestions: Suggestions | None = None,
        *,
        id: str | None = None,
    ) -> None:
        self._chips = Chips()  # asked for while the text area is made
        super().__init__(id=id, soft_wrap=True, highlight_cursor_line=False, max_checkpoints=500)
        self.cursor_blink = False
        self.match_cursor_bracket = False
        self.history_of_prompts = History(prompts)
        self._kills = KillRing()
        self._chord = CutChord(self)
        self._vi: ViHands | None = None
        self._yanked: Selection | None = None
        """Where the text stands that was yanked last, while nothing else was done."""
        self._cycle = CompletionCycle(completes)
        self._turn_runs = running
        self.on_sending: Callable[[str], None] = lambda text: None
        """Called with what the user sends, before the next key is handled."""
        self._suggestions = suggestions
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

    def go_on(self, text: str) -> None:
        """Take what was typed elsewhere in the belief that it goes here, and the focus."""
        self.focus()
        self.insert(text)

    def put_before(self, texts: Sequence[str]) -> None:
        """Put ``texts`` before the draft, with empty lines between them."""
        self.put("\n\n".join(filter(str.strip, [*texts, self.draft])))

    def put_in_place(self, text: str) -> None:
        """Put ``text`` in the place of the draft; undo brings the draft back."""
        end = self.replace(
            self._chips.short(text), (0, 0), self.document.end, maintain_selection_offset=False
        )
        self.move_cursor(end.end_location)

    def set_aside(self) -> str:
        """Clear the draft, add it to the history of prompts, and return it; nothing where it is empty."""
        draft = self.draft
        if not draft.strip():
            return ""
        self.history_of_prompts.add(draft)
        self.put("")
        return draft

    # Keys.

    async def on_key(self, event: events.Key) -> None:
        """Run the bound keys in the order in which they were pressed.

        A priority binding would overtake the characters before it, and Enter would send less than was typed.
        """
        actions = own_actions(type(self))
        taken = self._vi is not None and await self._vi.take(event)
        if not taken and actions.get(CUT) == "cut":
            taken = self._chord.take(event.key, selected=not self.selection.is_empty)
        if taken:
            event.stop()
            event.prevent_default()
            return
        if actions.get(event.key) not in KILLS:
            self._kills.end_row()
        await run_key_in_order(self, event)

    def use_vi_keys(self) -> None:
        """Have the modes of vi from now on, beginning with insert mode."""
        from tui.chat.composer.vi_hands import ViHands

        self._vi = ViHands(self, self._mode_changed)

    @property
    def mode(self) -> str:
        """The mode of the vi keys, as the user is shown it; empty in insert mode and without them."""
        return self._vi.told if self._vi is not None else ""

    def leave_insert_mode(self) -> None:
        """Esc was pressed: with vi keys, go to normal mode."""
        if self._vi is not None and self.has_focus:
            self._vi.escape()

    def _mode_changed(self) -> None:
        self.post_message(self.ModeChanged())

    def set_cut_timer(self, seconds: float) -> Timer:
        """See :class:`tui.chat.composer.cut_and_paste.Cutting`."""
        return self.set_timer(seconds, self._chord.cut)

    def action_outside(self) -> None:
        """Edit the prompt in the user's own editor."""
        self.post_message(self.Outside())

    def action_send(self) -> None:
        """Send the draft; where a suggestion is chosen, put that in. A line break behind ``\\``."""
        row, column = self.cursor_location
        before = self.document.get_line(row)[:column]
        if before.endswith("\\") and self.selection.is_empty:
            self.replace("\n", (row, column - 1), (row, column), maintain_selection_offset=False)
        elif not self._put_suggestion(before):
            self._send(queued=False)

    def _put_suggestion(self, before: str) -> bool:
        """Put in the chosen suggestion for the word at the end of ``before``; false where there is none."""
        offered, now = self._suggestions, typed(before)
        chosen = offered.chosen if offered is not None else None
        if offered is None or chosen is None or now is None or now.word != offered.word or now.word == chosen:
            return False  # where it stands there already, this Enter sends
        row, column = self.cursor_location
        open_end = chosen.endswith("/") or (now.kind is Kind.VALUE)
        text = chosen if open_end else f"{chosen} "
        self.replace(text, (row, column - len(now.word)), (row, column), maintain_selection_offset=False)
        offered.hide()
        return True

    def _send(self, *, queued: bool) -> None:
        draft = self.draft
        if not draft.strip():
            return
        self.history_of_prompts.add(draft)
        self.put("")
        if self._vi is not None:
            self._vi.insert()
        self.on_sending(draft)
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
        """Choose the suggestion above; else show the earlier prompt when on the first line, or move up."""
        if self._suggestions is not None and self._suggestions.step(-1):
            return
        if self.navigator.is_first_wrapped_line(self.cursor_location):
            self._walk(-1)
        else:
            self.action_cursor_up()

    def action_later(self) -> None:
        """Choose the suggestion below; else show the later prompt when on the last line, or move down."""
        if self._suggestions is not None and self._suggestions.step(1):
            return
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
        chosen = self._suggestions.chosen if self._suggestions is not None else None
        completed = await self._cycle.complete(self.document.get_line(row)[:column], chosen)
        if self.cursor_location != (row, column):
            return  # another text came meanwhile
        if completed is None and self._turn_runs():
            self._send(queued=True)
        elif completed is None:
            self.post_message(self.Completing(NOTHING_TO_COMPLETE))
        elif completed.of:
            # Said first: the change that it makes is then known as a completion, not as typing.
            self.post_message(self.Completing(f"{completed.at} of {completed.of}: {completed.text}"))
            self.replace(completed.text, (row, column - completed.cut), (row, column))
        else:
            self.post_message(self.Completing("nothing matches"))

    async def action_quit_or_delete(self) -> None:
        """Quit on an empty draft; else delete to the right."""
        if self.text:
            self.action_delete_right()
        else:
            await self.app.run_action("app.do('quit_spark')")

    # Killing and yanking, as in Emacs and the shells.

    def action_kill_word_left(self) -> None:
        """Kill to the start of the word."""
        self._kill(self.action_delete_word_left, backwards=True)

    def action_kill_word_right(self) -> None:
        """Kill to the end of the word."""
        self._kill(self.action_delete_word_right)

    def action_kill_to_start(self) -> None:
        """Kill to the start of the line; there, the line break before it."""
        self._kill(self.action_delete_to_start_of_line, backwards=True)

    def action_kill_to_end(self) -> None:
        """Kill to the end of the line; there, the line break behind it."""
        at_end = self.cursor_at_end_of_line and self.selection.is_empty
        self._kill(self.action_delete_right if at_end else self.action_delete_to_end_of_line)

    def _kill(self, delete: Callable[[], None], *, backwards: bool = False) -> None:
        before, cursor = self.text, index_at(self.text, self.cursor_location)
        delete()
        taken = len(before) - len(self.text)
        start = index_at(self.text, self.cursor_location)
        self._kills.kill(before[start : start + taken] if start <= cursor else "", backwards=backwards)

    def action_yank(self) -> None:
        """Put in what was killed last."""
        self._yank(self._kills.yank(), self.selection)

    def action_yank_earlier(self) -> None:
        """Behind a yank: put in what was killed before that, in its place."""
        if self._yanked is not None and self.selection == Selection.cursor(self._yanked.end):
            self._yank(self._kills.earlier(), self._yanked)

    def _yank(self, text: str, at: Selection) -> None:
        if text:
            start = min(at.start, at.end)
            end = self.replace(text, at.start, at.end, maintain_selection_offset=False).end_location
            self._yanked = Selection(start, end)

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
        first, last = self._chip_around(top), self._chip_around(bottom)
        if first is not None and top == bottom:
            edit.from_location = edit.to_location = (top[0], first[1])
        elif first is not None or last is not None:
            edit.from_location = (top[0], first[0] if first is not None else top[1])
            edit.to_location = (bottom[0], last[1] if last is not None else bottom[1])
        return super().edit(edit)

    def _chip_around(self, place: Location) -> tuple[int, int] | None:
        row, column = place
        if row >= self.document.line_count:  # where the last line is cut
            return None
        return self._chips.around(self.document.get_line(row), column)

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
        """Hide what is shown while typing, and end what a key began."""
        self._chord.cut()
        self.post_message(self.Left())

    # The draft.

    def on_text_area_changed(self) -> None:
        """Save the draft once typing pauses."""
        if self._timer is not None:
            self._timer.stop()
        self._timer = self.set_timer(DRAFT_DELAY, self._keep)

    def _keep(self) -> None:
        self.post_message(self.DraftChanged(self.draft))
