"""The types that are written of expressions, and the classes of what lists hold, in loops and callbacks."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from context.code.parsing import text_of
from context.code.scopes import Bound, NamedText
from session.assist.next_edit.class_table import ClassTable
from session.assist.next_edit.written_types import element_type, type_name

if TYPE_CHECKING:
    from tree_sitter import Node

_DEEPEST = 6
SELF = frozenset({"self", "this", "cls", "Self", "$this", "this_expression", "self_expression", "static"})
THROUGH = (
    "parenthesized", "await", "non_null", "unary", "reference_expression", "pointer", "try_expression",
    "as_expression", "type_assertion", "satisfies", "expression_list", "index_expression",
)  # fmt: skip
_SCRIPTS = ("javascript", "typescript", "tsx")
LOOPS = ("for_statement", "for_in_clause", "range_clause", "for_in_statement", "for_expression")
_FOR_EACH = frozenset(
    {"forEach", "map", "filter", "find", "findLast", "findIndex", "some", "every", "flatMap"}
)
_GATHERS = frozenset({"sorted", "list", "reversed", "tuple", "set", "iter"})
_SAME = frozenset(
    {"slice", "filter", "copy", "concat", "reverse", "sort", "iter", "iter_mut", "into_iter", "as_ref"}
)
"""Methods that give what they are called on, or what holds the same."""

ClassOf = Callable[[NamedText, "Node | None", int], str | None]
"""The class of an expression, so many steps below the one that was asked for."""


class HeldTypes:
    """Tells written types; ``class_of`` tells the classes of what stands before a dot."""

    def __init__(self, table: ClassTable, class_of: ClassOf) -> None:
        self._table = table
        self._class_of = class_of

    def of_loop(
        self, text: NamedText, bound: Bound, left: Node | None, value: Node, depth: int
    ) -> str | None:
        """The class of the variable of a loop, by the type of what is gone through."""
        if left is None:
            return None
        names = [left] if left.id == bound.name.id else left.named_children
        at = next((number for number, each in enumerate(names) if each.id == bound.name.id), -1)
        if value.type == "expression_list" and value.named_child_count == 1:
            value = value.named_children[0]
        words, several = text_of(value), len(names) > 1
        if words.startswith("enumerate(") and several:
            given = value.child_by_field_name("arguments")
            value = given.named_children[0] if given is not None and given.named_children else value
        elif words.endswith(".items()") is not several and text.language.name != "go":
            return None
        if at != len(names) - 1:
            return None
        held = element_type(self.written(text, value, depth + 1) or "", values=text.language.name == "go")
        return type_name(held) if held else None

    def of_callback(self, text: NamedText, bound: Bound, depth: int) -> str | None:
        """The class of a script's parameter without a type, where the function is handed to what calls it for
        each that a list holds."""
        function = text.function_of(bound.name) if text.language.name in _SCRIPTS else None
        given = function.parent if function is not None else None
        call = given.parent if given is not None and given.type == "arguments" else None
        called = call.child_by_field_name("function") if call is not None else None
        if function is None or given is None or called is None or given.named_children[0].id != function.id:
            return None
        listed = function.child_by_field_name("parameters")
        first = listed.named_children[0] if listed is not None and listed.named_children else bound.name
        leaf = last_leaf(called)
        if (
            leaf is None
            or text_of(leaf) not in _FOR_EACH
            or not first.start_byte <= bound.name.start_byte < first.end_byte
        ):
            return None
        held = element_type(self.written(text, text.object_of(leaf), depth + 1) or "", values=True)
        return type_name(held) if held else None

    def written(self, text: NamedText, node: Node | None, depth: int = 0) -> str | None:
        """The type of an expression as it is written somewhere; None where it is nowhere."""
        if node is None or depth > _DEEPEST:
            return None
        words = text_of(node)
        if node.type in ("identifier", "simple_identifier"):
            bound = text.resolved(node, words)
            return self._of_variable(text, bound, node, depth) if bound is not None else None
        if node.type in ("call_expression", "call"):
            return self._of_result(text, node, depth)
        if node.type.startswith(THROUGH) and node.type != "index_expression" and node.named_children:
            return self.written(text, node.named_children[-1], depth + 1)
        leaf = last_leaf(node)
        if leaf is None or not text.behind(leaf) or leaf.end_byte != node.end_byte:
            return None
        owner = self._class_of(text, text.object_of(leaf), depth + 1)
        if not owner:
            return None
        found = self._table.member_type(owner, text_of(leaf))
        return found or self._annotated(owner, text_of(leaf))

    def _of_variable(self, text: NamedText, bound: Bound, node: Node, depth: int) -> str | None:
        around: Node | None = bound.name
        while around is not None and around.start_byte >= bound.binder.start_byte:
            written = around.child_by_field_name("type")
            if written is not None and "pattern" not in around.type:
                return text_of(written)
            around = around.parent
        value = bound.binder.child_by_field_name("value") or bound.binder.child_by_field_name("right")
        if (
            value is None
            or bound.binder.type in LOOPS
            or value.start_byte <= node.start_byte < value.end_byte
        ):
            return None
        return self.written(text, value, depth + 1)

    def _of_result(self, text: NamedText, node: Node, depth: int) -> str | None:
        """The written type of what a call gives."""
        function = node.child_by_field_name("function")
        leaf = last_leaf(function) if function is not None else None
        if leaf is None:
            return None
        name = text_of(leaf)
        if not text.behind(leaf):
            given = node.child_by_field_name("arguments")
            if name in _GATHERS and given is not None and given.named_children:
                return self.written(text, given.named_children[0], depth + 1)
            return self._table.result_of(name)
        before = text.object_of(leaf)
        if name in _SAME:
            return self.written(text, before, depth + 1)
        if name in ("values", "items"):
            held = element_type(self.written(text, before, depth + 1) or "", values=True)
            return f"list[{held}]" if held else None
        owner = self._class_of(text, before, depth + 1)
        return self._table.member_type(owner, name) if owner else None

    def _annotated(self, owner: str, name: str) -> str | None:
        """The type that a method of a class writes at one of its attributes."""
        for each in (owner, *sorted(self._table.ancestors(owner))):
            for path in self._table.entry(each).paths:
                text = self._table.text(path)
                for node in text.found(name) if text is not None else ():
                    around = node.parent.parent if node.parent is not None else None
                    written = around.child_by_field_name("type") if around is not None else None
                    if text is None or written is None or around is None or "assignment" not in around.type:
                        continue
                    if text_of(text.object_of(node)) in SELF and text.class_around(node) == each:
                        return text_of(written)
        return None


def last_leaf(node: Node) -> Node | None:
    """The name that an expression ends with."""
    if node.type in ("generic_function", "generic_type", "call_expression_type"):
        node = node.named_children[0]
    if not node.named_children:
        return node
    last = node.named_children[-1]
    if "arguments" in last.type or "argument_list" in last.type:
        return None
    return last_leaf(last)
