"""A notebook (``.ipynb``, nbformat 4) as the text of its cells, and the JSON for a text of cells.

The text has a line for each cell, ``# %%`` for code, ``# %% [markdown]`` or ``# %% [raw]``, and below it the
cell's source as it is. Outputs and metadata are not in it. Writing it back replaces the sources that differ,
in the form that the notebook program writes; all other bytes of the JSON stay.
https://nbformat.readthedocs.io/en/latest/format_description.html
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from functools import lru_cache
from typing import Any, NamedTuple

_HEAD = re.compile(r"# %%(?: \[(markdown|raw)\])?")
_DECODER = json.JSONDecoder()
_SPACE = re.compile(r"[ \t\r\n]*")
_VERSION = 4
_WITH_IDS = 5
"""The minor version from which cells have an id."""
_ALIKE = 0.3
"""How alike two sources are at least that count as one cell before and after an edit."""
NEW = """{
 "cells": [],
 "metadata": {},
 "nbformat": 4,
 "nbformat_minor": 5
}
"""
"""What a new notebook is made of."""


class _Cell(NamedTuple):
    kind: str
    source: str
    start: int
    """Where the cell's object begins in the JSON, and where it ends."""
    end: int
    source_start: int
    """The same for its source."""
    source_end: int
    listed: bool
    """Whether the source is a list of lines, and not one string."""


def is_notebook(path: str) -> bool:
    """Whether a file is a notebook by its name."""
    return path.lower().endswith(".ipynb")


@lru_cache(maxsize=4)
def shown(raw: str) -> str | None:
    """The text of the cells of a notebook; None if ``raw`` is none, or if they could not be told apart."""
    try:
        cells = _cells(raw)
        text = _text((cell.kind, cell.source) for cell in cells)
        text.encode()
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    return text if "\r" not in text and _read(text) == [(cell.kind, cell.source) for cell in cells] else None


def written(raw: str, text: str) -> str:
    """The JSON ``raw`` with the cells of ``text``. Raises ValueError where that has lines before its first
    cell."""
    if text.startswith("{") or (raw == NEW and not text):
        return text  # all of it was written anew, as JSON
    old, new = _cells(raw), _read(text)
    pairs = list(_pairs(old, new))
    form = _Form.of(raw)
    bodies = [_body(raw, form, before, cell, at) for at, (before, cell) in enumerate(pairs)]
    if [before for before, _ in pairs] == old:
        found, at = [], 0
        for cell, body in zip(old, bodies, strict=True):
            found += [raw[at : cell.start], body]
            at = cell.end
        return "".join(found) + raw[at:]
    start, end = _array(raw)
    opening, between, closing = form.opening, form.between, form.closing
    if old:
        opening, closing = raw[start + 1 : old[0].start], raw[old[-1].end : end - 1]
        between = raw[old[0].end : old[1].start] if len(old) > 1 else between
    inner = f"{opening}{between.join(bodies)}{closing}" if bodies else ""
    return f"{raw[: start + 1]}{inner}{raw[end - 1 :]}"


class _Form(NamedTuple):
    """How a notebook's JSON is laid out."""

    indent: str | None
    ascii: bool
    separators: tuple[str, str]
    opening: str
    between: str
    closing: str

    @classmethod
    def of(cls, raw: str) -> _Form:
        found = re.search(r'\n([ \t]+)"', raw)
        only_ascii = raw.isascii() and "\\u" in raw
        if found is None:
            comma = ", " if '": ' in raw else ","
            return cls(None, only_ascii, (comma, ": " if comma == ", " else ":"), "", comma, "")
        line = "\r\n" if "\r\n" in raw else "\n"
        inner = f"{line}{found[1] * 2}"
        return cls(found[1], only_ascii, (",", ": "), inner, f",{inner}", f"{line}{found[1]}")

    def of_value(self, value: object, depth: int) -> str:
        """``value`` as JSON that stands so many levels deep."""
        text = json.dumps(
            value, indent=self.indent, ensure_ascii=self.ascii, separators=self.separators, sort_keys=True
        )
        if self.indent is None:
            return text
        line = self.closing.removesuffix(self.indent)
        return text.replace("\n", f"{line}{self.indent * depth}")


