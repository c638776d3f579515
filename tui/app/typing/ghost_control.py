"""Suggestions in the editor: asked for as the user types, drawn as ghost text, accepted by keys."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

from session.assist.suggest.place import Place, place_at
from session.assist.suggest.suggestion import Insertion, Rewrite, Suggestion
from session.base.tasks import imported
from tui.editor.buffers.rows import Rows
from tui.editor.editor import EditorPane
from tui.editor.ghost import ghost_of
from tui.editor.line_editing import Part
from tui.editor.shown_file import ShownFile
from tui.front.port import SessionPort

if TYPE_CHECKING:
    from session.assist.suggest.suggester import Suggester

Start = Callable[[Coroutine[Any, Any, None], str], None]


class GhostControl:
    """Between the editor pane and the suggester, which is made when something is typed there."""

    def __init__(self, editor: EditorPane, session: SessionPort, shown_file: ShownFile, start: Start) -> None:
        """``start`` runs a task in the background."""
        self._editor = editor
        self._session = session
        self._start = start
        self._suggester: Suggester | None = None
        editor.on_typed.append(self._typed)
        editor.accept = self.accept
        editor.watch(editor, "selection", self._look, init=False)
        shown_file.texts.append(lambda buffer: self._look())

    @property
    def shown(self) -> Suggestion | None:
        """The suggestion on the screen."""
        return self._suggester.shown if self._suggester is not None else None

    def accept(self, part: Part) -> bool:
        """Put what is shown into the text, or a part of it, as one step of the history. False where nothing
        is shown, or where it has no such part."""
        suggestion, editor = self.shown, self._editor
        if suggestion is None or (part != "all" and isinstance(suggestion, Rewrite)):
            return False
        if part == "line" and suggestion.place.right.strip():
            return False  # the end of the line is behind what stands there
        editor.buffer.history.break_off()
        if isinstance(suggestion, Insertion):
            text = {"all": suggestion.text, "word": suggestion.word, "line": suggestion.line}[part]
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
        suggester.on_change = lambda: self._editor.suggest(ghost_of(suggester.shown))
        self._suggester = suggester
        return suggester
