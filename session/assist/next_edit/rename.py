"""Which definitions a change renamed, and where. It parses: texts in, names out."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from context.code.languages import language_of
from context.code.scopes import NamedText, scoping_of
from edits.files.diff import changes
from session.project.definitions import Definition

if TYPE_CHECKING:
    from tree_sitter import Node

_NAME = re.compile(r"(?<![\w$])[^\W\d][\w$]*")
SHORTEST = 3
"""Letters of a name: shorter ones are in too many places that mean something else."""
_ATTRIBUTE = re.compile(r"\s*(?:self|this)\.([^\W\d]\w*)\s*[:=](?!=)")
_NO_DEFINITIONS = re.compile(r"\s*(?:unsafe\s+)?(?:impl|extension)\b")
"""What adds to a definition that is elsewhere, and is outlined under its name."""


@dataclass(frozen=True, slots=True)
class Rename:
    """A definition in the file ``path`` that was called ``old`` and is called ``new``, in the row ``row``
    (from 0) at the byte ``column``."""

    old: str
    new: str
    path: str = ""
    row: int = 0
    column: int = 0

    def __str__(self) -> str:
        return f"{self.old} → {self.new}"


@dataclass(frozen=True, slots=True)
class Piece:
    """Bytes of a line that become ``text``."""

    row: int
    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Target:
    """What was renamed: the file, the scope that it is bound in, and the class that it is a member of."""

    path: str
    scope: Node
    owner: str
    local: bool
    is_class: bool
    method: bool = False


def renames(
    path: str,
    before: Sequence[str],
    after: Sequence[str],
    defined_before: Collection[Definition],
    defined_after: Collection[Definition],
) -> tuple[Rename, ...]:
    """The definitions that have another name in ``after``: one that is gone, whose line has one that came in
    its place and is the same but for names. Names that stand for two are none."""
    was_defined, is_defined = _counted(defined_before, before), _counted(defined_after, after)
    gone = {_last(name) for name in was_defined - is_defined}
    come = {_last(name) for name in is_defined - was_defined}
    trees = _Trees(path, before, after)
    found: dict[str, list[Rename]] = {}
    for change in changes(before, after):
        if change.end - change.start != change.new_end - change.new_start:
            continue
        for offset in range(change.end - change.start):
            old, new = before[change.start + offset], after[change.new_start + offset]
            if _NAME.sub("_", old) != _NAME.sub("_", new):
                continue
            row = change.new_start + offset
            for each in _in_line(path, row, (old, new), gone, come, trees):
                found.setdefault(each.old, []).append(each)
    return tuple(all[0] for _, all in sorted(found.items()) if len({each.new for each in all}) == 1)


def _in_line(
    path: str, row: int, lines: tuple[str, str], gone: Collection[str], come: Collection[str], trees: _Trees
) -> list[Rename]:
    """The renames in one line, which was ``lines[0]``."""
    old, new = lines
    attributes = [_ATTRIBUTE.match(line) for line in lines]
    found: list[Rename] = []
    words = list(zip(_NAME.finditer(old), _NAME.finditer(new), strict=True))
    for at, (was, now) in enumerate(words):
        if was[0] == now[0] or len(was[0]) < SHORTEST:
            continue
        if at and words[0][0][0] != words[0][1][0] and words[0][0][0] not in gone:
            break  # the line begins with another keyword: it is another kind of definition
        attribute = all(each is not None for each in attributes) and at == 1
        made = Rename(was[0], now[0], path, row, len(new[: now.start()].encode()))
        if attribute or (was[0] in gone and now[0] in come) or trees.declared(made):
            found.append(made)
    return found


class _Trees:
    """The trees of a text before and after, for definitions that no outline has."""

    def __init__(self, path: str, before: Sequence[str], after: Sequence[str]) -> None:
        language = language_of(path)
        known = language is not None and scoping_of(language) is not None
        self._texts = [
            NamedText(language, "\n".join(lines))
            for lines in (before, after)
            if known and language is not None
        ]

    def declared(self, rename: Rename) -> bool:
        """Whether the new name is that of a definition whose old name no other definition beside it has."""
        if not self._texts or self._texts[1].root is None:
            return False
        before, after = self._texts
        at = (rename.row, rename.column)
        node = next((each for each in after.found(rename.new) if each.start_point == at), None)
        if node is not None and after.function_of(node) is not None:
            return _local(rename, node, before, after)
        if node is None or not after.declares(node) or any(map(before.declares, before.found(rename.new))):
            return False
        owner = after.class_around(node)
        member = after.owner_of(node) is not None
        left = (each for each in after.found(rename.old) if after.declares(each))
        return not any(
            after.class_around(each) == owner and (after.owner_of(each) is not None) is member
            for each in left
        )


def _local(rename: Rename, node: Node, before: NamedText, after: NamedText) -> bool:
    """Whether a name is that of a variable in a function whose old name nothing binds there any more, though
    it is used; or of a parameter that is a field of its class."""
    if after.is_property(node):
        return True
    bound = after.bound_by(node)
    if bound is None or any(word in bound.binder.type for word in ("import", "parameter")):
        return False
    there = (each.scope for all in before.bindings(rename.new).values() for each in all)
    taken = any(each.start_point[0] <= rename.row <= each.end_point[0] for each in there)
    if bound.scope.type in after.scoping.owners or taken:
        return False
    left = [each for each in after.found(rename.old) if _within(each, bound.scope) and not after.behind(each)]
    return bool(left) and not any(after.resolved(each, rename.old) or after.bound_by(each) for each in left)


def _within(node: Node, scope: Node) -> bool:
    return scope.start_byte <= node.start_byte < scope.end_byte


def _counted(found: Collection[Definition], lines: Sequence[str]) -> Counter[str]:
    return Counter(
        each.name
        for each in found
        if each.kind != "section" and not (each.head < len(lines) and _NO_DEFINITIONS.match(lines[each.head]))
    )


def _last(name: str) -> str:
    return name.rpartition(".")[2]
