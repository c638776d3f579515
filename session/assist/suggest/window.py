"""What is sent for a suggestion: the text around the cursor, its surroundings in the project, and the last
changes.

What changes least comes first, and what is typed last, so that the server finds nearly all of it in its
cache. Surroundings come from the project's index, which looks up files: read them in a thread. What was
changed lately is sent as small hunks: the next change is often like the last ones.
"""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass, field

from context.project.snapshot import Snapshot
from context.text.generated import is_unedited
from context.text.safe import harmless
from context.text.secrets import is_secret_file, redact
from session.assist.suggest.answer import Region
from session.assist.suggest.suggestion import Place

STEP = 20
"""The lines before the cursor begin at a multiple of so many rows, to stay the same while it moves on."""
_REGION_BEFORE, _REGION_AFTER = 2, 5
_LONGEST_LINE = 500


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What is known of a file beside the text at the cursor: its outline, definitions of the names that it
    uses, and what was changed lately."""

    outline: str = ""
    definitions: str = ""
    recent: str = ""

    @property
    def text(self) -> str:
        """All of it."""
        parts = (
            ("Outline of the file", self.outline),
            ("Definitions in other files", self.definitions),
            ("Changed lately", self.recent),
        )
        return "".join(f"{title}:\n{text.rstrip()}\n\n" for title, text in parts if text.strip())


def region_at(place: Place) -> Region:
    """The lines that a rewrite may change: the cursor's and a few around it."""
    before = place.before[len(place.before) - min(len(place.before), _REGION_BEFORE) :]
    after = place.after[:_REGION_AFTER]
    return Region(place.row - len(before), (*before, place.left + place.right, *after))


def for_insertion(place: Place, around: Surroundings) -> str:
    """The request for what to put in at the cursor; its end is the text left of the cursor."""
    return _head(place, around, _behind(place)) + f"Before the cursor:\n{_before(place)}"


def for_rewrite(place: Place, region: Region, around: Surroundings) -> str:
    """The request for the lines of ``region`` as they should be."""
    end = region.first + len(region.old)
    after = _lines(place, end, place.row + 1 + len(place.after))
    before = _lines(place, _start(place), region.first)
    lines = _lines(place, region.first, end)
    return f"{_head(place, around, after)}Before the region:\n{before}\n\nThe region:\n{lines}"


def holds_secret(place: Place, region: Region) -> bool:
    """Whether a line of the region cannot be sent as it is, and so cannot be written anew."""
    first = region.first - place.first
    masked = place.masked
    return masked is None or masked[first : first + len(region.old)] != region.old


def for_fim(place: Place) -> tuple[str, str]:
    """The texts before and behind the cursor, for a model that is trained to fill in the middle."""
    return _before(place), _behind(place)


def _head(place: Place, around: Surroundings, after: str) -> str:
    return f"File: {harmless(place.path)}\n\n{around.text}Behind the cursor:\n{after}\n\n"


def _before(place: Place) -> str:
    above = _lines(place, _start(place), place.row)
    return f"{above}\n{place.left}" if place.row > _start(place) else place.left


def _behind(place: Place) -> str:
    below = _lines(place, place.row + 1, place.row + 1 + len(place.after))
    return f"{place.right}\n{below}" if place.after else place.right


def _start(place: Place) -> int:
    return -(-place.first // STEP) * STEP if place.row - place.first > STEP else place.first


def _lines(place: Place, start: int, end: int) -> str:
    """The rows from ``start`` up to ``end``, without secrets and not too long."""
    masked = place.masked or ()
    first = place.first
    return "\n".join(line[:_LONGEST_LINE] for line in masked[start - first : end - first])


_NAME = re.compile(r"[^\W\d]\w{2,}")
_LONGEST_OUTLINE = 4_000
_LONGEST_DEFINITIONS = 3_000
_MOST_FILES = 8
_MOST_NAMES = 60


def look_around(
    project: Callable[[], Snapshot], place: Place, edited: Iterable[str]
) -> tuple[Surroundings | None, frozenset[str]]:
    """What is known of the file of ``place``; None where nothing of it may be sent: it is not one of the
    project's, may hold secrets, was taken out of the window, or nobody edits it by hand. With it those of the
    files ``edited`` of which something may be sent."""
    snapshot, path = project(), place.path
    sendable = frozenset(each for each in (path, *edited) if _is_sendable(snapshot, each))
    lines = (*place.before, place.left + place.right, *place.after)
    if path not in sendable or is_unedited(path, "\n".join(lines)):
        return None, sendable
    return Surroundings(outline_of(snapshot, path), definitions_for(snapshot, path, lines)), sendable


def _is_sendable(snapshot: Snapshot, path: str) -> bool:
    return path in snapshot.entries and path not in snapshot.unread and not is_secret_file(path)


def outline_of(snapshot: Snapshot, path: str) -> str:
    """The outline of a file as it was last saved, cut where it is long."""
    entry = snapshot.entries.get(path)
    return _cut(entry.outline, _LONGEST_OUTLINE) if entry is not None else ""


def definitions_for(snapshot: Snapshot, path: str, lines: Sequence[str]) -> str:
    """The signatures in other files of the names that ``lines`` of ``path`` use, likeliest files first."""
    used = Counter(name for line in lines for name in _NAME.findall(line))
    own = snapshot.entries.get(path)
    names = {name for name, _ in used.most_common(_MOST_NAMES)} - (own.names if own is not None else set())
    wanted = {name.lower(): used[name] for name in names}
    scores, _ = snapshot.words.defining_files(wanted)
    best = sorted((each for each in scores if each != path), key=lambda each: (-scores[each], each))
    parts: list[str] = []
    for other in best[:_MOST_FILES]:
        entry = snapshot.entries.get(other)
        if entry is None or not (here := entry.names & names):
            continue
        found = [line for line in entry.outline.splitlines() if not here.isdisjoint(_NAME.findall(line))]
        if found:
            parts.append("\n".join([f"{other}:", *found[:12]]))
    return _cut("\n".join(parts), _LONGEST_DEFINITIONS)


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[: text.rfind("\n", 0, longest) + 1]


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
