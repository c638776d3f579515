"""Indentation that differs between hunk and file: shifted as a whole, or in other units.

Of two ways to indent the same lines, the better one is indented as code and prose are: deeper only below a
line that opens something. The comparison knows no language; it counts how often each way breaks the rule.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import gcd

from edits.files.folding import indentation
from edits.hunk import HunkLine, LineKind


@dataclass(frozen=True, slots=True)
class Moved:
    """In the file every line begins with ``put`` where the hunk's line begins with ``taken``."""

    taken: str
    put: str

    def apply(self, indent: str) -> str | None:
        """The file's indentation for a typed one; None if it does not begin with ``taken``."""
        return self.put + indent[len(self.taken) :] if indent.startswith(self.taken) else None


@dataclass(frozen=True, slots=True)
class Units:
    """A level of indentation is ``typed`` spaces in the hunk and ``real`` spaces in the file."""

    typed: int
    real: int

    def apply(self, indent: str) -> str | None:
        """The file's indentation for a typed one; None if that is not a number of levels."""
        levels, rest = divmod(len(indent), self.typed)
        return " " * (self.real * levels) if not rest and not indent.strip(" ") else None


@dataclass(frozen=True, slots=True)
class Tabs:
    """One side has a tab where the other has ``width`` spaces; further spaces are the same."""

    width: int
    in_file: bool

    def apply(self, indent: str) -> str | None:
        """The file's indentation for a typed one; None if that is not tabs before spaces."""
        if indent.lstrip("\t").strip(" "):
            return None
        if not self.in_file:
            return indent.replace("\t", " " * self.width)
        columns = indent.count("\t") * self.width + indent.count(" ")
        return "\t" * (columns // self.width) + " " * (columns % self.width)


@dataclass(frozen=True, slots=True)
class First:
    """Only the hunk's first line is not indented as in the file, where it begins with ``put``."""

    put: str

    def apply(self, indent: str) -> str | None:
        """The indentation of any line but the first one."""
        return indent


@dataclass(frozen=True, slots=True)
class Levels:
    """The shallowest lines begin with ``base`` in the hunk and ``put`` in the file, and each level below them
    is ``typed`` in the hunk and ``real`` in the file."""

    base: str
    put: str
    typed: str
    real: str

    def apply(self, indent: str) -> str | None:
        """The file's indentation for a typed one; None if that is not a number of levels."""
        deeper = indent.startswith(self.base)
        rest = indent[len(self.base) :] if deeper else self.base[len(indent) :]
        levels = len(rest) // len(self.typed)
        if rest != self.typed * levels or not (deeper or self.base.startswith(indent)):
            return None
        if deeper:
            return self.put + self.real * levels
        return self.put.removesuffix(self.real * levels) if self.put.endswith(self.real * levels) else None


Shift = Moved | Units | Tabs | First | Levels
UNMOVED = Moved("", "")
"""The shift of a hunk that is indented as the file is."""


def shift_of(actual: Sequence[str], typed: Sequence[str]) -> Shift | None:
    """The shift that turns each indentation of ``typed`` into that of ``actual``; None if there is none.

    Blank lines do not count. The lines have no trailing space.
    """
    pairs = {(indentation(real), indentation(line)) for real, line in zip(actual, typed, strict=True) if line}
    if not pairs:
        return UNMOVED
    return _moved(pairs) or _tabs(pairs) or _units(pairs) or _first(actual, typed) or _levels(pairs)


def first_lost(lines: Sequence[str], typed: Sequence[str]) -> list[int]:
    """Where ``lines`` continue with ``typed`` but for the first line's indentation, which has lost some."""
    if len(typed) < _FEWEST_LINES or not typed[0].strip():
        return []
    first, rest = typed[0].strip(), list(typed[1:])
    if not any(line.strip() for line in rest):
        return []
    return [
        at
        for at, line in enumerate(lines)
        if line.strip() == first
        and list(lines[at + 1 : at + len(typed)]) == rest
        and len(indentation(line)) > len(indentation(typed[0]))
    ]


def _first(actual: Sequence[str], typed: Sequence[str]) -> First | None:
    """The indentation that the first line alone lacks."""
    alike = list(actual[1:]) == list(typed[1:]) and actual[0].strip() == typed[0].strip()
    if not alike or len(typed) < _FEWEST_LINES:
        return None
    return First(indentation(actual[0]))


def reindented(reading: Sequence[HunkLine], shift: Shift) -> tuple[HunkLine, ...] | None:
    """The reading with its new lines indented like the file; None if that is impossible for one of them."""
    moved: list[HunkLine] = []
    for line in reading:
        text = line.text
        if line.kind is LineKind.NEW and text.strip():
            here = indentation(text)
            there = shift.apply(here)
            if there is None:
                return None
            text = there + text[len(here) :]
        moved.append(HunkLine(line.kind, text))
    return tuple(moved)


def _moved(pairs: set[tuple[str, str]]) -> Moved | None:
    found: set[Moved] = set()
    for there, here in pairs:
        if there.endswith(here):
            found.add(Moved("", there[: len(there) - len(here)]))
        elif here.endswith(there):
            found.add(Moved(here[: len(here) - len(there)], ""))
        else:
            return None
    return found.pop() if len(found) == 1 else None


def _tabs(pairs: set[tuple[str, str]]) -> Tabs | None:
    in_file = any("\t" in there for there, _ in pairs)
    if in_file == any("\t" in here for _, here in pairs):
        return None
    for width in (4, 8, 2, 3):
        tabs = Tabs(width, in_file)
        if all(tabs.apply(here) == there for there, here in pairs):
            return tabs
    return None


def _units(pairs: set[tuple[str, str]]) -> Units | None:
    """Two widths of a level, which all lines confirm."""
    deep = [(there, here) for there, here in pairs if there or here]
    if any(not there or not here or there.strip(" ") or here.strip(" ") for there, here in deep):
        return None
    unit = Units(gcd(*(len(here) for _, here in deep)), gcd(*(len(there) for there, _ in deep)))
    narrow = min(unit.typed, unit.real) < _NARROWEST
    return unit if not narrow and all(unit.apply(typed) == real for real, typed in pairs) else None


def _levels(pairs: set[tuple[str, str]]) -> Levels | None:
    """Another width of a level at another depth: the shallowest lines are the same ones on both sides."""
    put, base = (min(column, key=len) for column in zip(*pairs, strict=True))
    deeper = [(there.removeprefix(put), here.removeprefix(base)) for there, here in pairs - {(put, base)}]
    if len(deeper) in (0, len(pairs)) or any(len(set(text)) != 1 for pair in deeper for text in pair):
        return None
    real, typed = (gcd(*map(len, column)) for column in zip(*deeper, strict=True))
    levels = Levels(base, put, deeper[0][1][:typed], deeper[0][0][:real])
    told = {levels.typed, levels.real} <= _USUAL
    return levels if told and all(levels.apply(here) == there for there, here in pairs) else None


def level_of(lines: Sequence[str]) -> int:
    """The blanks of one level in a file, by which most of its lines are indented; 0 if they show none."""
    depths = [indentation(line) for line in lines if line.strip()]
    widths = [len(depth) for depth in depths if depth and not depth.strip(" ")]
    fitting = (
        level for level in _LEVELS if sum(width % level == 0 for width in widths) >= _MOST * len(widths)
    )
    return next(fitting, 0) if widths else 0


def units_of(actual: Sequence[str], typed: Sequence[str], lines: Sequence[str]) -> Units | None:
    """The widths of a level by which old lines of one depth and the file's ``lines`` can be explained."""
    pairs = {
        (indentation(real), indentation(line))
        for real, line in zip(actual, typed, strict=True)
        if line.strip()
    }
    real = level_of(lines)
    if len(pairs) != 1 or real < _NARROWEST:
        return None
    there, here = next(iter(pairs))
    levels, rest = divmod(len(there), real)
    if rest or not levels or len(here) % levels or (there + here).strip(" "):
        return None
    unit = Units(len(here) // levels, real)
    return unit if unit.typed >= _NARROWEST and unit.typed != unit.real else None


_LEVELS = (4, 3, 2)
_MOST = 0.8
"""The part of the indented lines that a level has to explain; others go on what is above them."""
_FEWEST_LINES = 2
_NARROWEST = 2
"""Blanks of the narrowest level of indentation."""
_USUAL = {"\t", "  ", "    ", "        "}


_OPENS_LAST = re.compile(
    r".*(?:[:{(\[=\\+*/|&?<>-]|=>|->|\b(?:then|do|begin|else|and|or|not|in|return|of|try|is|function|end))\s*"
)
_OPENS_FIRST = re.compile(
    r"(?:[-*+]\s|\d+[.)]\s|<\w|@|\.\w|#|if|for|while|else|elsif|elif|do|try|except|catch|finally|switch|case|default|when|with|unless"
    r"|until|def|class|module|struct|interface|func|fn|function|namespace|begin|loop|match|select|from|where"
    r"|join|set|values|end)(?![\w-])",
    re.IGNORECASE,
)
_CONTINUES = re.compile(r"(?:[.?:+|&=*]|/(?![/*])|-(?!-)|and\b|or\b)")
_MUST_OPEN = re.compile(
    r"(?:if|for|while|else|elif|def|class|try|except|finally|with|async|match)\b.*:|.*[{(\[]"
)
_COMMENT = re.compile(r"(?:#|//|/\*|\*|--|<!--|;|%|\"\"\"|''')")
_AS_DEEP = re.compile(r"(?:[)\]}]|case\b|default\b|#|//|/\*|\*|\w+:$|public\b|private\b|protected\b)")


def breaks(lines: Sequence[tuple[str, bool]]) -> int:
    """How often the indentation of ``lines`` breaks the rule; a pair counts if one of them is marked."""
    count = 0
    levels: list[str] = []
    above: tuple[str, bool] | None = None
    for text, marked in lines:
        if not text.strip():
            continue
        if above is not None and (marked or above[1]):
            count += _breaks(above[0], text, levels)
        here = indentation(text)
        levels = [*(level for level in levels if len(level) < len(here)), here]
        above = text, marked
    return count


def _breaks(above: str, below: str, levels: Sequence[str]) -> bool:
    outer, inner = indentation(above), indentation(below)
    first, second = above.strip(), below.strip()
    if not (inner.startswith(outer) or outer.startswith(inner)):
        return True
    if first[0] == second[0] == "*" and inner != outer:
        return True
    if second[0] in ")]}" and len(inner) >= len(levels[0]):
        return inner not in levels
    if len(inner) > len(outer):
        return not (
            _OPENS_LAST.fullmatch(first)
            or _OPENS_FIRST.match(first)
            or _CONTINUES.match(second)
            or first.count("(") > first.count(")")
            or first.count("[") > first.count("]")
        )
    if _MUST_OPEN.fullmatch(first) and not _COMMENT.match(first):
        return not _AS_DEEP.match(second)
    return len(levels[0]) < len(inner) and inner not in levels
