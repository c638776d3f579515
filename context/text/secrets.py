"""Keeps secrets out of the window: secret files are never read, and keys in other files are masked.

The names are in ``key_material.toml``, the shapes in ``secrets.toml`` and ``public_secrets.toml``, which
has the keys that providers publish, as a kept scanner knows them. Most texts have none of these: a rule is
looked for only where a word of the text begins as one of its keys does. A mask keeps the number of lines,
so that line ranges stay valid.
"""

from __future__ import annotations

import math
import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import translate
from functools import cached_property, lru_cache, partial
from importlib import resources

from context.text.key_material import is_key_file, is_key_folder
from context.text.lines import line_slices, replaced

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
    rules = _published()
    found = sorted(int(hint.removeprefix(MARK)) for hint in hints if hint.startswith(MARK))
    return (rules[place][0] for place in found)


@lru_cache(maxsize=1)
def _published() -> tuple[tuple[PublicRule, tuple[str, ...]], ...]:
    data = tomllib.loads(resources.files("context.text").joinpath("public_secrets.toml").read_text("utf-8"))
    return tuple(
        (PublicRule(row["name"], row.get("entropy", 0.0), row["find"]), tuple(row["words"]))
        for row in data["text"]
    )


@lru_cache(maxsize=1)
def _beginnings() -> dict[str, tuple[tuple[str, bool, str], ...]]:
    """By their first characters: beginnings of words, whether the word ends there, and the rule's hint."""
    found: dict[str, list[tuple[str, bool, str]]] = {}
    for place, (_, words) in enumerate(_published()):
        for word in words:
            run = _RUN.match(word)
            assert run is not None, word
            found.setdefault(run[0][:_FIRST], []).append((run[0], run[0] != word, f"{MARK}{place}"))
    return {first: tuple(rows) for first, rows in found.items()}


def _entropy(text: str) -> float:
    """Shannon's entropy of the characters of a text, in bits a character."""
    counts = Counter(text).values()
    return -sum(count / len(text) * math.log2(count / len(text)) for count in counts)


