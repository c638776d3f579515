"""The kinds of signs, read from ``signs.toml``, and the store of those that stand beside lines."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Literal

Column = Literal["hunk", "note"]


@dataclass(frozen=True, slots=True)
class Sign:
    """A kind of sign: the glyph of one cell, the theme's role for it, and what it tells. Of several on a line
    the one with the lowest ``rank`` is shown."""

    name: str
    column: Column
    glyph: str
    role: str
    about: str
    rank: int


@cache
def signs() -> Mapping[str, Sign]:
    """All kinds of signs by name, in the order of their ranks."""
    source = resources.files("tui.editor").joinpath("signs.toml").read_text("utf-8")
    tables = tomllib.loads(source)["sign"]
    return {table["name"]: Sign(**table, rank=rank) for rank, table in enumerate(tables)}


class Notes:
    """The signs of the column ``note``, by file and row. Each *source* puts and removes its own; they move
    with the lines that they stand beside."""

    def __init__(self) -> None:
        self._files: dict[str, dict[str, dict[int, str]]] = {}
        """Path → source → row → name of a sign."""
        self.on_change: Callable[[], None] = lambda: None
        """Called when signs come or go."""

    def put(self, source: str, path: str, rows: Mapping[int, str]) -> None:
        """Have ``source`` show these signs in a file, names of signs by row from 0, and no others."""
        unknown = set(rows.values()) - signs().keys()
        if unknown:
            raise ValueError(f"no sign is called {min(unknown)!r}")
        sources = self._files.setdefault(path, {})
        if sources.get(source, {}) == rows:
            return
        if rows:
            sources[source] = dict(rows)
        else:
            sources.pop(source, None)
        self.on_change()

    def clear(self, source: str) -> None:
        """Remove the signs of ``source`` from all files."""
        found = [sources for sources in self._files.values() if source in sources]
        for sources in found:
            del sources[source]
        if found:
            self.on_change()

    def at(self, path: str, row: int) -> str:
        """The sign beside a row; empty where there is none."""
        sources = self._files.get(path)
        if not sources:
            return ""
        found = [rows[row] for rows in sources.values() if row in rows]
        return min(found, key=lambda name: signs()[name].rank, default="")

    def of(self, path: str, source: str | None = None) -> dict[int, str]:
        """The signs of a file by row, those of one source or what is shown of all."""
        sources = self._files.get(path, {})
        if source is not None:
            return dict(sources.get(source, {}))
        return {row: self.at(path, row) for row in sorted({row for rows in sources.values() for row in rows})}

    def edited(self, path: str, row: int, gone: int, come: int) -> None:
        """Follow an edit: ``gone`` rows from ``row`` on became ``come`` rows. A sign beside a row that went
        stays at the nearest row that came in its place, and goes where none did."""
        for rows in self._files.get(path, {}).values():
            moved: dict[int, str] = {}
            for at, name in rows.items():
                if at < row:
                    moved[at] = name
                elif at >= row + gone:
                    moved[at + come - gone] = name
                elif come:
                    moved[min(at, row + come - 1)] = name
            rows.clear()
            rows.update(moved)

    def renamed(self, path: str, to: str) -> None:
        """Follow a move of a file."""
        if path in self._files:
            self._files[to] = self._files.pop(path)
