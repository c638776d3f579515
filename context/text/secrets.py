"""Keeps secrets out of the window: secret files are never read, and keys in other files are masked.

The patterns are in ``secrets.toml``. A mask keeps the number of lines, so that line ranges stay valid.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import translate
from functools import lru_cache
from importlib import resources


@dataclass(frozen=True, slots=True)
class Redacted:
    """A text with its secrets masked, and the kinds of secrets found, without repeats."""

    text: str
    kinds: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Rules:
    files: re.Pattern[str]
    ignored: re.Pattern[str]
    harmless: re.Pattern[str]
    folders: frozenset[str]
    texts: tuple[tuple[str, tuple[str, ...], re.Pattern[str]], ...]


def is_secret_file(path: str) -> bool:
    """Whether a path says that the whole file is secret."""
    rules = _rules()
    *folders, name = path.lower().split("/")
    if folders and not rules.folders.isdisjoint(folders):
        return True
    return bool(rules.files.match(name)) and not rules.harmless.match(name)


def may_hold_secrets(path: str) -> bool:
    """Whether a file that git ignores is likely to hold secrets, judged by its path."""
    rules = _rules()
    name = path.lower().rpartition("/")[2]
    return is_secret_file(path) or (bool(rules.ignored.match(name)) and not rules.harmless.match(name))


@lru_cache(maxsize=48)
def redact(text: str) -> Redacted:
    """``text`` with every secret replaced by ``[KIND masked]``."""
    kinds: dict[str, None] = {}
    hinted: dict[tuple[str, ...], bool] = {}
    for name, hints, pattern in _rules().texts:
        if hints not in hinted:
            hinted[hints] = any(hint in text for hint in hints)
        if not hinted[hints]:
            continue

        def mask(match: re.Match[str], name: str = name) -> str:
            kinds[name] = None
            start, end = match.span("secret")
            lines = "\n" * match["secret"].count("\n")
            whole = match.start()
            return f"{match[0][: start - whole]}[{name} masked]{lines}{match[0][end - whole :]}"

        text = pattern.sub(mask, text)
    return Redacted(text, tuple(kinds))


def masked_lines(lines: Sequence[str]) -> list[str]:
    """The lines of a whole text with every secret masked. Parts of a text are cut from these: a part of a
    secret alone is not known as one."""
    return redact("\n".join(lines)).text.split("\n") if lines else []


@lru_cache(maxsize=1)
def _rules() -> _Rules:
    table = tomllib.loads(resources.files("context.text").joinpath("secrets.toml").read_text("utf-8"))
    return _Rules(
        re.compile("|".join(map(translate, table["files"]))),
        re.compile("|".join(map(translate, table["ignored"]))),
        re.compile("|".join(map(translate, table["harmless"]))),
        frozenset(table["folders"]),
        tuple((rule["name"], tuple(rule["hints"]), re.compile(rule["find"])) for rule in table["text"]),
    )
