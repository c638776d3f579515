"""The titles of the panes; that of the editor is the row of tabs of the open files, fitted to the width."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.app import App
from textual.content import Content

from tui.app.panes.layout import Panes
from tui.front.keys.keymap import shown
from tui.front.slash.table import hint
from tui.screen.drawing.plain import cell_len, clipped_left, fitting, visible

if TYPE_CHECKING:
    from session.project.opened import OpenFile
    from tui.editor.shown_file import ShownFile


A_CENT = 0.01
"""Dollars above which the user is told what a turn costs, before it is sent."""
FOLLOWING = "↓"
"""Before a file that came up with the model's hunks."""
UNSAVED = "●"
"""Behind a file with unsaved text."""
LONGEST = 24
"""Cells of a name that is not the shown file's."""
FRAME = 6
"""Cells of a pane's title beside its name and its remark."""
SHOWN, OTHER = "bold underline $spark-text", "not bold $spark-muted"
"""How the tab of the shown file and the others look, whichever pane has the focus: told apart without colours
too."""


@dataclass(frozen=True, slots=True)
class Tab:
    """One open file."""

    path: str
    shown: bool
    dirty: bool
    pinned: bool


def tab_row(tabs: Sequence[Tab], width: int) -> list[tuple[str, bool]]:
    """The row of tabs in at most ``width`` cells: texts, and whether each is of the shown file. Where not all
    fit, those nearest to the shown one are there, and numbers say how many are not."""
    at = next((index for index, tab in enumerate(tabs) if tab.shown), 0)
    counts = Counter(_end(tab.path, 1) for tab in tabs)
    labels = [_label(tab, width if index == at else LONGEST, counts) for index, tab in enumerate(tabs)]
    first, last = at, at + 1
    grown = True
    while grown:
        grown = False
        for low, high in ((first, last + 1), (first - 1, last)):
            if low >= 0 and high <= len(tabs) and _width(labels, low, high) <= width:
                first, last, grown = low, high, True
                break
    row = [(f"‹{first} ", False)] if first else []
    for index in range(first, last):
        row.append((labels[index], index == at))
        if index + 1 < last:
            row.append((" │ ", False))
    return [*row, (f" {len(tabs) - last}›", False)] if last < len(tabs) else row


def _width(labels: Sequence[str], first: int, last: int) -> int:
    hidden = (len(str(first)) + 2 if first else 0) + (3 if last < len(labels) else 0)
    return sum(map(cell_len, labels[first:last])) + 3 * (last - first - 1) + hidden


def _end(path: str, parts: int) -> str:
    # Without `pathlib`: this is drawn with each frame, and a path makes Python remember its parts anew.
    return "/".join(path.split("/")[-parts:])


def _label(tab: Tab, room: int, counts: Counter[str]) -> str:
    name = _end(tab.path, 1)
    if counts[name] > 1:
        name = _end(tab.path, 2)
    mark = "" if tab.pinned else FOLLOWING
    end = f" {UNSAVED}" if tab.dirty else ""
    return f"{mark}{clipped_left(visible(name), max(6, room - len(mark) - len(end)))}{end}"


class Titles:
    """Keeps the titles of the composer and of the editor up to date."""

    def __init__(self, app: App[int], panes: Panes) -> None:
        self._app = app
        self._panes = panes
        self.owner = ""
        """The other process that has the session, if this one follows it."""
        self.cost = ""
        """What the next turn costs at least; empty for a cent or less."""

    def name_composer(self, *, running: bool) -> None:
        """Say what sends and stops, or what the command does that is being typed."""
        composer, owner = self._panes.composer, self.owner
        width = self._app.size.width
        title = composer_title(
            composer.text, width, running=running, owner=owner, mode=composer.mode, cost=self.cost
        )
        composer.border_title = title

    def name_editor(self, file: ShownFile) -> None:
        """Say which file is shown and how it stands, or why none is."""
        editor = self._panes.editor
        if not file.path:
            self._panes.chat.tell_instead(file.problem)
            return
        width = editor.size.width or self._app.size.width
        shown = editor.buffer
        tabs = [Tab(each.path, each is shown, each.dirty, each.pinned) for each in file.buffers]
        editor.border_title = editor_title(tabs, file.base, editor.cursor_location, width)


def cost_told(cost: float | None) -> str:
    """What the next turn costs at least, behind the key that sends; empty for a cent or less."""
    return f" (${cost:,.2f} at least)" if cost is not None and cost > A_CENT else ""


def pane_title(name: str, remark: str = "") -> Content:
    """A pane's name, and a remark in a faint colour. Neither is markup, whatever a file is called."""
    pieces = [Content(f" {name} ")]
    if remark:
        pieces.append(Content(f" {remark} ").stylize("not bold $spark-faint"))
    return Content("").join(pieces)


def composer_title(
    text: str, width: int = 80, *, running: bool, owner: str = "", mode: str = "", cost: str = ""
) -> Content:
    """What the command in ``text`` does, or as many of the keys that send and stop as fit into ``width``
    cells; ``owner`` is the other process that has the session, ``mode`` that of the vi keys, and ``cost``
    what the turn costs at least."""

    def title(name: str, keys: str) -> Content:
        return pane_title(name, fitting(keys, width - cell_len(name) - FRAME))

    if mode and not owner:
        return title(mode, "i inserts · Enter sends" + (" · Esc stops" if running else ""))
    if told := hint(text):
        return pane_title("Command", told)
    if owner:
        keys = f"Enter redirects there · {shown('interrupt')} stops" if running else "Enter sends there"
        return title(f"Following {owner}", f"{keys} · /takeover brings the session here")
    # What does not fit is left out at the end: the keys that are needed most come first.
    keys = f"Enter sends{cost} · {shown('help')} keys · {shown('newline', 'composer')} new line"
    if running:
        queue = f"{shown('complete', 'composer')} next turn · {shown('after_hunk')} after this hunk"
        keys = f"{shown('interrupt')} stops · Enter redirects now · {queue} · {shown('help')} keys"
    return title("Redirect" if running else "Ask", keys)


def editor_title(tabs: Sequence[Tab], base: OpenFile | None, cursor: tuple[int, int], width: int) -> Content:
    """The tabs of the open files in ``width`` cells, or the path of the only one, and where the cursor is.
    ``base`` is the shown file as it was read, None for one that is not on disk yet."""
    if base is None:
        remarks = ["new file"]
    else:
        remarks = [f"{cursor[0] + 1}:{cursor[1] + 1}"]
        if base.read_only:
            remarks.append("read-only")
        if base.encoding not in ("utf-8", "ascii"):
            remarks.append(base.encoding)
    remark = " · ".join(remarks)
    room = max(12, width - cell_len(remark) - 6)
    if len(tabs) == 1:
        end = f" {UNSAVED}" if tabs[0].dirty else ""
        return pane_title(clipped_left(visible(tabs[0].path), room - len(end)) + end, remark)
    row = [Content(text).stylize(SHOWN if shown else OTHER) for text, shown in tab_row(tabs, room)]
    where = Content(f"  {remark} ").stylize("not bold $spark-faint")
    return Content("").join([Content(" "), *row, where])
