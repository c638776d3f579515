"""Recognizes HTML entities that a model, or what carried its answer, wrote in place of characters."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from pathlib import PurePosixPath

_ENTITY = re.compile(r"&(?:lt|gt|amp|quot|apos|#0*(?:34|38|39|60|62)|#x0*(?:22|26|27|3[ce]));", re.IGNORECASE)
_TAG = re.compile(r"</?[A-Za-z][\w.:-]*")
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
        if _ENTITY.search(line) is None or _TAG.search(line):
            continue
        if not mixed or _ENTITY.search(_STRING.sub("", line)):
            return index
    return None
