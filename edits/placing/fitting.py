"""Fits the indentation of new lines to the file, once their place is known.

The shift between hunk and file comes from the old lines. It holds for the new lines only if they were typed
like the old ones: models also write the old text without its indentation and the new text with it, or the
other way round, or lose it on the first line alone. The ways that the typed text allows are compared by the
lines that both sides share, and by which of them reads as code does (``edits.placing.structure``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from edits.hunk import Format, HunkLine, LineKind
from edits.placing.blank_lines import tells
from edits.placing.hints import fold, indentation, shared_indentation
from edits.placing.indent import UNMOVED, First, Moved, Shift, reindented, units_of
from edits.placing.structure import breaks

_LOST_BLANK, _BLANK_MORE = Moved("", " "), Moved(" ", "")
_SIGNED = frozenset({Format.V4A, Format.UNIFIED})
"""Formats in which each line begins with a sign, whose blanks models lose or add."""


@dataclass(frozen=True, slots=True)
class Site:
    """A place in a file: its ``lines`` from ``start`` to ``end`` are the old lines of a hunk."""

    lines: Sequence[str]
    start: int
    end: int

    @property
    def old(self) -> Sequence[str]:
        """The old lines, as the file has them."""
        return self.lines[self.start : self.end]


Reading = tuple[HunkLine, ...]


def fit(site: Site, reading: Reading, shift: Shift, format: Format) -> Reading | str | None:
    """The reading with its new lines indented for the file; what is wrong with them, or None if they cannot
    be indented."""
    if not any(line.kind is LineKind.NEW and line.text.strip() for line in reading):
        return reading
    if shift == UNMOVED:
        return _unmoved(site, reading, format)
    if isinstance(shift, First):
        return _with_first(site, reading, alone=True) or reading
    ways = [way for way in (reindented(reading, shift), _in_units(site, reading, shift)) if way is not None]
    deeper = isinstance(shift, Moved) and not shift.taken
    if (deeper and _stands(site, reading)) or (format in _SIGNED and shift in (_LOST_BLANK, _BLANK_MORE)):
        ways.insert(0 if format in _SIGNED and shift == _LOST_BLANK else len(ways), reading)
    first = _with_first(site, reading) if sum(bool(line.strip()) for line in site.old) == 1 else None
    if deeper and first is not None and _stands(site, first):
        ways.append(first)
    if not ways:
        return None
    return min(ways, key=lambda way: _cost(site, way))


def _unmoved(site: Site, reading: Reading, format: Format) -> Reading | str:
    """The old lines are indented as in the file; the new ones may have lost theirs, or have a blank more."""
    lost = _lost(site, reading)
    if lost is not None:
        return lost
    if format in _SIGNED:
        shorter = _without_blank(site, reading)
        if shorter is not None and _breaks(site, shorter) <= _breaks(site, reading):
            return shorter
    return reading


def _lost(site: Site, reading: Reading) -> Reading | str | None:
    """The reading with the indentation that its new lines lost, or the first alone; None if they did not."""
    first = _with_first(site, reading)
    if first is not None and (_same_first(site, reading) or _breaks(site, first) < _breaks(site, reading)):
        return first
    depth = shared_indentation(site.old)
    new = [line.text for line in reading if line.kind is LineKind.NEW and line.text.strip()]
    if not depth or all(map(indentation, new)) or any(_tells_context(line) for line in reading):
        return None
    shared = _shared(site, reading)
    if not shared or any(there != depth + here for here, there in shared):
        return None
    restored = reindented(reading, Moved("", depth))
    if restored is None or _texts(restored) == list(site.old):
        return None
    if _breaks(site, restored) < _breaks(site, reading):
        return restored
    if not _same_first(site, reading):
        return None
    return (
        f"the new lines have lost the indentation of the file ({len(depth)} characters): write them with it"
    )


def _tells_context(line: HunkLine) -> bool:
    return line.kind is LineKind.CONTEXT and tells(line.text)


def _with_first(site: Site, reading: Reading, *, alone: bool = False) -> Reading | None:
    """The reading with its first line, which is new and not indented, at the file's indentation; ``alone``
    if the old text's first line has lost its own too."""
    at = next((i for i, line in enumerate(reading) if line.kind is not LineKind.OLD), None)
    depth = next((indentation(line) for line in site.old if line.strip()), "")
    if at is None or not depth or reading[at].kind is not LineKind.NEW or not reading[at].text.strip():
        return None
    if indentation(reading[at].text):
        return None
    put = HunkLine(LineKind.NEW, depth + reading[at].text)
    first = (*reading[:at], put, *reading[at + 1 :])
    if alone:
        return first
    after = [line.text for line in reading[at + 1 :] if line.kind is not LineKind.OLD and line.text.strip()]
    if not after or not all(text.startswith(shared_indentation(site.old) or " ") for text in after):
        return None
    if at == 0 and reading[1].kind is LineKind.CONTEXT and not _same_first(site, reading):
        # Only a line above the old text is new: it may well be meant to stand where it was typed.
        return None
    return first


