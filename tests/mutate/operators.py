"""The faults that can be put into one file: where each is, and what stands there instead."""

from __future__ import annotations

import ast
import copy
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import accumulate

COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {ast.Add: ast.Sub, ast.Sub: ast.Add}
UNTOUCHED_METHODS = ("__repr__",)
LOGS = ("log", "logger", "logging", "_log", "_logger")
NO_CHANGE = ("strict", "encoding", "name", "daemon")
"""Arguments of functions outside the project that are there for a check, a platform or a person."""
DECLARATIONS = ("field", "TypeVar", "namedtuple")
TEXTS = (ast.JoinedStr, ast.List, ast.Tuple, ast.ListComp, ast.Dict, ast.Set)

Defaults = dict[str, dict[str, str | None]]
"""Of each function and class of the project: its parameters, and the syntax of each one's default."""


@dataclass(frozen=True, slots=True)
class Mutation:
    """One fault: the bytes ``start`` to ``end`` of a file become ``after``.

    ``first`` and ``last`` are the lines whose execution shows that a test reaches the fault, which is only
    known for code ``in_function``.
    """

    path: str
    line: int
    text: str
    kind: str
    before: str
    after: str
    start: int
    end: int
    first: int
    last: int
    in_function: bool

    @property
    def change(self) -> str:
        """The fault as it is printed and named in ``equivalent.toml``."""
        return f"{self.before} → {self.after or 'nothing'}"

    def applied(self, source: bytes) -> bytes:
        """The file with the fault in it."""
        return source[: self.start] + self.after.encode() + source[self.end :]


@dataclass(frozen=True, slots=True)
class _Place:
    """What is known about a node from those around it."""

    first: int = 0
    last: int = 0
    in_function: bool = False
    returns: str = ""
    enum: bool = False


