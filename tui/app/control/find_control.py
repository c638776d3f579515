"""Finding and replacing in the editor: opens the bar, goes from match to match, replaces."""

from __future__ import annotations

from textual.app import App

from tui.app.panes.find_bar import FindAction, FindBar
from tui.editor.buffers.text_search import MOST, Match, Search, SearchError, next_match
from tui.editor.editor import EditorPane
from tui.front.keys.keymap import shown


class FindControl:
    """The search in the shown file. It is made anew for each change of the text."""

    def __init__(self, app: App[int], editor: EditorPane, bar: FindBar) -> None:
        self._app = app
        self._editor = editor
        self._bar = bar
        self._search: Search | None = None
        self._of: tuple[object, int, str, str] | None = None
        """The file, its version and the search that the matches are of."""
        self._matches: list[Match] = []
        self._from = (0, 0)
        """Where the cursor was when the search began: what is typed is looked for from there."""
        editor.found = self.found

    def open(self) -> None:
        """Show the bar. A selection on one line is what is searched for."""
        editor = self._editor
        if not editor.path:
            return
        start, end = sorted(editor.selected)
        self._from = start
        selected = editor.buffer.between(start, end) if start[0] == end[0] else ""
        self._bar.open(selected)
        self.typed()

    def close(self) -> bool:
        """Hide the bar and go back to the editor; false when it is not shown."""
        if not self._bar.display:
            return False
        focused = self._bar.has_focus_within
        self._bar.close()
        self._search, self._of, self._matches = None, None, []
        self._editor.refresh()
        if focused:
            self._app.screen_stack[0].set_focus(self._editor)
        return True

    def typed(self) -> None:
        """The search changed: go to the first match from where it began."""
        text, mode = self._bar.text, self._bar.mode
        try:
            self._search = Search(text, mode)
        except SearchError as problem:
            self._search = None
            self._bar.tell(str(problem), "error")
            self._editor.refresh()
            return
        self._go(1, self._from)

    def act(self, action: FindAction) -> None:
        """Do what a key of the bar asks for."""
        start, end = sorted(self._editor.selected)
        match action:
            case "next":
                self._go(1, end if self._at_match() is not None else start, begin=True)
            case "previous":
                self._go(-1, start, begin=True)
            case "replace":
                self._replace()
            case "replace_all":
                self._replace_all()
            case "undo":
                self._bar.tell("Enter goes to the next match · Esc closes")
                self._editor.call_later(self._editor.action_hand, "undo")
            case "close":
                self.close()

    def found(self) -> list[Match]:
        """The matches in the shown file, in order; the editor draws them."""
        search, buffer = self._search, self._editor.buffer
        if search is None:
            return []
        now = (buffer, buffer.version, search.text, search.mode.value)
        if self._of != now:
            try:
                self._of, self._matches = now, search.matches(buffer.lines)
            except SearchError as problem:
                self._search, self._matches = None, []
                self._bar.tell(str(problem), "error")
        return self._matches

    def _go(self, step: int, place: tuple[int, int], *, begin: bool = False) -> None:
        matches = self.found()
        if self._search is None:
            return  # the bar says why
        at = next_match(matches, place, step)
        if at is None:
            self._bar.tell("no match" if self._bar.text else "type what to find", "warning")
        else:
            index, round_the_end = at
            match = matches[index]
            self._editor.reveal(match.row, cursor=False)
            self._editor.choose(((match.row, match.start), (match.row, match.end)))
            self._editor.scroll_cursor_visible(animate=False)
            if begin:
                self._from = match.place
            self._tell(index, len(matches), round_the_end)
        self._editor.refresh()

    def _tell(self, index: int, count: int, round_the_end: bool) -> None:
        many = f"{count:,}{' or more' if count >= MOST else ''}"
        again = " · from the other end again" if round_the_end else ""
        everything = f"{shown('replace_all', 'find')} replaces all"
        keys = (
            f"Tab to the other field · {everything}" if self._bar.replacing else "Enter next · Tab replaces"
        )
        self._bar.tell(f"{index + 1:,} of {many}{again} · {keys} · Esc closes")

    def _at_match(self) -> Match | None:
        """The match that is selected."""
        start, end = sorted(self._editor.selected)
        for match in self.found():
            if match.place == start and end == (match.row, match.end):
                return match
        return None

    def _replace(self) -> None:
        """Replace the selected match, and go to the next one."""
        match, search = self._at_match(), self._search
        if match is None or search is None:
            self.act("next")
            return
        if not self._change([match]):
            return
        self._go(1, max(self._editor.selected))

    def _replace_all(self) -> None:
        """Replace all matches as one step of the history; cursor and view stay where they are."""
        matches, editor = list(self.found()), self._editor
        (row, column), view = min(editor.selected), editor.scroll_offset
        if matches and self._change(matches):
            row = min(row, len(editor.buffer.lines) - 1)
            place = row, min(column, len(editor.buffer.lines[row]))
            editor.choose((place, place))
            editor.scroll_to(view.x, view.y, animate=False, force=True)
            more = ", and there may be more" if len(matches) >= MOST else ""
            self._bar.tell(f"replaced {len(matches):,}{more}: one undo takes them back")
        elif not matches:
            self._bar.tell("no match", "warning")

    def _change(self, matches: list[Match]) -> bool:
        editor, search = self._editor, self._search
        if editor.read_only or search is None:
            self._bar.tell(f"cannot replace: {editor.path} is read-only", "warning")
            return False
        try:
            rows = search.replaced(editor.buffer.lines, matches, self._bar.replacement)
        except SearchError as problem:
            self._bar.tell(str(problem), "error")
            return False
        if rows is not None:
            last = rows.row + len(rows.old) - 1
            end = (last, len(editor.buffer.lines[last]))
            behind = len(editor.buffer.lines[matches[-1].row]) - matches[-1].end
            editor.replace("\n".join(rows.new), (rows.row, 0), end, maintain_selection_offset=False)
            place = (rows.row + len(rows.new) - 1, len(rows.new[-1]) - behind)
            editor.choose((place, place))
        return True
