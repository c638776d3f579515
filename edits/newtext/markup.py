"""Recognizes markup in new text that does not belong to the file: the lines of an edit's form, HTML entities.

A model that loses count of its own markup leaves a marker in the text: one of its format, of another one,
of a merge conflict, or the tag of a tool call. Where the file has such lines itself, they are text. Entities
are written in place of characters by a model, or by what carried its answer.
"""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from itertools import pairwise
from pathlib import PurePosixPath

PATCHES = frozenset({".patch", ".diff", ".rej", ".orig"})
"""Files that consist of markers."""
FENCE = re.compile(r"\s*(?:`{3,}|~{3}(?!~))[^`]*")
_KINDS: dict[str, re.Pattern[str]] = {
    "a conflict marker": re.compile(r"\s*(?:<{7}|>{7}|\|{7})(?: \S.*)?"),
    "a SEARCH/REPLACE marker": re.compile(
        r"\s*(?:[<>]{5,9} ?|-{5,} |\+{5,} )(?:SEARCH|REPLACE|ORIGINAL|UPDATED)>?\s*"
    ),
    "a line of a V4A patch": re.compile(
        r"\s*\*\*\* (?:(?:Begin|End) Patch|End of File|(?:Add|Update|Delete) File:.*|Move to:.*)\s*"
    ),
    "a line of a diff": re.compile(
        r"\s*@@ -\d+(?:,\d+)? \+\d+.*|@@(?:\s.*)?|diff --git \S+ \S.*|(?:---|\+\+\+) (?:[ab]/\S.*|/dev/null)"
        r"|\s*\\ No newline at end of file|index [0-9a-f]{7,}\.\.[0-9a-f]{7,}.*"
    ),
}
_TAG = re.compile(
    r"\s*</(?P<name>diff|apply_diff|patch|apply_patch|edit|edits|content|contents|file|file_content|replace"
    r"|search|replacement|parameter|parameters|invoke|arguments|args|input|function|function_calls?|tool_call"
    r"|tool_use|tool|write_to_file|str_replace|str_replace_editor|replace_in_file|change|changes|update|code_edit"
    r"|(?:old|new)_?(?:string|str|text|content|code|lines)|(?:old|new)(?:String|Str|Text)"
    r"|(?:antml|function|tool):\w+)>\s*"
)
_GLUED = re.compile(r".*\S\s*(?:>{7,9} ?REPLACE>?|<{7,9} ?SEARCH>?|\*\*\* End Patch)\s*")
_SEPARATOR = re.compile(r"\s*={5,9}\s*")
_GUTTER = re.compile(r"\s*\d+(?: ?\| ?|\t|→).*")


def separates(text: str) -> bool:
    """Whether a line may be the separator of a SEARCH/REPLACE block."""
    return _SEPARATOR.fullmatch(text) is not None


def marker_in(
    new: Sequence[str], gone: Sequence[str], file: Sequence[str], path: str
) -> tuple[int, str] | None:
    """The first marker among the ``new`` lines, as its index and what it is; None without one.

    ``file`` has the lines of the file as it is, among which any marker of the same kind makes it text;
    ``gone`` are those of them that the new lines replace.
    """
    if PurePosixPath(path).suffix.lower() in PATCHES:
        return None
    for index, text in enumerate(new):
        kind = _kind(text)
        if kind is None or any(_kind(line) == kind for line in file):
            continue
        if not (kind == _CLOSING_TAG and _is_opened(text, (*new, *file))):
            return index, kind
    return _fence_in(new, gone, file)


def are_signed(new: Sequence[str], file: Sequence[str], *, bullets: bool) -> bool:
    """Whether every line of the ``new`` text begins with the ``+`` of a diff, as no line of the file does.

    With ``bullets`` it is text if a blank or another plus follows on each line.
    """
    filled = [text for text in new if text.strip()]
    if not filled or not all(text[0] == "+" for text in filled):
        return False
    if bullets and all(re.match(r"\+(?: \S|\+)", text) for text in filled):
        return False
    return not any(line.startswith("+") for line in file)