def _same_first(site: Site, reading: Reading) -> bool:
    """Whether the first line is the file's but for its indentation."""
    first = next(
        (line.text.strip() for line in reading if line.kind is not LineKind.OLD and line.text.strip()), ""
    )
    return first == next((line.strip() for line in fold(site.old) if line.strip()), None)


def _stands(site: Site, reading: Reading) -> bool:
    """Whether all new lines have at least the indentation that the file's old lines have in common."""
    depth = shared_indentation(site.old)
    new = [line.text for line in reading if line.kind is LineKind.NEW and line.text.strip()]
    return bool(depth) and all(text.startswith(depth) for text in new)


def _without_blank(site: Site, reading: Reading) -> Reading | None:
    """The reading with one blank less before each new line, if only that is an indentation of the file."""
    new = [line.text for line in reading if line.kind is LineKind.NEW and line.text.strip()]
    depth = min(map(indentation, new), key=len)
    known = {indentation(line) for line in site.lines if line.strip()}
    odd = depth.startswith(" ") and depth not in known and depth[1:] in known
    return reindented(reading, Moved(" ", "")) if odd else None


def _in_units(site: Site, reading: Reading, shift: Shift) -> Reading | None:
    """The reading with another width of a level, if the old lines are too few to show which it is."""
    if not isinstance(shift, Moved):
        return None
    typed = [line.text for line in reading if line.kind is not LineKind.NEW]
    unit = units_of(site.old, typed, site.lines)
    return None if unit is None else reindented(reading, unit)


def _shared(site: Site, reading: Reading) -> list[tuple[str, str]]:
    """The indentation of each new line that the file has among the old ones, as typed and as it is there."""
    where: dict[str, list[str]] = {}
    for line in fold(site.old):
        if tells(line):
            where.setdefault(line.strip(), []).append(indentation(line))
    found: list[tuple[str, str]] = []
    for line in reading:
        there = where.get(fold([line.text])[0].strip(), []) if line.kind is LineKind.NEW else []
        if len(there) == 1:
            found.append((indentation(line.text), there[0]))
    return found


def _cost(site: Site, way: Reading) -> tuple[int, int, bool]:
    """What speaks against a way to indent the new lines."""
    astray = sum(here != there for here, there in _shared(site, way))
    depth = next((indentation(line) for line in site.old if line.strip()), "")
    first = next((line for line in way if line.kind is not LineKind.OLD and line.text.strip()), None)
    off = first is not None and first.kind is LineKind.NEW and indentation(first.text) != depth
    return _breaks(site, way), astray, off


def _texts(reading: Reading) -> list[str]:
    return [line.text for line in reading if line.kind is not LineKind.OLD]


def _breaks(site: Site, reading: Reading) -> int:
    above = next((line for line in reversed(site.lines[: site.start]) if line.strip()), "")
    below = next((line for line in site.lines[site.end :] if line.strip()), "")
    shown: list[tuple[str, bool]] = [(above, False)]
    at = site.start
    for line in reading:
        if line.kind is LineKind.NEW:
            shown.append((line.text, True))
            continue
        if line.kind is LineKind.CONTEXT:
            shown.append((site.lines[at], False))
        at += 1
    return breaks([*shown, (below, False)])
