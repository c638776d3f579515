"""What is reviewed, as plain data: every hunk of the session as events tell of it, ordered so that the
riskiest comes first, the list of hunks, and one hunk's change in one or two columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from difflib import unified_diff

from session.base import events as said
from tui.chat.transcript.entries import HUNK_SIGNS
from tui.screen.drawing.plain import cell_len, clipped, drawn, visible
from tui.screen.drawing.rows import Row, Span

MOST_WITH_TEXT = 200
"""Hunks whose typed lines are kept; those of older ones come from the ledger, if they landed."""
MOST_LINES = 600
"""Lines of one hunk that are kept."""

GUARDS = ("secret", "runs", "deletes", "overwrites", "dependency", "locked", "review")
"""The reasons to hold a hunk, the one with the highest risk first."""
FILL = "panel"
Line = tuple[str, str]
"""A kind, which is a blank, ``-``, ``+`` or ``@`` for a heading, and a text."""
Cell = tuple[str, str, str]
_ROLES = {"+": "added", "-": "removed", "@": "accent"}


@dataclass(slots=True)
class Reviewed:
    """One hunk. ``state`` is as in the chat; ``lines`` are pairs of a kind (`` ``, ``-`` or ``+``) and a
    text, as they were typed, and may be gone."""

    hunk: str
    turn: str
    path: str
    action: str = "update"
    state: str = "typing"
    message: str = ""
    guard: str = ""
    fuzzy: bool = False
    added: int = 0
    removed: int = 0
    kept: bool = False
    """Whether the user has looked at it and keeps it."""
    whole: bool = False
    """Whether the model went on to something else: it is typed no more."""
    lines: list[tuple[str, str]] = field(default_factory=list)

    @property
    def told_state(self) -> str:
        """The state in a word: a whole hunk that has not landed waits for those before it."""
        return "waiting" if self.state == "typing" and self.whole else self.state

    @property
    def rank(self) -> tuple[int, int]:
        """The place in a list with the riskiest first, and else in the order in which they were begun."""
        size = -(self.added + self.removed)
        match self.state:
            case "held":
                return 0, GUARDS.index(self.guard) if self.guard in GUARDS else len(GUARDS)
            case "landed" if self.kept:
                return 6, 0
            case "landed" if self.action in ("delete", "move"):
                return 1, size
            case "landed" if self.fuzzy:
                return 2, size
            case "refused":
                return 3, 0
            case "landed":
                return 4, 0
            case "typing" | "agreed":
                return 5, 0
            case _:
                return 7, 0

    @property
    def new(self) -> list[str]:
        """The lines that the hunk would put in place of those that it looks for."""
        return [text for kind, text in self.lines if kind != "-"]


class ReviewBook:
    """All hunks of a session, in the order in which the model began them."""

    def __init__(self) -> None:
        self._hunks: dict[str, Reviewed] = {}
        self._open: dict[str, tuple[str, str]] = {}
        self._with_text: list[str] = []
        self._begun: list[str] = []
        """The hunks that the model may still be typing."""
        self.turn = ""
        """The last turn."""

    def listed(self, *, whole_session: bool) -> list[Reviewed]:
        """The hunks of the session or of the last turn that has any, the riskiest first."""
        found = list(self._hunks.values())
        if not whole_session and found:
            found = [each for each in found if each.turn == found[-1].turn]
        return sorted(found, key=lambda each: each.rank)

    def named(self, hunk: str) -> Reviewed | None:
        """One hunk."""
        return self._hunks.get(hunk)

    @property
    def held(self) -> Sequence[Reviewed]:
        """The hunks that wait for the user, in order."""
        return [each for each in self._hunks.values() if each.state == "held"]

    def take(self, event: said.Event) -> None:
        """Follow one event of the session."""
        match event:
            case said.PromptSubmitted(turn=turn):
                self.turn = turn
            case said.HunkOpened(turn=turn, hunk=hunk, path=path, action=action):
                self._typed_no_more()
                self._hunk(hunk, turn, path).action = action
            case said.TextDelta() | said.ToolCalled() | said.PhaseChanged(phase="settling" | "calling"):
                self._typed_no_more()
            case said.HunkTyped(hunk=hunk, kind=kind, text=text):
                self._typed(hunk, kind, text)
            case said.HunkHeld(turn=turn, hunk=hunk, path=path, guard=guard, message=message):
                each = self._hunk(hunk, turn, path)
                each.state, each.guard, each.message = "held", guard, message.removeprefix(f"{path} ")
            case said.HunkLanded(turn=turn, hunk=hunk, path=path):
                each = self._hunk(hunk, turn, event.moved_to or path)
                each.state, each.message, each.action = "landed", "", event.action
                each.fuzzy = event.status == "applied_fuzzy"
                each.added, each.removed = event.added, event.removed
            case said.HunkRefused(turn=turn, hunk=hunk, path=path, message=message, by=by) if turn:
                each = self._hunk(hunk, turn, path)
                each.state, each.message = "dropped" if by == "user" else "refused", message
            case said.HunkDropped(turn=turn, hunk=hunk, path=path):
                self._hunk(hunk, turn, path).state = "dropped"
            case said.HunkUndone(hunk=hunk):
                self._become(hunk, "undone")
            case said.HunkRedone(hunk=hunk):
                self._become(hunk, "landed")
            case _:
                pass

    def agree(self, hunk: str) -> None:
        """The user agreed to a held hunk, which lands once those before it in its file have ended."""
        self._become(hunk, "agreed")

    def _become(self, hunk: str, state: str) -> None:
        if hunk in self._hunks:
            self._hunks[hunk].state, self._hunks[hunk].kept = state, False

    def _hunk(self, hunk: str, turn: str, path: str) -> Reviewed:
        each = self._hunks.get(hunk)
        if each is None:
            each = self._hunks[hunk] = Reviewed(hunk, turn, path)
            self._begun.append(hunk)
            self._with_text.append(hunk)
            if len(self._with_text) > MOST_WITH_TEXT:
                self._hunks[self._with_text.pop(0)].lines = []
        each.path = path or each.path
        return each

    def _typed_no_more(self) -> None:
        for hunk in self._begun:
            self._hunks[hunk].whole = True
        self._begun.clear()

    def _typed(self, hunk: str, kind: str, text: str) -> None:
        each = self._hunks.get(hunk)
        if each is None or len(each.lines) >= MOST_LINES:
            return
        begun = self._open.pop(hunk, (kind, ""))[1]
        *ended, rest = (begun + text).split("\n")
        each.lines += [(kind, line) for line in ended]
        if rest:
            self._open[hunk] = (kind, rest)


def patch_lines(patch: str) -> list[Line]:
    """The lines of a patch of one file, without what comes before its hunks."""
    lines: list[Line] = []
    for line in patch.split("\n"):
        if line.startswith("@@") or lines:
            lines.append((line[:1] if line[:1] in "-+@ " and line else " ", line[1:]))
        elif line.startswith(("rename to", "deleted file", "new file", "GIT binary")):
            lines.append(("@", f" {line}"))
    return lines


def replaced_lines(old: str, new: Sequence[str]) -> list[Line]:
    """What changes where a hunk puts a whole new text in place of a file's."""
    patch = unified_diff(old.splitlines(), new, lineterm="", n=2)
    return patch_lines("\n".join(patch)) or [(" ", line) for line in new]


