"""Reads a script's hunks from text, writes them in the format that a request asks for, and splits text into
pieces the size of tokens.

Such a piece is an approximation that needs no vocabulary: a word (in parts of at most eight letters) with the
space before it, up to three digits, up to four marks, or a run of white space. That is about what real
tokenisers make of prose and code.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from edits.hunk import Action, Format, Hunk, HunkLine, LineKind

_HEADER = {Action.UPDATE: "Update", Action.ADD: "Add", Action.DELETE: "Delete", Action.MOVE: "Update"}


class PatchError(ValueError):
    """The text is not a hunk."""


def read_lines(path: str, action: Action, text: str, anchor: str = "") -> Hunk:
    """A hunk from lines that begin with `` ``, ``-`` or ``+``; an empty line is empty context."""
    lines = text.removesuffix("\n").split("\n") if text else []
    try:
        parts = tuple(HunkLine(LineKind(line[:1] or " "), line[1:]) for line in lines)
    except ValueError:
        bad = next(line for line in lines if line[:1] not in ("", " ", "-", "+"))
        raise PatchError(f"a hunk's line must begin with a space, '-' or '+': {bad!r}") from None
    if not path:
        raise PatchError("a hunk needs a path")
    kinds = {part.kind for part in parts}
    if action is Action.DELETE and parts:
        raise PatchError("a deletion has no lines")
    if action is Action.ADD and kinds - {LineKind.NEW}:
        raise PatchError("an added file has '+' lines only")
    if action is Action.UPDATE and not kinds & {LineKind.NEW, LineKind.OLD}:
        raise PatchError("a hunk must change something")
    anchors = (anchor,) if anchor else ()
    return Hunk(path=path, action=action, format=Format.V4A, lines=parts, anchors=anchors)


def read_patch(text: str) -> list[Hunk]:
    """The hunks of a whole V4A patch. Raises :class:`PatchError` for an invalid one."""
    from edits.formats.detect import AutoParser
    from edits.formats.events import Broken, Completed

    parser = AutoParser(Format.V4A)
    events = [*parser.feed(text if text.endswith("\n") else text + "\n"), *parser.close(clean=True)]
    for event in events:
        if isinstance(event, Broken):
            raise PatchError(f"the patch cannot be read: {event.message}")
    hunks = [event.hunk for event in events if isinstance(event, Completed)]
    if not hunks:
        raise PatchError("the patch has no hunk")
    return hunks


def v4a(hunks: Sequence[Hunk]) -> str:
    """The hunks as one V4A patch, with neighbours in one file under one header."""
    lines = ["*** Begin Patch"]
    open_path = None
    for hunk in hunks:
        if hunk.action is not Action.UPDATE or hunk.path != open_path:
            lines.append(f"*** {_HEADER[hunk.action]} File: {hunk.path}")
        if hunk.action is Action.MOVE:
            lines.append(f"*** Move to: {hunk.move_to}")
        open_path = hunk.path if hunk.action is Action.UPDATE else hunk.move_to
        if hunk.action is Action.UPDATE or (hunk.action is Action.MOVE and hunk.lines):
            lines += [f"@@ {anchor}" for anchor in hunk.anchors] or ["@@"]
        lines += [line.kind + line.text for line in hunk.lines]
        if hunk.at_end_of_file:
            lines.append("*** End of File")
    return "\n".join([*lines, "*** End Patch"]) + "\n"


def search_replace(hunks: Sequence[Hunk]) -> str:
    """The hunks as SEARCH/REPLACE blocks. Deletions and moves, which these cannot express, become
    sentences."""
    return "\n".join(_block(hunk) for hunk in hunks)


def _block(hunk: Hunk) -> str:
    if hunk.action is Action.DELETE:
        return f"`{hunk.path}` is not needed any more: please delete it.\n"
    if hunk.action is Action.MOVE:
        sentence = f"`{hunk.path}` is now called `{hunk.move_to}`: please rename it.\n"
        return _edit(hunk) + sentence if hunk.lines else sentence
    return _edit(hunk)


def _edit(hunk: Hunk) -> str:
    lines = [hunk.path, "```", "<<<<<<< SEARCH", *hunk.old, "=======", *hunk.new, ">>>>>>> REPLACE", "```"]
    return "\n".join(lines) + "\n"


_PIECE = re.compile(r" ?[^\W\d_]{1,8}| ?\d{1,3}|_| ?[^\w\s]{1,4}|\n+ *|\s+?(?= \S)|\s+")
_BYTES_PER_TOKEN = 4


def split_tokens(text: str) -> list[str]:
    """The pieces of ``text``; joined they are ``text`` again."""
    return _PIECE.findall(text)


def count_input_tokens(text: str) -> int:
    """The tokens of input text: its UTF-8 bytes by four, rounded up; cheap for a whole window."""
    return -(-len(text.encode("utf-8", "replace")) // _BYTES_PER_TOKEN)
