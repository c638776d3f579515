"""Fits the indentation of new lines to the file, once their place is known.

The shift between hunk and file comes from the old lines. It holds for the new lines only if they were typed
like the old ones: models also write the old text without its indentation and the new text with it, or the
other way round, or lose it on the first line alone. The ways that the typed text allows are compared by the
lines that both sides share, and by which of them reads as code does (``edits.placing.indent``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import dropwhile, takewhile

from edits.files.diff import changes
from edits.files.folding import bare, fold, indentation, shared_indentation, tells
from edits.hunk import Format, HunkLine, LineKind
from edits.placing.indent import UNMOVED, First, Moved, Shift, breaks, level_of, reindented, units_of

_LOST_BLANK, _BLANK_MORE = Moved("", " "), Moved(" ", "")
_LOST = "the new lines lack indentation that the file has there: write them with it"
_AROUND = 300
"""Lines above and below a place that are looked at for the file's indentation."""
_SIGNED = frozenset({Format.V4A, Format.UNIFIED})
"""Formats in which each line begins with a sign, whose blanks models lose or add."""


@dataclass(frozen=True, slots=True)
class Site:
    """A place in a file: its ``lines`` from ``start`` to ``end`` are the old lines of a hunk. In ``prose``
    an indentation may be any."""

    lines: Sequence[str]
    start: int
    end: int
    prose: bool = False

    @property
    def above(self) -> str:
        """The nearest line with text above the old ones; empty if there is none."""
        return next((line for at in range(self.start - 1, -1, -1) if (line := self.lines[at]).strip()), "")

    @property
    def below(self) -> str:
        """The nearest line with text below the old ones; empty if there is none."""
        return next((line for at in range(self.end, len(self.lines)) if (line := self.lines[at]).strip()), "")

    @property
    def near(self) -> Sequence[str]:
        """The lines around, which show how the file is indented."""
        return self.lines[max(0, self.start - _AROUND) : self.end + _AROUND]

    @property
    def old(self) -> Sequence[str]:
        """The old lines, as the file has them."""
        return self.lines[self.start : self.end]


Reading = tuple[HunkLine, ...]


def fit(site: Site, reading: Reading, shift: Shift, format: Format, *, woven: bool) -> Reading | str | None:
    """The reading with its new lines indented for the file; what is wrong with them, or None if they cannot
    be indented. ``woven`` says that its context is the file's, and not as it was typed."""
    if not any(line.kind is LineKind.NEW and line.text.strip() for line in reading):
        return reading
    if isinstance(shift, First):
        return _with_first(site, reading) or reading
    if shift == UNMOVED:
        return _unmoved(site, reading, format)
    ways = [way for way in (reindented(reading, shift), _in_units(site, reading, shift)) if way is not None]
    if format in _SIGNED and shift in (_LOST_BLANK, _BLANK_MORE):
        ways.insert(0 if shift == _LOST_BLANK else len(ways), reading)
    if isinstance(shift, Moved) and not shift.taken and not woven:
        ways += _as_typed(site, reading)
    return min(ways, key=lambda way: _cost(site, way)) if ways else None


def _as_typed(site: Site, reading: Reading) -> Iterator[Reading]:
    """The ways in which the new lines have the file's indentation already, though the old ones lack it."""
    depth = shared_indentation(site.old)
    typed = [line for line in reading if line.kind is not LineKind.OLD and line.text.strip()]
    begun = typed[0]
    rest_stands = all(line.text.startswith(depth) for line in typed[1:])
    near = list(takewhile(str.strip, dropwhile(lambda text: not text.strip(), _texts(reading))))[1:]
    near_stands = all(text.startswith(depth) for text in near)
    alone = sum(bool(line.strip()) for line in site.old) == 1
    if indentation(begun.text):
        votes = _votes(site, reading)
        if 2 * votes[""] > votes.total() or (rest_stands and begun.text.startswith(depth)):
            yield _against(site, _texts(reading))
    elif alone and near_stands:
        yield reading if begun.kind is LineKind.CONTEXT else _with_first(site, reading) or reading


