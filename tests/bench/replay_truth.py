"""The truth for the commit replay: a commit's message, one given file, and what else it touched."""

from __future__ import annotations

import os
import random
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from context.code.languages import language_of
from context.code.outline import outline
from context.code.symbols import Symbol

FEWEST, MOST = 2, 8
"""How many source files a commit must change to be replayed."""
_HUNK = re.compile(r"^@@ -(\d+)(?:,(\d+))? \+", re.MULTILINE)
_CODE = re.compile(
    r"`[^`]*`|\S*[/_.:()<>#]\S*\w\S*|\b\w*[a-z][A-Z]\w*|\b[A-Z]+[a-z]+[A-Z]\w*|\b\w*\d\w*|--?\w[\w-]*"
)
_LEAST_LINE = 4
"""Shortest line that counts, in characters: a lone brace does not."""


@dataclass(frozen=True, slots=True)
class Definition:
    """A definition around an edit: its line in an outline, and its first line in the file."""

    path: str
    signature: str
    head: str


@dataclass(frozen=True, slots=True)
class Truth:
    """One commit to replay. ``given`` is shown to the ranking; the rest is what it should find."""

    commit: str
    parent: str
    message: str
    given: str
    files: frozenset[str]
    definitions: frozenset[Definition]
    lines: frozenset[tuple[str, str]]


def git(folder: Path, *arguments: str) -> str:
    """Return the standard output of git in ``folder``."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    done = subprocess.run(
        ["git", "-c", "core.quotePath=false", *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        check=True,
    )
    return done.stdout.decode("utf-8", "replace")


def commits(folder: Path, count: int, reach: int) -> list[str]:
    """Return ``count`` suitable commits, spread evenly over the newest ``reach`` ones."""
    out = git(
        folder, "log", "--no-merges", f"-n{reach}", "--name-status", "--no-renames", "--format=%x01%H %P"
    )
    found = []
    for record in out.split("\x01")[1:]:
        head, *changes = record.strip().split("\n")
        names = head.split(" ")
        paths = [line.split("\t", 1) for line in changes if "\t" in line]
        modified = [path for status, path in paths if status == "M" and is_source(path)]
        sources = sum(is_source(path) for _, path in paths)
        if len(names) == 2 and len(modified) >= FEWEST and sources <= MOST:
            found.append(names[0])
    step = max(1.0, len(found) / count)
    return [found[int(at * step)] for at in range(min(count, len(found)))]


def is_source(path: str) -> bool:
    """Return whether a file is code in a language that has outlines."""
    language = language_of(path)
    return language is not None and language.most is None


def truth(folder: Path, commit: str) -> Truth | None:
    """Check out the parent of ``commit`` in ``folder`` and return the truth, or None where there is none."""
    parent = git(folder, "rev-parse", f"{commit}^").strip()
    git(folder, "checkout", "-q", "--detach", "--force", parent)
    out = git(folder, "diff", "--name-only", "--diff-filter=M", "--no-renames", parent, commit)
    modified = sorted(path for path in out.splitlines() if is_source(path) and (folder / path).is_file())
    if len(modified) < FEWEST:
        return None
    given = random.Random(commit).choice(modified)
    others = [path for path in modified if path != given]
    definitions: set[Definition] = set()
    lines: set[tuple[str, str]] = set()
    for path in others:
        text = (folder / path).read_text("utf-8", "replace")
        edited = _edited(git(folder, "diff", "-U0", "--no-ext-diff", parent, commit, "--", path))
        held = text.split("\n")
        symbols = [found for found in outline(path, text).symbols if not found.inside_function]
        for touched in edited:
            symbol = _around(symbols, touched)
            if symbol is not None:
                shown = symbol.signature.strip()
                definitions.add(Definition(path, shown, held[symbol.head].strip()))
            for line in held[touched.start : touched.stop]:
                if len(line.strip()) >= _LEAST_LINE:
                    lines.add((path, line.strip()))
    message = git(folder, "log", "-1", "--format=%B", commit).strip()
    return Truth(commit, parent, message, given, frozenset(others), frozenset(definitions), frozenset(lines))


def _edited(diff: str) -> list[range]:
    """Return the old lines (indices from 0) that a diff without context removes; where it only adds,
    the line above."""
    edited = []
    for match in _HUNK.finditer(diff):
        start, count = int(match[1]), int(match[2] or "1")
        edited.append(range(max(0, start - 1), max(0, start - 1) + max(1, count)))
    return edited


def _around(symbols: list[Symbol], touched: range) -> Symbol | None:
    holders = [found for found in symbols if found.start < touched.stop and touched.start < found.end]
    return min(holders, key=lambda found: found.end - found.start, default=None)


def masked(message: str) -> str:
    """Return a message without what looks like code: camel or snake case, paths, numbers, options."""
    return _CODE.sub("something", message)
