"""The class of what stands before a dot, as far as the text says it: annotations, constructors, fields,
results.

It knows what is written, and infers nothing across functions without annotations.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from context.code.parsing import text_of
from context.code.scopes import Bound, NamedText
from session.assist.next_edit.class_table import ClassTable
from session.assist.next_edit.held_types import LOOPS, SELF, THROUGH, HeldTypes, last_leaf
from session.assist.next_edit.written_types import BUILTIN, type_name

if TYPE_CHECKING:
    from tree_sitter import Node

_DEEPEST = 6
_LITERALS = re.compile(
    r"^(?:string|template_string|integer|float|number|list|dictionary|dict|set|tuple|array|object|true|false|none|null|"
    r"char|regex|raw_string|interpreted_string|list_comprehension|dictionary_comprehension|generator_expression|"
    r"concatenated_string|array_expression|tuple_expression|.*_literal)$"
)
_NEW = frozenset({"new", "default", "create", "with_capacity", "from"})


class Receivers:
    """Tells the class of expressions, by what the project's classes say."""

    def __init__(self, table: ClassTable) -> None:
        self._table = table
        self.types = HeldTypes(table, self.class_of)
        """The types that are written of expressions."""

    def class_of(self, text: NamedText, node: Node | None, depth: int = 0) -> str | None:
        """The class of an expression, or the class that it names: :data:`BUILTIN` for one that is none of the
        project's, None where the text does not say."""
        if node is None or depth > _DEEPEST:
            return None
        kind, words = node.type, text_of(node)
        if words in SELF or kind in SELF:
            return text.class_around(node) or BUILTIN
        if words == "super" or re.fullmatch(r"super\([\w\s,]*\)", words):
            bases = self._table.entry(text.class_around(node)).bases
            return next(iter(bases)) if len(bases) == 1 else None
        if kind == "composite_literal" or kind in (
            "struct_expression",
            "new_expression",
            "object_creation_expression",
        ):
            return self._constructed(text, node)
        if _LITERALS.match(kind):
            return BUILTIN
        if kind in ("identifier", "simple_identifier", "type_identifier", "constant", "variable_name"):
            return self._of_name(text, node, words, depth)
        if (
            (function := node.child_by_field_name("function")) is not None
            or "call" in kind
            or "invocation" in kind
        ):
            return self._of_call(text, node, function, depth)
        if kind.startswith(THROUGH) and kind != "index_expression":
            if kind in ("as_expression", "satisfies_expression"):
                return type_name(text_of(node.named_children[-1]))
            return self.class_of(text, node.named_children[-1] if node.named_children else None, depth + 1)
        last = last_leaf(node)
        if last is not None and text.behind(last) and last.end_byte == node.end_byte:
            return self._of_member(text, last, depth)
        return None

    def _constructed(self, text: NamedText, node: Node) -> str | None:
        named = node.child_by_field_name("type") or node.child_by_field_name("name")
        named = named or node.child_by_field_name("constructor")
        name = type_name(text_of(named)) if named is not None else None
        return text.class_around(node) if name == "Self" else name

    def _of_name(self, text: NamedText, node: Node, name: str, depth: int) -> str | None:
        bound = text.resolved(node, name)
        if bound is not None and _is_module(bound):
            return BUILTIN
        if bound is not None and not _is_import(bound):
            return self._of_binding(text, bound, node, depth)
        if bound is not None and self._foreign(text, name):
            return BUILTIN
        if name == "Self":
            return text.class_around(node)
        return name if self._table.known(name) else None

    def _of_binding(self, text: NamedText, bound: Bound, node: Node, depth: int) -> str | None:
        binder = bound.binder
        if binder.type in text.scoping.owners or "class" in binder.type or binder.type.endswith("_item"):
            return text_of(bound.name) if self._table.known(text_of(bound.name)) else None
        around: Node | None = bound.name
        while around is not None and around.id != binder.id and around.child_by_field_name("type") is None:
            around = around.parent
        for each in (around, binder):
            written = each.child_by_field_name("type") if each is not None else None
            if written is not None and "pattern" not in (each.type if each is not None else ""):
                return self._written(text, written, binder) or self._tested(text, bound)
        if "parameter" in binder.type or binder.type == "arrow_function":
            first = binder.named_children[0] if binder.named_children else None
            if first is not None and first.id == bound.name.id and text_of(first) in SELF:
                return text.class_around(binder)
            return self.types.of_callback(text, bound, depth) or self._tested(text, bound)
        value = binder.child_by_field_name("value") or binder.child_by_field_name("right")
        if value is None or value.start_byte <= node.start_byte < value.end_byte:
            return None
        left = binder.child_by_field_name("left") or binder.child_by_field_name("name")
        left = left or binder.child_by_field_name("pattern")
        if binder.type in LOOPS:
            return self.types.of_loop(text, bound, left, value, depth)
        return self._of_value(text, bound, left, value, depth)

    def _foreign(self, text: NamedText, name: str) -> bool:
        return text.language.name == "python" and self._table.foreign(text, name)

    def _written(self, text: NamedText, written: Node, binder: Node) -> str | None:
        """The class that an annotation means: of a type parameter the one that it extends."""
        words = text_of(written).lstrip(": &*")
        if (
            text.language.name == "go"
            and "." in words
            and not self._table.imported_here(text, words.partition(".")[0])
        ):
            return BUILTIN
        if any(self._foreign(text, each) for each in (words.partition(".")[0], type_name(words) or "")):
            return BUILTIN
        parameter = re.match(r"\w+", words)
        if parameter is not None and (len(parameter[0]) < 2 or not self._table.known(parameter[0])):
            leaf = (
                text.root.descendant_for_byte_range(written.end_byte - len(words.encode()), written.end_byte)
                if text.root is not None
                else None
            )
            bound = text.resolved(leaf, parameter[0]) if leaf is not None else None
            if bound is not None and bound.binder.type == "type_parameter":
                limit = bound.binder.child_by_field_name("constraint") or bound.binder.child_by_field_name(
                    "bounds"
                )
                return (
                    type_name(re.sub(r"^\s*(?:extends\b|:)", "", text_of(limit)))
                    if limit is not None
                    else None
                )
        name = type_name(text_of(written))
        return text.class_around(binder) if name == "Self" else name

    def _of_value(
        self, text: NamedText, bound: Bound, left: Node | None, value: Node, depth: int
    ) -> str | None:
        """The class of a variable by what it is given, the first value of several in Go."""
        if left is not None and left.id != bound.name.id and left.named_child_count:
            names = left.named_children
            if left.type != "expression_list" or names[0].id != bound.name.id:
                return None
            if len(names) > 1 and value.named_child_count > 1:
                value = value.named_children[0]
        return self.class_of(text, value, depth + 1)

    def _of_call(self, text: NamedText, node: Node, function: Node | None, depth: int) -> str | None:
        function = function or (node.named_children[0] if node.named_children else None)
        if function is None:
            return None
        leaf = last_leaf(function)
        method = node.child_by_field_name("method") or node.child_by_field_name("name")
        leaf = method if method is not None else leaf
        if leaf is None:
            return None
        name = text_of(leaf)
        if not text.behind(leaf):
            if name == "Self":
                return text.class_around(node)
            if name == "new" and text.language.name == "go":
                return type_name(text_of(node.child_by_field_name("arguments")))
            if self._table.known(name):
                return name
            written = self._table.result_of(name)
            return type_name(written) if written else None
        owner = self.class_of(text, text.object_of(leaf), depth + 1)
        if owner == BUILTIN:
            return self._of_module(text, leaf, name) if name[:1].isupper() else None
        if owner is None:
            return name if self._table.known(name) and name[:1].isupper() else None
        written = self._table.member_type(owner, name)
        if written:
            found = type_name(written)
            return owner if found == "Self" else found
        return owner if name in _NEW else None

    def _tested(self, text: NamedText, bound: Bound) -> str | None:
        """The class that a function asks for: ``isinstance(it, Store)``, ``it instanceof Store``."""
        name = re.escape(text_of(bound.name))
        asked = rf"isinstance\(\s*{name}\s*,\s*([\w.]+)\s*\)|\b{name}\s+instanceof\s+([\w.]+)"
        found = {one or other for one, other in re.findall(asked, text_of(bound.scope))}
        return type_name(next(iter(found))) if len(found) == 1 else None

    def _of_member(self, text: NamedText, leaf: Node, depth: int) -> str | None:
        name = text_of(leaf)
        owner = self.class_of(text, text.object_of(leaf), depth + 1)
        if owner == BUILTIN:
            return self._of_module(text, leaf, name)
        if owner is None:
            return name if name[:1].isupper() and self._table.known(name) else None
        written = self._table.member_type(owner, name)
        if written:
            return type_name(written)
        return self._assigned(owner, name, depth)

    def _of_module(self, text: NamedText, leaf: Node, name: str) -> str | None:
        """The class that a module of the project gives; :data:`BUILTIN` where the module is another's."""
        before = text.object_of(leaf)
        bound = text.resolved(before, text_of(before)) if before is not None else None
        if bound is None or not _is_module(bound):
            return BUILTIN
        if self._foreign(text, text_of(before)):
            return BUILTIN
        statement: Node | None = bound.binder
        while statement is not None and statement.child_by_field_name("source") is None:
            statement = statement.parent
        source = (
            text_of(statement.child_by_field_name("source")).strip("'\"") if statement is not None else "."
        )
        if not source.startswith("."):
            return BUILTIN
        return name if self._table.known(name) else None

    def _assigned(self, owner: str, name: str, depth: int) -> str | None:
        """The class of an attribute, by what the class's own methods give it."""
        found: set[str | None] = set()
        for each in (owner, *sorted(self._table.ancestors(owner))):
            for path in self._table.entry(each).paths:
                text = self._table.text(path)
                if text is not None:
                    found |= set(self._values(text, each, name, depth))
        return next(iter(found)) if len(found) == 1 else None

    def _values(self, text: NamedText, owner: str, name: str, depth: int) -> Iterator[str | None]:
        """The classes of what the methods of a class give one of its attributes."""
        for node in text.found(name):
            inner = node.parent
            around = inner.parent if inner is not None else None
            if inner is None or around is None or "assignment" not in around.type or not text.behind(node):
                continue
            if text_of(text.object_of(node)) not in SELF or text.class_around(node) != owner:
                continue
            left, right = around.child_by_field_name("left"), around.child_by_field_name("right")
            written = around.child_by_field_name("type")
            if written is not None:
                yield type_name(text_of(written))
            elif left is not None and left.id == inner.id and text_of(right) not in ("None", "null"):
                yield self.class_of(text, right, depth + 1)


def _is_module(bound: Bound) -> bool:
    """Whether a name is that of a module, not of something in one."""
    around = bound.name.parent
    return bound.binder.type in ("namespace_import", "import_spec", "import_statement.name") or (
        around is not None and around.parent is not None and around.parent.type == "import_statement"
    )


def _is_import(bound: Bound) -> bool:
    return any(word in bound.binder.type for word in ("import", "use_", "aliased"))
