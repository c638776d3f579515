"""Empties the bodies of C functions and initialisers before parsing.

They are two thirds of the text, and no outline shows anything in them.
"""

from __future__ import annotations

_NO_DECLARATION = (b" ", b"\t", b"\f", b"\v", b"\r", b"#")
"""First characters of a line that is indented, or is a directive."""


def without_bodies(source: bytes) -> bytes:
    """``source`` with only line ends between the braces of functions and initialisers.

    The opening brace of a body is at the end of a line. It follows a line that ends in ``)``, or ``= `` in a
    line that is neither indented nor a directive. The closing brace is the first at the beginning of a line.
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