def _body(raw: str, form: _Form, before: _Cell | None, cell: tuple[str, str], at: int) -> str:
    """The JSON of one cell."""
    kind, source = cell
    if before is not None:
        head, tail = raw[before.start : before.source_start], raw[before.source_end : before.end]
        if source == before.source:
            return raw[before.start : before.end]
        value: object = source.splitlines(keepends=True) if before.listed else source
        return f"{head}{form.of_value(value, 3)}{tail}"
    made: dict[str, object] = {"cell_type": kind, "metadata": {}, "source": source.splitlines(keepends=True)}
    if kind == "code":
        made |= {"execution_count": None, "outputs": []}
    if json.loads(raw).get("nbformat_minor", 0) >= _WITH_IDS:
        # The ledger makes the same bytes again, so that no chance may be in them.
        made["id"] = hashlib.sha256(f"{at} {kind} {source}\0{raw}".encode()).hexdigest()[:8]
    return form.of_value(made, 2)


def _pairs(
    old: Sequence[_Cell], new: Sequence[tuple[str, str]]
) -> Iterator[tuple[_Cell | None, tuple[str, str]]]:
    """The new cells, each with the old one that it was; None for one that is new."""
    matcher = SequenceMatcher(None, [(cell.kind, cell.source) for cell in old], new, autojunk=False)
    for _, first, last, start, stop in matcher.get_opcodes():
        rest = list(old[first:last])
        surely = len(rest) == stop - start
        for cell in new[start:stop]:
            found = next(
                (
                    at
                    for at, before in enumerate(rest)
                    if before.kind == cell[0] and (surely or _alike(before, cell))
                ),
                None,
            )
            if found is None:
                yield None, cell
            else:
                yield rest[found], cell
                del rest[: found + 1]


def _alike(before: _Cell, cell: tuple[str, str]) -> bool:
    return SequenceMatcher(None, before.source.split("\n"), cell[1].split("\n")).ratio() >= _ALIKE


def _text(cells: Iterator[tuple[str, str]]) -> str:
    return "".join(f"# %%{'' if kind == 'code' else f' [{kind}]'}\n{source}\n" for kind, source in cells)


def _read(text: str) -> list[tuple[str, str]]:
    """The kinds and sources of the cells of a text."""
    cells: list[tuple[str, list[str]]] = []
    for line in text.removesuffix("\n").split("\n") if text else ():
        if head := _HEAD.fullmatch(line):
            cells.append((head[1] or "code", []))
        elif cells:
            cells[-1][1].append(line)
        elif line.strip():
            raise ValueError("the notebook's text begins with no line `# %%`, which begins a cell")
    return [(kind, "\n".join(lines)) for kind, lines in cells]


def _cells(raw: str) -> list[_Cell]:
    """The cells of a notebook, with their places. Raises ValueError, KeyError or TypeError if it is none."""
    whole = json.loads(raw)
    if whole["nbformat"] != _VERSION:
        raise ValueError("another version")
    start, _ = _array(raw)
    found = []
    for cell_start, cell_end in _elements(raw, start):
        cell: dict[str, Any] = json.loads(raw[cell_start:cell_end])
        kind, source = cell["cell_type"], cell["source"]
        listed = isinstance(source, list)
        joined = "".join(source) if listed else source
        if kind not in ("code", "markdown", "raw") or not isinstance(joined, str):
            raise ValueError("an unknown cell")
        places = {key: (first, last) for key, first, last in _members(raw, cell_start)}
        found.append(_Cell(kind, joined, cell_start, cell_end, *places["source"], listed))
    return found


def _array(raw: str) -> tuple[int, int]:
    """Where the array of cells begins and ends."""
    places = {key: (start, end) for key, start, end in _members(raw, _after_space(raw, 0))}
    start, end = places["cells"]
    if raw[start] != "[":
        raise ValueError("no list of cells")
    return start, end


def _members(raw: str, at: int) -> Iterator[tuple[str, int, int]]:
    """The members of the object at ``at`` of valid JSON: the key, and where its value begins and ends."""
    if raw[at] != "{":
        raise ValueError("no object")
    at = _after_space(raw, at + 1)
    while raw[at] != "}":
        key, at = _DECODER.raw_decode(raw, at)
        start = _after_space(raw, _after_space(raw, at) + 1)
        end = _DECODER.raw_decode(raw, start)[1]
        yield key, start, end
        at = _after_space(raw, end)
        if raw[at] == ",":
            at = _after_space(raw, at + 1)


def _elements(raw: str, at: int) -> Iterator[tuple[int, int]]:
    """Where the elements of the array at ``at`` begin and end."""
    at = _after_space(raw, at + 1)
    while raw[at] != "]":
        end = _DECODER.raw_decode(raw, at)[1]
        yield at, end
        at = _after_space(raw, end)
        if raw[at] == ",":
            at = _after_space(raw, at + 1)


def _after_space(raw: str, at: int) -> int:
    found = _SPACE.match(raw, at)
    return found.end() if found is not None else at
