"""Finds the names that mean a definition which has another name now, in its file and in others.

A name counts where the syntax says that it is the definition: an identifier that no inner scope binds, in the
file of the definition or in one that imports it from there; of a member, one behind a dot whose object is of
the member's class, or a keyword for it. Strings, prose, module paths and what is bound elsewhere are none. It
parses: use it in a worker thread.

In comments that document, a name counts where it is marked as a name, above its definition.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from context.code.parsing import text_of
from context.code.scopes import NamedText, owner_name, scoping_of
from context.project.snapshot import Snapshot
from session.assist.next_edit.class_table import ClassTable
from session.assist.next_edit.members import Members
from session.assist.next_edit.name_syntax import INSIDE_IMPORTS, SHORT, around_any, is_plain, package_of
from session.assist.next_edit.origins import Origin, origin, rust_module
from session.assist.next_edit.rename import Piece, Rename, Target
from session.assist.next_edit.written_types import type_name

if TYPE_CHECKING:
    from tree_sitter import Node


_MARKS = (
    r"(?:`(?:[\w.:]*[.:])?|\[`?(?:[\w.:]*[.:])?|@(?:link|see)\s+(?:\w+[.#])?)(NAME)\b",
    r"\b(NAME)\b",
)
_SCRIPT_MARKS = r"(?:\{@link(?:code|plain)?\s+|@\w+\s+\{[^}\n]*?\b|@see\s+)(NAME)\b"
"""What a name in a comment follows where it is marked as one; in Go the comment of a definition says it."""


def above_definition(text: NamedText, rename: Rename) -> Iterator[Piece]:
    """The name in the comment above its definition, where it is marked as one or, in Go, wherever it is."""
    marks = _MARKS[text.language.name == "go"].replace("NAME", re.escape(rename.old))
    lines = text.source.split(b"\n")
    row = first = rename.row
    while row > 0 and re.match(rb"\s*(?:///|//|/?\*|#(?!\[)|\*/)", lines[row - 1]):
        row -= 1
    yield from (piece for piece in _marked(text, marks, rename.new) if row <= piece.row < first)


def in_script_docs(text: NamedText, rename: Rename) -> Iterator[Piece]:
    """The name in the marks of a script's comments, anywhere in a file that sees it."""
    yield from _marked(text, _SCRIPT_MARKS.replace("NAME", re.escape(rename.old)), rename.new)


def _marked(text: NamedText, marks: str, new: str) -> Iterator[Piece]:
    """The name where an expression finds it in a line of a comment."""
    for match in re.finditer(marks.encode(), text.source):
        start = text.source.rfind(b"\n", 0, match.start(1)) + 1
        if re.match(rb"\s*(?://|/?\*|#)", text.source[start : match.start(1)]):
            row = text.source.count(b"\n", 0, start)
            yield Piece(row, match.start(1) - start, match.end(1) - start, new)


_ROUNDS = 6
_NEVER = frozenset({"label_name", "statement_identifier", "lifetime", "package_identifier", "module_name"})


