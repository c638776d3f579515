"""Makes a file's text safe to show to a model: secrets masked, hidden characters replaced, fences closed.

A fence around quoted text is one that the text cannot close, and control characters are replaced in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from context.code.languages import fence_of
from context.text.lines import slices
from context.text.secrets import Redacted, redact
from context.text.unseen import has_hidden, named, without_hidden

_CONTROL = {code: 0x2400 + code for code in range(0x20) if chr(code) not in "\t\n"}
_CONTROL |= {0x7F: 0x2421, **dict.fromkeys(range(0x80, 0xA0), 0xFFFD)}

_HELD = re.compile(f"[{re.escape(''.join(map(chr, _CONTROL)))}]")
_OTHERS = bytes(code for code in range(0x80) if code not in _CONTROL)

_BACKTICKS = re.compile(r"`{3,}")

LIST_FENCE = "````\n"
"""The fence around lists of paths and outlines: no path that can be named holds as many backticks, and
:func:`unfenced` takes them out of outlines."""


def harmless(text: str) -> str:
    """``text`` with stand-ins for control characters and for what could hide words in it; tabs and line ends
    stay, and each stand-in is one character.

    Other characters that cannot be seen stay: an edit has to quote its lines exactly.
    """
    # Searching is many times faster than translating, and to delete all others is faster still.
    if text.isascii() and not text.encode("ascii").translate(None, _OTHERS):
        return text
    if any(_HELD.search(text, start, end) for start, end in slices(text)):
        text = "".join(text[start:end].translate(_CONTROL) for start, end in slices(text))
    return without_hidden(text)


def unfenced(outline: str) -> str:
    """``outline`` without a run of backticks that could end :data:`LIST_FENCE`."""
    return _BACKTICKS.sub("```", outline) if "````" in outline else outline


def fenced_lines(lines: Iterable[str]) -> str:
    """``lines`` in a fence, as :func:`fenced`."""
    return fenced("", "".join(f"{line}\n" for line in lines))


_POINTER = "version https://git-lfs.github.com/spec/"
"""How a file begins that Git LFS has not fetched (docs/spec.md of git-lfs)."""
_POINTER_TOLD = "This is a Git LFS pointer: the file's contents are not here, and it cannot be edited."


def fenced(path: str, text: str) -> str:
    """``text`` in a Markdown fence longer than any fence inside it; the result ends in a line end. Below a
    pointer of Git LFS it says what that is: else a model takes it for the file."""
    # To look whether there is one is many times faster than the expression.
    runs = _BACKTICKS.findall(text) if "```" in text else []
    longest = max(map(len, runs), default=2)
    fence = "`" * max(3, longest + 1)
    body = text if text.endswith("\n") or not text else text + "\n"
    told = f"{_POINTER_TOLD}\n" if path and text.startswith(_POINTER) else ""
    return f"{fence}{fence_of(path)}\n{body}{fence}\n{told}"


HIDDEN = "hidden characters"
"""What a text is said to hold besides kinds of secrets, where characters in it could hide words."""


def safe_text(text: str, hints: frozenset[str] | None = None) -> Redacted:
    """``text`` of a file, line for line, so that edits can quote it. ``hints`` are as in :func:`redact`."""
    safe = redact(text, hints)
    kinds = (*safe.kinds, HIDDEN) if has_hidden(text) else safe.kinds
    return Redacted(harmless(safe.text), kinds)


def safe_instructions(text: str) -> Redacted:
    """``text`` of the project's instructions: every character that cannot be seen is written out by name."""
    safe = redact(text)
    spoken = named(safe.text)
    return Redacted(spoken, (*safe.kinds, HIDDEN) if has_hidden(text) else safe.kinds)
