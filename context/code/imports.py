"""Finds the statements of a text that import names, with tree-sitter."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from context.code.languages import Language
from context.code.parsed import nodes, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

_STATEMENTS = frozenset(
    {"import_from_statement", "import_statement", "import_declaration", "use_declaration", "using_directive"}
)


@dataclass(frozen=True, slots=True)
class Imported:
    """A name that is imported, and the bytes of the file that say so (with an alias)."""

    name: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Import:
    """A statement in the rows ``row`` to ``last`` (from 0), at the bytes ``start`` to ``end``. ``module`` is
    what it imports ``names`` from, at the bytes ``module_start`` to ``module_end``; empty where the language
    says that in another way, which is not read."""

    row: int
    last: int
    start: int
    end: int
    text: str
    module: str = ""
    module_start: int = 0
    module_end: int = 0
    names: tuple[Imported, ...] = ()


def imports(language: Language, text: str) -> tuple[Import, ...]:
    """The import statements of a text, in order. It parses."""
    return tuple(_import(node) for node in nodes(language, text) if node.type in _STATEMENTS)


def _import(node: Node) -> Import:
    module, listed = node.child_by_field_name("module_name"), node.children_by_field_name("name")
    if module is None and (module := _inside_quotes(node)) is not None:
        clause = next((each for each in node.named_children if each.type == "import_clause"), None)
        named = clause.named_children if clause is not None else []
        # A default import, or all as one name, is not a list of names.
        listed = named[0].named_children if [each.type for each in named] == ["named_imports"] else []
    made = Import(node.start_point.row, node.end_point.row, node.start_byte, node.end_byte, text_of(node))
    if module is None or not listed:
        return made
    names = tuple(map(_imported, listed))
    return replace(
        made,
        module=text_of(module),
        module_start=module.start_byte,
        module_end=module.end_byte,
        names=names,
    )


def _inside_quotes(node: Node) -> Node | None:
    source = node.child_by_field_name("source")
    return source.named_children[0] if source is not None and source.named_child_count == 1 else None


def _imported(node: Node) -> Imported:
    name = text_of(node.child_by_field_name("name") or node)
    return Imported(name, node.start_byte, node.end_byte)
