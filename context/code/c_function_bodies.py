"""Empties the bodies of C functions and tables before parsing.

Nothing in them is outlined, and they are two thirds of the text.
"""

from __future__ import annotations

_NO_DECLARATION = (b" ", b"\t", b"\f", b"\v", b"\r", b"#")
"""What a line begins with that stands in something, or is a directive."""


def without_bodies(source: bytes) -> bytes:
    """``source`` with nothing but line ends in the braces of functions and initialisers.

    A body's brace ends a line, after a line that ends in ``)``, or after ``= `` in a line that begins at the
    margin and is no directive; the brace that closes it is the first at the margin.
    """
    kept: list[bytes] = []
    done = at = 0
    while (at := source.find(b"{\n", at)) >= 0:
        if not _opens_body(source, at):
            at += 2
            continue
        end = source.find(b"\n}", at)
        if end < 0:
            break
        kept += (source[done : at + 1], b"\n" * source.count(b"\n", at, end + 1))
        done = at = end + 1
    kept.append(source[done:])
    return b"".join(kept)


def _opens_body(source: bytes, brace: int) -> bool:
    before = source[max(0, brace - 2) : brace]
    if before == b")\n":
        return True
    if before == b"= ":
        line = source.rfind(b"\n", 0, brace) + 1
        return source[line : line + 1] not in _NO_DECLARATION
    if before[-1:] != b"\n":
        return False
    end = brace - 1
    while source[end - 1 : end] in (b" ", b"\t"):
        end -= 1
    return source[end - 1 : end] == b")"
