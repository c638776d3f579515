"""The conversation as rows: one entry per thing said or done, in the order it happened.

An entry owns its rows and says from which row on they changed; the transcript finds the row of any
screen line by bisection. Nothing here knows Textual's widgets: the chat pane asks for rows.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from typing import TypeVar

from tui.chat.transcript.entries import DrawnEntry, Entry
from tui.front.keys.keymap import unfolds
from tui.screen.drawing.plain import clipped, untabbed, visible, visible_lines
from tui.screen.drawing.rows import DRAWN_ONLY, Row, Span, wrap

T = TypeVar("T")
MOST_ROWS = 10_000
"""The number of rows that are kept; the session's journal has all of the conversation."""
_SLACK = 1_000
"""Rows above that number until some are dropped."""
_SHARE_NEAR = 4
"""One of so many of the rows that are kept is kept above what the user reads, and one below it."""
GONE = "{rows:,} rows are not kept on the screen here; spark export prints the whole session"
LONGEST_PROMPT = 40
"""The number of lines of a prompt that are shown; a pasted file is sent whole but not shown whole."""
LONGEST_WRITTEN = 3
"""The same for what spark wrote in the user's name, beside what they typed themselves."""


class Prompt(DrawnEntry):
    """A prompt; ``kind`` is ``prompt``, ``redirect`` or ``queued``. A long one is folded, as is one of which
    the user only ``typed`` a part; None where they typed all of it."""

    def __init__(self, text: str, kind: str = "prompt", typed: str | None = None) -> None:
        super().__init__()
        self.text, self.kind = text, kind
        written = typed is not None and text not in typed
        own = typed.count("\n") + 1 if typed and text.startswith(typed) else 0
        self._folded = min(own + LONGEST_WRITTEN, LONGEST_PROMPT) if written else LONGEST_PROMPT
        """The lines that are shown while it is folded."""
        self.unfolded = False

    def draw(self, width: int) -> list[Row]:
        """See :class:`DrawnEntry`."""
        bar: Span = ("▌ ", "accent")
        rows: list[Row] = []
        if self.kind != "prompt":
            rows.append(Row([bar, (self.kind, "warning")], "panel", skip=DRAWN_ONLY))
        lines = self.text.strip("\n").split("\n")
        shown = len(lines) if self.unfolded else self._folded
        for line in lines[:shown]:
            spans = [(visible(untabbed(line)), "prompt")]
            raw = line if "\t" in line else None
            rows += wrap(spans, width, first=[bar], rest=[bar], fill="panel", raw=raw)
        if len(lines) > shown:
            more = clipped(f"… {len(lines) - shown} more lines · {unfolds()}", max(1, width - 2))
            rows.append(Row([bar, (more, "muted")], "panel", skip=DRAWN_ONLY))
        return rows

    def toggle(self, row: int) -> bool:
        """Unfold a long prompt, or fold it; false where it is short."""
        if self.text.strip("\n").count("\n") < self._folded:
            return False
        self.unfolded, self.dirty = not self.unfolded, True
        return True


class Remark(DrawnEntry):
    """A line from spark itself: a notice, or how a turn ended; ``level`` is that of a notice."""

    tight = True

    def __init__(self, text: str, level: str = "info") -> None:
        super().__init__()
        self.text, self.level = text, level

    def draw(self, width: int) -> list[Row]:
        """See :class:`DrawnEntry`."""
        role = {"error": "error", "warning": "warning", "quiet": "faint", "guide": "accent"}.get(
            self.level, "muted"
        )
        sign = {"error": "✗ ", "warning": "! ", "guide": "→ "}.get(self.level, "· ")
        lead: list[Span] = [("  ", "text"), (sign, role)]
        hang: list[Span] = [("    ", "text")]
        rows: list[Row] = []
        for line in visible_lines(self.text) or [""]:
            rows += wrap([(line, role)], width, first=hang if rows else lead, rest=hang)
        return rows


class Gone(Remark):
    """Stands for rows that are not kept."""

    def __init__(self, count: int) -> None:
        super().__init__(GONE.format(rows=count), "quiet")
        self.count = count


class Folded(DrawnEntry):
    """A line from spark itself that unfolds: what was compacted, and what replaces it; or, ``quiet``, the
    figures of a turn."""

    def __init__(self, head: str, text: str, *, unfolded: bool, quiet: bool = False) -> None:
        super().__init__()
        self.unfolded = unfolded
        self._head, self._text = head, text
        self._role = "faint" if quiet else "muted"

    def draw(self, width: int) -> list[Row]:
        """See :class:`DrawnEntry`."""
        sign = "▾" if self.unfolded else "▸"
        head = clipped(f"{sign} {visible(self._head)}", width - 2)
        rows = [Row([("  ", "text"), (head, self._role)], skip=2)]
        if self.unfolded:
            indent: list[Span] = [("    ", "text")]
            for line in visible_lines(self._text.strip("\n")):
                rows += wrap([(line, self._role)], width, first=indent, rest=indent)
        return rows

    def toggle(self, row: int) -> bool:
        """Unfold it, or fold it."""
        self.unfolded, self.dirty = not self.unfolded, True
        return True


