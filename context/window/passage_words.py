"""Counts the words of a request in the passages of files."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from itertools import pairwise

from context.index.file_text import FileText, kept_with_file
from context.text.words import spaced, tokens, words_of
from context.window.passages import passages

_MOST_KNOWN = 1_000
"""Number of words whose counts in one file are kept."""

WordCounts = dict[str, dict[int, int]]
"""How often a word occurs in the passages of one file that have it: by word, then by the passage's number."""


def count_words(files: Mapping[str, FileText], wanted: Collection[str]) -> dict[str, WordCounts]:
    """How often each of the words occurs in each passage of each file, by path; not to be changed."""
    words = frozenset(wanted)
    return {path: _counts(file, words) for path, file in files.items()}


def _counts(file: FileText, words: frozenset[str]) -> WordCounts:
    known = _known_counts(file)
    if len(known) > _MOST_KNOWN:
        known.clear()
    counts = {word: held for word in words if (held := known.get(word)) is not None}
    missing = words - counts.keys()
    found = _counted(file, missing) if missing else {}
    for word in missing:
        counts[word] = known[word] = found.get(word, {})
    return {word: held for word, held in counts.items() if held}


@kept_with_file
def _known_counts(_: FileText) -> WordCounts:
    """The counts of the words that were asked for, also of those that do not occur: windows are built for
    one request again and again, and for requests that share words."""
    return {}


def _counted(file: FileText, words: frozenset[str]) -> WordCounts:
    spelled = {
        name: found
        for name in _names_with(file, words)
        if (found := [word for word in words_of(name) if word in words])
    }
    if not spelled:
        return {}
    return _in_ascii(file, spelled) if file.source.text.isascii() else _in_any_text(file, spelled)


def _in_ascii(file: FileText, spelled: Mapping[str, list[str]]) -> WordCounts:
    """The counts of the words that the names in ``spelled`` have."""
    text = spaced(file.source.text)
    counts: WordCounts = {}
    for number, (start, end) in enumerate(pairwise(passages(file).starts)):
        # Few names are among them, and a filter is many times faster than a loop.
        for name in filter(spelled.__contains__, text[start:end].split()):
            for word in spelled[name]:
                held = counts.setdefault(word, {})
                held[number] = held.get(number, 0) + 1
    return counts


def _in_any_text(file: FileText, spelled: Mapping[str, list[str]]) -> WordCounts:
    counts: WordCounts = {}
    text, starts = file.source.text, file.starts
    for number, passage in enumerate(passages(file)):
        for name in tokens(text[starts[passage.lines.start] : starts[passage.lines.stop]]):
            for word in spelled.get(name, ()):
                held = counts.setdefault(word, {})
                held[number] = held.get(number, 0) + 1
    return counts


def _names_with(file: FileText, words: Collection[str]) -> Collection[str]:
    """The names of a file that may have one of the words."""
    names = file.tokens
    if not names.isascii():
        return names.split("\n")
    lowered = names.lower()
    found: set[str] = set()
    for word in words:
        at = lowered.find(word)
        while at >= 0:
            start, end = lowered.rfind("\n", 0, at) + 1, lowered.find("\n", at)
            if end < 0:
                end = len(lowered)
            found.add(names[start:end])
            at = lowered.find(word, end)
    return found
