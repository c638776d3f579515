"""What the list of findings shows, as plain data."""

from __future__ import annotations

import textwrap

from session.base.events import FindingReported
from tui.app.review.review_rows import FILL, unified
from tui.editor.signs import signs
from tui.screen.drawing.plain import clipped, untabbed, visible
from tui.screen.drawing.rows import Row


def finding_row(each: FindingReported, line: int, chosen: bool, width: int, *, ansi: bool) -> Row:
    """One line of the list."""
    sign = signs()[each.severity]
    lead = [("❯ " if chosen else "  ", "accent"), (f"{sign.glyph} ", sign.role)]
    told = clipped(visible(f"{each.path}:{line} {each.message}"), max(8, width - 4))
    return Row([*lead, (told, "text")], "selection" if chosen and not ansi else FILL)


def detail(each: FindingReported, line: int, width: int) -> list[Row]:
    """All of a finding: what is wrong and why, and its fix."""
    width = max(10, width)
    by = "" if each.by == "model" else f" · {each.by}"
    rows = [Row([(clipped(f" {visible(each.path)}:{line}", width), "heading")], FILL)]
    rows.append(
        Row(
            [(clipped(f" {each.severity} · {visible(each.kind)}{by}", width), signs()[each.severity].role)],
            FILL,
        )
    )
    rows.append(Row([], FILL))
    for text, role in ((each.message, "text"), (each.why, "muted")):
        for part in textwrap.wrap(visible(text), width - 2) if text else ():
            rows.append(Row([(f" {part}", role)], FILL))
    rows.append(Row([], FILL))
    if each.fix_old:
        rows.append(Row([(clipped(" The fix:", width), "heading")], FILL))
        lines = [("-", untabbed(text)) for text in each.fix_old] + [
            ("+", untabbed(text)) for text in each.fix_new
        ]
        rows += unified(lines, width)
    else:
        rows.append(Row([(clipped(" It has no fix; d asks about it.", width), "faint")], FILL))
    return rows
