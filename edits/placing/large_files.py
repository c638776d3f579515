"""The first rung for large files, without decoding them.

A file of many megabytes is searched as bytes, and only the hunk's lines are decoded. Anything that needs
more (mixed endings, other encodings, looser rungs, several matches) is placed as in any other file.
"""

from __future__ import annotations

import codecs

from edits.files.text import decode
from edits.hunk import Format, Hunk, Rung
from edits.placing.found import Place
from edits.placing.splices import Splice, spliced, splices

LARGE = 4 * 1024 * 1024
"""The size in bytes from which a file is searched as bytes."""

_CHUNK = 1 << 20
_FEWEST_LETTERS = 8


def change_exactly(data: bytes, hunk: Hunk) -> tuple[tuple[Splice, ...], bytes] | None:
    """The splices and the new bytes, if the old lines occur once; None if the file is to be decoded."""
    if len(data) < LARGE or not _is_plain(hunk):
        return None
    newline = _newline(data)
    old = (newline or "").join(hunk.old).encode()
    if newline is None or sum(map(str.isalnum, "".join(hunk.old))) < _FEWEST_LETTERS:
        return None
    start = _only_place(data, old, newline.encode())
    if start is None or not _is_utf8(data):
        return None
    end = start + len(old) + len(newline)
    window = decode(data[start:end], hunk.path)
    made = splices(window, Place(0, len(window.lines), Rung.EXACT, hunk.lines), "\n")
    made = tuple(splice for splice in made if splice.old != splice.new)
    new = spliced(window, made).encode()
    if not made or data.startswith(new, start):
        return None
    first = data.count(b"\n", 0, start)
    view = memoryview(data)
    moved = tuple(Splice(splice.start + first, splice.old, splice.new) for splice in made)
    return moved, b"".join((view[:start], new, view[end:]))


def _is_plain(hunk: Hunk) -> bool:
    more = (hunk.anchors, hunk.alternatives, hunk.replacement, hunk.at_end_of_file)
    return hunk.format is not Format.WHOLE and hunk.final_newline is None and not any(more)


def _newline(data: bytes) -> str | None:
    """The ending that all lines have; None if they differ."""
    returns = data.count(b"\r")
    if not returns:
        return "\n"
    return "\r\n" if returns == data.count(b"\n") == data.count(b"\r\n") else None


def _only_place(data: bytes, needle: bytes, newline: bytes) -> int | None:
    """Where the lines are, if they occur once, with a newline before and after."""
    found: list[int] = []
    at = data.find(needle)
    while at >= 0 and len(found) < 2:
        end = at + len(needle)
        if (at == 0 or data[at - 1 : at] == b"\n") and data.startswith(newline, end):
            found.append(at)
        elif end == len(data):
            # A last line without a newline is a match too, but not one for this search.
            return None
        at = data.find(needle, at + 1)
    return found[0] if len(found) == 1 else None


def _is_utf8(data: bytes) -> bool:
    if b"\0" in data or data.startswith((codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return False
    decoder = codecs.getincrementaldecoder("utf-8")()
    view = memoryview(data)
    try:
        for start in range(0, len(data), _CHUNK):
            decoder.decode(view[start : start + _CHUNK])
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True
