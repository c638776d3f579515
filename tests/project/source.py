"""Reads the project's own source: its modules, what they import, and the table of rooms."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("edits", "context", "session", "themes", "tui")
ARCHITECTURE = ROOT / "docs" / "architecture.md"
SAMPLE = ROOT / "session" / "partner" / "sample"
"""The sample project of ``spark demo`` is data."""

_ROW = re.compile(r"^\| `([\w/.]+)` \| (.+) \|$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Import:
    """One imported name, and the line it is imported on."""

    line: int
    name: str


def python_files(folder: str) -> list[Path]:
    """Every Python file in or under ``folder``, which is relative to the project."""
    return [file for file in sorted((ROOT / folder).rglob("*.py")) if SAMPLE not in file.parents]


@cache
def modules() -> Mapping[str, Path]:
    """Every module of the five packages, by its dotted name."""
    found: dict[str, Path] = {}
    for package in PACKAGES:
        for file in python_files(package):
            parts = file.relative_to(ROOT).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = file
    return found


def imports(file: Path) -> Iterator[Import]:
    """Everything that ``file`` imports anywhere in it, inside functions and for type checking too."""
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (Import(node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}:{node.lineno}: use absolute imports"
            module = node.module or ""
            for alias in node.names:
                full = f"{module}.{alias.name}"
                yield Import(node.lineno, full if full in modules() else module)


@cache
def imported_modules() -> Mapping[str, frozenset[str]]:
    """For each module of the five packages, those of them that it imports."""
    return {
        name: frozenset(each.name for each in imports(file) if each.name in modules())
        for name, file in modules().items()
    }


def room_of(module: str) -> str:
    """The room of a module as a path: its folder, or the file itself in a package's root."""
    file = modules()[module].relative_to(ROOT)
    if file.name == "__init__.py" or len(file.parts) > 2:
        return f"{file.parent}/"
    return str(file)


def rooms_in_the_architecture() -> dict[str, str]:
    """The rooms of docs/architecture.md in their order, each with its sentence."""
    section = ARCHITECTURE.read_text("utf-8").partition("\n## Rooms\n")[2].partition("\n## ")[0]
    rows = _ROW.findall(section)
    assert rows, "docs/architecture.md has no table of rooms"
    assert len(rows) == len(dict(rows)), "docs/architecture.md lists a room twice"
    return dict(rows)


def summary(file: Path) -> str:
    """The first paragraph of a module's docstring, in Markdown."""
    docstring = ast.get_docstring(ast.parse(file.read_text("utf-8"))) or ""
    return re.sub(r":\w+:(?=`)", "", docstring.partition("\n\n")[0]).replace("``", "`")


def circles(graph: Mapping[str, Iterable[str]]) -> list[list[str]]:
    """Groups of nodes that reach each other, sorted (Tarjan's strongly connected components)."""
    order: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(node: str) -> None:
        order[node] = low[node] = len(order)
        stack.append(node)
        for target in graph.get(node, ()):
            if target not in order:
                visit(target)
                low[node] = min(low[node], low[target])
            elif target in stack:
                low[node] = min(low[node], order[target])
        if low[node] == order[node]:
            start = stack.index(node)
            group = stack[start:]
            del stack[start:]
            if len(group) > 1 or node in graph.get(node, ()):
                found.append(sorted(group))

    for node in graph:
        if node not in order:
            visit(node)
    return found
