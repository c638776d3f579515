"""Tells which names mean a renamed member of a class: a field, a method, a variant.

One counts behind a dot whose object is of the class, as a keyword or key for it, and where a related class
declares it. Of an object of unknown class it counts where no other class has it and it is no common word.
"""

from __future__ import annotations

import io
import pathlib
import posixpath
import re
import tomllib
from collections import OrderedDict, deque
from collections.abc import Sequence
from importlib import resources
from itertools import chain
from typing import TYPE_CHECKING

from context.code.parsing import text_of
from context.code.scopes import NamedText, owner_name
from context.project.snapshot import Snapshot
from session.assist.next_edit.class_table import ClassTable
from session.assist.next_edit.keyed import Keys
from session.assist.next_edit.name_syntax import (
    INSIDE_IMPORTS,
    MEMBER_TYPES,
    SHORT,
    around_any,
    is_keyword,
    is_method,
)
from session.assist.next_edit.origins import origin
from session.assist.next_edit.receivers import Receivers
from session.assist.next_edit.rename import Rename, Target
from session.assist.next_edit.written_types import BUILTIN, type_name

if TYPE_CHECKING:
    from tree_sitter import Node


_PYTHON = (str, bytes, list, dict, set, tuple, int, float, object, type, OrderedDict, deque, pathlib.Path,
           io.TextIOWrapper, io.BytesIO, re.Pattern, re.Match, Exception)  # fmt: skip

_TABLE = (resources.files("session.assist.next_edit") / "common_members.toml").read_text("utf-8")
_OTHERS = [name for names in tomllib.loads(_TABLE).values() for name in names.split()]

COMMON_MEMBERS = frozenset(chain(_OTHERS, *(dir(each) for each in _PYTHON)))
"""Names of members that the languages' own types have too, so that a name alone says nothing."""
_DEEPEST = 6


