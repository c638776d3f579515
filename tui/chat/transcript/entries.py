"""The entries of the conversation that are changed in place: the reasoning of the model, a tool call with its
output, and the line of a hunk.

Entries own their rows and say from which row on they changed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from session.base.text.pieces import Pieces
from tui.front.keys.keymap import unfolds
from tui.screen.drawing.plain import clipped, untabbed, visible, visible_lines
from tui.screen.drawing.rows import DRAWN_ONLY, Breaks, Row, Span, wrap

MOST_REASONING = 200_000
"""Characters of the reasoning that are kept, the newest."""
_LONGEST_SHOWN = 2_000
"""Characters of its unfinished line that are kept to be shown while it is folded."""
TAIL = 4
"""The number of lines of a running call's output that are shown."""
COMMAND_LINES = 24
"""The same for a command of the user's."""
_KEPT_OUTPUT = 8_000
FIRST_LINES, LAST_LINES = 1_000, 3_000
"""Lines of a longer output that are unfolded, from its beginning and from its end."""
_CALL_SIGNS: dict[str, Span] = {
    "running": ("…", "flight"),
    "held": ("?", "warning"),
    "done": ("→", "muted"),
    "failed": ("✗", "warning"),
    "declined": ("−", "muted"),
    "stopped": ("−", "muted"),
}
MARGIN = 2
"""The blanks before each line."""
HUNK_SIGNS: dict[str, Span] = {
    "typing": ("…", "flight"),
    "landed": ("✓", "success"),
    "refused": ("✗", "error"),
    "held": ("?", "warning"),
    "agreed": ("→", "accent"),
    "dropped": ("−", "muted"),
    "undone": ("↶", "warning"),
}
"""How a list shows the state of a hunk, which can be told without its colour."""
_VERDICTS: dict[str, Span] = {
    "green": ("✓", "success"), "red": ("✗", "error"), "unclear": ("?", "warning"), "pending": ("…", "muted"),
}  # fmt: skip
_ACTIONS = {"add": "new file", "delete": "deleted", "move": "moved", "replace": "replaced"}
"""What is told of a hunk that does more than change lines; to ``replace`` is to add a file that exists."""


class Entry(Protocol):
    """An entry of the conversation; ``rows`` is as of the last :meth:`settle`."""

    dirty: bool
    tight: bool
    """Whether an entry of the same kind follows without a blank row."""
    width: int
    """The cells for which its rows are wrapped; 0 until it is settled first."""

    @property
    def rows(self) -> Sequence[Row]:
        """The rows of the entry."""
        ...

    def settle(self, width: int) -> int:
        """Update ``rows`` and return the index of the first changed row. An entry that has rows of another
        width may keep that width until :meth:`rewrap` changes it."""
        ...

    def rewrap(self, width: int) -> Iterator[None]:
        """Wrap for ``width`` cells in short steps. ``rows`` and ``width`` change in the last of them, and the
        entry may grow meanwhile."""
        ...


class DrawnEntry(ABC):
    """An entry of a few rows, which are all drawn anew where one of them changes. See :class:`Entry`."""

    tight = False

    def __init__(self) -> None:
        self.rows: list[Row] = []
        self.dirty = True
        self.width = 0

    @abstractmethod
    def draw(self, width: int) -> list[Row]:
        """Its rows in ``width`` cells."""

    def settle(self, width: int) -> int:
        """See :class:`Entry`."""
        self.dirty = False
        self.width = width
        self.rows = self.draw(width)
        return 0

    def rewrap(self, width: int) -> Iterator[None]:
        """See :class:`Entry`: one step."""
        self.settle(width)
        yield from ()


