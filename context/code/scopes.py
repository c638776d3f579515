"""Tells which names of a text are bound where, by tree-sitter and the table ``scopes.toml``.

A name is looked for by its text, and only the nodes around what is found are looked at: no tree is walked.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib import resources
from typing import TYPE_CHECKING, Any

from context.code.languages import Language, grammar_of
from context.code.parsing import ParseBudget, TooHardError, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

_LIKE = {"typescript": "javascript", "tsx": "javascript"}
_NAMES = re.compile(r"identifier|^(?:name|constant|simple_symbol)$")
_BEFORE = re.compile(rb"(?:(?<!\.)\.|\?\.)\s*$")
_BEFORE_TOO = {
    "c": re.compile(rb"(?:\.|->)\s*$"),
    "cpp": re.compile(rb"(?:(?<!\.)\.|->|::)\s*$"),
    "php": re.compile(rb"(?:->|::)\s*$"),
    "rust": re.compile(rb"(?:(?<!\.)\.|::)\s*$"),
    "ruby": re.compile(rb"(?:(?<!\.)\.|&\.|::)\s*$"),
}
_DECLARES = re.compile(
    r"(?:definition|declaration|item|spec|signature|elem|variant|declarator|element|enum_assignment)$"
)
_LOOK = 80
_LATE_FIELDS = ("type", "return_type", "body", "right", "value", "default")
"""Fields inside of a binder that bind nothing."""


@dataclass(frozen=True, slots=True, eq=False)
class Scoping:
    """How one language binds names; see ``scopes.toml``."""

    scopes: frozenset[str]
    functions: frozenset[str]
    owners: frozenset[str]
    binders: frozenset[str]
    patterns: frozenset[str]
    sequential: bool
    bare: bool
    package: bool
    everywhere: bool


@lru_cache(maxsize=1)
def _tables() -> dict[str, Scoping]:
    text = resources.files("context.code").joinpath("scopes.toml").read_text("utf-8")
    return {name: _scoping(table) for name, table in tomllib.loads(text).items()}


def _scoping(table: dict[str, Any]) -> Scoping:
    keys = ("scopes", "functions", "owners", "binders", "patterns")
    scopes, functions, owners, binders, patterns = (frozenset(table.get(key, ())) for key in keys)
    sequential, bare, package, everywhere = (
        bool(table.get(key)) for key in ("sequential", "bare", "package", "global")
    )
    return Scoping(scopes, functions, owners, binders, patterns, sequential, bare, package, everywhere)


def scoping_of(language: Language) -> Scoping | None:
    """How a language binds names; None where that is not known."""
    return _tables().get(_LIKE.get(language.name, language.name))


@dataclass(frozen=True, slots=True)
class Bound:
    """A place that binds a name: the scope that it is bound in, the node that binds it, and the name's
    own."""

    scope: Node
    binder: Node
    name: Node


class NamedText:
    """A text and its tree, in which names are looked for. It parses: use it in a worker thread."""

    def __init__(self, language: Language, text: str) -> None:
        scoping = scoping_of(language)
        assert scoping is not None, "it is known how the language binds names"
        self.language = language
        self.scoping = scoping
        self.source = text.encode("utf-8", "replace")
        self._bound: dict[str, dict[int, list[Bound]]] = {}

    @cached_property
    def root(self) -> Node | None:
        """The tree; None where it takes too long to parse."""
        try:
            return ParseBudget().parse(self.language, grammar_of(self.language), self.source).root_node
        except TooHardError:
            return None

    def found(self, name: str) -> Iterator[Node]:
        """The nodes of the identifiers that are ``name``, in order; a name in a string or comment is none,
        except in a Python annotation, in ``__all__`` and in ``__slots__``."""
        if self.root is None:
            return
        word = name.encode()
        for match in re.finditer(rb"(?<![\w$])" + re.escape(word) + rb"(?![\w$])", self.source):
            node = self.root.descendant_for_byte_range(match.start(), match.end())
            if node is None:
                continue
            if (_NAMES.search(node.type) and node.end_byte - node.start_byte == len(word)) or (
                node.type == "string_content" and self._annotates(node)
            ):
                yield node

    def in_types(self, name: str) -> Iterator[Node]:
        """The texts in a script's types that name a member: ``Store['name']``, ``Pick<Store, 'name'>``."""
        if self.root is None or self.language.name not in ("typescript", "tsx"):
            return
        for match in re.finditer(rb"(['\"])%b\1" % re.escape(name.encode()), self.source):
            node = self.root.descendant_for_byte_range(match.start() + 1, match.end() - 1)
            around = node.parent.parent if node is not None and node.parent is not None else None
            if node is not None and around is not None and around.type == "literal_type":
                yield node

    def _annotates(self, node: Node) -> bool:
        around = node.parent.parent if node.parent is not None else None
        if self.language.name != "python" or around is None:
            return False
        listed = around.parent
        return around.type == "type" or (
            around.type in ("list", "tuple")
            and listed is not None
            and text_of(listed.child_by_field_name("left")) in ("__all__", "__slots__", "__match_args__")
        )

    def behind(self, node: Node) -> bool:
        """Whether a name stands behind a dot, or what is like one."""
        start = node.start_byte
        first = max(0, start - _LOOK)
        found = _BEFORE_TOO.get(self.language.name, _BEFORE).search(self.source[first:start])
        if found is None or self.root is None:
            return False
        mark = self.root.descendant_for_byte_range(first + found.start(), first + found.start() + 1)
        return mark is not None and "comment" not in mark.type and "string" not in mark.type

    def object_of(self, node: Node) -> Node | None:
        """What stands before the dot of a name; None where nothing does (``.name`` alone)."""
        around = node.parent
        start = node.start_byte
        while around is not None and self.source[around.start_byte : start].strip() in (
            b"", b".", b"->", b"::", b"?.",
        ):  # fmt: skip
            around = around.parent
        if around is None:
            return None
        before = [child for child in around.named_children if child.end_byte < start]
        return before[-1] if before else None

    def binder(self, node: Node) -> Node | None:
        """The node that binds a name by it; None where it only uses one."""
        scoping = self.scoping
        if self.behind(node) or node.type == "property_identifier" or node.type == "string_content":
            return None
        if self.language.name == "rust" and not _may_bind(node):
            return None
        inner = node
        while (around := inner.parent) is not None:
            kind = around.type
            if kind in scoping.binders:
                return around
            field = _field_of(around, inner)
            if field and f"{kind}.{field}" in scoping.binders:
                renamed = (
                    kind == "import_specifier" and field == "name" and around.child_by_field_name("alias")
                )
                return None if renamed else around
            if field in _LATE_FIELDS and f"{kind}.{field}" not in scoping.patterns:
                return None
            inside = "pattern" in kind or kind in scoping.patterns or f"{kind}.{field}" in scoping.patterns
            if not inside:
                return None
            inner = around
        return None

    def scope_of(self, node: Node) -> Node | None:
        """The innermost scope around a node."""
        around = node.parent
        while around is not None and around.type not in self.scoping.scopes:
            around = around.parent
        return around

    def bound_by(self, node: Node) -> Bound | None:
        """What a name binds; None where it only uses one."""
        binder = self.binder(node)
        if binder is None:
            return None
        outer = binder.type in self.scoping.scopes and _is_name(binder, node, self.scoping)
        scope = self.scope_of(binder) if outer or binder.type not in self.scoping.scopes else binder
        return Bound(scope, binder, node) if scope is not None else None

    def bindings(self, name: str) -> dict[int, list[Bound]]:
        """What binds ``name``, by the scope's identity."""
        if name not in self._bound:
            made: dict[int, list[Bound]] = {}
            outside: set[int] = set()
            for node in self.found(name):
                around = node.parent
                if around is not None and around.type in ("global_statement", "nonlocal_statement"):
                    scope = self.scope_of(node)
                    outside.add(scope.id if scope is not None else 0)
                bound = self.bound_by(node)
                if bound is not None:
                    made.setdefault(bound.scope.id, []).append(bound)
            self._bound[name] = {scope: all for scope, all in made.items() if scope not in outside}
        return self._bound[name]

    def resolved(self, node: Node, name: str, until: Node | None = None) -> Bound | None:
        """What binds the name at a node that uses it; None where nothing in this text does, or nothing inside
        of the scope ``until``."""
        bindings = self.bindings(name)
        scope = self.scope_of(node)
        through_function = False
        while scope is not None and (until is None or scope.id != until.id):
            hidden = through_function and self._is_class(scope)
            for bound in () if hidden else bindings.get(scope.id, ()):
                if not self.scoping.sequential or scope.parent is None or _holds(bound, node):
                    return bound
            through_function = through_function or scope.type in self.scoping.functions
            scope = self.scope_of(scope)
        return None

    def _is_class(self, scope: Node) -> bool:
        return self.language.name == "python" and scope.type == "class_definition"

    def owner_of(self, node: Node) -> Node | None:
        """The node of the definition that a node is a member of; None where it is in none, or local to a
        function."""
        around = node.parent
        while around is not None:
            named = around.child_by_field_name("name")
            own = around.type in self.scoping.functions and around.type in self.scoping.owners
            if around.type in self.scoping.owners and not own and (named is None or named.id != node.id):
                return around
            if own and named is not None and named.id == node.id:
                return around
            if around.type in self.scoping.functions and (named is None or named.id != node.id):
                return None
            around = around.parent
        return None

    def function_of(self, node: Node) -> Node | None:
        """The function that a definition is local to."""
        around = node.parent
        while around is not None:
            named = around.child_by_field_name("name")
            if around.type in self.scoping.functions and (named is None or named.id != node.id):
                return around
            around = around.parent
        return None

    def declares(self, node: Node) -> bool:
        """Whether a name is that of a definition that is not local to a function."""
        around = node.parent
        if around is None or self.behind(node) or self.function_of(node) is not None:
            return False
        if self.bound_by(node) is not None:
            return not any(word in around.type for word in ("import", "parameter"))
        named = around.children_by_field_name("name") or around.children_by_field_name("declarator")
        return any(each.id == node.id for each in named) and _DECLARES.search(around.type) is not None

    def is_property(self, node: Node) -> bool:
        """Whether a name is that of a script's parameter that is a field of its class too."""
        around = node.parent
        kinds = [each.type for each in around.children] if around is not None else []
        marked = any(kind in ("accessibility_modifier", "readonly") for kind in kinds)
        return (
            marked
            and around is not None
            and around.type == "required_parameter"
            and node.type == "identifier"
        )

    def class_around(self, node: Node) -> str:
        """The name of the innermost class, or what is like one, around a node; empty for none."""
        around = node.parent
        while around is not None:
            if around.type in self.scoping.owners and (name := owner_name(around)):
                return name
            if around.type == "object" and self._in_method_of(around, node):
                return ""
            around = around.parent
        return ""

    def _in_method_of(self, literal: Node, node: Node) -> bool:
        """Whether a node is in a method of a script's object, whose ``this`` is no class's."""
        around = node.parent
        while around is not None and around.id != literal.id:
            if around.type in self.scoping.functions and around.type != "arrow_function":
                return True
            around = around.parent
        return False


