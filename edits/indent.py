"""Indentation that a model typed otherwise than the file has it: shifted as a whole, or in other units."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from edits.fold import indentation
from edits.hunk import HunkLine, LineKind


@dataclass(frozen=True, slots=True)
class Moved:
    """Every line has ``taken`` less at its beginning in the file than as typed, and ``put`` more."""

    taken: str
    put: str

    def apply(self, indent: str) -> str | None:
        """The file's indentation for a typed one; None when it is too shallow for that."""
        return self.put + indent[len(self.taken) :] if indent.startswith(self.taken) else None


@dataclass(frozen=True, slots=True)
class Units:
    """A level is ``typed`` in the hunk and ``real`` in the file: tabs for spaces, or four spaces for two."""

    typed: str
    real: str

    def apply(self, indent: str) -> str | None:
        """The file's indentation for a typed one; None when it is not whole levels."""
        levels, rest = divmod(len(indent), len(self.typed))
        return self.real * levels if not rest and indent == self.typed * levels else None


Shift = Moved | Units


def shift_of(actual: Sequence[str], typed: Sequence[str]) -> Shift | None:
    """What makes each indentation of ``typed`` that of ``actual``; None when nothing does for all lines.

    Blank lines say nothing. The lines have no trailing space.
    """
    pairs = {(indentation(real), indentation(line)) for real, line in zip(actual, typed, strict=True) if line}
    return _moved(pairs) or _units(pairs) if pairs else Moved("", "")


def reindented(reading: Sequence[HunkLine], shift: Shift) -> tuple[HunkLine, ...] | None:
    """The reading with its new lines indented as the file is; None when one cannot be."""
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


def _units(pairs: set[tuple[str, str]]) -> Units | None:
    """One unit for another, the smallest levels that explain every pair."""
    deep = [(there, here) for there, here in pairs if there or here]
    if any(not there or not here or len({*there}) > 1 or len({*here}) > 1 for there, here in deep):
        return None
    there, here = min(deep, key=lambda pair: len(pair[1]))
    unit = Units(here, there)
    if here[0] == " " != there[0] or there[0] == " " != here[0]:
        # A tab is one level; how many spaces make one is told by the shallowest line.
        levels = len(there) if there[0] != " " else len(here)
        spaces = len(here) if here[0] == " " else len(there)
        if spaces % levels:
            return None
        width = " " * (spaces // levels)
        unit = Units(width, there[0]) if here[0] == " " else Units(here[0], width)
    return unit if all(unit.apply(typed) == real for real, typed in pairs) else None