class Reasoning(DrawnEntry):
    """The reasoning of the model, as one line that unfolds."""

    def __init__(self, *, unfolded: bool) -> None:
        super().__init__()
        self.unfolded = unfolded
        self.closed = False
        self._text = Pieces(MOST_REASONING)
        self._count = 0
        """The number of its whole lines with text."""
        self._last = self._open = ""
        """The last of them, and the line that is not whole yet."""
        self._drawn: list[Row] = []
        """While it is unfolded: the rows of its whole lines, for ``_drawn_for``."""
        self._undrawn = ""
        """The text behind them."""
        self._drawn_for = (0, 0)
        """The width, and the characters of the beginning that were not kept any more."""

    def feed(self, text: str) -> None:
        """Take the next piece."""
        self._text.append(text)
        self._undrawn += text if self.unfolded else ""
        *lines, self._open = (self._open + text).split("\n")
        self._open = self._open[:_LONGEST_SHOWN]
        for line in lines:
            if line.strip():
                self._count += 1
                self._last = line
        self.dirty = True

    def draw(self, width: int) -> list[Row]:
        """See :class:`DrawnEntry`."""
        last = self._open if self._open.strip() else self._last
        lines = self._count + bool(self._open.strip())
        count = f"{lines:,} line{'s' if lines != 1 else ''}"
        verb = "thought" if self.closed else "thinking"
        head = f"{'▾' if self.unfolded else '▸'} {verb} · {count}"
        rows = [Row([("  ", "text"), (clipped(head, width - 2), "faint")], skip=2)]
        if self.unfolded:
            return rows + self._unfolded_rows(width)
        self._drawn, self._undrawn, self._drawn_for = [], "", (0, 0)
        if not self.closed and last:
            shown = clipped("    " + visible(untabbed(last.strip())), width)
            rows.append(Row([(shown, "faint")], skip=4))
        return rows

    def _unfolded_rows(self, width: int) -> list[Row]:
        """All its rows. Whole lines are wrapped once, and again only where their beginning or the width is
        another."""
        if self._drawn_for != (width, self._text.gone):
            self._drawn, self._undrawn = [], self._text.text()
            self._drawn_for = width, self._text.gone
        *whole, self._undrawn = self._undrawn.split("\n")
        for line in whole:
            self._drawn += _wrapped_reasoning(line, width)
        return self._drawn + _wrapped_reasoning(self._undrawn, width)

    def toggle(self, row: int) -> bool:
        """Unfold it, or fold it."""
        self.unfolded, self.dirty = not self.unfolded, True
        return True


def _wrapped_reasoning(line: str, width: int) -> list[Row]:
    if not line.strip():
        return []
    spans = [(visible(untabbed(line)), "muted")]
    return wrap(spans, width, first=[("    ", "text")], rest=[("    ", "text")])


class CallEntry(DrawnEntry):
    """A tool call; ``state`` is ``running``, ``held``, or the status it ended with."""

    tight = True

    def __init__(self, line: str, name: str = "") -> None:
        super().__init__()
        self.line = line
        self.name = name
        self.lines = TAIL
        """The number of lines of its output that are shown."""
        self.state = "running"
        self._text = ""
        self._output = ""
        self._whole: list[str] | None = None

    @property
    def unfolded(self) -> bool:
        """Whether all of its output is shown."""
        return self._whole is not None

    def unfold(self, text: str) -> None:
        """Show all of the output ``text``, or both ends of a very long one."""
        lines = text.rstrip("\n").split("\n")
        left = len(lines) - FIRST_LINES - LAST_LINES
        if left > 0:
            lines[FIRST_LINES : len(lines) - LAST_LINES] = [f"… {left:,} lines are not shown …"]
        self._whole = lines
        self.dirty = True

    def toggle(self, row: int) -> bool:
        """Fold the output; false where it is folded."""
        if self._whole is None:
            return False
        self._whole = None
        self.dirty = True
        return True

    def become(self, state: str, line: str, tail: str = "") -> None:
        """Change the state; of the output only ``tail`` is still shown."""
        self.state, self.line = state, line
        self._text, self._output = "", tail
        self._whole = None  # what was unfolded while it ran is not all of it
        self.dirty = True

    def hold(self, text: str) -> None:
        """The call is held: show all of what it would do."""
        self.state, self._text = "held", text
        self.dirty = True

    def go_on(self) -> None:
        """The user allowed the call."""
        self.state, self.dirty = "running", True

    def printed(self, text: str) -> None:
        """Add output."""
        self.state = "running"
        self._output = (self._output + text)[-_KEPT_OUTPUT:]
        self.dirty = True

    def draw(self, width: int) -> list[Row]:
        """See :class:`DrawnEntry`."""
        sign = _CALL_SIGNS.get(self.state, _CALL_SIGNS["done"])
        lead: list[Span] = [("  ", "text"), (f"{sign[0]} ", sign[1])]
        hang: list[Span] = [("    ", "text")]
        role = "warning" if self.state == "held" else "muted"
        lines = (self._text or self.line).split("\n")
        rows: list[Row] = []
        for line in lines:
            shown: list[Span] = [(visible(untabbed(line)), role)]
            # Text that the user is asked to approve is shown to the last space.
            by = Breaks.ANYWHERE if self.state == "held" else Breaks.WORDS
            rows += wrap(shown, width, first=hang if rows else lead, rest=hang, by=by)
        if self._whole is not None:
            for line in self._whole:
                whole: list[Span] = [(visible(untabbed(line)), "muted")]
                rows += wrap(whole, width, first=hang, rest=hang, by=Breaks.CODE)
            return rows
        printed = [line for line in self._output.split("\n") if line.strip()]
        if len(printed) > self.lines:
            more = clipped(f"    … more above · {unfolds()}", width)
            rows.append(Row([(more, "faint")], skip=DRAWN_ONLY))
        for line in printed[-self.lines :]:
            plain = visible(untabbed(line))
            rows.append(Row([(clipped(f"    {plain}", width), "faint")], skip=4, raw=plain))
        return rows


