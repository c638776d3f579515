"""How models damage the edits they write: each function makes one kind of damage of a real edit.

They return None where an edit cannot be damaged so. What no careful person could place any more is marked
``hopeless``.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from edits.files.text import TextFile, decode

DEFINITION = re.compile(r"\s*(class|def|async def|fn|pub fn|func|function|impl|struct|type)\b")
"""Matches the line of a definition in the languages of the bench."""
# How many letters and digits of old text a careful person needs to be sure of a place.
_ENOUGH_TO_TELL = 12


@dataclass(frozen=True, slots=True)
class Edit:
    """One changed run of a commit: ``before`` is the file, ``old`` and ``new`` the hunk with its context."""

    path: str
    before: TextFile
    start: int
    above: int
    below: int
    old: tuple[str, ...]
    new: tuple[str, ...]
    anchor: str | None = None

    def after(self, file: TextFile | None = None, start: int | None = None) -> list[str]:
        """The lines of the file with the change made."""
        lines = (file or self.before).lines
        first = (self.start if start is None else start) + self.above
        gone = len(self.old) - self.above - self.below
        put = self.new[self.above : len(self.new) - self.below]
        return [*lines[:first], *put, *lines[first + gone :]]


@dataclass(frozen=True, slots=True)
class Typed:
    """What the model wrote, and the file it meets."""

    old: tuple[str, ...]
    new: tuple[str, ...]
    file: TextFile
    expected: tuple[str, ...]
    anchor: str | None = None
    line_hint: int | None = None
    hopeless: bool = False


Damage = Callable[[Edit, random.Random], Typed | None]


def _typed(edit: Edit, old: Sequence[str] | None = None, new: Sequence[str] | None = None) -> Typed:
    old = edit.old if old is None else tuple(old)
    new = edit.new if new is None else tuple(new)
    return Typed(old, new, edit.before, tuple(edit.after()))


def _both(edit: Edit, change: Callable[[str], str]) -> Typed:
    return _typed(edit, [change(line) for line in edit.old], [change(line) for line in edit.new])


def none(edit: Edit, chance: random.Random) -> Typed:
    """Leave the edit as the commit has it."""
    del chance
    return _typed(edit)


def trailing_space(edit: Edit, chance: random.Random) -> Typed:
    """Add trailing space to some old lines."""
    return _typed(edit, [line + "  " if chance.random() < 0.4 else line.rstrip() for line in edit.old])


def indent_shift(edit: Edit, chance: random.Random) -> Typed | None:
    """Indent all lines by four more, or move them all left by the same white space.

    If a tab were taken from one line and a blank from another, nobody could know which it had.
    """
    if chance.random() < 0.5:
        return _both(edit, lambda line: f"    {line}" if line.strip() else line)
    indents = [line[: len(line) - len(line.lstrip())] for line in (*edit.old, *edit.new) if line.strip()]
    least = 0
    while len({indent[: least + 1] for indent in indents}) == 1 and least < min(map(len, indents)):
        least += 1
    return _both(edit, lambda line: line[least:] if line.strip() else line) if least else None


def tabs_for_spaces(edit: Edit, chance: random.Random) -> Typed | None:
    """Write tabs where the file has four spaces, or four spaces where it has tabs."""
    del chance

    def swap(line: str) -> str:
        rest = line.lstrip()
        indent = line[: len(line) - len(rest)]
        if "\t" in indent:
            return indent.replace("\t", "    ") + rest
        return indent.replace("    ", "\t") + rest

    typed = _both(edit, swap)
    mixed = len({"\t" in line for line in (*edit.old, *edit.new) if line[:1].isspace()}) > 1
    told = any(
        any(map(str.isalnum, one)) and one != two for one, two in zip(edit.old, typed.old, strict=True)
    )
    # Without an old line to tell it by, nobody could know that the new ones are typed otherwise.
    return typed if told and not mixed else None


def punctuation(edit: Edit, chance: random.Random) -> Typed | None:
    """Write typographic quotes and dashes in the old lines."""
    del chance
    table = str.maketrans({"'": "\u2019", '"': "\u201d", "-": "\u2013"})
    typed = _typed(edit, [line.translate(table) for line in edit.old])
    return typed if typed.old != edit.old else None


def other_quotes(edit: Edit, chance: random.Random) -> Typed | None:
    """Write double quotes for single ones in one context line."""
    spots = [index for index in _context(edit) if "'" in edit.old[index] or '"' in edit.old[index]]
    if not spots:
        return None
    table = str.maketrans({"'": '"', '"': "'"})
    return _at(edit, chance.choice(spots), lambda line: [line.translate(table)])


def elision(edit: Edit, chance: random.Random) -> Typed | None:
    """Leave out lines between the definition above and the hunk."""
    del chance
    if edit.anchor is None or not edit.above:
        return None
    where = [i for i in range(edit.start - 2) if edit.before.lines[i].strip() == edit.anchor]
    if not where:
        return None
    first = (edit.before.lines[where[-1]], "...")
    return _typed(edit, (*first, *edit.old), (*first, *edit.new))


def stale_context(edit: Edit, chance: random.Random) -> Typed | None:
    """Change a name in one context line, as a model does that remembers it wrongly."""
    spots = [index for index in _context(edit) if re.search(r"\w{3,}", edit.old[index])]
    if not spots:
        return None
    index = chance.choice(spots)
    names = list(re.finditer(r"\w{3,}", edit.old[index]))
    name = chance.choice(names)
    typed = _at(edit, index, lambda line: [f"{line[: name.start()]}stale{line[name.end() :]}"])
    # A copy of the place that differs in just its ends, or next to the change, would look the same.
    unsure = {0, len(edit.old) - 1, *_nearest_telling(edit)}
    return replace(typed, hopeless=typed.hopeless or index in unsure)


def _droppable(edit: Edit) -> list[int]:
    """Return the context lines that can be left out: not those next to an insertion, which tell its side."""
    inserts = edit.above + edit.below == len(edit.old)
    return [index for index in _context(edit) if not inserts or index not in (edit.above - 1, edit.above)]


def _nearest_telling(edit: Edit) -> set[int]:
    above = [at for at in range(edit.above) if any(map(str.isalnum, edit.old[at]))]
    below = [
        at for at in range(len(edit.old) - edit.below, len(edit.old)) if any(map(str.isalnum, edit.old[at]))
    ]
    return {*above[-1:], *below[:1]}


def dropped_blank(edit: Edit, chance: random.Random) -> Typed | None:
    """Leave out a blank context line."""
    spots = [index for index in _droppable(edit) if not edit.old[index].strip()]
    return _at(edit, chance.choice(spots), lambda line: []) if spots else None


def dropped_context(edit: Edit, chance: random.Random) -> Typed | None:
    """Leave out a context line between others; next to the change, a copy without it would look the same."""
    spots = [index for index in _droppable(edit) if 0 < index < len(edit.old) - 1]
    if not spots:
        return None
    index = chance.choice(spots)
    typed = _at(edit, index, lambda line: [])
    return replace(typed, hopeless=typed.hopeless or index in _nearest_telling(edit))


def misspelt_anchor(edit: Edit, chance: random.Random) -> Typed | None:
    """Write an ``@@`` that is no line of the file."""
    del chance
    if edit.anchor is None:
        return None
    return replace(_typed(edit), anchor=re.sub(r"(\w+)(?=\W*$)", r"\1_of_old", edit.anchor, count=1))


def other_anchor(edit: Edit, chance: random.Random) -> Typed | None:
    """Write the ``@@`` of another definition: nobody can tell whether it or the hunk is wrong.

    Without a unique text it would be a good edit of another place, so those are left out.
    """
    others = [line.strip() for line in edit.before.lines if DEFINITION.match(line)]
    others = [line for line in others if line != edit.anchor]
    if not others or _count(edit.before.lines, edit.old) != 1:
        return None
    return replace(_typed(edit), anchor=chance.choice(others), hopeless=True)


def right_anchor(edit: Edit, chance: random.Random) -> Typed | None:
    """Write the ``@@`` of the definition around the hunk, and no context."""
    del chance
    bare = replace(edit, start=edit.start + edit.above, above=0, below=0,
                   old=edit.old[edit.above : len(edit.old) - edit.below],
                   new=edit.new[edit.above : len(edit.new) - edit.below])  # fmt: skip
    return replace(_typed(bare), anchor=edit.anchor) if bare.old and edit.anchor else None


def line_hint(edit: Edit, chance: random.Random) -> Typed:
    """Write a line number that is off by a few."""
    return replace(_typed(edit), line_hint=max(1, edit.start + 1 + chance.randint(-3, 3)))


def duplicated_neighbours(edit: Edit, chance: random.Random) -> Typed:
    """Repeat the hunk's old text right below it in the file: nobody can tell which is meant."""
    del chance
    end = edit.start + len(edit.old)
    lines = [*edit.before.lines[:end], *edit.old, *edit.before.lines[end:]]
    file = decode("".join(f"{line}\n" for line in lines).encode(), edit.path)
    return replace(_typed(edit), file=file, expected=(), hopeless=True)


