"""What was changed lately, as small hunks: the next change is often like the last ones."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Container, Sequence
from dataclasses import dataclass, field

from context.text.secrets import redact

MOST = 6
_DATA = re.compile(r"[A-Za-z0-9+/]{48}")
"""Lines with such a run, which may be part of a key, are not sent."""
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
        self._closed: deque[tuple[str, str]] = deque(maxlen=MOST)
        """File and lines."""

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
            if not any(map(_DATA.search, lines)):
                self._closed.append((edit.path, redact("\n".join([f"{edit.path}:", *lines])).text))

    @property
    def paths(self) -> frozenset[str]:
        """The files that were changed."""
        open_one = () if self._open is None else (self._open.path,)
        return frozenset((*open_one, *(path for path, _ in self._closed)))

    def text(self, files: Container[str]) -> str:
        """The changes in those of ``files``, oldest first, without secrets."""
        return "\n".join(text for path, text in self._closed if path in files)