def owner_name(owner: Node) -> str:
    """The name of the definition that members belong to: of an ``impl`` and of a Go method that of its
    type."""
    receiver = owner.child_by_field_name("receiver")
    named = receiver if receiver is not None else owner.child_by_field_name("name")
    if owner.type == "impl_item":
        named = owner.child_by_field_name("type")
    text = re.sub(r"<.*|\[.*", "", text_of(named), flags=re.DOTALL)
    words = re.findall(r"\w+", text)
    return words[-1] if words else ""


def _field_of(around: Node, child: Node) -> str:
    for number, each in enumerate(around.children):
        if each.id == child.id:
            return around.field_name_for_child(number) or ""
    return ""


def _is_name(binder: Node, node: Node, scoping: Scoping) -> bool:
    """Whether a scope is bound by this name outside of it: as its own name."""
    for field in ("name", "declarator"):
        for named in binder.children_by_field_name(field):
            if named.start_byte <= node.start_byte < named.end_byte:
                inner = node.parent
                while inner is not None and inner.id != named.id and named.id != node.id:
                    if "parameter" in inner.type:
                        return False
                    inner = inner.parent
                return f"{binder.type}.{field}" in scoping.binders
    return False


def _holds(bound: Bound, node: Node) -> bool:
    """Whether a name is bound already where it is used: not in the statement that binds it, nor before."""
    kind = bound.binder.type
    if "let_condition" in kind or "match_pattern" in kind:
        return node.start_byte >= bound.binder.end_byte
    if any(word in kind for word in ("parameter", "function", "class", "struct", "item", "range", "type_")):
        return True
    if "for_" in kind or "switch" in kind:
        return True
    return node.start_byte >= bound.binder.end_byte


def _may_bind(node: Node) -> bool:
    """Whether a name in a Rust pattern may bind: one in capitals is a constant or a variant."""
    text = text_of(node)
    around = node.parent
    in_pattern = around is not None and ("pattern" in around.type or around.type == "closure_parameters")
    return not (in_pattern and text[:1].isupper())
