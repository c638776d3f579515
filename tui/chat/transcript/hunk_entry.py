"""The line of a hunk in the conversation, changed in place as its state changes."""

from __future__ import annotations

from dataclasses import dataclass

from tui.chat.transcript.entry import DrawnEntry
from tui.screen.drawing.plain import clipped, visible, visible_lines
from tui.screen.drawing.rows import Breaks, Row, Span, wrap

MARGIN = 2
"""The blanks before each line."""


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


SIGNS: dict[str, Span] = {
    "typing": ("…", "flight"),
    "landed": ("✓", "success"),
    "refused": ("✗", "error"),
    "held": ("?", "warning"),
    "agreed": ("→", "accent"),
    "dropped": ("−", "muted"),
    "undone": ("↶", "warning"),
}
"""How a list shows the state of a hunk, which can be told without its colour."""

_VERDICTS: dict[str, Span] = {"green": ("✓", "success"), "red": ("✗", "error"), "unclear": ("?", "warning")}
_ACTIONS = {"add": "new file", "delete": "deleted", "move": "moved", "replace": "replaced"}
"""What is told of a hunk that does more than change lines; to ``replace`` is to add a file that exists."""


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
        """What each check says of the hunk: ``green``, ``red`` or ``unclear``, and a detail."""

    def judge(self, check: str, status: str, detail: str) -> None:
        """Show what ``check`` says of the hunk."""
        self._verdicts[check] = (status, detail)
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
        sign = SIGNS[state]
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
        told = visible(f" {check}: {detail}" if detail else f" {check}")
        return [(f"  {sign}", role), (told, role if status == "red" else "muted")]
