"""Reads a model's answer to a review: the findings in it, and whether it says that there are none.

Findings are asked for as one JSON object a line. They are read as well from a list, from an object around
them, and over several lines. What says neither is no review: nobody may take it for a clean one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from session.assist.review.finding import PATH
from session.base.text.sanitize import clean_line

_MARK = re.compile(r'["\\{}]')
_OBJECT = re.compile(r'\{\s*(?:"|\})')
"""How an object of JSON begins, and no brace in a sentence."""
_FENCE = re.compile(r"^\s*(?:```|~~~).*$", re.MULTILINE)
_FINDINGS = frozenset(
    [
        "findings",
        "issues",
        "faults",
        "problems",
        "errors",
        "bugs",
        "results",
        "comments",
        "vulnerabilities",
        "defects",
    ]
)
"""Names for the list of findings in an object around them."""
_FIELDS = frozenset(
    ["path", "file", "filename", "line", "lines", "start", "start_line", "severity", "message", "fix"]
)
"""Names that only a finding has."""
_NOTHING = re.compile(
    r"\[\s*\]|nothing|none|lgtm|(?:it )?looks good(?: to me)?"
    r"|nothing (?:is wrong|wrong|found|to report|was found)"
    r"|(?:there (?:are|were) |i (?:found|see) |found )?"
    r"no (?:findings?|faults?|issues?|problems?|bugs?|errors?|security (?:holes?|issues?))"
    r"(?: (?:were |was )?(?:found|detected|to report))?",
    re.IGNORECASE,
)
_MOST_BAD = 50
"""Objects that cannot be read, after which the rest is not tried."""
_MOST_WORDS = 2_000
"""Characters around the findings that are kept."""
_DEEPEST = 4
_SHOWN = 80
"""Characters of an answer in a line that tells of it."""


class Answer:
    """One answer, as it streams."""

    def __init__(self) -> None:
        self.begin()

    def begin(self) -> None:
        """The answer begins, perhaps anew."""
        self._text = ""
        """What is not read yet."""
        self._at = 0
        """How far ``_text`` is looked at."""
        self._depth = 0
        self._quoted = False
        self._words = ""
        self._head = ""
        """How the answer begins."""
        self._bad = 0
        self._found = 0
        self._said_none = False

    def feed(self, piece: str) -> list[dict[str, Any]]:
        """Take a piece of the answer, and give what it completes: objects that may be findings."""
        self._head += piece[: _MOST_WORDS - len(self._head)]
        self._text += piece
        return list(self._read(last=False))

    def end(self) -> list[dict[str, Any]]:
        """The answer is over: give what is left of it."""
        return list(self._read(last=True))

    @property
    def unclear(self) -> str:
        """Why an answer that is over is no review; empty where it is one."""
        if self._bad:
            return "a part of the model's answer cannot be read"
        words = " ".join(_FENCE.sub("", self._words).split()).strip()
        if self._found or (self._said_none and not words):
            return ""
        if not self._said_none and _NOTHING.fullmatch(words.strip(" .!*_`\"'")):
            return ""
        begin = clean_line(" ".join(_FENCE.sub("", self._head).split()))
        if not begin:
            return "the model's answer is empty"
        shown = begin if len(begin) <= _SHOWN else f"{begin[: _SHOWN - 1]}…"
        return f"the model's answer is no review: {shown}"

    def _read(self, *, last: bool) -> Iterator[dict[str, Any]]:
        while True:
            if not self._depth and not self._to_object(last=last):
                return
            end = self._end_of_object()
            if end is not None:
                yield from self._object(self._text[:end])
            elif last:
                self._skip()
            else:
                return

    def _to_object(self, *, last: bool) -> bool:
        """Go to the next object, whose brace is then at the beginning of the text."""
        while True:
            at = self._text.find("{")
            if at < 0 or self._bad >= _MOST_BAD:
                self._say(self._text)
                self._text = ""
                return False
            self._say(self._text[:at])
            self._text = self._text[at:]
            if _OBJECT.match(self._text):
                self._at, self._depth, self._quoted = 1, 1, False
                return True
            if not self._text[1:].strip() and not last:
                return False  # what follows the brace is still to come
            self._say("{")
            self._text = self._text[1:]

    def _end_of_object(self) -> int | None:
        """Where the object at the beginning of the text ends; None as long as it does not."""
        text = self._text
        while mark := _MARK.search(text, self._at):
            self._at = mark.end()
            match mark[0]:
                case "\\" if self._quoted:
                    if self._at == len(text):
                        self._at -= 1  # what it escapes is still to come
                        return None
                    self._at += 1
                case '"':
                    self._quoted = not self._quoted
                case "{" if not self._quoted:
                    self._depth += 1
                case "}" if not self._quoted:
                    self._depth -= 1
                    if not self._depth:
                        return self._at
                case _:
                    pass
        self._at = len(text)
        return None

    def _object(self, text: str) -> Iterator[dict[str, Any]]:
        try:
            value = json.loads(text, strict=False)
        except (ValueError, RecursionError):
            self._skip()
            return
        self._text = self._text[len(text) :]
        found = list(_records(value, _DEEPEST))
        if found:
            self._bad += sum(not each for each in found)
            self._found += len(found)
            yield from filter(None, found)
        elif _says_none(value):
            self._said_none = True
        else:
            self._bad += 1

    def _skip(self) -> None:
        """The object at the beginning cannot be read: those in it and behind it are looked for."""
        self._bad += 1
        self._depth, self._text = 0, self._text[1:]

    def _say(self, words: str) -> None:
        self._words += words[: _MOST_WORDS - len(self._words)]


def _records(
    value: Any, depth: int, within: Mapping[str, Any] = MappingProxyType({})
) -> Iterator[dict[str, Any]]:
    """The findings in ``value``, as they are written; an empty one for each that is written as nothing known.
    ``within`` are the fields that an object around them has for all."""
    if not isinstance(value, dict):
        return
    lists = [each for key, each in value.items() if key in _FINDINGS and isinstance(each, list)]
    if lists and depth:
        for each in (each for found in lists for each in found):
            inner = list(_records(each, depth - 1, {**within, **_place(value)}))
            yield from inner or ({},)
    elif _FIELDS & value.keys():
        yield {**within, **value}
    elif depth:
        for each in value.values():
            yield from _records(each, depth - 1, within)


def _place(value: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value[key] for key in PATH if key in value}


def _says_none(value: dict[str, Any]) -> bool:
    """Whether an object is nothing but an empty list of findings."""
    said = [each for key, each in value.items() if key not in PATH]
    return len(said) == 1 and said[0] == [] and bool(_FINDINGS & value.keys())