def duplicated_with_anchor(edit: Edit, chance: random.Random) -> Typed | None:
    """Repeat the text in a definition of its own below; the ``@@`` tells them apart."""
    del chance
    if edit.anchor is None:
        return None
    copy = ["", "def another_one_of_them():", *edit.old, ""]
    lines = [*edit.before.lines, *copy]
    file = decode("".join(f"{line}\n" for line in lines).encode(), edit.path)
    return replace(_typed(edit), file=file, expected=tuple(edit.after(file)), anchor=edit.anchor)


def target_gone(edit: Edit, chance: random.Random) -> Typed | None:
    """Remove the lines to change, and their neighbours, from the file."""
    del chance
    if len(edit.old) == edit.above + edit.below:
        return None
    lines = [*edit.before.lines[: edit.start], *edit.before.lines[edit.start + len(edit.old) :]]
    if not lines or _count(lines, edit.old):
        return None
    file = decode("".join(f"{line}\n" for line in lines).encode(), edit.path)
    return replace(_typed(edit), file=file, expected=(), hopeless=True)


def copy_elsewhere(edit: Edit, chance: random.Random) -> Typed | None:
    """Remove the lines to change from the definition that the ``@@`` names; another one has a copy."""
    gone = target_gone(edit, chance)
    if gone is None or edit.anchor is None:
        return None
    body = [f"    {line.strip()}" if line.strip() else line for line in edit.old]
    lines = ["def another_one_of_them():", *body, "", *gone.file.lines]
    return replace(
        gone, file=decode("".join(f"{line}\n" for line in lines).encode(), edit.path), anchor=edit.anchor
    )


