"""What was changed lately, as small hunks: the next change is often like the last ones."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

MOST = 6
_MOST_LINES = 12


@dataclass(slots=True)
class _Edit:
    """Lines of a file that are being changed: what they were, and are, from ``row`` on."""

    path: str
    row: int
    old: list[str] = field(default_factory=list)
    new: list[str] = field(default_factory=list)

    def takes(self, path: str, row: int, old: Sequence[str], new: Sequence[str]) -> bool:
        """Add a change that touches these lines; false where it does not."""
        at = row - self.row
        if path != self.path or not 0 <= at <= len(self.new):
            return False
        beyond = max(0, at + len(old) - len(self.new))
        self.old += old[len(old) - beyond :]
        self.new[at : at + len(old)] = new
        return True


class RecentEdits:
    """The last changes, of all files. One that is being typed still is not among them: it is seen at the
    cursor, and would change what is sent at each key."""

    def __init__(self) -> None:
        self._open: _Edit | None = None
        self._closed: deque[str] = deque(maxlen=MOST)

    def edited(self, path: str, row: int, old: Sequence[str], new: Sequence[str]) -> None:
        """The rows ``old`` of ``path``, from ``row`` (0-based) on, became ``new``."""
        if self._open is not None and self._open.takes(path, row, old, new):
            return
        if self._open is not None:
            self._close(self._open)
        self._open = _Edit(path, row, list(old), list(new))

    def _close(self, edit: _Edit) -> None:
        if edit.old != edit.new and len(edit.old) + len(edit.new) <= _MOST_LINES:
            lines = [f"-{line}" for line in edit.old] + [f"+{line}" for line in edit.new]
            self._closed.append("\n".join([f"{edit.path}:", *lines]))

    @property
    def text(self) -> str:
        """The changes, oldest first."""
        return "\n".join(self._closed)
