"""Text in the encodings of old notes: UTF-16 without a mark, UTF-32, the single bytes of the West."""

from __future__ import annotations

import codecs
import re

_MARKED = (
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16, whose mark it begins with
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_UNLIKELY = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f\x81\x8d\x8f\x90\x9d]|[\xa0-\xff]{3}")
"""Bytes that Windows-1252 does not have in text, and letters with accents in a row, as no Western word has
them: another encoding looks so."""
_SAMPLE = 8_192


def text_in_old_encoding(data: bytes) -> str | None:
    """The text of ``data``, which is not UTF-8, where its bytes say what encoding it is in; else None.

    ISO-8859-1 is read as Windows-1252, which has the same letters.
    """
    encoding = next((name for mark, name in _MARKED if data.startswith(mark)), None) or _unmarked(data)
    if encoding is None:
        return None
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError:
        return None
    return None if "\0" in text else text


def _unmarked(data: bytes) -> str | None:
    if b"\0" not in data:
        return None if _UNLIKELY.search(data) else "cp1252"
    # In UTF-16 most characters of a Western text have a zero as one of their two bytes, always the same one.
    some = data[:_SAMPLE]
    high, low = some[1::2].count(0), some[::2].count(0)
    if len(data) % 2 or max(high, low) < len(some) // 4:
        return None
    return "utf-16-le" if not low else "utf-16-be" if not high else None