def _unmoved(site: Site, reading: Reading, format: Format) -> Reading | str:
    """The old lines are indented as in the file; the new ones may have lost theirs, or have a blank more."""
    if format in _SIGNED:
        shorter = _without_blank(site, reading)
        if shorter is not None:
            return shorter
    typed = _texts(reading)
    if bare(typed) == bare(site.old):
        return reading
    first = _with_first(site, reading)
    same = first is not None and _same_first(site, reading)
    kept = first is not None and _rest_is_kept(site, first)
    if first is not None and kept and (same or _breaks(site, first) < _breaks(site, reading)):
        return first
    if not shared_indentation(typed) and shared_indentation(site.old):
        votes = _votes(site, reading)
        ways = [_against(site, moved) for depth in votes if (moved := _deeper(typed, depth))]
        best = min(ways, key=lambda way: _breaks(site, way), default=reading)
        lead = _breaks(site, reading) - _breaks(site, best)
        if lead > 0:
            return best
        doubtful = best is not reading and lead == 0 and not votes[""]
        same = same or (doubtful and _goes_on(site.old, typed, votes.total()))
    return _LOST if same else reading


def _goes_on(old: Sequence[str], typed: Sequence[str], shared: int) -> bool:
    """Whether new lines are the old ones with changes: they begin or end with the same line, or share many.
    Of a block that is written anew, a line may have found another place at another depth."""
    was, now = ([text.strip() for text in texts if text.strip()] for texts in (old, typed))
    return was[0] == now[0] or was[-1] == now[-1] or 2 * shared >= min(len(was), len(now))


def _deeper(texts: Sequence[str], depth: str) -> list[str]:
    """The texts with more indentation; none if only the first one needs it."""
    if not depth or all(text.startswith(depth) for text in texts[1:] if text.strip()):
        return []
    return [depth + text if text.strip() else text for text in texts]


def _against(site: Site, texts: Sequence[str]) -> Reading:
    """The edit of the file's old lines to ``texts``."""
    lines: list[HunkLine] = []
    at = 0
    for change in changes(fold(site.old), fold(texts)):
        lines += [HunkLine(LineKind.CONTEXT, text) for text in site.old[at : change.start]]
        lines += [HunkLine(LineKind.OLD, text) for text in site.old[change.start : change.end]]
        lines += [HunkLine(LineKind.NEW, text) for text in texts[change.new_start : change.new_end]]
        at = change.end
    return (*lines, *(HunkLine(LineKind.CONTEXT, text) for text in site.old[at:]))


def _votes(site: Site, reading: Reading) -> Counter[str]:
    """What the lines that both sides share lack of the file's indentation, and how many of them lack it."""
    where: dict[str, list[str]] = {}
    for text in fold(site.old):
        if tells(text):
            where.setdefault(text.strip(), []).append(indentation(text))
    votes: Counter[str] = Counter()
    for text in fold(_texts(reading)):
        there, here = where.get(text.strip(), []), indentation(text)
        if len(there) == 1 and there[0].endswith(here):
            votes[there[0].removesuffix(here)] += 1
    return votes


def _with_first(site: Site, reading: Reading) -> Reading | None:
    """The reading with its first line, which is new and not indented, at the file's indentation."""
    at = next((i for i, line in enumerate(reading) if line.kind is not LineKind.OLD), None)
    depth = indentation(site.old[0]) if site.old and site.old[0].strip() else ""
    if at is None or not depth or reading[at].kind is not LineKind.NEW or not reading[at].text.strip():
        return None
    if indentation(reading[at].text):
        return None
    put = HunkLine(LineKind.NEW, depth + reading[at].text)
    return (*reading[:at], put, *reading[at + 1 :])


def _rest_is_kept(site: Site, first: Reading) -> bool:
    """Whether the lines after the first one have the indentation of the file, as far as it has them."""
    at = next(i for i, line in enumerate(first) if line.kind is not LineKind.OLD)
    rest = [line for line in first[at + 1 :] if line.kind is not LineKind.OLD and line.text.strip()]
    if at == 0 and first[1].kind is LineKind.CONTEXT and not _same_first(site, first):
        # Only a line above the old text is new: it may well be meant to stand where it was typed.
        return False
    votes = _votes(site, first[at + 1 :])
    if 2 * votes[""] < votes.total():
        return False
    depth = next(indentation(line) for line in site.old if line.strip())
    kept = any(line.kind is LineKind.CONTEXT and indentation(line.text) for line in rest)
    return bool(rest) and (bool(votes) or kept or all(line.text.startswith(depth) for line in rest))


