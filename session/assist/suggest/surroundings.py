"""Reads the surroundings of a suggestion from the project's index. It looks up files: call it in a thread."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from context.project.snapshot import Snapshot
from context.text.generated import is_unedited
from context.text.secrets import is_secret_file
from session.assist.suggest.place import Place
from session.assist.suggest.window import Surroundings

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