@dataclass(frozen=True, slots=True)
class HunkState:
    """``typing``, ``held``, ``agreed``, ``landed``, ``refused``, ``dropped`` or ``undone``."""

    state: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class HunkSize:
    """The lines that came and went with a hunk, and one of them, its sign first."""

    added: int = 0
    removed: int = 0
    sample: str = ""


class HunkEntry(DrawnEntry):
    """One hunk."""

    tight = True

    def __init__(self, hunk: str, path: str, action: str) -> None:
        super().__init__()
        self.hunk, self.path, self.action = hunk, path, action
        self.fate = HunkState("typing")
        self.size = HunkSize()
        self.symbol: str | None = None
        """The definition that the hunk is in; empty if it is in none, and None until that is known."""
        self._verdicts: dict[str, tuple[str, str]] = {}
        """What each check says of the hunk: ``green``, ``red``, ``unclear`` or ``pending``, and a detail."""

    def judge(self, check: str, status: str, detail: str) -> None:
        """Show what ``check`` says of the hunk."""
        self._verdicts[check] = (status, detail)
        self.dirty = True

    def tested(self, check: str) -> None:
        """The hunk waits no more for ``check``, if it did."""
        if self._verdicts.get(check, ("",))[0] == "pending":
            del self._verdicts[check]
            self.dirty = True

    def become(self, state: str, detail: str = "") -> None:
        """Change the state."""
        self.fate = HunkState(state, detail)
        self.dirty = True

    def measure(self, size: HunkSize) -> None:
        """Show how much the hunk changed."""
        self.size, self.dirty = size, True

    def name(self, symbol: str) -> None:
        """Show the definition that the hunk is in."""
        self.symbol, self.dirty = symbol, True

    def draw(self, width: int) -> list[Row]:
        """See :class:`DrawnEntry`."""
        state, detail = self.fate.state, self.fate.detail
        sign = HUNK_SIGNS[state]
        told = "muted" if state in ("typing", "dropped", "undone") else "text"
        spans: list[Span] = [(visible(self.path), told)]
        done = state in ("landed", "undone")
        if self.action != "update" and state != "refused" and (self.action != "replace" or done):
            spans.append((f" {_ACTIONS.get(self.action, self.action)}", "muted"))
        lines = visible_lines(detail)
        if lines:
            lines[0] = lines[0].removeprefix(f"{visible(self.path)} ")
            spans.append((f" {lines[0]}", "error" if state == "refused" else "muted"))
        if self.symbol and state == "landed":
            spans.append((f" {visible(self.symbol)}", "accent"))
        if done:
            spans += self._counts()
        if state == "landed":
            spans += [span for check in self._verdicts for span in self._judged(check)]
        lead: list[Span] = [(" " * MARGIN, "text"), (f"{sign[0]} ", sign[1]), (f"{self.hunk:<3} ", "faint")]
        hang: list[Span] = [(" " * (4 + max(4, len(self.hunk) + 1)), "text")]
        rows = wrap(spans, width, first=lead, rest=hang, margin=MARGIN)
        for line in lines[1:]:
            rows += wrap([(line, "muted")], width, first=hang, rest=hang, by=Breaks.CODE)
        if state == "landed" and self.size.sample:
            rows.append(self._sample(width, hang[0][0]))
        return rows

    def _counts(self) -> list[Span]:
        size = self.size
        counts: list[Span] = []
        if size.added or size.removed:
            counts = [(f"  +{size.added}", "success"), (f" −{size.removed}", "error")]
        return counts

    def _sample(self, width: int, hang: str) -> Row:
        """One line of what changed, cut to one row."""
        line = visible(self.size.sample)
        role = "added" if line.startswith("+") else "removed"
        shown = clipped(f"{line[:1]} {line[1:]}", max(1, width - len(hang)))
        return Row([(hang, "text"), (shown, role)], skip=len(hang))

    def _judged(self, check: str) -> list[Span]:
        status, detail = self._verdicts[check]
        sign, role = _VERDICTS[status]
        told = visible(f"{check}: {detail}" if detail else check)
        # No row ends between the sign and what it is about.
        return [(f"  {sign}\N{NO-BREAK SPACE}", role), (told, role if status == "red" else "muted")]
