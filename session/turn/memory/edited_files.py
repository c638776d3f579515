"""Tracks the files that the model has edited, so that it can be told what the user changed in them.

For each file with a landed hunk this keeps the text that the model believes it to have: the text before the
first hunk, with all of the model's own hunks applied. Any difference on disk comes from the user (typing, an
undo, another program), and is reported to the model as a short diff.
"""

from __future__ import annotations

from collections.abc import Mapping

from context.text.fences import fenced, harmless
from context.text.secrets import is_secret_file, masked_lines
from edits.files.merge import merge3
from edits.files.text import FileError, decode, split
from edits.ledger.ledger import Ledger
from edits.unified_diff import unified_hunks

LONGEST_DIFF = 120
"""Most lines of one file's diff; a longer diff is cut, and says so."""
LONGEST_LINE = 1_000
"""Most characters of one line of a diff; a longer line is cut, and says so."""


class EditedFiles:
    """The text of each edited file as the model believes it to be, by path; None for a missing file."""

    def __init__(self) -> None:
        self._believed: dict[str, str | None] = {}

    @property
    def paths(self) -> tuple[str, ...]:
        """The paths of the tracked files."""
        return tuple(self._believed)

    def copied(self) -> EditedFiles:
        """A copy, to read while a turn changes the original."""
        copy = EditedFiles()
        copy._believed = dict(self._believed)
        return copy

    def landed(self, path: str, before: str | None, after: str | None) -> None:
        """Record that a hunk of the model turned ``before`` into ``after`` on disk."""
        believed = self._believed.get(path, before)
        if believed == before or believed is None or before is None or after is None:
            self._believed[path] = after
        else:
            self._believed[path] = merge3(before, believed, after).text

    def landed_hunk(self, ledger: Ledger, hunk: str) -> None:
        """Record what ``hunk`` did, according to the ledger.

        A file that is not text (such as an image that was moved), or whose text the ledger has lost, is no
        longer tracked.
        """
        entry = next((entry for entry in reversed(ledger.entries()) if entry.hunk == hunk), None)
        if entry is None:
            return
        try:
            before, after = (
                decode(ledger.content(digest), entry.path).text if digest is not None else None
                for digest in (entry.before, entry.after)
            )
        except FileError:
            for path in (entry.path, entry.place):
                self._believed.pop(path, None)
            return
        if entry.moved_to:
            self.landed(entry.path, before, None)
            self.landed(entry.moved_to, None, after)
        else:
            self.landed(entry.path, before, after)

    def changes(self, now: Mapping[str, str | None]) -> str:
        """A report for the model on how the texts ``now`` of the files in ``paths`` differ from those that
        it believes in; empty if none differs."""
        parts = [
            _difference(path, self._believed.get(path), text)
            for path, text in now.items()
            if text != self._believed.get(path)
        ]
        if not parts:
            return ""
        differences = harmless("".join(parts))
        return "The developer has changed these files since; their text stands:\n" + fenced("", differences)

    def told(self, now: Mapping[str, str | None]) -> None:
        """Record that the model was told of the changes up to ``now``."""
        self._believed.update(now)


def _difference(path: str, believed: str | None, now: str | None) -> str:
    if now is None:
        return f"--- {path}\nThis file is gone.\n"
    if believed is None:
        return f"--- {path}\nThis file is there now.\n"
    before, after = split(believed)[0], split(now)[0]
    if before == after:
        return f"--- {path}\nOnly its line endings have changed.\n"
    masked = masked_lines(before), masked_lines(after)
    if is_secret_file(path) or masked[0] == masked[1]:
        return f"--- {path}\nText that is not shown to you has changed.\n"
    lines = [f"--- {path}", f"+++ {path}", *unified_hunks(*masked, context=1)]
    shown = [_shortened(line) for line in lines[:LONGEST_DIFF]]
    cut = len(lines) - LONGEST_DIFF
    if cut > 0:
        shown.append(f"({cut} more lines of this diff are left out)")
    return "\n".join(shown) + "\n"


def _shortened(line: str) -> str:
    cut = len(line) - LONGEST_LINE
    return f"{line[:LONGEST_LINE]} ({cut} more characters)" if cut > 0 else line