def are_numbered(new: Sequence[str], file: Sequence[str]) -> bool:
    """Whether the ``new`` lines begin with their numbers, one after the other, as those of no file do."""
    filled = [text for text in new if text.strip()]
    if len(filled) < _FEWEST_NUMBERS or not all(_GUTTER.fullmatch(text) for text in filled):
        return False
    numbers = [int(re.findall(r"\d+", text)[0]) for text in filled]
    rising = all(1 <= after - before <= _LARGEST_STEP for before, after in pairwise(numbers))
    return rising and not any(_GUTTER.fullmatch(line) for line in file)


_CLOSING_TAG = "the end of a tool call's tag"
_ENDS = ("REPLACE", "REPLACE>", "SEARCH", "SEARCH>", "Patch")
_FEWEST_NUMBERS = 2
_LARGEST_STEP = 3


def _kind(text: str) -> str | None:
    bare = text.strip()
    if not bare or not (bare[0] in "<>|-+*@d\\i" or bare.endswith(_ENDS)):
        return None
    for kind, pattern in _KINDS.items():
        if pattern.fullmatch(text):
            return kind
    if _TAG.fullmatch(text):
        return _CLOSING_TAG
    return "a marker at the end of a line" if _GLUED.fullmatch(text) else None


def _is_opened(text: str, around: Sequence[str]) -> bool:
    tag = _TAG.fullmatch(text)
    opening = None if tag is None else re.compile(rf"<{re.escape(tag['name'])}[\s>]")
    return opening is not None and any(opening.search(line) for line in around)


def _fence_in(new: Sequence[str], gone: Sequence[str], file: Sequence[str]) -> tuple[int, str] | None:
    """A code fence that is alone in the new text, where the file's own are in pairs."""
    fences = [index for index, text in enumerate(new) if FENCE.fullmatch(text)]
    if not fences or (len(fences) + _fences(gone)) % 2 == 0 or _fences(file) % 2:
        return None
    return fences[-1], "a code fence without its other half"


def loses_fence(old: Sequence[str], new: Sequence[str], file: Sequence[str]) -> bool:
    """Whether one of a pair of code fences is missing in the new text, in a ``file`` with pairs alone."""
    fences = _fences(old)
    return fences > 0 and fences % 2 == 0 and _fences(new) % 2 == 1 and _fences(file) % 2 == 0


def _fences(lines: Sequence[str]) -> int:
    return sum(FENCE.fullmatch(line) is not None for line in lines)


_ENTITY = re.compile(r"&(?:lt|gt|amp|quot|apos|#0*(?:34|38|39|60|62)|#x0*(?:22|26|27|3[ce]));", re.IGNORECASE)
_ELEMENT = re.compile(r"</?[A-Za-z][\w.:-]*")
_STRING = re.compile(r"\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'|`(?:[^`\\]|\\.)*`")
_RAW = re.compile(r"[<>]|&(?!#?\w+;)")
_MARKUP = re.compile(
    r"\.(?:x?html?|xml|svg|xsl|rss|atom|plist|xaml|resx|po|ipynb|md|markdown|vue|svelte|[jt]sx|php|erb|ejs|hbs"
    r"|j2|jinja2?|njk|mustache|twig|cshtml|razor|aspx|jsp)",
    re.IGNORECASE,
)
"""Files whose own text has entities."""


def has_entities(lines: Sequence[str]) -> bool:
    """Whether any of the lines has an entity for one of the five characters that markup reserves."""
    return any("&" in line and _ENTITY.search(line) is not None for line in lines)


def unescaped(text: str) -> str:
    """The text with the characters in place of their entities."""
    return _ENTITY.sub(lambda match: html.unescape(match[0]), text)


def escaped_line(new: Sequence[str], file: Sequence[str], path: str) -> int | None:
    """The index of the first of the ``new`` lines that was escaped by mistake; None if none was.

    Entities are text in markup, beside tags, and where the file has some. In a string they may be meant,
    unless no new line has any of the characters.
    """
    if not has_entities(new) or _MARKUP.fullmatch(PurePosixPath(path).suffix) or has_entities(file):
        return None
    mixed = any(_RAW.search(_ENTITY.sub("", line)) for line in new)
    for index, line in enumerate(new):
        if _ENTITY.search(line) is None or _ELEMENT.search(line):
            continue
        if not mixed or _ENTITY.search(_STRING.sub("", line)):
            return index
    return None
