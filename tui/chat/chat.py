"""The chat pane: a Line-API view of the transcript that avoids layouts and repaints only changed rows.

It keeps its own scroll position: every change of Textual's virtual size would cause a layout.
"""

from __future__ import annotations

from time import monotonic

from textual import events
from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget

from tui.chat.mouse import ChatMouse
from tui.chat.painting import LinePainter, Rewrapping
from tui.chat.read_view import Page
from tui.chat.reading import Reading
from tui.chat.reading_keys import ReadingKeys
from tui.chat.transcript.answer import Answer, last_block, whole_text
from tui.chat.transcript.entries import CallEntry, Entry, HunkEntry, HunkSize, Reasoning
from tui.chat.transcript.transcript import Dropped, Folded, Prompt, Remark, Transcript
from tui.front.keys.key_order import run_key_in_order
from tui.front.keys.keymap import bindings
from tui.screen.drawing.pacer import JumpScroll, stream_pacer
from tui.screen.drawing.palette import Palette
from tui.screen.terminal.frames import scrolled

ALL_ROWS = 1_000_000_000
"""More rows than any conversation has."""


class ChatView(Widget, can_focus=True):
    """The conversation. It follows its end until the user scrolls up, and again once they are back at the
    end."""

    BINDINGS = bindings("chat")
    ALLOW_SELECT = False  # Textual's own selection knows nothing of these rows

    def __init__(self, palette: Palette, page: Page | None = None, *, id: str | None = None) -> None:
        """``page`` is shown until the conversation begins."""
        super().__init__(id=id)
        self.border_title = " Chat "
        self.palette = palette
        self.page = page
        self.transcript = Transcript(80)
        self.top = 0
        """The transcript row at the pane's first line."""
        self.following = True
        self.unfolded = False
        self._hunks: dict[str, HunkEntry] = {}
        self._calls: dict[str, CallEntry] = {}
        self._jumps = JumpScroll()
        self._pacer = stream_pacer(self, self._frame)
        self.reading = Reading(self.transcript)
        self.keys = ReadingKeys(self)
        self._mouse = ChatMouse(self, self.keys)
        self._painter = LinePainter(self)
        self._rewrapping = Rewrapping(self, self._painter)

    # Events of the session, in order.

    def prompt(self, text: str, kind: str = "prompt", typed: str | None = None) -> None:
        """Add a prompt of the user, who only ``typed`` a part of it where spark wrote the rest."""
        self.close_run()
        self._add(Prompt(text, kind, typed))

    def text(self, delta: str) -> None:
        """Add a piece of the answer."""
        while delta:
            last = self._last()
            if isinstance(last, Answer) and last.full:
                last.close()
                last = Answer(last)
                self._add(last)
            elif not isinstance(last, Answer) or last.closed:
                if not delta.strip("\n"):
                    return
                self.close_run()
                last = Answer()
                self._add(last)
                delta = delta if delta.startswith("  ") else delta.removeprefix(" ")  # between two words
            delta = last.feed(delta)
        self._pacer.request()

    def reasoning(self, delta: str) -> None:
        """Add a piece of the reasoning."""
        last = self._last()
        if not isinstance(last, Reasoning) or last.closed:
            self.close_run()
            last = Reasoning(unfolded=self.unfolded)
            self._add(last)
        last.feed(delta)
        self._pacer.request()

    def hunk(
        self, hunk: str, path: str, action: str, state: str, detail: str = "", size: HunkSize | None = None
    ) -> None:
        """Add the line of a hunk, or change it in place if there is one."""
        entry = self._hunks.get(hunk)
        if entry is None:
            self.close_run()
            entry = self._hunks[hunk] = HunkEntry(hunk, path, action)
            self._add(entry)
        entry.path, entry.action = path or entry.path, action if action == "replace" else entry.action
        entry.become(state, detail)
        if size is not None:
            entry.measure(size)
        self._pacer.request()

    def name_hunk(self, hunk: str, symbol: str) -> None:
        """Show the definition that a hunk is in; without its line nothing is shown."""
        entry = self._hunks.get(hunk)
        if entry is not None and entry.symbol != symbol:
            entry.name(symbol)
            self._pacer.request()

    def judged(self, hunk: str, check: str, status: str, detail: str) -> None:
        """Show in the line of a hunk what a check says of it; without that line nothing is shown."""
        entry = self._hunks.get(hunk)
        if entry is not None:
            entry.judge(check, status, detail)
            self._pacer.request()

    def tested(self, check: str) -> None:
        """A check of the project has judged: no hunk waits for it any more."""
        for entry in self._hunks.values():
            entry.tested(check)
        self._pacer.request()

    def call(self, call: str, line: str) -> CallEntry:
        """The entry of a tool call; a new one with ``line`` where there is none."""
        entry = self._calls.get(call)
        if entry is None:
            self.close_run()
            entry = self._calls[call] = CallEntry(line, call)
            self._add(entry)
        self._pacer.request()
        return entry

    def call_named(self, call: str) -> CallEntry | None:
        """The entry of a tool call, if the conversation has one."""
        return self._calls.get(call)

    def hunk_named(self, hunk: str) -> HunkEntry | None:
        """The line of a hunk; None if there is none."""
        return self._hunks.get(hunk)

    def remark(self, text: str, level: str = "info", *, earlier: bool = False) -> None:
        """Add a line from spark itself; an ``earlier`` one is about the turn before the last prompt."""
        self.close_run()
        self._add(Remark(text, level), earlier=earlier)

    def folded(self, head: str, text: str, *, quiet: bool = False, earlier: bool = False) -> None:
        """Add a line from spark itself with details that unfold; for ``earlier`` see :meth:`remark`."""
        self.close_run()
        self._add(Folded(head, text, unfolded=self.unfolded, quiet=quiet), earlier=earlier)

    def close_run(self) -> None:
        """End the piece that is streaming."""
        last = self._last()
        if isinstance(last, Answer):
            last.close()
        elif isinstance(last, Reasoning) and not last.closed:
            last.closed = last.dirty = True
        self._pacer.request()

    def drop_pending(self) -> None:
        """Drop text that was received and not painted yet."""
        last = self._last()
        if isinstance(last, Answer):
            last.drop_pending()

    def fold(self, *, unfolded: bool) -> None:
        """Unfold or fold all reasoning and all compaction details, old and new."""
        self.unfolded = unfolded
        for entry in self.transcript.entries:
            if isinstance(entry, Reasoning | Folded):
                entry.unfolded, entry.dirty = unfolded, True
        self._pacer.request()

    def fold_blocks(self, *, folded: bool) -> bool:
        """Fold or unfold all long code blocks; whether that changed anything."""
        answers = [entry for entry in self.transcript.entries if isinstance(entry, Answer)]
        changed = [answer for answer in answers if answer.fold(folded=folded)]
        if changed:
            self.reading.anchor = None
            self.settle_now()
        return bool(changed)

    def _add(self, entry: Entry, *, earlier: bool = False) -> None:
        if isinstance(entry, Prompt) and not (self.has_focus and self.reading.cursor is not None):
            # The view goes to the end, unless something is being read.
            self.following = True
            self.fold_blocks(folded=True)
        self.transcript.add(entry, earlier=earlier)
        self._pacer.request()

    def _last(self) -> Entry | None:
        return self.transcript.entries[-1] if self.transcript.entries else None

    # Copying.

    def last_answer(self) -> str:
        """The text of the answer to the last prompt."""
        return whole_text(self.transcript.of_last_turn(Answer))

    def last_code(self) -> str:
        """The last code block of the conversation."""
        return last_block([entry for entry in self.transcript.entries if isinstance(entry, Answer)])

    # Painting.

    def restyle(self, palette: Palette) -> None:
        """Draw in other colours from now on."""
        self.palette = palette
        self.refresh()

    def tell_instead(self, problem: str) -> None:
        """Show ``problem`` on the page before the conversation, if there is one, or the page itself again."""
        if self.page is not None and self.page.problem != problem:
            self.page.problem = problem
            self.refresh()

    def settle_now(self) -> None:
        """Paint now instead of at the next frame."""
        self._pacer.cancel()
        self._frame()

    def hurry(self) -> None:
        """Paint what is new without waiting for the next frame's time."""
        self._pacer.hurry()

    def on_resize(self, event: events.Resize) -> None:
        """Wrap for the new width, what is in sight first."""
        self._rewrapping.begin(max(8, event.size.width - 2))

    def on_unmount(self) -> None:
        """Paint nothing after the widget is gone."""
        self._pacer.cancel()
        self._rewrapping.cancel()

    def _end(self) -> int:
        return max(0, self.transcript.total - self.size.height)

    def _frame(self) -> None:
        if not self.size.height:
            return
        before = self.transcript.total
        changed = self.transcript.settle()
        if changed is None:
            return
        if not before:  # the conversation begins, in place of the page
            self.refresh()
        if gone := self.transcript.shorten(self.top, self.size.height, following=self.following):
            self._forget(gone)
            before = self.transcript.total
        total, (width, height) = self.transcript.total, self.size
        if self.following and (total > self.top + height or self.top > total):
            room = self._jumps.room(total, height, monotonic()) if self._streaming() else 0
            self.top = self._end() + room
            self.refresh()
            return
        if self._painter.thumb != self._painter.drawn_thumb:
            self.refresh()
            return
        first, last = max(0, changed - self.top), min(height, max(before, total) - self.top)
        if first < last:
            self.refresh(Region(0, first, width, last - first))
        if not self.following:
            self.refresh(Region(0, height - 1, width, 1))

    def _forget(self, gone: Dropped) -> None:
        """Entries are gone: keep in sight what was."""
        self.top = max(0, self.top - gone.above)
        self._painter.drawn_top -= gone.above
        for named in (self._hunks, self._calls):
            for name in [name for name, entry in named.items() if entry in gone.entries]:
                del named[name]
        self.refresh()

    def _streaming(self) -> bool:
        last = self._last()
        return isinstance(last, Answer) and not last.closed

    def render_line(self, y: int) -> Strip:
        """One line of the pane."""
        return self._painter.line(y)

    def render_lines(self, crop: Region) -> list[Strip]:
        """Some lines of the pane, with its border."""
        scrolled(self, self._painter.moved())
        return self._painter.lines(crop, super().render_lines)

    async def on_key(self, event: events.Key) -> None:
        """Run the keys in the order in which they were pressed."""
        if self.keys.take(event):
            event.stop()
            event.prevent_default()
            return
        await run_key_in_order(self, event)

    @property
    def takes_text(self) -> bool:
        """Whether what is searched for is typed."""
        return self.keys.typing

    def on_paste(self, event: events.Paste) -> None:
        """Add pasted letters to what is searched for."""
        self.keys.paste(event.text)

    def action_read(self, name: str, *argument: object) -> None:
        """Run a key of :class:`~tui.chat.reading_keys.ReadingKeys`; Textual passes on one argument."""
        getattr(self.keys, name)(*argument)

    def watch_has_focus(self, has_focus: bool) -> None:
        """Draw the cursor, or no cursor."""
        super().watch_has_focus(has_focus)
        if self.reading.cursor is not None:
            self.refresh()

    def reveal_cursor(self, *, first: bool = False) -> None:
        """Scroll to the cursor; ``first`` puts it at the top."""
        point = self.reading.point(self.reading.cursor)
        if point is not None:
            height = max(1, self.size.height - 1)
            top = point[0] if first else max(point[0] - height + 1, min(self.top, point[0]))
            self.top = max(0, min(top, self._end() + 1))
            self.following = False
        self.refresh()

    def let_go(self) -> bool:
        """End the search, the selection or the cursor, and follow the end again from there; false where there
        is none of them."""
        if not self.keys.let_go():
            return False
        if self.reading.cursor is None and self.top >= self._end():
            self.scroll_rows_by(self.transcript.total)
        return True

    @property
    def selected_text(self) -> str:
        """What is selected."""
        return self.reading.text() if self.reading.selected is not None else ""

    # Scrolling.

    def scroll_rows_by(self, rows: int) -> None:
        """Scroll; reaching the end follows it again."""
        if self.page is not None and not self.transcript.total:
            self.page.scroll(rows, self.size)
            self.refresh()
            return
        end = self._end()
        self.following = rows > 0 and self.top + rows >= end
        self.top = end if self.following else max(0, min(max(end, self.top), self.top + rows))
        self.refresh()

    def action_scroll_page(self, pages: int) -> None:
        """Scroll by pages, keeping two rows in sight."""
        self.scroll_rows_by(pages * max(1, self.size.height - 2))

    def action_to_start(self) -> None:
        """Scroll to the first row."""
        self.reading.cursor = None
        self.scroll_rows_by(-ALL_ROWS)

    def action_to_end(self) -> None:
        """Scroll to the last row, and follow it."""
        self.reading.cursor = None
        self.scroll_rows_by(ALL_ROWS)

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """See :class:`~tui.chat.mouse.ChatMouse`."""
        self._mouse.down(event)

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """See :class:`~tui.chat.mouse.ChatMouse`."""
        self._mouse.moved(event)

    def on_mouse_up(self) -> None:
        """See :class:`~tui.chat.mouse.ChatMouse`."""
        self._mouse.up()

    def on_click(self, event: events.Click) -> None:
        """See :class:`~tui.chat.mouse.ChatMouse`."""
        self._mouse.clicked(event)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """Scroll three rows up."""
        event.stop()
        self.scroll_rows_by(-3)

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """Scroll three rows down."""
        event.stop()
        self.scroll_rows_by(3)
