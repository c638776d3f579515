"""Keeps secrets out of the window: secret files are never read, and keys in other files are masked.

The names are in ``key_material.toml``, the shapes in ``secrets.toml`` and ``public_secrets.toml``. A mask
keeps the number of lines, so that line ranges stay valid.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import translate
from functools import lru_cache, partial
from importlib import resources

from context.text.key_material import is_key_file, is_key_folder
from context.text.lines import line_slices, replaced
from context.text.public_secrets import PublicRule, public_hints, public_rules, words_of

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