def hunk_row(each: Reviewed, chosen: bool, width: int, *, ansi: bool) -> Row:
    """One line of the list."""
    sign, role = HUNK_SIGNS[each.state]
    state = "kept" if each.kept and each.state == "landed" else each.told_state
    sized = each.added or each.removed
    sizes: list[Span] = [(f" +{each.added}", "success"), (f" −{each.removed}", "error")] if sized else []
    size = "".join(text for text, _ in sizes)
    why = each.guard if each.state == "held" else "placed by likeness" if each.fuzzy else ""
    told = " · ".join(filter(None, (state, why)))
    lead: list[Span] = [
        ("❯ " if chosen else "  ", "accent"),
        (f"{sign} ", role),
        (f"{each.hunk:<3} ", "faint"),
    ]
    room = max(8, width - cell_len("".join(text for text, _ in lead)) - len(size) - cell_len(told) - 3)
    path = clipped(visible(each.path), room)
    spans = [*lead, (path, "text"), *sizes, (f"  {told}", role)]
    fill = "selection" if chosen and not ansi else FILL
    return Row([(clipped("".join(text for text, _ in spans), width), "text")] if width < 20 else spans, fill)


def unified(lines: Sequence[Line], width: int) -> list[Row]:
    """The change in one column."""
    return [_change_row([_change_cell(kind, text, width)]) for kind, text in lines]


def side_by_side(lines: Sequence[Line], width: int) -> list[Row]:
    """The old lines at the left, the new ones at the right."""
    half = max(4, (width - 3) // 2)
    rows: list[Row] = []
    old: list[str] = []
    new: list[str] = []

    def pairs() -> None:
        for at in range(max(len(old), len(new))):
            left = _change_cell("-", old[at], half) if at < len(old) else (" " * half, "text", FILL)
            right = _change_cell("+", new[at], half) if at < len(new) else (" " * half, "text", FILL)
            rows.append(_change_row([left, (" │ ", "border", FILL), right]))
        old.clear()
        new.clear()

    for kind, text in lines:
        if kind == "-":
            old.append(text)
        elif kind == "+":
            new.append(text)
        else:
            pairs()
            if kind == "@":
                rows.append(_change_row([_change_cell(kind, text, width)]))
            else:
                rows.append(
                    _change_row(
                        [
                            _change_cell(kind, text, half),
                            (" │ ", "border", FILL),
                            _change_cell(kind, text, half),
                        ]
                    )
                )
    pairs()
    return rows


def _change_cell(kind: str, text: str, width: int) -> Cell:
    sign = "@" if kind == "@" else kind
    shown = clipped(f"{sign}{drawn(text, width)}", width)
    return shown + " " * (width - cell_len(shown)), _ROLES.get(kind, "text"), FILL


def _change_row(cells: Sequence[Cell]) -> Row:
    return Row([(text, role) for text, role, _ in cells], FILL)
