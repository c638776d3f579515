"""Reads the project's own source: its modules, what they import, and the rooms and wings they stand in.

A *room* is a folder of the five packages, or a file in a package's root. A *wing* is a folder in ``session``
or ``tui`` with all rooms below it; in the smaller packages each room is a wing. :data:`WINGS` is their order.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.checkout import ROOT

PACKAGES = ("edits", "context", "session", "themes", "tui")
WITH_WINGS = ("session", "tui")
"""The packages with a level of wings."""
SAMPLE = ROOT / "session" / "partner" / "sample"
"""The sample project of ``spark demo`` is data."""
WINGS = (
    *("edits/hunk.py", "edits/checked_lines.py", "edits/files", "edits/formats", "edits/newtext"),
    "edits/placing",
    *(
        "edits/ledger",
        "edits/git_patch.py",
        "edits/guards",
    ),
    *("edits/change.py", "edits/landing.py", "edits/report.py"),
    *("context/code", "context/text", "context/disk", "context/index", "context/project", "context/find"),
    *("context/map", "context/window"),
    *("session/base", "session/wire", "session/models", "session/record", "session/tools"),
    *("session/checks", "session/project", "session/setup", "session/turn", "session/race"),
    *("session/commands", "session/assist", "session/partner", "session/session.py", "session/ways"),
    "themes/loader.py",
    *("tui/front", "tui/screen", "tui/editor", "tui/chat", "tui/app", "tui/line", "tui/cli"),
)
"""All wings, in an order in which each imports only those before it."""


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


def code_with(package: str, words: Iterable[str]) -> Iterator[tuple[str, ast.Module]]:
    """The files of a package that hold one of ``words`` anywhere, by their paths, and their code.

    A call of a function holds its name, so that nothing is missed, and parsing is most of the work.
    """
    any_of = re.compile(rf"\b(?:{'|'.join(words)})\b")
    for file in python_files(package):
        if any_of.search(text := file.read_text("utf-8")):
            yield file.relative_to(ROOT).as_posix(), ast.parse(text)


@cache
def imports(file: Path) -> tuple[Import, ...]:
    """Everything that ``file`` imports anywhere in it, inside functions and for type checking too."""
    return tuple(_imports(file))


def _imports(file: Path) -> Iterator[Import]:
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
        return str(file.parent)
    return str(file)


def wing_of(room: str) -> str:
    """The wing that a room stands in, or the room itself."""
    parts = room.split("/")
    return "/".join(parts[:2]) if parts[0] in WITH_WINGS else room


@cache
def rooms() -> tuple[str, ...]:
    """All rooms, in the order of their wings."""
    found = {room_of(module) for module in modules()} - set(PACKAGES)
    return tuple(sorted(found, key=lambda room: (WINGS.index(wing_of(room)), room)))


def file_of(room: str) -> Path:
    """The file whose docstring describes a room."""
    place = ROOT / room
    return place if place.suffix else place / "__init__.py"


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


def longest_chain(graph: Mapping[str, Iterable[str]]) -> list[str]:
    """The longest way along the imports of a graph without circles."""
    chains: dict[str, list[str]] = {}

    def chain(node: str) -> list[str]:
        if node not in chains:
            below = max((chain(target) for target in graph.get(node, ())), key=len, default=[])
            chains[node] = [node, *below]
        return chains[node]

    return max((chain(node) for node in graph), key=len, default=[])
