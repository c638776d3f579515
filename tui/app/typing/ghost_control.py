"""Suggestions in the editor: asked for as the user types, drawn as ghost text, accepted by keys."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from time import monotonic
from typing import TYPE_CHECKING, Any

from session.assist.suggest.suggestion import Insertion, Place, Rewrite, Suggestion, continues, place_at
from session.base.tasks import imported
from session.session import Session
from tui.editor.buffers.rows import Rows
from tui.editor.editor import EditorPane
from tui.editor.keys import Part
from tui.editor.shown_file import ShownFile
from tui.editor.virtual_lines import ghost_of

if TYPE_CHECKING:
    from session.assist.suggest.suggester import Suggester

READ_SECONDS = 0.4
"""For how long a suggestion is on the screen before a key takes it: a key before that was on its way."""
Start = Callable[[Coroutine[Any, Any, None], str], None]


class GhostControl:
    """Between the editor pane and the suggester, which is made when something is typed there."""

    def __init__(self, editor: EditorPane, session: Session, shown_file: ShownFile, start: Start) -> None:
        """``start`` runs a task in the background."""
        self._editor = editor
        self._session = session
        self._start = start
        self._suggester: Suggester | None = None
        self._drawn: Suggestion | None = None
        self._since = 0.0
        """When it was drawn first, on the monotonic clock."""
        editor.on_typed.append(self._typed)
        editor.accept = self.accept
        editor.watch(editor, "selection", self._look, init=False)
        shown_file.texts.append(lambda buffer: self._look())

    @property
    def shown(self) -> Suggestion | None:
        """The suggestion on the screen."""
        return self._suggester.shown if self._suggester is not None else None

    @property
    def readable(self) -> bool:
        """Whether what is shown has been there for as long as it takes to read it."""
        return self.shown is not None and monotonic() - self._since >= READ_SECONDS

    def accept(self, part: Part) -> bool:
        """Put what is shown into the text, or a part of it, as one step of the history. False where the key
        does what it does without a suggestion. What nobody can have read is not taken: Tab, which may have
        been meant for it, does nothing then, and in the blanks before a line it always indents."""
        suggestion, editor = self.shown, self._editor
        if suggestion is None:
            return False
        if part == "all" and not suggestion.place.left.strip():
            return False
        if part == "word" and isinstance(suggestion, Rewrite):
            return False
        if not self.readable:
            return part == "all"
        editor.buffer.history.break_off()
        if isinstance(suggestion, Insertion):
            text = suggestion.text if part == "all" else suggestion.word
            at = (suggestion.place.row, len(suggestion.place.left))
            editor.replace(text, at, at, maintain_selection_offset=False)
        else:
            self._rewrite(suggestion)
        editor.buffer.history.break_off()
        return True

    def refuse(self) -> bool:
        """Hide what is shown; false where nothing is."""
        if self._suggester is None or self._suggester.shown is None:
            return False
        self._suggester.refuse()
        return True

    def _rewrite(self, suggestion: Rewrite) -> None:
        """Replace whole lines, with the line break behind them or before them where lines come or go."""
        editor, new = self._editor, list(suggestion.new)
        count = editor.document.line_count
        start, end = suggestion.first, suggestion.first + len(suggestion.old)
        if suggestion.old and new:
            begin, stop = (start, 0), (end - 1, len(suggestion.old[-1]))
        elif end < count:
            begin, stop, new = (start, 0), (end, 0), [*new, ""] if new else []
        else:
            begin = (start - 1, len(editor.document.get_line(start - 1))) if start else (0, 0)
            stop, new = editor.document.end, ["", *new] if new else []
        editor.replace("\n".join(new), begin, stop, maintain_selection_offset=False)

    def _typed(self, rows: Rows) -> None:
        """The user typed: ask, and draw what fits the text now, in the frame that shows the key."""
        self._session.typing()
        if not self._session.side.enabled:
            if self._suggester is not None:
                self._suggester.stop()
            return
        suggester = self._suggester or self._begin()
        suggester.edited(self._editor.path, rows.row, rows.old, rows.new)
        place = self._place()
        if place is None:
            suggester.stop()
        else:
            grown = len("\n".join(rows.new)) - len("\n".join(rows.old))
            suggester.typed(place, erased=grown < 0)

    def _look(self) -> None:
        """The cursor moved, or the text changed in another way: what does not fit any more is hidden."""
        if self._suggester is None or self._editor.typing:
            return
        place = self._place()
        if place is None:
            self._suggester.stop()
        else:
            self._suggester.moved(place)

    def _place(self) -> Place | None:
        """The cursor's place, where something can be suggested."""
        editor = self._editor
        start, end = editor.selected
        held = editor.read_only or editor.buffer.conflicts or editor.flight is not None
        if start != end or not editor.path or held or end[0] >= len(editor.buffer.lines):
            return None
        return place_at(editor.path, editor.buffer.lines, *end)

    async def load(self) -> None:
        """Import in a thread what the first key in the editor would have to wait for."""
        if self._session.side.enabled:
            await imported("session.assist.suggest.suggester")

    def _begin(self) -> Suggester:
        from session.assist.suggest.suggester import Suggester

        suggester = Suggester(self._session.side, self._session.context, self._start)
        suggester.on_change = lambda: self._draw(suggester.shown)
        self._suggester = suggester
        return suggester

    def _draw(self, suggestion: Suggestion | None) -> None:
        """Draw a suggestion; what goes on with the one before has been read as long as that."""
        if not continues(self._drawn, suggestion):
            self._since = monotonic()
        self._drawn = suggestion
        self._editor.suggest(ghost_of(suggestion))
