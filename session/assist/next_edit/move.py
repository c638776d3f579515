"""Which definitions a change moved from one file to another, and what an import of one needs for that.

Pure: texts in, edits out.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from context.code.uses import Import
from session.assist.next_edit.rename import SHORTEST
from session.project.definitions import Definition

MOST_REMEMBERED = 50
"""Definitions that went or came lately, and have no other half yet."""
_ALIKE = 0.6
_KINDS = frozenset({"function", "class", "type", "constant"})
_SCRIPTS = (".js", ".ts", ".jsx", ".tsx", ".mjs", ".cjs", ".mts", ".cts")


@dataclass(frozen=True, slots=True)
class Move:
    """The definition ``name`` was in the file ``old`` and is in ``new``."""

    name: str
    old: str
    new: str

    def __str__(self) -> str:
        return f"{self.name}: {self.old} → {self.new}"


@dataclass(frozen=True, slots=True)
class _Half:
    path: str
    name: str
    kind: str
    text: str


class Moves:
    """Pairs what went from one file with what came into another, in whichever order they were saved."""

    def __init__(self) -> None:
        self._gone: list[_Half] = []
        self._come: list[_Half] = []

    def changed(
        self,
        path: str,
        before: tuple[Sequence[str], Sequence[Definition]],
        after: tuple[Sequence[str], Sequence[Definition]],
    ) -> list[Move]:
        """A file changed: its lines and definitions before and after. Gives the moves that are known now."""
        old, new = _outer(path, *before), _outer(path, *after)
        self._gone = [half for half in self._gone if half.path != path or half.name not in new]
        self._come = [half for half in self._come if half.path != path or half.name in new]
        self._gone += [half for name, half in old.items() if name not in new]
        self._come += [half for name, half in new.items() if name not in old]
        found = list(self._pairs())
        del self._gone[:-MOST_REMEMBERED], self._come[:-MOST_REMEMBERED]
        return found

    def _pairs(self) -> Iterator[Move]:
        for gone in list(self._gone):
            for come in list(self._come):
                if (gone.name, gone.kind) == (come.name, come.kind) and gone.path != come.path:
                    if SequenceMatcher(None, gone.text, come.text).ratio() < _ALIKE:
                        continue
                    self._gone.remove(gone)
                    self._come.remove(come)
                    yield Move(gone.name, gone.path, come.path)
                    break


def _outer(path: str, lines: Sequence[str], found: Sequence[Definition]) -> dict[str, _Half]:
    """The definitions that other files can import, by name."""
    return {
        each.name: _Half(path, each.name, each.kind, "\n".join(lines[each.start : each.end]))
        for each in found
        if each.kind in _KINDS and "." not in each.name and len(each.name) >= SHORTEST
    }


def followed(statement: Import, path: str, move: Move, source: bytes) -> tuple[str, ...] | None:
    """The lines that an import in the file ``path`` becomes after the move; none where it is needed no more.
    None where it does not import the name from there, or where it cannot be told."""
    taken = next((each for each in statement.names if each.name == move.name), None)
    module = _module_now(statement.module, path, move)
    start = source.rfind(b"\n", 0, statement.start) + 1
    end = source.find(b"\n", statement.end)
    end = len(source) if end < 0 else end
    indent = source[start : statement.start].decode()
    if taken is None or module is None or indent.strip():
        return None
    others = [each for each in statement.names if each is not taken]
    if not others and path == move.new:
        return ()
    if not others:
        text = _with(source, start, end, statement.module_start, statement.module_end, module)
        return tuple(text.split("\n"))
    at = statement.names.index(taken)
    if at + 1 < len(statement.names):
        cut = taken.start, statement.names[at + 1].start
    else:
        cut = statement.names[at - 1].end, taken.end
    rest = _with(source, start, end, *cut, "").split("\n")
    if path == move.new:
        return tuple(rest)
    name = source[taken.start : taken.end].decode()
    return (*rest, f"{indent}{_written(statement, module, name)}")


def importing(example: Import, module: str, name: str) -> str:
    """An import of ``name`` from ``module``, written as ``example`` is."""
    return _written(example, module, name)


def module_of(target: str, path: str) -> str | None:
    """How the file ``path`` can name the file ``target``: as a relative module where it can be one."""
    if target.endswith(_SCRIPTS):
        now = posixpath.relpath(posixpath.splitext(target)[0], posixpath.dirname(path) or ".")
        return now if now.startswith(".") else f"./{now}"
    if not target.endswith((".py", ".pyi")):
        return None
    if posixpath.dirname(target) == posixpath.dirname(path) != "":
        return "." + ".".join(_parts(target)[len(path.split("/")) - 1 :])
    return ".".join(_parts(target))


def _with(source: bytes, start: int, end: int, first: int, last: int, text: str) -> str:
    return (source[start:first] + text.encode() + source[last:end]).decode()


def _written(statement: Import, module: str, name: str) -> str:
    if statement.text.startswith("from"):
        return f"from {module} import {name}"
    head = statement.text.partition("{")[0]
    quote = '"' if '"' in statement.text else "'"
    end = ";" if statement.text.endswith(";") else ""
    return f"{head}{{ {name} }} from {quote}{module}{quote}{end}"


def _module_now(module: str, path: str, move: Move) -> str | None:
    """How ``path`` names the file that the definition is in now, as ``module`` names the one it was in. None
    where ``module`` is another file."""
    if move.old.endswith((".py", ".pyi")):
        return _python_module(module, path, move)
    if move.old.endswith(_SCRIPTS) and module.startswith("."):
        return _script_module(module, path, move)
    return None


def _python_module(module: str, path: str, move: Move) -> str | None:
    old, new = _parts(move.old), _parts(move.new)
    rest = module.lstrip(".")
    named = rest.split(".") if rest else []
    up = len(module) - len(rest)
    if not up:
        if not named or old[-len(named) :] != named:
            return None
        root = old[: len(old) - len(named)]
        return ".".join(new[len(root) :]) if new[: len(root)] == root and len(new) > len(root) else None
    package = path.split("/")[:-1]
    if up - 1 > len(package) or [*package[: len(package) - up + 1], *named] != old:
        return None
    climbed = 0
    while new[: len(package)] != package:
        package, climbed = package[:-1], climbed + 1
    return "." * (climbed + 1) + ".".join(new[len(package) :])


def _parts(path: str) -> list[str]:
    parts = path.rpartition(".")[0].split("/")
    return parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts


def _script_module(module: str, path: str, move: Move) -> str | None:
    folder = posixpath.dirname(path)
    named = posixpath.normpath(posixpath.join(folder, module))
    extension = next((each for each in _SCRIPTS if module.endswith(each)), "")
    bare = named.removesuffix(extension)
    old = posixpath.splitext(move.old)[0]
    if bare not in (old, posixpath.dirname(old) if posixpath.basename(old) == "index" else old):
        return None
    now = posixpath.relpath(posixpath.splitext(move.new)[0], folder or ".") + extension
    return now if now.startswith(".") else f"./{now}"
