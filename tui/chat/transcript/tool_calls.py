"""A tool call in the conversation: one line, changed in place; while it runs, and when it
failed, the last of its output; all of it when the user unfolds it."""

from __future__ import annotations

from tui.chat.transcript.entry import DrawnEntry
from tui.front.keys.keymap import unfolds
from tui.screen.drawing.plain import clipped, untabbed, visible
from tui.screen.drawing.rows import DRAWN_ONLY, Breaks, Row, Span, wrap

TAIL = 4
"""The number of lines of a running call's output that are shown."""
COMMAND_LINES = 24
"""The same for a command of the user's."""
_KEPT = 8_000
FIRST_LINES, LAST_LINES = 1_000, 3_000
"""Lines of a longer output that are unfolded, from its beginning and from its end."""

_SIGNS: dict[str, Span] = {
    "running": ("…", "flight"),
    "held": ("?", "warning"),
    "done": ("→", "muted"),
    "failed": ("✗", "warning"),
    "declined": ("−", "muted"),
    "stopped": ("−", "muted"),
}


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
        self._output = (self._output + text)[-_KEPT:]
        self.dirty = True

    def draw(self, width: int) -> list[Row]:
        """See :class:`DrawnEntry`."""
        sign = _SIGNS.get(self.state, _SIGNS["done"])
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
