"""The conversation as rows: one entry per thing said or done, in the order it happened.

An entry owns its rows and says from which row on they changed; the transcript finds the row of any
screen line by bisection. Nothing here knows Textual's widgets: the chat pane asks for rows.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from typing import Protocol

from tui.drawing.plain import clipped, untabbed, visible
from tui.drawing.rows import Row, Span, wrap
from tui.panes.chat.markdown import MarkdownStream

LONGEST_PROMPT = 40
"""The number of lines of a prompt that are shown; a pasted file is sent whole but not shown whole."""


class Entry(Protocol):
    """An entry of the conversation; ``rows`` is as of the last :meth:`settle`."""

    rows: list[Row]
    dirty: bool
    tight: bool
    """Whether an entry of the same kind follows without a blank row."""

    def settle(self, width: int) -> int:
        """Update ``rows`` for ``width`` cells and return the index of the first changed row."""
        ...


class Prompt:
    """A prompt; ``kind`` is ``prompt``, ``redirect`` or ``queued``."""

    tight = False

    def __init__(self, text: str, kind: str = "prompt") -> None:
        self.text, self.kind = text, kind
        self.rows: list[Row] = []
        self.dirty = True

    def settle(self, width: int) -> int:
        """See :class:`Entry`."""
        self.dirty = False
        bar: Span = ("▌ ", "accent")
        self.rows = []
        if self.kind != "prompt":
            self.rows.append(Row([bar, (self.kind, "warning")], "panel"))
        lines = self.text.strip("\n").split("\n")
        for line in lines[:LONGEST_PROMPT]:
            spans = [(visible(untabbed(line)), "prompt")]
            self.rows += wrap(spans, width, first=[bar], rest=[bar], fill="panel")
        if len(lines) > LONGEST_PROMPT:
            more = f"… {len(lines) - LONGEST_PROMPT} more lines"
            self.rows.append(Row([bar, (more, "muted")], "panel"))
        return 0


class Answer:
    """A piece of the answer between two edits."""

    tight = False

    def __init__(self) -> None:
        self.text = ""
        self.rows: list[Row] = []
        self.dirty = True
        self.closed = False
        self._pieces: list[str] = []
        self._width = 0
        self._stream = MarkdownStream(1)

    def feed(self, text: str) -> None:
        """Add text."""
        self._pieces.append(text)
        self.dirty = True

    def close(self) -> None:
        """The text is complete."""
        if not self.closed:
            self.closed = self.dirty = True

    def drop_pending(self) -> None:
        """Drop what was never painted: after an interrupt nothing more of the turn appears."""
        self._pieces.clear()

    @property
    def blocks(self) -> list[str]:
        """The text of its code blocks."""
        return self._stream.blocks

    def settle(self, width: int) -> int:
        """See :class:`Entry`."""
        self.dirty = False
        fresh = "".join(self._pieces)
        self._pieces.clear()
        if not self.text:
            fresh = fresh.lstrip("\n")
        self.text += fresh
        first = 0
        if width != self._width:
            self._width, self._stream = width, MarkdownStream(width)
            self._stream.feed(self.text)
            self._stream.settle(closed=self.closed)
        else:
            self._stream.feed(fresh)
            first = self._stream.settle(closed=self.closed)
        self.rows = self._stream.rows
        while self.closed and self.rows and not self.rows[-1].spans:
            self.rows.pop()
        return min(first, len(self.rows))


class Reasoning:
    """The reasoning of the model, as one line that unfolds."""

    tight = False

    def __init__(self, *, unfolded: bool) -> None:
        self.rows: list[Row] = []
        self.dirty = True
        self.unfolded = unfolded
        self.closed = False
        self._text = ""

    def feed(self, text: str) -> None:
        """Take the next piece."""
        self._text += text
        self.dirty = True

    def settle(self, width: int) -> int:
        """See :class:`Entry`."""
        self.dirty = False
        lines = [line for line in self._text.split("\n") if line.strip()]
        count = f"{len(lines)} line{'s' if len(lines) != 1 else ''}"
        verb = "thought" if self.closed else "thinking"
        head = f"{'▾' if self.unfolded else '▸'} {verb} · {count}"
        self.rows = [Row([("  ", "text"), (clipped(head, width - 2), "faint")])]
        if self.unfolded:
            for line in lines:
                spans = [(visible(untabbed(line)), "muted")]
                self.rows += wrap(spans, width, first=[("    ", "text")], rest=[("    ", "text")])
        elif not self.closed and lines:
            last = clipped("    " + visible(untabbed(lines[-1].strip())), width)
            self.rows.append(Row([(last, "faint")]))
        return 0


@dataclass(frozen=True, slots=True)
class HunkState:
    """The state of a hunk: ``typing``, ``landed``, ``refused``, ``dropped``, ``held`` or ``undone``."""

    state: str
    detail: str = ""


_SIGNS: dict[str, Span] = {
    "typing": ("…", "flight"),
    "landed": ("✓", "success"),
    "refused": ("✗", "error"),
    "held": ("?", "warning"),
    "dropped": ("−", "muted"),
    "undone": ("↶", "warning"),
}


_VERDICTS: dict[str, Span] = {"green": ("✓", "success"), "red": ("✗", "error"), "unclear": ("?", "warning")}


class HunkEntry:
    """The line of a hunk, changed in place as its state changes."""

    tight = True

    def __init__(self, hunk: str, path: str, action: str) -> None:
        self.hunk, self.path, self.action = hunk, path, action
        self.rows: list[Row] = []
        self.dirty = True
        self.fate = HunkState("typing")
        self._verdicts: dict[str, tuple[str, str]] = {}
        """What each check says of the hunk: ``green``, ``red`` or ``unclear``, and a detail."""

    def judge(self, check: str, status: str, detail: str) -> None:
        """Show what ``check`` says of the hunk."""
        self._verdicts[check] = (status, detail)
        self.dirty = True

    def become(self, state: str, detail: str = "") -> None:
        """Change the state."""
        self.fate = HunkState(state, detail)
        self.dirty = True

    def settle(self, width: int) -> int:
        """See :class:`Entry`."""
        self.dirty = False
        state, detail = self.fate.state, self.fate.detail
        sign = _SIGNS[state]
        told = "muted" if state in ("typing", "dropped", "undone") else "text"
        spans: list[Span] = [(visible(self.path), told)]
        if self.action != "update" and state != "refused":
            spans.append((f" {_ACTIONS.get(self.action, self.action)}", "muted"))
        lines = visible_lines(detail)
        if lines:
            spans.append((f" {lines[0]}", "error" if state == "refused" else "muted"))
        if state == "landed":
            spans += [span for check in self._verdicts for span in self._judged(check)]
        lead: list[Span] = [("  ", "text"), (f"{sign[0]} ", sign[1]), (f"{self.hunk:<3} ", "faint")]
        hang: list[Span] = [(" " * (4 + max(4, len(self.hunk) + 1)), "text")]
        self.rows = wrap(spans, width, first=lead, rest=hang)
        for line in lines[1:]:
            self.rows += wrap([(line, "muted")], width, first=hang, rest=hang, words=False)
        return 0

    def _judged(self, check: str) -> list[Span]:
        status, detail = self._verdicts[check]
        sign, role = _VERDICTS[status]
        told = visible(f" {check}: {detail}" if detail else f" {check}")
        return [(f"  {sign}", role), (told, role if status == "red" else "muted")]


_ACTIONS = {"add": "new file", "delete": "deleted", "move": "moved"}


class Remark:
    """A line from spark itself: a notice, or how a turn ended; ``level`` is that of a notice."""

    tight = True

    def __init__(self, text: str, level: str = "info") -> None:
        self.text, self.level = text, level
        self.rows: list[Row] = []
        self.dirty = True

    def settle(self, width: int) -> int:
        """See :class:`Entry`."""
        self.dirty = False
        role = {"error": "error", "warning": "warning", "quiet": "faint"}.get(self.level, "muted")
        sign = {"error": "✗ ", "warning": "! ", "quiet": "· "}.get(self.level, "· ")
        lead: list[Span] = [("  ", "text"), (sign, role)]
        hang: list[Span] = [("    ", "text")]
        self.rows = []
        for line in visible_lines(self.text) or [""]:
            self.rows += wrap([(line, role)], width, first=hang if self.rows else lead, rest=hang)
        return 0


class Folded:
    """A line from spark itself that unfolds: what was compacted, and what replaces it."""

    tight = False

    def __init__(self, head: str, text: str, *, unfolded: bool) -> None:
        self.rows: list[Row] = []
        self.dirty = True
        self.unfolded = unfolded
        self._head, self._text = head, text

    def settle(self, width: int) -> int:
        """See :class:`Entry`."""
        self.dirty = False
        sign = "▾" if self.unfolded else "▸"
        self.rows = [Row([("  ", "text"), (clipped(f"{sign} {visible(self._head)}", width - 2), "muted")])]
        if self.unfolded:
            indent: list[Span] = [("    ", "text")]
            for line in visible_lines(self._text.strip("\n")):
                self.rows += wrap([(line, "muted")], width, first=indent, rest=indent)
        return 0


def visible_lines(text: str) -> list[str]:
    """The drawable lines of ``text``."""
    return [visible(untabbed(line)) for line in text.split("\n")] if text else []


class Transcript:
    """All entries, and the first row of each."""

    def __init__(self, width: int) -> None:
        self.entries: list[Entry] = []
        self._width = width
        self._starts: list[int] = []
        self._total = 0

    def add(self, entry: Entry) -> None:
        """Append an entry."""
        self.entries.append(entry)

    @property
    def total(self) -> int:
        """The number of rows, as of the last :meth:`settle`."""
        return self._total

    def resize(self, width: int) -> None:
        """Wrap every entry anew for ``width`` cells."""
        if width != self._width:
            self._width = width
            for entry in self.entries:
                entry.dirty = True

    def settle(self) -> int | None:
        """Update the rows and return the first one that changed, or None."""
        changed: int | None = None
        for index, entry in enumerate(self.entries):
            if not entry.dirty and index < len(self._starts):
                continue
            grown = len(entry.rows)
            first = entry.settle(self._width) if entry.dirty else 0
            if index >= len(self._starts):
                self._starts.append(self._start_of(index))
                first = -self._gap(index)
            elif len(entry.rows) != grown and index + 1 < len(self._starts):
                # The entries behind it moved: count their first rows again.
                del self._starts[index + 1 :]
            start = self._starts[index] + first
            changed = start if changed is None else min(changed, start)
        if self.entries:
            self._total = self._starts[-1] + len(self.entries[-1].rows)
        return changed

    def _start_of(self, index: int) -> int:
        if index == 0:
            return 0
        return self._starts[index - 1] + len(self.entries[index - 1].rows) + self._gap(index)

    def _gap(self, index: int) -> int:
        if index == 0:
            return 0
        entry, before = self.entries[index], self.entries[index - 1]
        return 0 if not before.rows or (entry.tight and type(entry) is type(before)) else 1

    def row(self, number: int) -> Row | None:
        """The row at ``number``, or None for a blank one between entries or past the end."""
        index = bisect_right(self._starts, number) - 1
        if index < 0:
            return None
        inside = number - self._starts[index]
        rows = self.entries[index].rows
        return rows[inside] if inside < len(rows) else None