@dataclass(slots=True)
class _File:
    """One file in which faults are looked for."""

    path: str
    source: bytes
    defaults: Defaults
    found: list[Mutation] = field(default_factory=list)
    _starts: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._starts = [0, *accumulate(len(line) for line in self.source.splitlines(keepends=True))]

    def add(
        self,
        place: _Place,
        kind: str,
        node: ast.expr | ast.stmt | ast.keyword,
        after: str,
        end: int | None = None,
    ) -> None:
        """Note the fault that puts ``after`` in the place of a node, or of all up to the byte ``end``."""
        start = self._offset(node.lineno, node.col_offset)
        if end is None:
            end = self._offset(node.end_lineno or 0, node.end_col_offset or 0)
        line = self.source[self._starts[node.lineno - 1] :].split(b"\n", 1)[0].decode().strip()
        before = " ".join(self.source[start:end].decode().split())
        self.found.append(
            Mutation(
                path=self.path,
                line=node.lineno,
                text=line,
                kind=kind,
                before=before,
                after=after,
                start=start,
                end=end,
                first=place.first,
                last=place.last,
                in_function=place.in_function,
            )
        )

    def _offset(self, line: int, column: int) -> int:
        return self._starts[line - 1] + column

    def change(
        self, place: _Place, kind: str, node: ast.expr | ast.stmt, edit: Callable[[ast.AST], None]
    ) -> None:
        """Note the fault that makes a node what ``edit`` makes of its copy."""
        changed = copy.deepcopy(node)
        edit(changed)
        text = ast.unparse(changed)
        self.add(place, kind, node, f"({text})" if isinstance(node, ast.expr) else text)

    def walk(self, node: ast.AST, place: _Place) -> None:
        """Note the faults of a node and of all below it."""
        if _skipped(node):
            return
        inner = _inside(node, place)
        self._faults(node, inner)
        for child in _children(node):
            # Defaults of parameters are made where the function is, not when it runs.
            self.walk(child, place if isinstance(child, ast.arguments) else inner)

    def _faults(self, node: ast.AST, place: _Place) -> None:
        match node:
            case ast.Compare(ops=[only]) if type(only) in COMPARISONS:
                self.change(place, "comparison", node, _swap_comparison)
            case ast.Compare(ops=[_, _]):
                self.change(place, "comparison", node, _swap_comparison)
            case ast.BoolOp(op=op):
                other = ast.And() if isinstance(op, ast.Or) else ast.Or()
                self.change(place, "and/or", node, lambda made: setattr(made, "op", other))
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                self.add(place, "not", node, f"({ast.unparse(operand)})")
            case ast.BinOp(op=op) | ast.AugAssign(op=op) if type(op) in ARITHMETIC and not _is_text(node):
                swapped = ARITHMETIC[type(op)]()
                self.change(place, "arithmetic", node, lambda made: setattr(made, "op", swapped))
            case ast.Constant() if not place.enum:
                self._constant(node, place)
            case ast.If() | ast.While() | ast.IfExp():
                self._condition(node, place)
            case ast.comprehension(ifs=tests):
                for test in tests:
                    self._negation(test, place)
            case ast.Return(value=value) if value is not None and _visible(value, place.returns):
                self.add(place, "return", node, "return None")
            case ast.Expr(value=value) if _is_effect(value):
                self.add(place, "call", node, "pass")
            case ast.Break():
                self.add(place, "loop", node, "continue")
            case ast.Continue():
                self.add(place, "loop", node, "break")
            case ast.Slice():
                self._slice(node, place)
            case ast.Call(func=function, keywords=keywords):
                for keyword in keywords:
                    if self._may_drop(function, keyword):
                        self._drop(keyword, place)
            case _:
                pass

    def _constant(self, node: ast.Constant, place: _Place) -> None:
        match node.value:
            case bool():
                self.add(place, "constant", node, str(not node.value))
            case int() | float():
                self.add(place, "constant", node, str(node.value + 1))
            case "":
                self.add(place, "constant", node, "'x'")
            case b"":
                self.add(place, "constant", node, "b'x'")
            case _:
                pass

    def _condition(self, node: ast.If | ast.While | ast.IfExp, place: _Place) -> None:
        self._negation(node.test, place)
        if isinstance(node, ast.If) and not isinstance(node.test, ast.Constant):
            self.add(place, "branch", node.test, "False")
            if node.orelse:
                self.add(place, "branch", node.test, "True")

    def _negation(self, test: ast.expr, place: _Place) -> None:
        """A comparison and a ``not`` have faults of their own that are the same as this one."""
        if not isinstance(test, ast.Compare | ast.Constant) and not (
            isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not)
        ):
            self.add(place, "condition", test, f"(not ({ast.unparse(test)}))")

    def _slice(self, node: ast.Slice, place: _Place) -> None:
        for end, by in (("lower", 1), ("upper", -1)):
            bound = getattr(node, end)
            moved = ast.Constant(by)
            if bound is not None:
                moved_bound = ast.BinOp(bound, ast.Add() if by > 0 else ast.Sub(), ast.Constant(1))
                self._slice_end(node, place, end, moved_bound)
            else:
                self._slice_end(node, place, end, moved)

    def _slice_end(self, node: ast.Slice, place: _Place, end: str, bound: ast.expr) -> None:
        changed = copy.deepcopy(node)
        setattr(changed, end, bound)
        self.add(place, "slice", node, ast.unparse(changed))

    def _drop(self, keyword: ast.keyword, place: _Place) -> None:
        """Note the fault that leaves out an argument, and the comma after it."""
        end = self._offset(keyword.end_lineno or 0, keyword.end_col_offset or 0)
        comma = re.match(rb"\s*,", self.source[end:])
        self.add(place, "keyword", keyword, "", end + (comma.end() if comma else 0))

    def _may_drop(self, function: ast.expr, keyword: ast.keyword) -> bool:
        """Whether a call without an argument would still be a call, and another one."""
        if keyword.arg is None or _last_name(function) in DECLARATIONS:
            return False
        parameters = self.defaults.get(_last_name(function))
        if parameters is None:
            return keyword.arg not in NO_CHANGE
        default = parameters.get(keyword.arg)
        return default is not None and default != ast.dump(keyword.value)


def mutations(path: str, source: bytes, defaults: Defaults) -> list[Mutation]:
    """All faults of one file, in the order of their places."""
    file = _File(path, source, defaults)
    file.walk(ast.parse(source), _Place())
    return file.found


def defaults_of(sources: Iterator[bytes]) -> Defaults:
    """The defaults of all functions and classes in some files; functions of one name are taken together."""
    known: Defaults = {}
    for source in sources:
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                known.setdefault(node.name, {}).update(_parameters(node.args))
            elif isinstance(node, ast.ClassDef):
                known.setdefault(node.name, {}).update(_fields(node))
    return known


def _parameters(arguments: ast.arguments) -> Iterator[tuple[str, str | None]]:
    positional = [*arguments.posonlyargs, *arguments.args]
    without: list[ast.expr | None] = [None] * (len(positional) - len(arguments.defaults))
    yield from zip((one.arg for one in positional), map(_dump, [*without, *arguments.defaults]), strict=True)
    yield from zip((one.arg for one in arguments.kwonlyargs), map(_dump, arguments.kw_defaults), strict=True)


