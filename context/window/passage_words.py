"""Counts the words of a request in the passages of files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from weakref import WeakKeyDictionary

from context.index.file_text import FileText, kept_with_file
from context.text.words import names_with, tokens, words_of
from context.window.passages import passages

WordCounts = dict[str, dict[int, int]]
"""How often a word occurs in the passages of one file that have it: by word, then by the passage's number."""


_LAST: WeakKeyDictionary[FileText, tuple[frozenset[str], WordCounts]] = WeakKeyDictionary()
"""What was counted in a file last, and for which words: windows are built for one request again and again."""


def count_words(files: Mapping[str, FileText], wanted: Collection[str]) -> dict[str, WordCounts]:
    """How often each of the words occurs in each passage of each file, by path; not to be changed."""
    words = frozenset(wanted)
    counted: dict[str, WordCounts] = {}
    for path, file in files.items():
        last = _LAST.get(file)
        if last is not None and last[0] == words:
            counted[path] = last[1]
    fresh = {path: file for path, file in files.items() if path not in counted}
    spelled = _spelled({name for file in fresh.values() for name in _names(file)}, words)
    for path, file in fresh.items():
        counted[path] = _counted(file, spelled)
        _LAST[file] = words, counted[path]
    return {path: counted[path] for path in files}


def _spelled(names: set[str], wanted: Collection[str]) -> dict[str, list[str]]:
    """The wanted words that a name has, each as often as it has it, for those of the names that have any."""
    return {name: [word for word in words_of(name) if word in wanted] for name in names_with(names, wanted)}


def _counted(file: FileText, spelled: Mapping[str, list[str]]) -> WordCounts:
    counts: WordCounts = {}
    wanted = _names(file) & spelled.keys()
    for number, names in enumerate(_by_passage(file) if wanted else ()):
        for name in wanted & names.keys():
            count = names[name]
            for word in spelled[name]:
                held = counts.setdefault(word, {})
                held[number] = held.get(number, 0) + count
    return counts


@kept_with_file
def _names(file: FileText) -> frozenset[str]:
    """The names that a file has."""
    return frozenset().union(*_by_passage(file))


@kept_with_file
def _by_passage(file: FileText) -> tuple[Counter[str], ...]:
    """How often each name occurs in each passage."""
    text, starts = file.source.text, file.starts
    return tuple(
        Counter(tokens(text[starts[found.lines.start] : starts[found.lines.stop]]))
        for found in passages(file)
    )
