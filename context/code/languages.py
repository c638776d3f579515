"""Loads the languages that outlines support from ``languages.toml``, and their grammars on first use."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module, resources
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, NamedTuple

from context.code.plain_languages import plain_language_of
from context.code.symbols import KINDS

if TYPE_CHECKING:
    from tree_sitter import Language as Grammar
    from tree_sitter import Query


_SHEBANG = re.compile(r"#![ \t]*(?:/\S*/)?(?:env[ \t]+(?:-S[ \t]+)?)?([a-z]+)")
"""Matches the first line of a script, and the name of its program without a version."""
_PROGRAMS = {
    **dict.fromkeys(("sh", "bash", "dash", "ksh", "zsh"), ".sh"),
    **dict.fromkeys(("python", "pypy", "uv"), ".py"),
    "deno": ".ts",
    "elixir": ".exs",
    "fish": ".fish",
    "groovy": ".groovy",
    "julia": ".jl",
    "lua": ".lua",
    "make": ".mk",
    "node": ".js",
    "perl": ".pl",
    "php": ".php",
    "pwsh": ".ps1",
    "ruby": ".rb",
}


@dataclass(frozen=True, slots=True, eq=False)
class Language:
    """One language; its fields are the keys of its table in ``languages.toml``.

    There is one object for each language, compared by identity.
    """

    name: str
    extensions: tuple[str, ...]
    module: str
    query: str
    fence: str
    function: str = "language"
    comments: frozenset[str] = frozenset()
    marks: tuple[bytes, ...] = ()
    leading: frozenset[str] = frozenset()
    wrappers: frozenset[str] = frozenset()
    lone_wrappers: frozenset[str] = frozenset()
    strings: frozenset[str] = frozenset()
    filenames: tuple[str, ...] = ()
    deepest: int | None = None
    most: int | None = None
    quotes: bool = False
    bodies: bool = False
    macros: bool = False
    conditions: bool = False
    one_line_bodies: bool = False
    cells: bool = False


@lru_cache(maxsize=1)
def languages() -> dict[str, Language]:
    """All languages by file name extension (with its dot, in lower case), and by whole file name."""
    tables = tomllib.loads(resources.files("context.code").joinpath("languages.toml").read_text("utf-8"))
    by_name: dict[str, Language] = {}
    for name, table in tables.items():
        language = Language(
            name=name,
            extensions=tuple(table["extensions"]),
            module=table["module"],
            query=table["query"],
            fence=table["fence"],
            function=table.get("function", "language"),
            comments=frozenset(table.get("comments", ())),
            marks=tuple(mark.encode() for mark in table.get("marks", "")),
            leading=frozenset(table.get("leading", ())),
            wrappers=frozenset(table.get("wrappers", ())),
            lone_wrappers=frozenset(table.get("lone_wrappers", ())),
            strings=frozenset(table.get("strings", ())),
            filenames=tuple(table.get("filenames", ())),
            deepest=table.get("deepest"),
            most=table.get("most"),
            quotes=table.get("quotes", False),
            macros=table.get("macros", False),
            bodies=table.get("bodies", False),
            conditions=table.get("conditions", False),
            one_line_bodies=table.get("one_line_bodies", False),
            cells=table.get("cells", False),
        )
        by_name |= dict.fromkeys((*language.extensions, *language.filenames), language)
    return by_name


def language_of(path: str) -> Language | None:
    """The language of a file by its name, or None."""
    known = languages()
    name = path.rpartition("/")[2]
    found = known.get(name)
    if found is None:
        stem, dot, extension = name.rpartition(".")
        found = known.get(f".{extension.lower()}") if stem and dot else None
    return found


def family_of(path: str) -> str:
    """The name that a file's language shares with those whose files use each other's names; empty for
    none."""
    language = language_of(path)
    name = language.name if language is not None else ""
    return {"typescript": "javascript", "tsx": "javascript", "c": "cpp", "notebook": "python"}.get(name, name)


def language_in(path: str, text: str) -> Language | None:
    """The language of a file by its name, or by the program that its first line names, or None."""
    return language_of(path) or language_of(script_name(path, text))


def script_name(path: str, text: str) -> str:
    """The path of a script with the extension for the program of its first line; others as they are."""
    if not text.startswith("#!") or "." in path.rpartition("/")[2]:
        return path
    found = _SHEBANG.match(text)
    return f"{path}{_PROGRAMS.get(found[1], '')}" if found is not None else path


@lru_cache(maxsize=20_000)
def is_code(path: str) -> bool:
    """Whether a file is code rather than prose or data, judged by its name."""
    language = language_of(path)
    if language is None:
        return plain_language_of(path) is not None
    return language.most is None


def named_language(word: str) -> Language | None:
    """The language that a fence's info string or a query means by ``word``.

    The word may be its name, its info string or one of its extensions. None if it is unknown.
    """
    word = word.lower()
    found = languages().get(f".{word}")
    return found or next((known for known in languages().values() if word in (known.name, known.fence)), None)


def fence_of(path: str) -> str:
    """The info string for a fence around the file: its language's, else its extension."""
    language = language_of(path) or plain_language_of(path)
    if language is not None:
        return language.fence
    extension = PurePosixPath(path).suffix[1:].lower()
    return extension if extension.isascii() and extension.isalnum() else ""


class Loaded(NamedTuple):
    """A grammar with its outline query."""

    grammar: Grammar
    query: Query
    kinds: tuple[int | None, ...]
    """For each pattern of the query the kind of definition that it finds, as an index in ``KINDS``; None for
    one that finds embedded code."""


@lru_cache(maxsize=64)
def grammar_of(language: Language) -> Grammar:
    """The grammar of a language, which is there in about a millisecond."""
    from tree_sitter import Language as Grammar

    return Grammar(getattr(import_module(language.module), language.function)())


@lru_cache(maxsize=64)
def load(language: Language) -> Loaded:
    """The grammar and the outline query of a language.

    The query is compiled in one step, which takes up to half a second and holds up all threads. So it is not
    for the process that has the event loop: :mod:`context.code` is.
    """
    from tree_sitter import Query

    grammar = grammar_of(language)
    text = (resources.files("context.code") / "queries" / f"{language.query}.scm").read_text("utf-8")
    query = Query(grammar, text)
    return Loaded(grammar, query, tuple(_kind(query, text, at) for at in range(query.pattern_count)))


def _kind(query: Query, text: str, pattern: int) -> int | None:
    written = text.encode()[query.start_byte_for_pattern(pattern) : query.end_byte_for_pattern(pattern)]
    captured = set(re.findall(r"@(\w+)", written.decode()))
    return None if "embedded" in captured else next(at for at, kind in enumerate(KINDS) if kind in captured)
