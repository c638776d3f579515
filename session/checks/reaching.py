"""The tests that reach changed files: by name, by what they import and use, and by past commits."""

from __future__ import annotations

import re
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from session.checks.check import Check

if TYPE_CHECKING:
    from context.project.snapshot import Snapshot

MOST_TESTS = 12
"""The files of tests that run first at most."""
_MOST_READ = 200
"""Files of tests that are read for their imports at most."""
_MOST_NAMES = 200
_LEAST = 0.2
"""The score from which a test is taken to reach what changed."""
_CHANGED, _IMPORTS, _NAMED, _TOGETHER, _USES = 3.0, 2.0, 1.0, 1.0, 0.5
_SHARE = 0.5
"""The share of all tests from which on running some first saves too little."""
_IMPORT = re.compile(r"^.*\b(?:import|from|require|require_relative|use|include)\b.*$", re.MULTILINE)
_WORD = re.compile(r"[^\W\d]\w*")
_NO_MODULE = frozenset({"", "index", "main", "mod", "__init__", "lib", "src"})


def reaching(check: Check, changed: Sequence[str], snapshot: Snapshot) -> tuple[str, ...]:
    """The tests of ``check`` that reach the files ``changed``, the likeliest first; none where they cannot be
    told from the others. It reads files: call it in a worker thread."""
    tests = frozenset(runnable_tests(check, {*snapshot.paths, *changed}))
    if not check.takes_tests or not tests or not changed:
        return ()
    scores: defaultdict[str, float] = defaultdict(float)
    for path in tests & set(changed):
        scores[path] += _CHANGED
    modules = _modules(changed)
    from context.text.words import stem

    for path in tests:
        if stem(path) in modules:
            scores[path] += _NAMED
    for path in _importing(modules, tests, snapshot):
        scores[path] += _IMPORTS
    for path, share in snapshot.history.together(changed).items():
        if path in tests:
            scores[path] += _TOGETHER * share
    for path, share in _using(changed, snapshot):
        if path in tests:
            scores[path] += _USES * share
    best = sorted((path for path in scores if scores[path] >= _LEAST), key=lambda path: (-scores[path], path))
    return () if len(best) > _SHARE * len(tests) and len(tests) > 1 else tuple(best[:MOST_TESTS])


def runnable_tests(check: Check, paths: Iterable[str]) -> Iterator[str]:
    """Those of ``paths`` that are tests which ``check`` can run."""
    words = set(re.split(r"[^\w.-]+", check.command))
    rows = [row for row in _programs() if words & set(row[0])]
    patterns = rows[0][1] if rows else tuple(each for row in _programs() for each in row[1])
    for path in paths:
        name = path.rpartition("/")[2]
        if check.takes(path) and any(fnmatchcase(path if "/" in each else name, each) for each in patterns):
            yield path


def _modules(changed: Iterable[str]) -> frozenset[str]:
    """The names under which ``changed`` files are imported; a package's file stands for its folder."""
    from context.text.words import stem

    names = set()
    for path in changed:
        name = stem(path)
        folder = path.rpartition("/")[0].rpartition("/")[2].lower()
        names.add(folder if name in _NO_MODULE else name)
    return frozenset(names - _NO_MODULE)


def _importing(modules: frozenset[str], tests: frozenset[str], snapshot: Snapshot) -> Iterator[str]:
    """The tests that import one of ``modules``."""
    from context.disk.source import Source

    if not modules:
        return
    found = snapshot.words.score(dict.fromkeys(modules, 1.0))
    likely = sorted((path for path in found if path in tests), key=lambda path: (-found[path], path))
    for path in likely[:_MOST_READ]:
        source = snapshot.read(path)
        if not isinstance(source, Source):
            continue
        lines = _IMPORT.findall(source.text)
        if any(word.lower() in modules for line in lines for word in _WORD.findall(line[:1_000])):
            yield path


def _using(changed: Sequence[str], snapshot: Snapshot) -> Iterator[tuple[str, float]]:
    """The files that use names which ``changed`` files define, each with a share from 0 to 1."""
    defined = {
        name.lower() for path in changed if path in snapshot.entries for name in snapshot.entries[path].names
    }
    shared = sorted(defined, key=lambda name: (-len(name), name))[:_MOST_NAMES]
    scores = snapshot.words.score(dict.fromkeys(shared, 1.0)) if shared else {}
    highest = max(scores.values(), default=0.0)
    for path, score in scores.items():
        yield path, score / highest if highest else 0.0


@cache
def _programs() -> tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]:
    data = tomllib.loads(Path(__file__).with_name("test_files.toml").read_text("utf-8"))
    return tuple((tuple(row["words"]), tuple(row["patterns"])) for row in data["program"])
