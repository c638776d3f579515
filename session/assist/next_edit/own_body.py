"""What a function's own body needs after its parameters changed: uses of one that has another name, or is
gone.

It parses: use it in a worker thread.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from context.code.languages import Language
from context.code.scopes import NamedText, scoping_of
from session.assist.next_edit.name_syntax import is_plain
from session.assist.next_edit.rename import Piece
from session.assist.next_edit.signature import SignatureChange, renamed_parameters

if TYPE_CHECKING:
    from tree_sitter import Node


@dataclass(frozen=True, slots=True)
class BodyLine:
    """A row of the body, and the pieces that change in it; ``gone`` is a parameter that it uses and that
    there is no more, so that nobody knows what the line would be."""

    row: int
    pieces: tuple[Piece, ...] = ()
    gone: str = ""


def body_lines(change: SignatureChange, language: Language, lines: Sequence[str]) -> Iterator[BodyLine]:
    """The rows of the body that a change of the signature leaves behind, in order."""
    if scoping_of(language) is None:
        return
    text = NamedText(language, "\n".join(lines))
    function = _function(text, change)
    if function is None:
        return
    pieces: dict[int, list[Piece]] = {}
    gone: dict[int, str] = {}
    for old, new in renamed_parameters(change):
        for node in text.found(old):
            if not (function.start_byte <= node.start_byte < function.end_byte) or not is_plain(text, node):
                continue
            if text.resolved(node, old) is not None or text.bound_by(node) is not None:
                continue
            row, column = node.start_point
            if new is None:
                gone[row] = old
            else:
                end = column + node.end_byte - node.start_byte
                pieces.setdefault(row, []).append(Piece(row, column, end, new))
    for row in sorted({*pieces, *gone}):
        yield BodyLine(row, () if row in gone else tuple(pieces[row]), gone.get(row, ""))


def _function(text: NamedText, change: SignatureChange) -> Node | None:
    """The function whose head is in the row that the new signature says."""
    for node in text.found(change.name) if text.root is not None else ():
        around = node.parent
        while around is not None and around.child_by_field_name("parameters") is None:
            around = around.parent
        if around is not None and around.start_point.row == change.new.row:
            return around
    if text.root is None:
        return None
    line = text.source.split(b"\n")[change.new.row]
    at = (
        sum(len(each) + 1 for each in text.source.split(b"\n")[: change.new.row])
        + len(line)
        - len(line.lstrip())
    )
    around = text.root.descendant_for_byte_range(at, at + 1)
    while around is not None and around.child_by_field_name("parameters") is None:
        around = around.parent
    return around