def _same_first(site: Site, reading: Reading) -> bool:
    """Whether the first line is the file's but for its indentation."""
    new = next((line.strip() for line in fold(_texts(reading)) if line), "")
    return new == next((line.strip() for line in fold(site.old) if line), None)


def _without_blank(site: Site, reading: Reading) -> Reading | None:
    """The reading with one blank less before each new line, if that is more like the file: its lines are not
    indented by that blank more than by whole levels, or the lines around are indented otherwise."""
    added = [line.text for line in reading if line.kind is LineKind.NEW and line.text.strip()]
    new = [indentation(text) for text in added]
    gone = {indentation(line.text) for line in reading if line.kind is LineKind.OLD}
    shorter = reindented(reading, _BLANK_MORE) if all(new) and not gone & set(new) else None
    if shorter is None:
        return None
    lines = site.near
    if site.prose:
        alone = " " in new and not any(indentation(line) == " " for line in lines)
        words = all(text[1].isalpha() for text in added if indentation(text) == " ")
        return shorter if alone and words else None
    known = {indentation(line) for line in lines if line.strip()}
    if min(new, key=len)[1:] not in known or _in_brackets(site, reading):
        return None
    code = [line for line in lines if not line.lstrip().startswith("*")]
    level = level_of(code)
    lead = _breaks(site, reading) - _breaks(site, shorter)
    tabs = all(depth.startswith(" \t") for depth in new) and not any(line.startswith(" ") for line in code)
    plain = [indentation(text) for text in added if text.lstrip()[0] != "*"]
    off = [level > 1 and len(depth) % level == 1 and not depth.strip(" ") for depth in plain]
    flat = not level and not any(map(indentation, lines))
    odd = tabs or flat or (bool(off) and off[0] and 2 * sum(off) > len(off))
    return shorter if lead > 0 or (odd and lead == 0) else None


def _in_brackets(site: Site, reading: Reading) -> bool:
    """Whether the first new line goes on below text in an open bracket, where it may have any indentation."""
    at = next(index for index, line in enumerate(reading) if line.kind is LineKind.NEW and line.text.strip())
    kept = [line.text for line in reading[:at] if line.kind is LineKind.CONTEXT]
    above = next((line for line in reversed([site.above, *kept]) if line.strip()), "")
    opened = any(above.count(opening) > above.count(closing) for opening, closing in ("()", "[]"))
    return opened and above.rstrip()[-1:] not in tuple("([{")


def _in_units(site: Site, reading: Reading, shift: Shift) -> Reading | None:
    """The reading with another width of a level, if the old lines are too few to show which it is."""
    if not isinstance(shift, Moved):
        return None
    typed = [line.text for line in reading if line.kind is not LineKind.NEW]
    unit = units_of(site.old, typed, site.near)
    return None if unit is None else reindented(reading, unit)


def _cost(site: Site, way: Reading) -> tuple[int, int, bool]:
    """What speaks against a way to indent the new lines."""
    votes = _votes(site, way)
    depth = next((indentation(line) for line in site.old if line.strip()), "")
    first = next((line for line in way if line.kind is not LineKind.OLD and line.text.strip()), None)
    off = first is not None and first.kind is LineKind.NEW and indentation(first.text) != depth
    return _breaks(site, way), votes.total() - votes[""], off


def _texts(reading: Sequence[HunkLine]) -> list[str]:
    """The text that a reading leaves, as it was typed."""
    return [line.text for line in reading if line.kind is not LineKind.OLD]


def _breaks(site: Site, reading: Reading) -> int:
    shown: list[tuple[str, bool]] = [(site.above, False)]
    at = site.start
    for line in reading:
        if line.kind is LineKind.NEW:
            shown.append((line.text, True))
            continue
        if line.kind is LineKind.CONTEXT:
            shown.append((site.lines[at], False))
        at += 1
    return breaks([*shown, (site.below, False)])