def _fields(node: ast.ClassDef) -> Iterator[tuple[str, str | None]]:
    for inner in node.body:
        if isinstance(inner, ast.AnnAssign) and isinstance(inner.target, ast.Name):
            yield inner.target.id, _dump(inner.value)
        elif isinstance(inner, ast.FunctionDef) and inner.name == "__init__":
            yield from _parameters(inner.args)


def _dump(node: ast.expr | None) -> str | None:
    return None if node is None else ast.dump(node)


def _skipped(node: ast.AST) -> bool:
    """Whether nothing below a node is behaviour: a name for the type checker, a check of its own, a log."""
    match node:
        case ast.Assert() | ast.JoinedStr() | ast.pattern() | ast.Import() | ast.ImportFrom():
            return True
        case ast.If(test=ast.Name(id="TYPE_CHECKING") | ast.Attribute(attr="TYPE_CHECKING")):
            return True
        case ast.If(test=ast.Compare(left=ast.Name(id="__name__"))):
            return True
        case ast.Expr(value=ast.Constant()):
            return True
        case ast.FunctionDef(name=name):
            return name in UNTOUCHED_METHODS
        case ast.Assign(targets=[ast.Name(id=name)]):
            return name.startswith("__")
        case ast.Call(func=function):
            return _first_name(function) in LOGS
        case ast.Expr(value=ast.Call(func=function)):
            return _first_name(function) in LOGS
        case _:
            return False


def _children(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes below one that are behaviour: no annotations, decorators or bases."""
    left_out = {"annotation", "returns", "decorator_list", "bases", "type_params", "type_comment"}
    if isinstance(node, ast.ClassDef):
        left_out.add("keywords")
    for name, value in ast.iter_fields(node):
        if name in left_out:
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield child


def _inside(node: ast.AST, place: _Place) -> _Place:
    """The place of a node, which is that of what is below it too."""
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            returns = ast.unparse(node.returns) if node.returns else ""
            return replace(place, returns=returns, in_function=True, enum=False)
        case ast.ClassDef():
            bases = [_last_name(base) for base in node.bases]
            return replace(place, enum=any(name.endswith(("Enum", "Flag")) for name in bases))
        case ast.Lambda():
            return replace(
                place, first=node.body.lineno, last=node.body.end_lineno or node.lineno, in_function=True
            )
        case ast.stmt():
            return replace(place, first=node.lineno, last=_head_end(node))
        case ast.ExceptHandler():
            return replace(place, first=node.lineno, last=node.lineno)
        case _:
            return place


def _head_end(node: ast.stmt) -> int:
    """The last line of a statement, or of what is before the colon."""
    body = getattr(node, "body", None)
    if isinstance(body, list) and body and isinstance(body[0], ast.AST):
        return max(node.lineno, getattr(body[0], "lineno", node.lineno) - 1)
    return node.end_lineno or node.lineno


def _swap_comparison(node: ast.AST) -> None:
    assert isinstance(node, ast.Compare)
    node.ops[-1] = COMPARISONS[type(node.ops[-1])]()


def _is_text(node: ast.AST) -> bool:
    """Whether an operation is visibly one on texts or lists, where the other operator would only crash."""
    match node:
        case ast.BinOp(left=left, right=right):
            return _is_text(left) or _is_text(right)
        case ast.AugAssign(value=value):
            return _is_text(value)
        case ast.Constant(value=value):
            return isinstance(value, str | bytes)
        case ast.Call(func=ast.Attribute(attr=name)):
            return name in ("join", "strip", "rstrip", "lstrip", "encode", "decode", "format", "replace")
        case ast.Call(func=ast.Name(id=name)):
            return name in ("str", "list", "tuple", "repr", "bytes")
        case ast.Subscript(slice=ast.Slice()):
            return True
        case _:
            return isinstance(node, TEXTS)


def _visible(value: ast.expr, returns: str) -> bool:
    """Whether ``None`` is another answer than a value: to a question of yes or no it is the same as no."""
    match value:
        case ast.Constant(value=None):
            return False
        case ast.Constant(value=False):
            return False
        case _:
            return returns != "None"


def _is_effect(value: ast.expr) -> bool:
    """Whether an expression that stands as a statement does something that could be missing."""
    match value:
        case ast.Await(value=inner):
            return _is_effect(inner)
        case ast.Call(func=function):
            return _first_name(function) not in LOGS
        case _:
            return isinstance(value, ast.Yield | ast.YieldFrom)


def _first_name(node: ast.expr) -> str:
    while isinstance(node, ast.Attribute | ast.Call):
        node = node.value if isinstance(node, ast.Attribute) else node.func
    return node.id if isinstance(node, ast.Name) else ""


def _last_name(node: ast.expr) -> str:
    match node:
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return name
        case _:
            return ""
