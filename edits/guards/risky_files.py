"""Which files are off limits or run by themselves, by their names and by what changes in them.

The lists are in ``risky_files.toml``, which also says how names match.
"""

from __future__ import annotations

import configparser
import json
import re
import tomllib
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from typing import Any

from edits.files.path_jail import spelling

_WITH_COMMENTS = ("tsconfig.json", "jsconfig.json")
_COMMENT = re.compile(
    r'"(?:[^"\\\n]|\\.)*+"|//[^\n]*+|/\*(?:[^*]|\*(?!/))*+\*/'
    r"|,(?=(?:\s|//[^\n]*+\n|/\*(?:[^*]|\*(?!/))*+\*/)*+[\]}])"
)


@dataclass(frozen=True, slots=True)
class _Rule:
    what: str
    matches: re.Pattern[str]


@dataclass(frozen=True, slots=True)
class _Part:
    what: str
    file: str
    keys: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class _Rules:
    refused: tuple[_Rule, ...]
    home_files: tuple[tuple[str, str, bool], ...]
    """Single files in the home folder: the name, what it is, and whether it is held elsewhere."""
    home: tuple[_Rule, ...]
    held: tuple[_Rule, ...]
    parts: tuple[_Part, ...]


def refused(path: str) -> str | None:
    """What the file is, if edits leave it alone wherever it is."""
    return _first(_rules().refused, path)


def refused_at_home(path: str) -> str | None:
    """What the file is, if edits leave it alone in the home folder; ``path`` is relative to that."""
    return _first(_rules().home, path)


def home_files(*, held: bool) -> tuple[tuple[str, str], ...]:
    """The names of single files in the home folder and what they are: those that are key material, or with
    ``held`` those that run by themselves."""
    return tuple((name, what) for name, what, runs in _rules().home_files if runs is held)


def runs_by_itself(path: str) -> str | None:
    """Who runs or follows the file without being asked, in a few words; None for an ordinary file."""
    return _first(_rules().held, path)


def changed_part(path: str, before: str | None, after: str) -> str | None:
    """As :func:`runs_by_itself`, for a file of which only a part runs by itself, if that part changes."""
    name = folded(path).rpartition("/")[2]
    part = next((part for part in _rules().parts if part.file == name), None)
    if part is None:
        return None
    old, new = _parsed(name, before or ""), _parsed(name, after)
    if old is None or new is None:
        # Whether a text that does not parse has scripts, only the program that reads it can tell.
        return part.what if before != after else None
    return part.what if any(_at(old, key) != _at(new, key) for key in part.keys) else None


def _first(rules: Iterable[_Rule], path: str) -> str | None:
    name = folded(path)
    return next((rule.what for rule in rules if rule.matches.fullmatch(name)), None)


def folded(path: str) -> str:
    """A path in one form for all that file systems may take for the same.

    They ignore capitals and the Unicode form; HFS+ also invisible characters, and Windows dots and spaces at
    the end of a name.
    """
    seen = "".join(one for one in path if unicodedata.category(one) != "Cf")
    return "/".join(spelling(part).rstrip(" .") or part for part in seen.split("/"))


def _parsed(name: str, text: str) -> Any:
    """The values of a TOML, INI or JSON file, none for an empty one; None for one that does not parse."""
    if not text.strip():
        return {}
    try:
        if name.endswith((".cfg", ".ini")):
            parser = configparser.ConfigParser(interpolation=None, strict=False)
            parser.read_string(text)
            return {section: dict(parser[section]) for section in parser.sections()}
        if name.endswith(".toml"):
            return tomllib.loads(text)
        return json.loads(_COMMENT.sub(_without, text) if name in _WITH_COMMENTS else text)
    except (ValueError, RecursionError, configparser.Error):
        return None


def _without(found: re.Match[str]) -> str:
    """A string of JSON as it is; nothing in place of a comment and of a comma that nothing follows."""
    return found[0] if found[0].startswith('"') else ""


def _at(table: Any, key: tuple[str, ...]) -> Any:
    for part in key:
        table = table.get(part) if isinstance(table, dict) else None
    return table


@lru_cache(maxsize=1)
def _rules() -> _Rules:
    table = tomllib.loads(resources.files("edits.guards").joinpath("risky_files.toml").read_text("utf-8"))
    return _Rules(
        refused=tuple(_rule(row, anywhere=True) for row in table["refused"]),
        home_files=tuple(
            (name, row["what"], bool(row.get("held")))
            for row in (*table["refused"], *table["home"])
            for name in row["files"]
            if not name.endswith("/")
        ),
        home=tuple(_rule(row, anywhere=False) for row in table["home"]),
        held=tuple(
            _rule(row, anywhere=True)
            for row in [*table["held"], *(row for row in table["home"] if row.get("held"))]
        ),
        parts=tuple(
            _Part(row["what"], row["file"], tuple(tuple(key.split(".")) for key in row["keys"]))
            for row in table["part"]
        ),
    )


def _rule(row: dict[str, Any], *, anywhere: bool) -> _Rule:
    names = (name_pattern(name) for name in row["files"])
    return _Rule(row["what"], re.compile(f"{'(?:.*/)?' if anywhere else ''}(?:{'|'.join(names)})", re.DOTALL))


def name_pattern(name: str) -> str:
    """The expression that a name of the lists stands for."""
    exact = re.escape(folded(name.rstrip("/"))).replace(r"\*", "[^/]*")
    return f"{exact}/.+" if name.endswith("/") else exact
