"""Loads the languages without a grammar from ``plain.toml``."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources

_OTHER_KEYS = ("extensions", "filenames", "fence", "comments")
"""The keys of a table that are no kinds of definitions."""


@dataclass(frozen=True, slots=True)
class PlainLanguage:
    """A language by its table in ``plain.toml``."""

    name: str
    fence: str
    comments: tuple[str, ...]
    patterns: tuple[tuple[str, re.Pattern[str]], ...]


@lru_cache(maxsize=1)
def plain_languages() -> dict[str, PlainLanguage]:
    """All of them by extension, and by whole file name."""
    tables = tomllib.loads(resources.files("context.code").joinpath("plain.toml").read_text("utf-8"))
    found: dict[str, PlainLanguage] = {}
    for name, table in tables.items():
        kinds = (kind for kind in table if kind not in _OTHER_KEYS)
        patterns = [(kind, re.compile(text)) for kind in kinds for text in table[kind]]
        language = PlainLanguage(name, table["fence"], tuple(table["comments"]), tuple(patterns))
        found |= dict.fromkeys((*table["extensions"], *table.get("filenames", ())), language)
    return found


@lru_cache(maxsize=20_000)
def plain_language_of(path: str) -> PlainLanguage | None:
    """The language of a file by its name, or None."""
    name = path.rpartition("/")[2]
    stem, dot, extension = name.rpartition(".")
    known = plain_languages()
    return known.get(name) or (known.get(f".{extension.lower()}") if stem and dot else None)