LONGEST_KEY = 20_000
"""Characters that a private key is taken to have at most where its end is looked for."""
_LONGEST_WORD = 4_096
_KEY = "private key"
_OVER_LINES = (_KEY, "PuTTY key")
"""The kinds of secrets that go over lines, a private key up to the end of the text if need be."""
_KEY_BEGIN = re.compile(r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY")
_KEY_END = re.compile(r"-----END [A-Z ]{0,40}PRIVATE KEY")


@dataclass(frozen=True, slots=True)
class Redacted:
    """A text with its secrets masked, and the kinds of secrets found, without repeats."""

    text: str
    kinds: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Rules:
    ignored: re.Pattern[str]
    harmless: re.Pattern[str]
    texts: tuple[tuple[str, frozenset[str], tuple[str, ...], re.Pattern[str]], ...]
    hints: tuple[tuple[str, tuple[tuple[str, list[str]], ...]], ...]
    """The hints of all ``texts`` and the runs of letters, digits and ``_`` in each, by the longest run in
    lower case: that is looked for once for all of them."""


def is_secret_file(path: str) -> bool:
    """Whether a path says that the whole file is secret."""
    if is_key_folder(path):
        return True
    return is_key_file(path) and not _rules().harmless.match(path.lower().rpartition("/")[2])


def may_hold_secrets(path: str) -> bool:
    """Whether a file that git ignores is likely to hold secrets, judged by its path."""
    rules = _rules()
    name = path.lower().rpartition("/")[2]
    return is_secret_file(path) or (bool(rules.ignored.match(name)) and not rules.harmless.match(name))


def hints_in(text: str, runs: str | None = None) -> frozenset[str]:
    """Those of the rules' hints that a text has: without any, it has no secrets.

    ``runs`` has all runs of letters, digits and ``_`` of it. Without repeats they are much shorter than the
    text, so looking there first is faster.
    """
    if runs is None:
        # In slices: other threads wait while a long text that is not ASCII is made lower case.
        parts = (_hints_in(part, part) | {*public_hints(words_of(part))} for part in line_slices(text))
        return frozenset().union(*parts)
    return _hints_in(text, runs) | {*public_hints(runs.lower().split())}


def _hints_in(text: str, held: str) -> frozenset[str]:
    lowered = held.lower()
    return frozenset(
        hint
        for longest, hints in _rules().hints
        if longest in lowered
        for hint, parts in hints
        if all(map(held.__contains__, parts)) and (parts == [hint] or hint in text)
    )


def redact(text: str, hints: frozenset[str] | None = None) -> Redacted:
    """``text`` with every secret replaced by ``[KIND masked]``.

    ``hints`` are those that the text may have, from :func:`hints_in`; without them, they are looked for.
    """
    # Most texts have no secrets: to look whether they are known would take longer.
    return Redacted(text) if hints is not None and not hints else _redacted(text, hints)


@lru_cache(maxsize=48)
def _redacted(text: str, hints: frozenset[str] | None) -> Redacted:
    found = hints_in(text) if hints is None else hints
    kinds: dict[str, None] = {}

    def mask(match: re.Match[str], name: str) -> str:
        kinds[name] = None
        start, end = match.span("secret")
        lines = "\n" * match["secret"].count("\n")
        whole = match.start()
        return f"{match[0][: start - whole]}[{name} masked]{lines}{match[0][end - whole :]}"

    for name, needed, held, pattern in _rules().texts:
        if needed.isdisjoint(found) or (held and not _holds(text, held)):
            continue
        named = partial(mask, name=name)
        text = pattern.sub(named, text) if name in _OVER_LINES else replaced(pattern, named, text)
    for public in public_rules(found):

        def mask_key(match: re.Match[str], public: PublicRule = public) -> str:
            if not public.is_key(match["secret"]):
                return match[0]
            return mask(match, public.name)

        text = replaced(public.pattern, mask_key, text)
    return Redacted(text, tuple(kinds))


def _holds(text: str, held: tuple[str, ...]) -> bool:
    """Whether ``text`` may hold one of these, in any case. Letters that are not ASCII may be the same but for
    their case, too."""
    return not text.isascii() or any(map(text.lower().__contains__, held))


def without_cut_end(text: str) -> str:
    """``text``, which was cut off at its end, without the word and the private key that may have gone on
    behind the cut: a part of a secret alone is not known as one."""
    if (key := open_key(text)) >= max(0, len(text) - LONGEST_KEY):
        return f"{text[:key]}[private key masked]"
    end, least = len(text), max(0, len(text) - _LONGEST_WORD)
    while end > least and not text[end - 1].isspace():
        end -= 1
    return text[:end]


def without_cut_beginning(text: str) -> str:
    """``text``, whose beginning was cut off, without the word and the private key that may have begun before
    the cut."""
    start, most = 0, min(len(text), _LONGEST_WORD)
    while start < most and not text[start].isspace():
        start += 1
    text = text[start:]
    end = _KEY_END.search(text, 0, LONGEST_KEY)
    if end is None or "PRIVATE KEY" in text[: end.start()]:
        return text
    return f"\n[private key masked]\n{text[end.start() :]}"


def open_key(text: str) -> int:
    """Where the private key begins that ``text`` begins and does not end; -1 where there is none."""
    begin = max((found.start() for found in _KEY_BEGIN.finditer(text)), default=-1)
    return -1 if begin < 0 or _KEY_END.search(text, begin) else begin


def masked_lines(lines: Sequence[str]) -> list[str]:
    """The lines of a whole text with every secret masked. Parts of a text are cut from these: a part of a
    secret alone is not known as one."""
    return redact("\n".join(lines)).text.split("\n") if lines else []


@lru_cache(maxsize=1)
def _rules() -> _Rules:
    table = tomllib.loads(resources.files("context.text").joinpath("secrets.toml").read_text("utf-8"))
    hints: dict[str, dict[str, list[str]]] = {}
    for hint in (hint for rule in table["text"] for hint in rule["hints"]):
        parts = re.findall(r"\w+", hint)
        hints.setdefault(max(parts, key=len, default="").lower(), {})[hint] = parts
    return _Rules(
        re.compile("|".join(map(translate, table["ignored"]))),
        re.compile("|".join(map(translate, table["harmless"]))),
        tuple(
            (rule["name"], frozenset(rule["hints"]), tuple(rule.get("held", ())), re.compile(rule["find"]))
            for rule in table["text"]
        ),
        tuple((longest, tuple(same.items())) for longest, same in hints.items()),
    )
