"""The shapes of keys that providers publish, as a kept scanner knows them (``public_secrets.toml``).

Most texts have none: a rule is looked for only where a word of the text begins as one of its keys does.
"""

from __future__ import annotations

import math
import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib import resources

MARK = "~"
"""What the hints of these rules begin with, beside those of ``secrets.toml``."""
_FIRST = 2
"""Characters by which the beginnings of words are looked up."""
_RUN = re.compile(r"\w+")


@dataclass(frozen=True)
class PublicRule:
    """One shape: its ``name``, and the least entropy of a key in bits a character."""

    name: str
    entropy: float
    find: str

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """Compiled only when a text may have such a key, since all of them take a while."""
        return re.compile(self.find)

    def is_key(self, secret: str) -> bool:
        """Whether what was found is as random as a key is."""
        return self.entropy == 0 or _entropy(secret) >= self.entropy


def words_of(text: str) -> frozenset[str]:
    """The runs of letters, digits and ``_`` of a text in lower case."""
    return frozenset(_RUN.findall(text.lower()))


def public_hints(words: Iterable[str]) -> Iterator[str]:
    """The hints of the rules whose keys may be in a text with these ``words``, which are in lower case."""
    beginnings = _beginnings()
    for word in words:
        for begin, whole, hint in beginnings.get(word[:_FIRST], ()):
            if word == begin if whole else word.startswith(begin):
                yield hint


def public_rules(hints: frozenset[str]) -> Iterator[PublicRule]:
    """The rules that a text with these hints may need, in the order of the list."""
    rules = _rules()
    found = sorted(int(hint.removeprefix(MARK)) for hint in hints if hint.startswith(MARK))
    return (rules[place][0] for place in found)


@lru_cache(maxsize=1)
def _rules() -> tuple[tuple[PublicRule, tuple[str, ...]], ...]:
    data = tomllib.loads(resources.files("context.text").joinpath("public_secrets.toml").read_text("utf-8"))
    return tuple(
        (PublicRule(row["name"], row.get("entropy", 0.0), row["find"]), tuple(row["words"]))
        for row in data["text"]
    )


@lru_cache(maxsize=1)
def _beginnings() -> dict[str, tuple[tuple[str, bool, str], ...]]:
    """By their first characters: beginnings of words, whether the word ends there, and the rule's hint."""
    found: dict[str, list[tuple[str, bool, str]]] = {}
    for place, (_, words) in enumerate(_rules()):
        for word in words:
            run = _RUN.match(word)
            assert run is not None, word
            found.setdefault(run[0][:_FIRST], []).append((run[0], run[0] != word, f"{MARK}{place}"))
    return {first: tuple(rows) for first, rows in found.items()}


def _entropy(text: str) -> float:
    """Shannon's entropy of the characters of a text, in bits a character."""
    counts = Counter(text).values()
    return -sum(count / len(text) * math.log2(count / len(text)) for count in counts)
