"""The languages that outlines are made for, from ``languages.toml``; grammars are loaded on first use."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module, resources
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Language as Grammar
    from tree_sitter import Query


@dataclass(frozen=True, slots=True)
class Language:
    """One language, as its table in ``languages.toml`` says; the field names are the table's."""

    name: str
    extensions: tuple[str, ...]
    module: str
    query: str
    fence: str
    function: str = "language"
    comments: frozenset[str] = frozenset()
    leading: frozenset[str] = frozenset()
    wrappers: frozenset[str] = frozenset()
    lone_wrappers: frozenset[str] = frozenset()
    strings: frozenset[str] = frozenset()


@lru_cache(maxsize=1)
def languages() -> dict[str, Language]:
    """All languages by file name extension (with its dot, in lower case)."""
    tables = tomllib.loads((resources.files("context") / "languages.toml").read_text("utf-8"))
    by_extension: dict[str, Language] = {}
    for name, table in tables.items():
        language = Language(
            name=name,
            extensions=tuple(table["extensions"]),
            module=table["module"],
            query=table["query"],
            fence=table["fence"],
            function=table.get("function", "language"),
            comments=frozenset(table.get("comments", ())),
            leading=frozenset(table.get("leading", ())),
            wrappers=frozenset(table.get("wrappers", ())),
            lone_wrappers=frozenset(table.get("lone_wrappers", ())),
            strings=frozenset(table.get("strings", ())),
        )
        by_extension |= dict.fromkeys(language.extensions, language)
    return by_extension


def language_of(path: str) -> Language | None:
    """The language of a file by its name, or None."""
    return languages().get(PurePosixPath(path).suffix.lower())


def fence_of(path: str) -> str:
    """The info string for a fence around the file: its language's, else its extension."""
    language = language_of(path)
    if language is not None:
        return language.fence
    extension = PurePosixPath(path).suffix[1:].lower()
    return extension if extension.isascii() and extension.isalnum() else ""


@lru_cache(maxsize=64)
def load(language: Language) -> tuple[Grammar, Query]:
    """The grammar and the outline query of a language."""
    from tree_sitter import Language as Grammar
    from tree_sitter import Query

    grammar = Grammar(getattr(import_module(language.module), language.function)())
    text = (resources.files("context") / "queries" / f"{language.query}.scm").read_text("utf-8")
    return grammar, Query(grammar, text)
