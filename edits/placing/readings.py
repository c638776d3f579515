"""The ways to read a hunk, in the order in which they are tried.

First come those of its parser. Then what models and the programs between write by mistake is undone: line
numbers before each line, entities in place of characters, and lost blanks before lines of context. What is
undone in the old text is undone in the new text too; it has to be in every old line, or in none that matters.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from edits.files.diff import edited
from edits.files.folding import FOLDED, alike_characters, tells
from edits.hunk import Format, Hunk, HunkLine, LineKind, Rung
from edits.newtext.markup import has_entities, unescaped
from edits.placing.blank_lines import new_of, old_of

# Number of lines with words that a text needs to be found without the blank lines around it.
_TELLING_LINES = 2
_GUTTERS = (
    re.compile(r"\s*(?P<number>\d+)(?: ?\| |\t|→|: )(?P<text>.*)"),
    re.compile(r"\s*(?P<number>\d+)(?: ?\||:)(?P<text>.*)"),
)
_BARE_GUTTER = re.compile(r"\s*(?P<number>\d+)\s*(?:\||:|→)?")


@dataclass(frozen=True, slots=True)
class Reading:
    """One way to read a hunk. ``rung`` is the strictest one that may be recorded for it."""

    lines: tuple[HunkLine, ...]
    rung: Rung = Rung.EXACT
    line_hint: int | None = None

    @property
    def old(self) -> list[str]:
        """The lines to find."""
        return old_of(self.lines)


def readings_of(hunk: Hunk) -> list[Reading]:
    """The readings with text to find. One without the blank lines at the ends needs several lines of words.

    Those blank lines were typed, so that a single line without them may well be another place.
    """
    full = old_of(hunk.lines)
    found: list[Reading] = []
    for lines in (hunk.lines, *hunk.alternatives):
        old = old_of(lines)
        cut = len(old) < len(full) and list(filter(str.strip, old)) == list(filter(str.strip, full))
        if old and not (cut and sum(map(tells, old)) < _TELLING_LINES):
            found.append(Reading(lines, line_hint=hunk.line_hint))
    signed = hunk.format in (Format.V4A, Format.UNIFIED) and not hunk.flaw
    undos: list[Callable[[Reading], Reading | None]] = [partial(_without_numbers, one) for one in _GUTTERS]
    for undo in (*undos, _unescaped, *([_with_blanks] if signed else ())):
        found += [undone for one in found if (undone := undo(one)) is not None]
    return found


def _with_blanks(reading: Reading) -> Reading | None:
    """The reading with a blank before each line of context, whose sign may be its own first blank."""
    lines = tuple(
        HunkLine(line.kind, f" {line.text}") if line.kind is LineKind.CONTEXT and line.text else line
        for line in reading.lines
    )
    removes = any(line.kind is LineKind.OLD for line in lines)
    return Reading(lines, Rung.INDENT, reading.line_hint) if removes and lines != reading.lines else None


def _unescaped(reading: Reading) -> Reading | None:
    """The reading with characters in place of entities, if its old text has any."""
    if not has_entities(reading.old):
        return None
    lines = tuple(HunkLine(line.kind, unescaped(line.text)) for line in reading.lines)
    return Reading(lines, max(reading.rung, Rung.FOLDED), reading.line_hint)


def _without_numbers(gutter: re.Pattern[str], reading: Reading) -> Reading | None:
    """The reading without the numbers before its lines, if all old lines are numbered in sequence."""
    old = [_split(text, gutter) for text in reading.old]
    if not all(old):
        return None
    numbers = [number for number, _ in filter(None, old)]
    if numbers != list(range(numbers[0], numbers[0] + len(numbers))):
        return None
    bare = [text for _, text in filter(None, old)]
    split = [(_split(text, gutter), text) for text in new_of(reading.lines)]
    if any(parts for parts, _ in split) and any(
        parts is None and text[:1].isdigit() for parts, text in split
    ):
        return None
    new = [text if parts is None else parts[1] for parts, text in split]
    hint = numbers[0] if reading.line_hint is None else reading.line_hint
    return Reading(edited(bare, new), Rung.FOLDED, hint)


def _split(text: str, gutter: re.Pattern[str]) -> tuple[int, str] | None:
    found = gutter.fullmatch(text)
    if found is not None:
        return int(found["number"]), found["text"]
    blank = _BARE_GUTTER.fullmatch(text)
    return None if blank is None else (int(blank["number"]), "")


def as_in_file(
    actual: Sequence[str], typed: Sequence[str], lines: Sequence[HunkLine]
) -> tuple[HunkLine, ...]:
    """``lines`` with characters in the new ones like those of the file, where the ``typed`` old lines show
    another way to type: curly quotes for straight ones, invisible characters, another normal form.

    ``actual`` are the lines of the file that the old lines stand for.
    """
    here, there = "\n".join(typed), "\n".join(actual)
    if here.isascii():
        return tuple(lines)
    gone = set(here) - set(there)
    table = {code: FOLDED[code] for character in gone for code in alike_characters(character)}
    composed = unicodedata.is_normalized("NFC", there) and not unicodedata.is_normalized("NFC", here)
    if not table and not composed:
        return tuple(lines)
    return tuple(
        HunkLine(line.kind, _typed_as(line.text, table, composed)) if line.kind is LineKind.NEW else line
        for line in lines
    )


def _typed_as(text: str, table: dict[int, str | None], composed: bool) -> str:
    text = text.translate(table)
    return unicodedata.normalize("NFC", text) if composed else text
