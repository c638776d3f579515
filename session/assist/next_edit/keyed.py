"""The class whose field a keyword or a key names: of a call, a struct, a literal or a script's object."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from context.code.parsing import text_of
from context.code.scopes import NamedText
from session.assist.next_edit.class_table import ClassTable
from session.assist.next_edit.name_syntax import SHORT
from session.assist.next_edit.receivers import Receivers
from session.assist.next_edit.written_types import element_type, type_name

if TYPE_CHECKING:
    from tree_sitter import Node

_DEEPEST = 4
_THROUGH = ("parenthesized_expression", "ternary_expression", "binary_expression", "await_expression")
Likely = Callable[["Node | None"], str]
"""The class that an object of no known class probably is of, by what it is called; empty for none."""


class Keys:
    """Tells the classes of keys, by what is written around them."""

    def __init__(self, table: ClassTable, receivers: Receivers, likely: Likely) -> None:
        self._table = table
        self._receivers = receivers
        self._likely = likely

    def class_of(self, text: NamedText, node: Node) -> str | None:
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
        if node.type == "string_fragment":
            return self._looked_up(text, node)
        if kind in ("pair", "pair_pattern") and around.child_by_field_name("key") == node:
            return self._object(text, around.parent)
        if node.type in SHORT:
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
        """The class of a script's object or pattern, by what is written around it."""
        return type_name(self._expected(text, holder) or "") or ""

    def _expected(self, text: NamedText, holder: Node | None, depth: int = 0) -> str | None:
        """The type that a script's object or pattern is of, as it is written; None where that is not
        told."""
        around, inner = _outer(holder)
        if around is None or holder is None or inner is None or depth > _DEEPEST:
            return None
        kind = around.type
        if (written := around.child_by_field_name("type")) is not None:
            return text_of(written)
        if kind in ("as_expression", "satisfies_expression"):
            return text_of(around.named_children[-1])
        if kind in ("pair", "pair_pattern"):
            key = around.child_by_field_name("key")
            owner = type_name(self._expected(text, around.parent, depth + 1) or "")
            return self._table.member_type(owner, text_of(key)) if owner else None
        if kind in ("array", "array_pattern"):
            return element_type(self._expected(text, around, depth + 1) or "")
        if kind == "arguments":
            return self._parameter(text, around, inner)
        if kind in ("required_parameter", "formal_parameters"):
            return self._typed_function(text, around, inner)
        if kind == "assignment_expression" and holder.type == "object":
            return self._receivers.types.written(text, around.child_by_field_name("left"))
        if kind in ("return_statement", "arrow_function"):
            function = around if kind == "arrow_function" else text.function_of(around)
            result = function.child_by_field_name("return_type") if function is not None else None
            return text_of(result) if result is not None else None
        value = around.child_by_field_name("value")
        if holder.type == "object_pattern" and value is not None:
            found = self._receivers.class_of(text, value)
            return self._likely(value) if found is None else found
        return None

    def _looked_up(self, text: NamedText, node: Node) -> str:
        """The class of the type that a text names a member of, as in ``Store['items']`` and
        ``Pick<Store, 'items'>``."""
        around = node.parent
        while around is not None and around.type in ("string", "literal_type", "union_type"):
            around = around.parent
        holder = around.parent if around is not None and around.type == "type_arguments" else None
        chosen = text_of(holder.child_by_field_name("name")) if holder is not None else ""
        if around is None or (around.type != "lookup_type" and chosen not in ("Pick", "Omit")):
            return ""
        return self._of_type(text, around.named_children[0])

    def _of_type(self, text: NamedText, node: Node, depth: int = 0) -> str:
        """The class that a type means: of a type parameter the one that it extends, of a member's type that
        of the member."""
        if node.type == "lookup_type" and depth < _DEEPEST:
            owner = self._of_type(text, node.named_children[0], depth + 1)
            member = text_of(node.named_children[-1]).strip("'\"")
            return type_name(self._table.member_type(owner, member) or "") or "" if owner else ""
        name = type_name(text_of(node)) or text_of(node)
        bound = text.resolved(node, name) if name.isidentifier() and not self._table.known(name) else None
        limit = bound.binder.child_by_field_name("constraint") if bound is not None else None
        if limit is None or not limit.named_children or depth >= _DEEPEST:
            return name
        return self._of_type(text, limit.named_children[0], depth + 1)

    def _parameter(self, text: NamedText, arguments: Node, holder: Node) -> str | None:
        """The type of the parameter that an argument is for."""
        at = next((at for at, each in enumerate(arguments.named_children) if each.id == holder.id), 0)
        call = arguments.parent
        made = call.child_by_field_name("constructor") if call is not None else None
        if made is not None:
            return self._table.parameter(type_name(text_of(made)) or "", "constructor", at)
        called = call.child_by_field_name("function") if call is not None else None
        if called is None:
            return None
        if called.type == "identifier":
            bound = text.resolved(called, text_of(called))
            written = bound.binder.child_by_field_name("type") if bound is not None else None
            name = type_name(text_of(written)) if written is not None else text_of(called)
            return self._table.parameter("", name, at) if name else None
        leaf = called.child_by_field_name("property")
        owner = self._receivers.class_of(text, called.child_by_field_name("object"))
        if leaf is None or not owner:
            return None
        if found := self._table.parameter(owner, text_of(leaf), at):
            return found
        name = type_name(self._table.member_type(owner, text_of(leaf)) or "")
        return self._table.parameter("", name, at) if name else None

    def _typed_function(self, text: NamedText, around: Node, inner: Node) -> str | None:
        """The type of a parameter of a function that is given to a variable with a type."""
        parameter = around if around.type == "required_parameter" else inner
        listed = parameter.parent
        function = listed.parent if listed is not None else None
        variable = function.parent if function is not None else None
        written = variable.child_by_field_name("type") if variable is not None else None
        name = type_name(text_of(written)) if written is not None else None
        if listed is None or not name:
            return None
        at = next((at for at, each in enumerate(listed.named_children) if each.id == parameter.id), 0)
        return self._table.parameter("", name, at)


def _outer(holder: Node | None) -> tuple[Node | None, Node | None]:
    """What is around an object, and what of it the object is in: through parentheses and choices."""
    inner = holder
    around = holder.parent if holder is not None else None
    while around is not None and around.type in _THROUGH:
        inner, around = around, around.parent
    return around, inner