@dataclass(frozen=True, slots=True)
class Dropped:
    """Entries of a long conversation that are kept no more, and how many fewer rows are above the view."""

    entries: frozenset[Entry]
    above: int


class Transcript:
    """The entries, and the first row of each.

    Of a long conversation the newest are kept, and those around what the user reads.
    """

    def __init__(self, width: int) -> None:
        self.entries: list[Entry] = []
        self.width = width
        """The width for which entries are drawn; those from before the last resize may still have another."""
        self._starts: list[int] = []
        self._total = 0

    def add(self, entry: Entry, *, earlier: bool = False) -> None:
        """Append an entry; an ``earlier`` one comes before a prompt that is the last entry."""
        at = len(self.entries)
        if earlier and self.entries and isinstance(self.entries[-1], Prompt):
            at -= 1
        self.entries.insert(at, entry)
        del self._starts[at:]

    def of_last_turn(self, kind: type[T]) -> list[T]:
        """The entries of ``kind`` behind the last prompt that has any."""
        found: list[T] = []
        for entry in reversed(self.entries):
            if found and isinstance(entry, Prompt):
                break
            if isinstance(entry, kind):
                found.append(entry)
        return found[::-1]

    @property
    def total(self) -> int:
        """The number of rows, as of the last :meth:`settle`."""
        return self._total

    @property
    def settled(self) -> int:
        """The number of entries that have rows, counted from the first."""
        return len(self._starts)

    def recount(self) -> None:
        """Entries were wrapped for another width: count the first row of each again."""
        count = len(self._starts)
        self._starts.clear()
        for index in range(count):
            self._starts.append(self._start_of(index))
        if count:
            self._total = self._starts[-1] + len(self.entries[count - 1].rows)

    def settle(self) -> int | None:
        """Update the rows and return the first one that changed, or None."""
        changed: int | None = None
        for index, entry in enumerate(self.entries):
            if not entry.dirty and index < len(self._starts):
                continue
            grown = len(entry.rows)
            first = entry.settle(self.width) if entry.dirty else 0
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

    def shorten(self, top: int, height: int, *, following: bool) -> Dropped | None:
        """Drop entries where there are many rows: the oldest, and while the user is not ``following`` the end
        those between the newest and the ``height`` rows from ``top``. None if there was nothing to drop."""
        if self._total <= MOST_ROWS + _SLACK:
            return None
        excess, before = self._total - MOST_ROWS, self._total
        near = MOST_ROWS // _SHARE_NEAR
        dropped = self._drop(0, min(excess, self._total if following else top - near))
        above = before - self._total
        excess -= above
        if not following and excess > 0:
            behind = top - above + height + near
            dropped += self._drop(behind, behind + excess)
        return Dropped(frozenset(dropped), above) if dropped else None

    def _drop(self, start: int, end: int) -> list[Entry]:
        """Drop the entries that are wholly in these rows, but never the last; one in their place says so."""
        first = bisect_left(self._starts, start)
        last = bisect_right(self._starts, end, hi=len(self.entries) - 1) - 1
        if first and isinstance(self.entries[first - 1], Gone):
            first -= 1
        dropped = self.entries[first : max(first, last)]
        if all(isinstance(entry, Gone) for entry in dropped):
            return []
        rows = self._starts[last] - self._starts[first]
        known = [entry for entry in dropped if isinstance(entry, Gone)]
        gone = Gone(rows + sum(entry.count - len(entry.rows) for entry in known))
        gone.settle(self.width)
        self.entries[first:last] = [gone]
        del self._starts[first:]
        for index in range(first, len(self.entries)):
            self._starts.append(self._start_of(index))
        self._total = self._starts[-1] + len(self.entries[-1].rows)
        return dropped

    def _start_of(self, index: int) -> int:
        if index == 0:
            return 0
        return self._starts[index - 1] + len(self.entries[index - 1].rows) + self._gap(index)

    def _gap(self, index: int) -> int:
        if index == 0:
            return 0
        entry, before = self.entries[index], self.entries[index - 1]
        return 0 if not before.rows or (entry.tight and type(entry) is type(before)) else 1

    def at(self, number: int) -> tuple[Entry, int] | None:
        """The entry with row ``number``, and which of its rows that is; None for a blank row between entries,
        or past the end."""
        index = bisect_right(self._starts, number) - 1
        if index < 0:
            return None
        inside = number - self._starts[index]
        return (self.entries[index], inside) if inside < len(self.entries[index].rows) else None

    def number_at(self, number: int) -> int:
        """Which entry has row ``number``, or the blank row behind it; 0 where there is none."""
        return max(0, bisect_right(self._starts, number) - 1)

    def start_of(self, entry: Entry) -> int | None:
        """The number of the first row of ``entry``; None where it has none yet."""
        index = next((at for at, each in enumerate(self.entries) if each is entry), len(self.entries))
        return self._starts[index] if index < len(self._starts) else None

    def row(self, number: int) -> Row | None:
        """The row at ``number``, or None for a blank one between entries or past the end."""
        found = self.at(number)
        return None if found is None else found[0].rows[found[1]]
