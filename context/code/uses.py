"""Finds where source text uses names, with tree-sitter: calls, the signatures of what is called, and imports.

Calls and signatures go by the names of fields (``parameters``, ``arguments``), which the grammars of most
languages share. In a language whose grammar has others, nothing is found.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from context.code.languages import Language
from context.code.parsing import nodes, text_of

if TYPE_CHECKING:
    from tree_sitter import Node


from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node


_NAME = re.compile(r"[^\W\d]\w*")
_LAST_NAME = re.compile(r"([^\W\d]\w*)\W*$")
_SELF = frozenset({"self", "cls", "this"})
_CONSTRUCTORS = frozenset({"__init__", "constructor"})
_UNCOUNTED = ("splat", "spread", "variadic", "pair", "block_argument")
"""What is in the type of a node that stands for several arguments, or for named ones of another form."""
_KEYWORD_MARKS = frozenset({"keyword_separator", "positional_separator"})


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter. With ``rest`` it takes any number of arguments (``*`` by position, ``**`` by name); one
    that is ``by_name`` cannot be given by its position. ``form`` is what its text says beside the name."""

    name: str
    form: str = ""
    optional: bool = False
    by_name: bool = False
    rest: str = ""


@dataclass(frozen=True, slots=True)
class Signature:
    """The parameters of a function, without its ``self``. ``called`` is the name by which it is called: the
    class's for a constructor. ``line`` is its head, in one line; ``row`` the head's row, from 0."""

    called: str
    parameters: tuple[Parameter, ...]
    line: str
    row: int


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument of a call, between two bytes of the text; ``keyword`` is the name that it is given by."""

    start: int
    end: int
    keyword: str = ""
    value: int = 0
    """The byte where its value begins."""


@dataclass(frozen=True, slots=True)
class Call:
    """A call in the rows ``row`` to ``last`` (from 0). Its parentheses stand at the bytes ``start`` and
    ``end`` - 1. ``spread`` says that some arguments are in a list, so that nobody can count them."""

    row: int
    last: int
    start: int
    end: int
    arguments: tuple[Argument, ...]
    spread: bool


def signatures(language: Language, text: str) -> tuple[Signature, ...]:
    """The signatures of all named functions and methods in a text, in order. It parses."""
    found: list[Signature] = []
    for node in nodes(language, text):
        listed = node.child_by_field_name("parameters")
        named = node.child_by_field_name("name") or node.child_by_field_name("declarator")
        if listed is None or named is None:
            continue
        name = text_of(named)
        if name in _CONSTRUCTORS:
            name = _class_around(node)
        if _NAME.fullmatch(name):
            head = " ".join(text_of(node).encode()[: listed.end_byte - node.start_byte].decode().split())
            found.append(Signature(name, tuple(_parameters(listed)), head, node.start_point.row))
    return tuple(found)


def calls(language: Language, text: str, name: str) -> tuple[Call, ...]:
    """The calls of ``name`` in a text, of a method of any object too. It parses."""
    if name not in text:
        return ()
    return tuple(_call(node) for node in nodes(language, text) if _called(node) == name)


def _called(node: Node) -> str:
    """The name of what a node calls, without the object; empty where it calls nothing."""
    if node.child_by_field_name("arguments") is None:
        return ""
    for field in ("function", "name", "constructor", "method", "type"):
        if (called := node.child_by_field_name(field)) is not None:
            found = _LAST_NAME.search(text_of(called).partition("::<")[0].partition("\n")[0])
            return found[1] if found is not None else ""
    return ""


def _call(node: Node) -> Call:
    listed = node.child_by_field_name("arguments")
    assert listed is not None, "it is a call"
    arguments, spread = [], listed.type not in ("arguments", "argument_list")
    for child in listed.named_children:
        if "comment" in child.type:
            continue
        spread = spread or any(word in child.type for word in _UNCOUNTED)
        keyword, value = child.child_by_field_name("name"), child.child_by_field_name("value")
        if child.type != "keyword_argument" or keyword is None or value is None:
            arguments.append(Argument(child.start_byte, child.end_byte, "", child.start_byte))
        else:
            arguments.append(Argument(child.start_byte, child.end_byte, text_of(keyword), value.start_byte))
    start, end = listed.start_byte, listed.end_byte
    return Call(node.start_point.row, listed.end_point.row, start, end, tuple(arguments), spread)


def _parameters(listed: Node) -> Iterator[Parameter]:
    by_name = False
    for number, child in enumerate(listed.named_children):
        text = " ".join(text_of(child).split())
        if "comment" in child.type or child.type in _KEYWORD_MARKS:
            by_name = by_name or child.type == "keyword_separator"
            continue
        if number == 0 and (child.type == "self_parameter" or text.partition(":")[0].strip("&* ") in _SELF):
            continue
        rest = _rest(child, text)
        names = [text_of(each) for each in child.children_by_field_name("name")]
        optional = "=" in text or child.type == "optional_parameter"
        for name in names if len(names) > 1 else [_name_in(child, text)]:
            form = re.sub(rf"\b{re.escape(name)}\b", "", text, count=1) if len(names) < 2 else ""
            yield Parameter(name, form, optional, by_name and not rest, rest)
        by_name = by_name or rest == "*"


def _rest(child: Node, text: str) -> str:
    if child.type == "dictionary_splat_pattern" or text.startswith("**"):
        return "**"
    many = ("splat" in child.type, "rest" in child.type, "variadic" in child.type, "spread" in child.type)
    return "*" if any(many) or text.startswith(("*", "...")) else ""


def _name_in(child: Node, text: str) -> str:
    """The name of a parameter: what its field says, else the first name; in the languages that write the type
    first (their node is a ``parameter_declaration`` or ``formal_parameter``), the last one."""
    for field in ("name", "pattern", "left"):
        if (named := child.child_by_field_name(field)) is not None and _NAME.fullmatch(text_of(named)):
            return text_of(named)
    if child.child_by_field_name("declarator") is not None:
        found = _LAST_NAME.search(text_of(child.child_by_field_name("declarator")))
        return found[1] if found is not None else text
    first = _NAME.search(text)
    return first[0] if first is not None else text


def _class_around(node: Node) -> str:
    around = node.parent
    while around is not None:
        if "class" in around.type and (named := around.child_by_field_name("name")) is not None:
            return text_of(named)
        around = around.parent
    return ""


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
