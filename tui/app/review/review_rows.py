"""What the review shows, as plain data: the list of hunks, and one hunk's change in one or two columns."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import unified_diff

from tui.app.review.review_book import Reviewed
from tui.chat.transcript.entries import HUNK_SIGNS
from tui.screen.drawing.plain import cell_len, clipped, untabbed, visible
from tui.screen.drawing.rows import Row, Span

FILL = "panel"
Line = tuple[str, str]
"""A kind, which is a blank, ``-``, ``+`` or ``@`` for a heading, and a text."""


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
    size = f" +{each.added} −{each.removed}" if each.added or each.removed else ""
    why = each.guard if each.state == "held" else "placed by likeness" if each.fuzzy else ""
    told = " · ".join(filter(None, (state, why)))
    lead: list[Span] = [
        ("❯ " if chosen else "  ", "accent"),
        (f"{sign} ", role),
        (f"{each.hunk:<3} ", "faint"),
    ]
    room = max(8, width - cell_len("".join(text for text, _ in lead)) - len(size) - cell_len(told) - 3)
    path = clipped(visible(each.path), room)
    spans = [*lead, (path, "text"), (size, "muted"), (f"  {told}", role)]
    fill = "selection" if chosen and not ansi else FILL
    return Row([(clipped("".join(text for text, _ in spans), width), "text")] if width < 20 else spans, fill)


def unified(lines: Sequence[Line], width: int) -> list[Row]:
    """The change in one column."""
    return [_row([_cell(kind, text, width)]) for kind, text in lines]


def side_by_side(lines: Sequence[Line], width: int) -> list[Row]:
    """The old lines at the left, the new ones at the right."""
    half = max(4, (width - 3) // 2)
    rows: list[Row] = []
    old: list[str] = []
    new: list[str] = []

    def pairs() -> None:
        for at in range(max(len(old), len(new))):
            left = _cell("-", old[at], half) if at < len(old) else (" " * half, "text", FILL)
            right = _cell("+", new[at], half) if at < len(new) else (" " * half, "text", FILL)
            rows.append(_row([left, (" │ ", "border", FILL), right]))
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
                rows.append(_row([_cell(kind, text, width)]))
            else:
                rows.append(_row([_cell(kind, text, half), (" │ ", "border", FILL), _cell(kind, text, half)]))
    pairs()
    return rows


Cell = tuple[str, str, str]
_ROLES = {"+": "added", "-": "removed", "@": "accent"}


def _cell(kind: str, text: str, width: int) -> Cell:
    sign = "@" if kind == "@" else kind
    shown = clipped(f"{sign}{visible(untabbed(text))}", width)
    return shown + " " * (width - cell_len(shown)), _ROLES.get(kind, "text"), FILL


def _row(cells: Sequence[Cell]) -> Row:
    return Row([(text, role) for text, role, _ in cells], FILL)
