"""Finds the names that mean a definition which has another name now, in its file and in others.

A name counts where the syntax says that it is the definition: an identifier that no inner scope binds, in the
file of the definition or in one that imports it from there; of a member, one behind a dot whose object is of
the member's class, or a keyword for it. Strings, prose, module paths and what is bound elsewhere are none. It
parses: use it in a worker thread.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from context.code.parsing import text_of
from context.code.scopes import NamedText, owner_name, scoping_of
from context.project.snapshot import Snapshot
from session.assist.next_edit.class_table import BUILTIN, ClassTable, type_name
from session.assist.next_edit.common_members import COMMON_MEMBERS
from session.assist.next_edit.origins import Origin, origin, rust_module
from session.assist.next_edit.receivers import Receivers
from session.assist.next_edit.rename import Rename

if TYPE_CHECKING:
    from tree_sitter import Node

_ROUNDS = 6
_DOC_MARKS = (
    r"(?:`(?:[\w.:]*[.:])?|\[`?(?:[\w.:]*[.:])?|@(?:link|see)\s+(?:\w+[.#])?)(NAME)\b",
    r"\b(NAME)\b",
)
_SCRIPT_DOCS = r"(?:\{@link(?:code|plain)?\s+|@\w+\s+\{[^}\n]*?\b|@see\s+)(NAME)\b"
"""What a name in a comment follows where it is marked as one; in Go the comment of a definition says it."""
_MEMBER_TYPES = frozenset({"property_identifier", "field_identifier", "shorthand_field_identifier"})
_SHORT = frozenset(
    {"shorthand_property_identifier", "shorthand_property_identifier_pattern", "shorthand_field_identifier"}
)
_NEVER = frozenset({"label_name", "statement_identifier", "lifetime", "package_identifier", "module_name"})
_INSIDE_IMPORTS = frozenset(
    {"import_from_statement", "import_statement", "use_declaration", "import_spec", "import_declaration"}
)


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


class References:
    """The names that mean the definition of one rename; ``paths`` are the files that have the old name."""

    def __init__(self, rename: Rename, snapshot: Snapshot, table: ClassTable, paths: Sequence[str]) -> None:
        self._rename = rename
        self._snapshot = snapshot
        self._table = table
        self._receivers = Receivers(table)
        self._paths = paths
        self._all = set(snapshot.paths)
        self.target = self._found_target()
        self._origins: dict[str, Origin] = {}
        self._relatives: dict[str, bool] = {}
        self._assigned: set[str] = set()
        self._rivals: set[str] = set()
        if self.target is None:
            return
        if self.target.owner:
            owners = table.owners(rename.old, paths)
            self._assigned = self._assigned_elsewhere() - {self.target.owner}
            self._rivals = {each for each in owners | self._assigned if not self._related(each)}
            self._rivals |= {"?"} if self._in_objects() else set()
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
        found = [self._piece(text, node) for node in text.found(old) if self._means(text, path, node, target)]
        return [*found, *self._in_docs(text, path)]

    def _in_docs(self, text: NamedText, path: str) -> Iterator[Piece]:
        """The name in comments that document: above its definition, where it is marked as a name or, in Go,
        wherever it stands; and in the marks of a script's comments, in all files that see it."""
        target = self.target
        if target is None:
            return
        old = re.escape(self._rename.old)
        if self._table.family == "javascript" and not target.owner:
            seen = self._origins.get(path)
            if path == target.path or (seen is not None and seen.taken):
                yield from self._marked(text, _SCRIPT_DOCS.replace("NAME", old))
        elif path == target.path:
            marks = _DOC_MARKS[text.language.name == "go"].replace("NAME", old)
            lines = text.source.split(b"\n")
            row = first = self._rename.row
            while row > 0 and re.match(rb"\s*(?:///|//|/?\*|#(?!\[)|\*/)", lines[row - 1]):
                row -= 1
            yield from (piece for piece in self._marked(text, marks) if row <= piece.row < first)

    def _marked(self, text: NamedText, marks: str) -> Iterator[Piece]:
        """The name where an expression finds it in a line of a comment."""
        for match in re.finditer(marks.encode(), text.source):
            start = text.source.rfind(b"\n", 0, match.start(1)) + 1
            if re.match(rb"\s*(?://|/?\*|#)", text.source[start : match.start(1)]):
                row = text.source.count(b"\n", 0, start)
                yield Piece(row, match.start(1) - start, match.end(1) - start, self._rename.new)

    def _piece(self, text: NamedText, node: Node) -> Piece:
        row, column = node.start_point
        old, new = self._rename.old, self._rename.new
        short = node.type in _SHORT or (
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
        if target.owner:
            return self._means_member(text, path, node, target)
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
        if node.id in seen.others or _around(node, _INSIDE_IMPORTS):
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
            return bound.scope.id == target.scope.id and not _around(node, _INSIDE_IMPORTS)
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
                return same_folder and _package(text) == _package(home)
            return _package(text) == _package(home)
        return False

    # Members.

    def _related(self, name: str) -> bool:
        """Whether a class is the member's, extends it, or is extended by it and has the member too."""
        assert self.target is not None
        if name == self.target.owner:
            return True
        if name not in self._relatives:
            known = self._table.family in ("python", "go")
            self._relatives[name] = self._inherits(name) if known else self._of_one_family(name)
        return self._relatives[name]

    def _inherits(self, name: str, depth: int = 0) -> bool:
        """Whether a class has the member from its class: neither it nor one between them has another."""
        assert self.target is not None
        if name == self.target.owner:
            return True
        entry = self._table.entry(name)
        if self._rename.old in entry.members or name in self._assigned or depth > _ROUNDS:
            return False
        return any(self._inherits(base, depth + 1) for base in sorted(entry.bases))

    def _of_one_family(self, name: str) -> bool:
        """Whether a class extends the member's, or is extended by it and has the member too, or both have it
        from one that they extend."""
        assert self.target is not None
        owner, old = self.target.owner, self._rename.old
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
        """Whether an object of a script, which is of no class, has a method of the name."""
        if self._table.family != "javascript":
            return False
        for path in self._paths:
            text = self._table.text(path)
            for node in text.found(self._rename.old) if text is not None else ():
                around = node.parent
                outer = around.parent if around is not None and around.type == "method_definition" else None
                if outer is not None and outer.type == "object":
                    return True
        return False

    def _means_member(self, text: NamedText, path: str, node: Node, target: Target) -> bool:
        old = self._rename.old
        if _around(node, _INSIDE_IMPORTS):
            return False
        if text.language.name == "rust" and _is_method(text, node) is not target.method:
            return False
        if text.behind(node):
            before = text.object_of(node)
            found = self._receivers.class_of(text, before)
            if found is not None:
                return found != BUILTIN and self._is_it(found, text, path)
            return self._likely(text, path, before)
        if (keyword := self._keyword_of(text, node)) is not None:
            script = node.type in ("property_identifier", *_SHORT) and text.language.name != "rust"
            if script and not keyword:
                return self._likely(text, path, None)
            return bool(keyword) and self._is_it(keyword, text, path)
        outer = text.owner_of(node)
        around = node.parent
        named = around.child_by_field_name("name") if around is not None else None
        declares = (named is not None and named.id == node.id) or node.type in _MEMBER_TYPES
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
        if text.scoping.bare and node.type not in _MEMBER_TYPES:
            bound = text.resolved(node, old)
            inside = bound is None or bound.scope.type in text.scoping.owners
            return inside and self._related(text.class_around(node)) and not _is_keyword(text, node)
        return False

    def _declared_in(self, outer: Node, text: NamedText, path: str) -> bool:
        name = owner_name(outer)
        trait = outer.child_by_field_name("trait")
        if trait is not None:
            return type_name(text_of(trait)) == (self.target.owner if self.target else "")
        return self._is_it(name, text, path)

    def _is_it(self, name: str, text: NamedText, path: str) -> bool:
        """Whether a class that a file names so is the member's, or related to it: not another of its name."""
        assert self.target is not None
        owner, home = self.target.owner, self.target.path
        homes = self._table.entry(owner).paths
        if name != owner or len(homes) < 2 or path == home or home not in homes:
            return self._related(name)
        if path in homes:
            return False
        seen = origin(text, path, owner, {home}, self._all)
        near = {posixpath.dirname(each) for each in homes if each != home}
        return bool(seen.taken) or (not seen.others and posixpath.dirname(path) not in near)

    def _keyword_of(self, text: NamedText, node: Node) -> str | None:
        """The class whose field a keyword names; empty where it cannot be told, None where it is no
        keyword."""
        around = node.parent
        kind = around.type if around is not None else ""
        if around is None:
            return None
        if kind == "keyword_argument" and around.child_by_field_name("name") == node:
            call = around.parent.parent if around.parent is not None else None
            function = call.child_by_field_name("function") if call is not None else None
            name = self._receivers.class_of(text, function) or "" if function is not None else ""
            return "" if "__init__" in self._table.entry(name).members else name
        if kind in ("field_initializer", "shorthand_field_initializer", "field_pattern"):
            if kind == "field_initializer" and around.child_by_field_name("field") != node:
                return None
            if kind == "field_pattern" and around.child_by_field_name("name") != node:
                return None
            holder: Node | None = around
            while holder is not None and holder.type not in ("struct_expression", "struct_pattern"):
                holder = holder.parent
            return self._struct(text, holder, node)
        if kind == "literal_element" and around.parent is not None and around.parent.type == "keyed_element":
            if around.parent.child_by_field_name("key") not in (around, None):
                return None
            holder = around.parent
            while holder is not None and holder.type != "composite_literal":
                holder = holder.parent
            written = text_of(holder.child_by_field_name("type")) if holder is not None else ""
            return re.findall(r"\w+", written)[-1] if re.findall(r"\w+", written) else ""
        if kind in ("pair", "pair_pattern") and around.child_by_field_name("key") == node:
            return self._object(text, around.parent)
        if node.type in _SHORT:
            holder = around if around.type != "object_assignment_pattern" else around.parent
            return self._object(text, holder)
        return None

    def _struct(self, text: NamedText, holder: Node | None, node: Node) -> str:
        named = None
        if holder is not None:
            named = holder.child_by_field_name("name") or holder.child_by_field_name("type")
        name = type_name(text_of(named)) or "" if named is not None else ""
        if name == "Self":
            return text.class_around(node)
        if named is not None and named.type.startswith("scoped") and not self._table.known(name):
            return type_name(text_of(named.child_by_field_name("path"))) or ""
        return name

    def _object(self, text: NamedText, holder: Node | None) -> str:
        """The class of a script's object or pattern, by the type that is written beside it."""
        around = holder.parent if holder is not None else None
        while around is not None and around.type in (
            "parenthesized_expression",
            "object_pattern",
            "pair_pattern",
        ):
            around = around.parent
        if around is None or holder is None:
            return ""
        written = around.child_by_field_name("type")
        if written is not None:
            return type_name(text_of(written)) or ""
        if around.type in ("as_expression", "satisfies_expression"):
            return type_name(text_of(around.named_children[-1])) or ""
        if holder.type == "object_pattern" and (value := around.child_by_field_name("value")) is not None:
            found = self._receivers.class_of(text, value)
            if found is None and self._likely(text, "", value):
                return self.target.owner if self.target is not None else ""
            return found or ""
        if around.type == "return_statement" or around.type == "arrow_function":
            function: Node | None = around if around.type == "arrow_function" else text.function_of(around)
            result = function.child_by_field_name("return_type") if function is not None else None
            return type_name(text_of(result)) or "" if result is not None else ""
        return ""

    def _likely(self, text: NamedText, path: str, before: Node | None) -> bool:
        """Whether a name behind an object of unknown class is the member: where no other class has it and it
        is no common word, or where the object is called as the class is."""
        assert self.target is not None
        owner = self.target.owner
        words = re.findall(r"\w+", text_of(before)) if before is not None else []
        called = words[-1].strip("_").lower().replace("_", "") if words else ""
        bare = owner.lower().strip("_").replace("_", "")
        alike = len(called) > 2 and (bare.endswith(called) or called.endswith(bare))
        if self._rivals:
            others = [each.lower() for each in self._rivals]
            return alike and not any(each.endswith(called) for each in others)
        if alike:
            return True
        old = self._rename.old
        return old not in COMMON_MEMBERS and (
            bool(re.search(r"[a-z0-9][A-Z_]|_", old.strip("_"))) or old[0] == "_" or len(old) > 9
        )


def is_plain(text: NamedText, node: Node) -> bool:
    """Whether a name is used by itself: not as a field, and not as a keyword."""
    return not (text.behind(node) or node.type in _MEMBER_TYPES or _is_keyword(text, node))


def _around(node: Node, kinds: Collection[str]) -> bool:
    around = node.parent
    while around is not None:
        if around.type in kinds:
            return True
        if around.type.endswith(("block", "body")):
            return False
        around = around.parent
    return False


def _is_method(text: NamedText, node: Node) -> bool:
    """Whether a member is used or defined as a method, which may have the name of a field too in Rust."""
    around = node.parent
    if around is not None and around.type.startswith("function"):
        return True
    if text.source[max(0, node.start_byte - 2) : node.start_byte] == b"::":
        return around is not None and text_of(node)[:1].islower()
    called = around.parent if around is not None else None
    if around is None or around.type != "field_expression":
        after = text.source[node.end_byte : node.end_byte + 2]
        return around is not None and around.type == "token_tree" and after[:1] == b"("
    while called is not None and called.type == "generic_function":
        called = called.parent
    return called is not None and called.type == "call_expression" and called.start_byte == around.start_byte


def _is_keyword(text: NamedText, node: Node) -> bool:
    """Whether a name is a keyword of a call or a literal, not a value."""
    around = node.parent
    if around is None:
        return False
    kind = around.type
    if kind in ("keyword_argument", "pair", "field_initializer", "value_argument_label", "jsx_attribute"):
        first = (
            around.child_by_field_name("name")
            or around.child_by_field_name("key")
            or around.named_children[0]
        )
        field = around.child_by_field_name("field")
        return (field or first).id == node.id
    if kind == "literal_element" and around.parent is not None and around.parent.type == "keyed_element":
        if around.parent.named_children[0].id != around.id:
            return False
        holder: Node | None = around.parent
        while holder is not None and holder.type != "composite_literal":
            holder = holder.parent
        written = holder.child_by_field_name("type") if holder is not None else None
        return not (
            written is not None
            and ("map" in written.type or "array" in written.type or "slice" in written.type)
        )
    if "argument" in kind and around.named_children[0].id == node.id:
        after = text.source[node.end_byte : node.end_byte + 4].lstrip()
        return re.match(rb"(?:=(?!=)|:(?!:))", after) is not None
    return False


def _package(text: NamedText) -> str:
    found = re.search(rb"^\s*(?:package|namespace)\s+([\w.]+)", text.source, re.MULTILINE)
    return found[1].decode() if found is not None else ""
