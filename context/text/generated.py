"""Recognises files that nobody edits by hand: built, generated, vendored or minified.

The rules are in ``generated.toml``.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from fnmatch import translate
from functools import lru_cache
from importlib import resources

from context.code.languages import is_code

_HEAD = 3_000
"""Number of characters at a file's beginning that are searched for a mark of generated files."""
_COMMENT = re.compile(r"^[ \t]*(?://|/?\*|#|<!--|--|;|%|\(\*)(.*)", re.MULTILINE)
_MINIFIED = 5_000
"""Length in characters from which code can count as minified."""
_LONG_LINES = 300
"""Average line length in characters above which such code is minified."""


@dataclass(frozen=True, slots=True)
class _Rules:
    folders: frozenset[str]
    top_folders: frozenset[str]
    files: re.Pattern[str]
    marks: re.Pattern[str]


def unedited_root(path: str) -> str:
    """The part of ``path`` whose name says that nobody edits the file by hand.

    It is a folder with a slash at its end, or the whole path; empty if no name says so.
    """
    rules = _rules()
    *folders, name = path.lower().split("/")
    for depth, folder in enumerate(folders):
        if folder in rules.folders or (depth == 0 and folder in rules.top_folders):
            return "/".join([*path.split("/")[: depth + 1], ""])
    return path if rules.files.match(name) else ""


def is_unedited(path: str, text: str) -> bool:
    """Whether nobody edits a file by hand, judged by its path, a comment in it, or its long lines."""
    return bool(unedited_root(path)) or says_generated(text) or (is_code(path) and _is_minified(text))


def _is_minified(text: str) -> bool:
    return len(text) >= _MINIFIED and len(text) > _LONG_LINES * (text.count("\n") + 1)


def says_generated(text: str) -> bool:
    """Whether a comment near the beginning of a text says that it is generated."""
    head = text[:_HEAD]
    if "enerated" not in head and "ENERATED" not in head:
        return False
    return bool(_rules().marks.search(" ".join(_COMMENT.findall(head))))


@lru_cache(maxsize=1)
def _rules() -> _Rules:
    table = tomllib.loads(resources.files("context.text").joinpath("generated.toml").read_text("utf-8"))
    return _Rules(
        frozenset(table["folders"]),
        frozenset(table["top_folders"]),
        re.compile("|".join(map(translate, table["files"]))),
        re.compile(table["said"], re.IGNORECASE),
    )
