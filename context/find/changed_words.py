"""The words of what changed: they tell what the user is working on, better than the rest of a file does."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from context.disk.changes import Change
from context.disk.source import Unread
from context.index.file_text import FileText, file_text
from context.project.snapshot import Snapshot
from context.text.words import words, words_in

_MOST_FILES = 60
"""Number of changed files that are looked at."""
_LONGEST = 50_000
"""Number of characters of the changed lines of one file that are looked at."""


def changed_words(snapshot: Snapshot, paths: Iterable[str]) -> Mapping[str, int]:
    """Count the words of the lines of ``paths`` that were added or moved, and of the names that are gone.

    Files without an earlier state count as a whole elsewhere: all of them changed.
    """
    found: Counter[str] = Counter()
    changes = [change for path in paths if (change := snapshot.changes.get(path)) and change.base is not None]
    for change in changes[:_MOST_FILES]:
        source = snapshot.read(change.path)
        if not isinstance(source, Unread):
            found.update(_words_of(change, file_text(source)))
    return found


def _words_of(change: Change, file: FileText) -> Counter[str]:
    starts, text = file.starts, file.source.text
    ranges = change.ranges(file.sums)
    added = "\n".join(text[starts[lines.start] : starts[lines.stop]] for lines in ranges)
    found = Counter(words(added[:_LONGEST]))
    gone = set(change.names.split("\n")) - set(file.tokens.split("\n"))
    found.update(words_in(dict.fromkeys(gone - {""}, 1)))
    return found