DAMAGES: tuple[Damage, ...] = (
    none, trailing_space, indent_shift, tabs_for_spaces, punctuation, other_quotes, elision, stale_context,
    dropped_blank, dropped_context, misspelt_anchor, other_anchor, right_anchor, line_hint,
    duplicated_neighbours, duplicated_with_anchor, target_gone, copy_elsewhere,
)  # fmt: skip


def _context(edit: Edit) -> list[int]:
    return [*range(edit.above), *range(len(edit.old) - edit.below, len(edit.old))]


def _at(edit: Edit, index: int, change: Callable[[str], list[str]]) -> Typed:
    """The edit with the context line ``index`` of the old text changed, in the new text too.

    It is hopeless when what is left says too little, or stands elsewhere too.
    """
    other = index if index < edit.above else index - len(edit.old) + len(edit.new)
    old = [*edit.old[:index], *change(edit.old[index]), *edit.old[index + 1 :]]
    new = [*edit.new[:other], *change(edit.new[other]), *edit.new[other + 1 :]]
    left = [line for at, line in enumerate(edit.old) if at != index]
    telling = [line for line in left if any(map(str.isalnum, line))]
    alike = (
        _count(edit.before.lines, edit.old[:index]) > 1
        and _count(edit.before.lines, edit.old[index + 1 :]) > 1
    )
    few = len(telling) < 2 or sum(map(str.isalnum, "".join(telling))) < 2 * _ENOUGH_TO_TELL
    return replace(_typed(edit, old, new), hopeless=few or alike)


def _count(lines: Sequence[str], wanted: Sequence[str]) -> int:
    """Count the places where lines occur, ignoring white space and quotes, as a person would."""

    def bare(text: Sequence[str]) -> list[str]:
        return [re.sub(r"[\s'\"`\u2019\u201d]+", "", line).replace("\u2013", "-") for line in text]

    file, old = bare(lines), bare(wanted)
    if not old:
        return 2
    return sum(file[at : at + len(old)] == old for at in range(len(file) - len(old) + 1))


def hopeless(edit: Edit, typed: Typed) -> bool:
    """Return whether even a careful person could not say where the edit goes."""
    if typed.hopeless:
        return True
    exact = _count(typed.file.lines, edit.old)
    told = typed.anchor is not None or typed.line_hint is not None
    letters = sum(map(str.isalnum, "".join(typed.old)))
    return (exact > 1 and not told) or letters < _ENOUGH_TO_TELL