class Members:
    """The names that mean the member ``target``; ``paths`` are the files that have its old name."""

    def __init__(
        self, rename: Rename, target: Target, snapshot: Snapshot, table: ClassTable, paths: Sequence[str]
    ) -> None:
        self._rename = rename
        self._target = target
        self._table = table
        self._paths = paths
        self._known = set(snapshot.paths)
        self._receivers = Receivers(table)
        self._keys = Keys(table, self._receivers, lambda node: target.owner if self._likely(node) else "")
        self._relatives: dict[str, bool] = {}
        self._assigned = self._assigned_elsewhere() - {target.owner}
        rivals = table.owners(rename.old, paths) | self._assigned
        self._rivals = {each for each in rivals if not self._related(each)}
        self._rivals |= {"?"} if self._in_objects() else set()

    def means(self, text: NamedText, path: str, node: Node) -> bool:
        """Whether a name in a file is the member."""
        old, target = self._rename.old, self._target
        if around_any(node, INSIDE_IMPORTS):
            return False
        if text.language.name == "rust" and is_method(text, node) is not target.method:
            return False
        if node.type == "string_content" and _listed_in_class(node):
            return self._is_it(text.class_around(node), text, path)
        if text.behind(node):
            before = text.object_of(node)
            found = self._receivers.class_of(text, before)
            if found is not None:
                return found != BUILTIN and self._is_it(found, text, path)
            return self._likely(before)
        if (keyword := self._keys.class_of(text, node)) is not None:
            script = node.type in ("property_identifier", *SHORT) and text.language.name != "rust"
            if script and not keyword:
                return self._likely(None)
            return bool(keyword) and self._is_it(keyword, text, path)
        outer = text.owner_of(node)
        around = node.parent
        named = around.child_by_field_name("name") if around is not None else None
        declares = (named is not None and named.id == node.id) or node.type in MEMBER_TYPES
        if (outer is not None and declares and text.bound_by(node) is None) or (
            outer is not None and declares and text.bound_by(node).scope.type in text.scoping.owners  # type: ignore[union-attr]
        ):
            return self._declared_in(outer, text, path)
        if text.language.name == "python":
            scope = text.scope_of(node)
            bound = text.bound_by(node)
            scope = bound.scope if bound is not None else scope
            if scope is None or scope.type != "class_definition" or owner_name(scope) != target.owner:
                return False
            return self._is_it(target.owner, text, path)
        if text.language.name == "java" and target.method and around is not None:
            # A method and a variable of one name are two things.
            called = around.type == "method_invocation" and around.child_by_field_name("name") == node
            return called and self._related(text.class_around(node))
        if text.scoping.bare and node.type not in MEMBER_TYPES:
            bound = text.resolved(node, old)
            inside = bound is None or bound.scope.type in text.scoping.owners
            return inside and self._related(text.class_around(node)) and not is_keyword(text, node)
        return False

    def _related(self, name: str) -> bool:
        """Whether a class is the member's, extends it, or is extended by it and has the member too."""
        if name == self._target.owner:
            return True
        if name not in self._relatives:
            known = self._table.family in ("python", "go")
            self._relatives[name] = self._inherits(name) if known else self._of_one_family(name)
        return self._relatives[name]

    def _inherits(self, name: str, depth: int = 0) -> bool:
        """Whether a class has the member from its class: neither it nor one between them has another."""
        if name == self._target.owner:
            return True
        entry = self._table.entry(name)
        if self._rename.old in entry.members or name in self._assigned or depth > _DEEPEST:
            return False
        return any(self._inherits(base, depth + 1) for base in sorted(entry.bases))

    def _of_one_family(self, name: str) -> bool:
        """Whether a class extends the member's, or is extended by it and has the member too, or both have it
        from one that they extend."""
        owner, old = self._target.owner, self._rename.old
        ancestors, mine = self._table.ancestors(name), self._table.ancestors(owner)
        has = {each for each in {name, *ancestors} & mine if old in self._table.entry(each).members}
        return owner in ancestors or bool(has)

    def _assigned_elsewhere(self) -> set[str]:
        """The classes that give their own instances an attribute of this name."""
        found: set[str] = set()
        for path in self._paths:
            text = self._table.text(path)
            if text is None or text.language.name not in (
                "python",
                "javascript",
                "typescript",
                "tsx",
                "ruby",
            ):
                continue
            for node in text.found(self._rename.old):
                around = node.parent
                if (
                    not text.behind(node)
                    or text_of(text.object_of(node)) not in ("self", "this")
                    or around is None
                ):
                    continue
                outer = around.parent
                left = outer.child_by_field_name("left") if outer is not None else None
                if left is not None and left.id == around.id:
                    name = text.class_around(node)
                    found |= {name} - {""}
        return found

    def _in_objects(self) -> bool:
        """Whether an object of a script, which is of no class, has a method of the name, or is given one."""
        if self._table.family != "javascript":
            return False
        for path in self._paths:
            text = self._table.text(path)
            for node in text.found(self._rename.old) if text is not None else ():
                around = node.parent
                outer = around.parent if around is not None else None
                if around is None or outer is None or text is None:
                    continue
                if around.type == "method_definition" and outer.type == "object":
                    return True
                given = self._target.method and outer.type == "assignment_expression" and text.behind(node)
                left = outer.child_by_field_name("left") if given else None
                if left is not None and left.id == around.id:
                    before = text_of(text.object_of(node))
                    if before != "this" and not before.endswith(".prototype"):
                        return True
        return False

    def _declared_in(self, outer: Node, text: NamedText, path: str) -> bool:
        name = owner_name(outer)
        trait = outer.child_by_field_name("trait")
        if trait is not None:
            return type_name(text_of(trait)) == (self._target.owner)
        return self._is_it(name, text, path)

    def _is_it(self, name: str, text: NamedText, path: str) -> bool:
        """Whether a class that a file names so is the member's, or related to it: not another of its name."""
        owner, home = self._target.owner, self._target.path
        homes = self._table.entry(owner).paths
        if name != owner or len(homes) < 2 or path == home or home not in homes:
            return self._related(name)
        if path in homes:
            return False
        seen = origin(text, path, owner, {home}, self._known)
        near = {posixpath.dirname(each) for each in homes if each != home}
        return bool(seen.taken) or (not seen.others and posixpath.dirname(path) not in near)

    def _likely(self, before: Node | None) -> bool:
        """Whether a name behind an object of unknown class is the member: where no other class has it and it
        is no common word, or where the object is called as the class is."""
        owner = self._target.owner
        words = re.findall(r"\w+", text_of(before)) if before is not None else []
        called = words[-1].strip("_").lower().replace("_", "") if words else ""
        bare = owner.lower().strip("_").replace("_", "")
        alike = len(called) > 2 and (bare.endswith(called) or called.endswith(bare))
        old = self._rename.old
        if old in COMMON_MEMBERS:
            alike = alike and called == bare
        if self._rivals:
            others = [each.lower() for each in self._rivals]
            return alike and not any(each.endswith(called) for each in others)
        if alike:
            return True
        return old not in COMMON_MEMBERS and (
            bool(re.search(r"[a-z0-9][A-Z_]|_", old.strip("_"))) or old[0] == "_" or len(old) > 9
        )


def _listed_in_class(node: Node) -> bool:
    """Whether a text of Python is a name in the ``__slots__`` or ``__match_args__`` of a class."""
    around = node.parent.parent if node.parent is not None else None
    assigned = around.parent if around is not None else None
    return assigned is not None and text_of(assigned.child_by_field_name("left")) in (
        "__slots__", "__match_args__",
    )  # fmt: skip
