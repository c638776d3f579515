"""Which definitions a change renamed. Pure: texts in, names out."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from edits.files.diff import changes

_NAME = re.compile(r"\b[^\W\d]\w*")
SHORTEST = 3
"""Letters of a name: shorter ones are in too many places that mean something else."""


@dataclass(frozen=True, slots=True)
class Rename:
    """A definition that was called ``old`` and is called ``new``."""

    old: str
    new: str

    def __str__(self) -> str:
        return f"{self.old} → {self.new}"

    def applied(self, line: str) -> str:
        """A line with the new name in all places of the old one."""
        return re.sub(rf"\b{re.escape(self.old)}\b", lambda _: self.new, line)


def renames(
    before: Sequence[str],
    after: Sequence[str],
    defined_before: Collection[str],
    defined_after: Collection[str],
) -> tuple[Rename, ...]:
    """The definitions that have another name in ``after``: one that is gone, whose line has one that came in
    its place and is the same but for names. Names that stand for two are none."""
    gone = {name for name in defined_before if name not in defined_after and len(name) >= SHORTEST}
    come = {name for name in defined_after if name not in defined_before}
    found: dict[str, set[str]] = {}
    for change in changes(before, after):
        if change.end - change.start != change.new_end - change.new_start:
            continue
        pairs = zip(before[change.start : change.end], after[change.new_start : change.new_end], strict=True)
        for old, new in pairs:
            if _NAME.sub("_", old) != _NAME.sub("_", new):
                continue
            words = list(zip(_NAME.findall(old), _NAME.findall(new), strict=True))
            for at, (was, now) in enumerate(words):
                if at and words[0][0] != words[0][1] and words[0][0] not in gone:
                    break  # the line begins with another keyword: it is another kind of definition
                if was in gone and now in come:
                    found.setdefault(was, set()).add(now)
    return tuple(Rename(old, next(iter(new))) for old, new in sorted(found.items()) if len(new) == 1)
