"""Finds the definitions that a request names in passing: in words of code, or spelled as plain words.

``click.echo``, ``echo()``, `` `echo` `` and ``parse_header`` mean definitions of that name, and "parsing the
headers" means ``parse_header`` or ``parseHeader`` too. A name counts if few files define it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import islice
from operator import itemgetter
from typing import TYPE_CHECKING

from context.disk.source import Unread
from context.find.expansion import stems
from context.find.mentions import Mention, defining_files
from context.text.words import words_of_name

if TYPE_CHECKING:
    from context.project.snapshot import Snapshot

_CODE = re.compile(r"(`?)@?([^\W\d]\w*(?:(?:\.|::|#|->)[^\W\d]\w*)*)(\(?)")
_JOINTS = re.compile(r"\.|::|#|->")
_INNER = re.compile(r"\w_\w|[a-z\d][A-Z]")
"""Matches a name of more than one word."""
_WORD = re.compile(r"[^\W_]+")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[^\W\dA-Z_]+|\d+")
"""Matches each word and number of a name."""
_LONGEST = 4_000
"""Number of characters of a request that are looked at."""
_MOST_CODE = 60
"""Number of words of code that are looked up."""
_MOST_WORDS = 80
"""Number of plain words of a request that may spell a name."""
_LOOSE = 2
"""Number of other words that may stand among those that spell a name."""
_MOST_FILES = 2
"""Number of files that may define a name; one that more define is too common."""
_MOST_EXPORTING = 4
"""Number of files that are searched for an export under another name."""
_SHORTEST = 4
"""Length of the shortest name of one word that a plain word may mean."""
_ASIDE = re.compile(
    r"(?:^|/)(?:tests?|testing|specs?|examples?|docs?|bench(?:e|mark)s?|fixtures|__tests__)/"
    r"|(?:^|/)(?:test_|conftest)|(?:[._-](?:test|spec)|Test)s?\."
)
"""Matches the path of a file that speaks of what others define."""
_ASIDE_WORDS = frozenset(
    {"test", "tests", "testing", "spec", "specs", "example", "examples", "docs", "benchmark", "benchmarks"}
)


def is_aside(path: str) -> bool:
    """Whether a file speaks of what others define, as tests and examples do."""
    return _ASIDE.search(path) is not None


def asks_aside(asked: Collection[str]) -> bool:
    """Whether a request with these words is about such files."""
    return not _ASIDE_WORDS.isdisjoint(asked)


def named_definitions(text: str, snapshot: Snapshot, likely: Iterable[str]) -> tuple[Mention, ...]:
    """The definitions that ``text`` names, the surest first. Those spelled as plain words are looked for in
    the ``likely`` files."""
    text = text[:_LONGEST]
    names: dict[str, None] = {}

    def without_code(match: re.Match[str]) -> str:
        quoted, name, called = match.groups()
        if not (quoted or called or _JOINTS.search(name) or _INNER.search(name)):
            return match[0]
        names[".".join(_JOINTS.split(name))] = None
        return " "

    prose = _CODE.sub(without_code, text)
    found: dict[Mention, None] = {}
    for name in islice(names, _MOST_CODE):
        found |= dict.fromkeys(_meant(name, snapshot))
    found |= dict.fromkeys(_spelled(prose, snapshot, likely))
    return tuple(found)


def _meant(name: str, snapshot: Snapshot) -> Iterator[Mention]:
    """The definitions of a name that is written as code, or of what is exported under that name."""
    *around, last = name.split(".")
    found = _narrowed(_defining(last, snapshot), around, snapshot)
    if not found:
        for other in _exported_as(last, snapshot):
            last, found = other, _narrowed(_defining(other, snapshot), around, snapshot)
            if found:
                break
    if len(found) <= _MOST_FILES:
        yield from (Mention(path, symbol=found[path]) for path in found)


def _defining(name: str, snapshot: Snapshot) -> dict[str, str]:
    """The files that define a name as it is written, or else in the other way of joining its words, each with
    the name."""
    exact = defining_files(name, snapshot)
    if exact or not _INNER.search(name):
        return dict.fromkeys(exact, name)
    parts = words_of_name(name)[1:]
    found: dict[str, str] = {}
    for joined in ("_".join(parts), "".join(parts)):
        for path in snapshot.words.defining_files({joined: 1})[0]:
            spelled = (other for other in snapshot.entries[path].names if other.lower() == joined)
            found.update((path, other) for other in spelled)
    return found


def _narrowed(found: Mapping[str, str], around: list[str], snapshot: Snapshot) -> dict[str, str]:
    """Of the files that define a name, those meant by what is ``around`` it, and that are not aside."""
    for held in reversed(around):
        inside = {path: name for path, name in found.items() if held in snapshot.entries[path].names}
        inside = inside or {path: name for path, name in found.items() if _is_below(path, held)}
        if inside:
            found = inside
            break
    main = {path: name for path, name in found.items() if not is_aside(path)}
    return dict(main or found)


def _is_below(path: str, name: str) -> bool:
    """Whether a module or a package of this name is, or has, the file."""
    return name.lower() in re.split(r"[/.]", path.lower())


def _exported_as(name: str, snapshot: Snapshot) -> Iterator[str]:
    """The names under which something is defined that a file exports as ``name``."""
    having = snapshot.words.score({name.lower(): 1.0})
    told = re.escape(name)
    export = re.compile(
        rf"\b(\w+)\s+as\s+{told}\b|(?:^|\bexports\.|\bexport const ){told}\s*=\s*(?:\w+\.)*(\w+);?\s*$",
        re.MULTILINE,
    )
    for path in sorted(having, key=lambda path: (-having[path], path))[:_MOST_EXPORTING]:
        source = snapshot.read(path)
        if not isinstance(source, Unread):
            yield from (match[1] or match[2] for match in export.finditer(source.text))


def _spelled(text: str, snapshot: Snapshot, likely: Iterable[str]) -> Iterator[Mention]:
    """The definitions of likely files whose names the plain words of a request spell."""
    asked = [_stems(word.lower()) for word in _WORD.findall(text)[:_MOST_WORDS]]
    known = frozenset().union(*asked)
    places: dict[str, list[int]] = {}
    for at, each in enumerate(asked):
        for stem in each:
            places.setdefault(stem, []).append(at)
    found: list[tuple[int, Mention]] = []
    for path in likely:
        entry = snapshot.entries.get(path)
        if entry is None or is_aside(path):
            continue
        for name in sorted(name for name in entry.names if _is_said(name, known)):
            parts = _parts(name)
            if not _near(parts, places):
                continue
            if len(_narrowed(dict.fromkeys(defining_files(name, snapshot), name), [], snapshot)) == 1:
                found.append((-len(parts), Mention(path, symbol=name)))
    yield from (mention for _, mention in sorted(found, key=itemgetter(0)))


def _is_said(name: str, known: frozenset[str]) -> bool:
    """Whether all parts of a name are among the ``known`` stems, and it is not too short to mean anything."""
    parts = _parts(name)
    if len(parts) < 2 and len(name) < _SHORTEST:
        return False
    return not any(known.isdisjoint(_stems(part)) for part in parts)


@lru_cache(maxsize=20_000)
def _parts(name: str) -> tuple[str, ...]:
    return tuple(part.lower() for part in _PART.findall(name))


def _near(parts: tuple[str, ...], places: Mapping[str, list[int]]) -> bool:
    """Whether all parts of a name are near to each other in the request."""
    found = [sorted({at for stem in _stems(part) for at in places.get(stem, ())}) for part in parts]
    width = len(parts) + _LOOSE
    return any(
        all(any(first <= at < first + width for at in each) for each in found)
        for first in sorted({at for each in found for at in each})
    )


@lru_cache(maxsize=4_000)
def _stems(word: str) -> frozenset[str]:
    return frozenset(stems(word))