class References:
    """The names that mean the definition of one rename; ``paths`` are the files that have the old name."""

    def __init__(self, rename: Rename, snapshot: Snapshot, table: ClassTable, paths: Sequence[str]) -> None:
        self._rename = rename
        self._table = table
        self._paths = paths
        self._all = set(snapshot.paths)
        self.target = self._found_target()
        self._origins: dict[str, Origin] = {}
        self._members: Members | None = None
        if self.target is None:
            return
        if self.target.owner:
            self._members = Members(rename, self.target, snapshot, table, paths)
        elif not self.target.local:
            self._follow()

    def close(self) -> None:
        """Let go of what was parsed; nothing is asked after it."""
        self._table.close()

    def in_file(self, path: str) -> list[Piece]:
        """The pieces of a file that follow."""
        target, text = self.target, self._table.text(path)
        if target is None or text is None or (target.local and path != target.path):
            return []
        old = self._rename.old
        named = [*text.found(old), *(text.in_types(old) if target.owner else ())]
        found = [self._piece(text, node) for node in named if self._means(text, path, node, target)]
        return [*found, *self._in_docs(text, path, target)]

    def _in_docs(self, text: NamedText, path: str, target: Target) -> Iterator[Piece]:
        """The name in comments that document it."""
        if self._table.family == "javascript" and not target.owner:
            seen = self._origins.get(path)
            if path == target.path or (seen is not None and seen.taken):
                yield from in_script_docs(text, self._rename)
        elif path == target.path:
            yield from above_definition(text, self._rename)

    def _piece(self, text: NamedText, node: Node) -> Piece:
        row, column = node.start_point
        old, new = self._rename.old, self._rename.new
        short = node.type in SHORT or (
            node.parent is not None and node.parent.type == "shorthand_field_initializer"
        )
        made = new
        if short:
            member = self.target is not None and bool(self.target.owner)
            made = f"{new}: {old}" if member else f"{old}: {new}"
        around = node.parent
        if around is not None and around.type == "export_specifier":
            made = f"{new} as {old}" if around.child_by_field_name("alias") is None else new
        if node.type == "string_content":
            made = re.sub(rf"\b{re.escape(old)}\b", lambda _: new, text_of(node))
        return Piece(row, column, column + node.end_byte - node.start_byte, made)

    def _found_target(self) -> Target | None:
        rename = self._rename
        text = self._table.text(rename.path)
        if text is None or text.root is None:
            return None
        node = text.root.descendant_for_point_range(
            (rename.row, rename.column), (rename.row, rename.column + len(rename.new.encode()))
        )
        if node is None:
            return None
        if text.behind(node):
            owner = text.class_around(node) if text_of(text.object_of(node)) in ("self", "this") else ""
            return Target(rename.path, text.root, owner, False, False) if owner else None
        if text.is_property(node):
            owner = text.class_around(node)
            return Target(rename.path, text.root, owner, False, False) if owner else None
        outer = text.owner_of(node)
        owner = owner_name(outer) if outer is not None else ""
        if outer is not None and not owner:
            return None
        if outer is not None and outer.type == "method_declaration" and text.language.name == "go":
            member = node.type == "field_identifier"
            owner = owner if member else ""
        if (
            outer is not None
            and outer.type == "impl_item"
            and (trait := outer.child_by_field_name("trait")) is not None
        ):
            owner = type_name(text_of(trait)) or owner
        bound = text.bound_by(node)
        scope = bound.scope if bound is not None and not owner else text.root
        around = node.parent
        is_class = around is not None and around.type in text.scoping.owners
        inner = scope.parent is not None and text.function_of(node) is not None
        method = around is not None and around.type.startswith(("function", "method"))
        return Target(
            rename.path, scope if inner else text.root, owner, inner and not owner, is_class, method
        )

    def _follow(self) -> None:
        """Find the files that import the name, over those that export it again."""
        assert self.target is not None
        path = self.target.path
        exporters = {path}
        home = self._table.text(path)
        names = rf"(?:{re.escape(self._rename.old)}|{re.escape(self._rename.new)})\b"
        said = rf"\bexport\s+default\s+(?:(?:abstract\s+)?class\s+|(?:async\s+)?function\b\*?\s*)?{names}"
        default = path if home is not None and re.search(said.encode(), home.source) else ""
        wanted = {*self._paths, *self._packages(path)}
        for _ in range(_ROUNDS):
            found, more = set(exporters), set(wanted)
            for each in sorted(wanted):
                text = self._table.text(each)
                if text is None:
                    continue
                seen = origin(text, each, self._rename.old, exporters, self._all, default)
                self._origins[each] = seen
                more |= seen.asked
                if seen.exports:
                    found.add(each)
                if seen.keeps:
                    found.discard(each)
            if found == exporters and more == wanted:
                break
            exporters, wanted = found, more
        self._exporters = exporters

    def _packages(self, path: str) -> Iterator[str]:
        """The files of the packages around a file, which may pass all on that is in it."""
        folder = path
        while folder:
            folder = posixpath.dirname(folder)
            for name in ("__init__.py", "mod.rs", "lib.rs", "main.rs"):
                yield posixpath.join(folder, name)

    def _means(self, text: NamedText, path: str, node: Node, target: Target) -> bool:
        if node.type in _NEVER:
            return False
        if self._members is not None:
            return self._members.means(text, path, node)
        if target.local:
            return (
                self._inside(node, target.scope)
                and is_plain(text, node)
                and (self._bound_here(text, node, target))
            )
        return self._means_free(text, path, node, target)

    def _means_free(self, text: NamedText, path: str, node: Node, target: Target) -> bool:
        seen = self._origins.get(path, Origin())
        if node.id in seen.taken:
            return True
        if node.id in seen.others or around_any(node, INSIDE_IMPORTS):
            return False
        if text.behind(node):
            return self._behind_module(text, path, node, seen)
        if not is_plain(text, node):
            return False
        if path == target.path:
            return self._bound_here(text, node, target)
        bound = text.resolved(node, self._rename.old)
        if bound is not None and bound.name.id in seen.taken:
            return True
        if bound is not None:
            shared = text.language.name in ("c", "cpp") and bound.scope.parent is None
            return shared and not self._static()
        return bool(
            seen.taken and text.language.name in ("rust", "php", "java", "kotlin", "c-sharp", "scala")
        ) or (self._visible(text, path, seen, target))

    def _behind_module(self, text: NamedText, path: str, node: Node, seen: Origin) -> bool:
        before = text.object_of(node)
        whole = text_of(before)
        if text.language.name == "rust":
            steps = re.findall(r"\w+", whole)
            return (
                before is not None
                and "identifier" in before.type + "crate self super"
                and rust_module(path, steps, self._exporters)
            )
        if text.language.name in ("cpp", "php", "c-sharp", "java", "kotlin", "scala", "swift"):
            return (
                before is not None
                and re.fullmatch(r"[\w\\:.]+", whole) is not None
                and (not text.resolved(before, whole) and self.target is not None and self.target.is_class)
            )
        if whole not in seen.modules or before is None:
            return False
        first = re.match(r"\w+", whole)
        bound = text.resolved(node, first[0]) if first is not None else None
        return (
            bound is None
            or "import" in bound.binder.type
            or "alias" in bound.binder.type
            or (bound.scope.parent is None)
        )

    def _bound_here(self, text: NamedText, node: Node, target: Target) -> bool:
        bound = text.bound_by(node)
        if bound is not None:
            return bound.scope.id == target.scope.id and not around_any(node, INSIDE_IMPORTS)
        return text.resolved(node, self._rename.old, target.scope) is None and self._inside(
            node, target.scope
        )

    def _inside(self, node: Node, scope: Node) -> bool:
        return scope.start_byte <= node.start_byte < scope.end_byte

    def _static(self) -> bool:
        assert self.target is not None
        text = self._table.text(self.target.path)
        line = text.source.split(b"\n")[self._rename.row] if text is not None else b""
        return line.lstrip().startswith(b"static")

    def _visible(self, text: NamedText, path: str, seen: Origin, target: Target) -> bool:
        """Whether a file sees the name without importing it by name."""
        if seen.everything:
            return True
        scoping = scoping_of(text.language)
        if scoping is None:
            return False
        if scoping.everywhere:
            return not self._static()
        home = self._table.text(target.path)
        same_folder = posixpath.dirname(path) == posixpath.dirname(target.path)
        if scoping.package and home is not None:
            if text.language.name == "go":
                return same_folder and package_of(text) == package_of(home)
            return package_of(text) == package_of(home)
        return False
