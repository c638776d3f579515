"""Real commits, written as a model writes edits and damaged as models damage them.

``python -m tests.bench.mutated_commits REPO... [--commits N] [--seed S] [--show]`` reads the histories of git
repositories (bare ones too) and writes nothing. Each changed run of a diff becomes a hunk, as
SEARCH/REPLACE or V4A with up to three lines of context, and is damaged in one way. The text goes
through the parser and the ladder, and what comes out is compared with what the undamaged hunk would
have left:

- *right*: the same bytes, but for the lines that the damage itself makes unknowable (see ``same``);
- *refused*: nothing was changed; *hopeless* ones no careful person could have placed either, because
  the text stands in several places or says next to nothing, and they do not count against the goal;
- *wrong*: anything else.
"""

from __future__ import annotations

import argparse
import random
import re
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from edits.diff import Change, changes
from edits.formats.detect import AutoParser
from edits.formats.events import Completed
from edits.hunk import Action, Rung
from edits.locate import Place, Present, locate
from edits.match import occurrences
from edits.plan import spliced, splices
from edits.text import FileError, TextFile, decode

SUFFIXES = (".py", ".rs", ".js", ".go", ".ts", ".c", ".md", ".toml", ".txt", ".rb", ".java")
_LONGEST_FILE = 6000
_LONGEST_RUN = 30
_DEFINITION = re.compile(r"\s*(class|def|async def|fn|pub fn|func|function|impl|struct|type)\b")
# A careful person needs so many letters and digits of old text to be sure of a place.
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
        """The lines of the file with the run changed."""
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


@dataclass(slots=True)
class Tally:
    """What became of the hunks with one damage."""

    right: int = 0
    refused: int = 0
    hopeless: int = 0
    wrong: int = 0
    rungs: Counter[Rung] = field(default_factory=Counter)
    wrong_rungs: Counter[Rung] = field(default_factory=Counter)


def git(repository: str, *words: str) -> bytes:
    """What a git command prints."""
    return subprocess.run(["git", "-C", repository, *words], capture_output=True, check=True).stdout


def edits_of(repository: str, commits: int, chance: random.Random) -> Iterator[Edit]:
    """Changed runs of commits spread over a repository's history, at most two of each file."""
    hashes = git(repository, "rev-list", "--no-merges", "HEAD").decode().split()
    for commit in chance.sample(hashes[:-1], min(commits, len(hashes) - 1)):
        listing = git(repository, "diff-tree", "-r", "--diff-filter=M", f"{commit}~", commit).decode()
        for line in listing.splitlines()[:4]:
            meta, path = line.split("\t", 1)
            if not path.endswith(SUFFIXES):
                continue
            _, _, old, new, _ = meta.split()
            yield from _runs(
                path,
                git(repository, "cat-file", "blob", old),
                git(repository, "cat-file", "blob", new),
                chance,
            )


def _runs(path: str, before: bytes, after: bytes, chance: random.Random) -> Iterator[Edit]:
    try:
        file, later = decode(before, path), decode(after, path)
    except FileError:
        return
    if not 3 <= len(file.lines) <= _LONGEST_FILE:
        return
    found = [change for change in changes(file.lines, later.lines) if _fits(change)]
    for change in chance.sample(found, min(2, len(found))):
        context = chance.choice((0, 1, 2, 3, 3))
        above = min(context, change.start)
        below = min(context, len(file.lines) - change.end)
        start = change.start - above
        head, tail = file.lines[start : change.start], file.lines[change.end : change.end + below]
        old = (*head, *file.lines[change.start : change.end], *tail)
        new = (*head, *later.lines[change.new_start : change.new_end], *tail)
        edit = Edit(path, file, start, above, below, old, new, _anchor(file.lines, start))
        if old and _writable(old + new):
            yield edit


def _fits(change: Change) -> bool:
    return change.end - change.start <= _LONGEST_RUN and change.new_end - change.new_start <= _LONGEST_RUN


def _writable(lines: Sequence[str]) -> bool:
    return not any(re.match(r"[<=>-]{5}|\*\*\* |@@|```", line) for line in lines)


def _anchor(lines: Sequence[str], start: int) -> str | None:
    """The line of the definition around ``start``, as models write it after ``@@``."""
    depth = _depth(lines[min(start, len(lines) - 1)])
    for line in reversed(lines[:start]):
        if not line.strip() or _depth(line) >= depth:
            continue
        depth = _depth(line)
        if _DEFINITION.match(line):
            return line.strip()
    return None


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip())


def _typed(edit: Edit, old: Sequence[str] | None = None, new: Sequence[str] | None = None) -> Typed:
    old = edit.old if old is None else tuple(old)
    new = edit.new if new is None else tuple(new)
    return Typed(old, new, edit.before, tuple(edit.after()))


def _both(edit: Edit, change: Callable[[str], str]) -> Typed:
    return _typed(edit, [change(line) for line in edit.old], [change(line) for line in edit.new])


def none(edit: Edit, chance: random.Random) -> Typed:
    """As the commit has it."""
    del chance
    return _typed(edit)


def trailing_space(edit: Edit, chance: random.Random) -> Typed:
    """Trailing space on some old lines."""
    return _typed(edit, [line + "  " if chance.random() < 0.4 else line.rstrip() for line in edit.old])


def indent_shift(edit: Edit, chance: random.Random) -> Typed | None:
    """All lines at the left edge, or four deeper."""
    if chance.random() < 0.5:
        return _both(edit, lambda line: f"    {line}" if line.strip() else line)
    depths = [len(line) - len(line.lstrip()) for line in (*edit.old, *edit.new) if line.strip()]
    least = min(depths, default=0)
    return _both(edit, lambda line: line[least:] if line.strip() else line) if least else None


def tabs_for_spaces(edit: Edit, chance: random.Random) -> Typed | None:
    """Tabs where the file has four spaces, or four spaces where it has tabs."""
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
    """Typographic quotes and dashes in the old lines."""
    del chance
    table = str.maketrans({"'": "\u2019", '"': "\u201d", "-": "\u2013"})
    typed = _typed(edit, [line.translate(table) for line in edit.old])
    return typed if typed.old != edit.old else None


def other_quotes(edit: Edit, chance: random.Random) -> Typed | None:
    """Double quotes for single ones in one context line."""
    spots = [index for index in _context(edit) if "'" in edit.old[index] or '"' in edit.old[index]]
    if not spots:
        return None
    table = str.maketrans({"'": '"', '"': "'"})
    return _at(edit, chance.choice(spots), lambda line: [line.translate(table)])


def elision(edit: Edit, chance: random.Random) -> Typed | None:
    """Lines left out between the definition above and the hunk."""
    del chance
    if edit.anchor is None or not edit.above:
        return None
    where = [i for i in range(edit.start - 2) if edit.before.lines[i].strip() == edit.anchor]
    if not where:
        return None
    first = (edit.before.lines[where[-1]], "...")
    return _typed(edit, (*first, *edit.old), (*first, *edit.new))


def stale_context(edit: Edit, chance: random.Random) -> Typed | None:
    """One context line as the model remembers it: a name in it is another one."""
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
    """Context lines that can be left out: not those next to an insertion, for on which side is it then?"""
    inserts = edit.above + edit.below == len(edit.old)
    return [index for index in _context(edit) if not inserts or index not in (edit.above - 1, edit.above)]


def _nearest_telling(edit: Edit) -> set[int]:
    above = [at for at in range(edit.above) if any(map(str.isalnum, edit.old[at]))]
    below = [
        at for at in range(len(edit.old) - edit.below, len(edit.old)) if any(map(str.isalnum, edit.old[at]))
    ]
    return {*above[-1:], *below[:1]}


def dropped_blank(edit: Edit, chance: random.Random) -> Typed | None:
    """A blank context line left out."""
    spots = [index for index in _droppable(edit) if not edit.old[index].strip()]
    return _at(edit, chance.choice(spots), lambda line: []) if spots else None


def dropped_context(edit: Edit, chance: random.Random) -> Typed | None:
    """A context line between others left out; next to the change a copy without it would look the same."""
    spots = [index for index in _droppable(edit) if 0 < index < len(edit.old) - 1]
    if not spots:
        return None
    index = chance.choice(spots)
    typed = _at(edit, index, lambda line: [])
    return replace(typed, hopeless=typed.hopeless or index in _nearest_telling(edit))


def misspelt_anchor(edit: Edit, chance: random.Random) -> Typed | None:
    """An ``@@`` that is no line of the file."""
    del chance
    if edit.anchor is None:
        return None
    return replace(_typed(edit), anchor=re.sub(r"(\w+)(?=\W*$)", r"\1_of_old", edit.anchor, count=1))


def other_anchor(edit: Edit, chance: random.Random) -> Typed | None:
    """The ``@@`` of another definition: one of the two is wrong, and who knows which.

    Without a unique text it would be a good edit of another place, so those are left out.
    """
    others = [line.strip() for line in edit.before.lines if _DEFINITION.match(line)]
    others = [line for line in others if line != edit.anchor]
    if not others or _count(edit.before.lines, edit.old) != 1:
        return None
    return replace(_typed(edit), anchor=chance.choice(others), hopeless=True)


def right_anchor(edit: Edit, chance: random.Random) -> Typed | None:
    """The ``@@`` of the definition around the hunk, and no context."""
    del chance
    bare = replace(edit, start=edit.start + edit.above, above=0, below=0,
                   old=edit.old[edit.above : len(edit.old) - edit.below],
                   new=edit.new[edit.above : len(edit.new) - edit.below])  # fmt: skip
    return replace(_typed(bare), anchor=edit.anchor) if bare.old and edit.anchor else None


def line_hint(edit: Edit, chance: random.Random) -> Typed:
    """A line number that is off by a few."""
    return replace(_typed(edit), line_hint=max(1, edit.start + 1 + chance.randint(-3, 3)))


def duplicated_neighbours(edit: Edit, chance: random.Random) -> Typed:
    """The file has the hunk's old text once more, right below: nobody can tell which is meant."""
    del chance
    end = edit.start + len(edit.old)
    lines = [*edit.before.lines[:end], *edit.old, *edit.before.lines[end:]]
    file = decode("".join(f"{line}\n" for line in lines).encode(), edit.path)
    return replace(_typed(edit), file=file, expected=(), hopeless=True)


def duplicated_with_anchor(edit: Edit, chance: random.Random) -> Typed | None:
    """The file has the text again in a definition of its own below; the ``@@`` tells them apart."""
    del chance
    if edit.anchor is None:
        return None
    copy = ["", "def another_one_of_them():", *edit.old, ""]
    lines = [*edit.before.lines, *copy]
    file = decode("".join(f"{line}\n" for line in lines).encode(), edit.path)
    return replace(_typed(edit), file=file, expected=tuple(edit.after(file)), anchor=edit.anchor)


def target_gone(edit: Edit, chance: random.Random) -> Typed | None:
    """The lines to change, and their neighbours, are not in the file any more."""
    del chance
    if len(edit.old) == edit.above + edit.below:
        return None
    lines = [*edit.before.lines[: edit.start], *edit.before.lines[edit.start + len(edit.old) :]]
    if not lines or _count(lines, edit.old):
        return None
    file = decode("".join(f"{line}\n" for line in lines).encode(), edit.path)
    return replace(_typed(edit), file=file, expected=(), hopeless=True)


def copy_elsewhere(edit: Edit, chance: random.Random) -> Typed | None:
    """The lines to change are gone from the definition the ``@@`` names, a copy of them is in another one."""
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
    """In how many places lines stand, white space and quotes aside, as a person would look for them."""

    def bare(text: Sequence[str]) -> list[str]:
        return [re.sub(r"[\s'\"`\u2019\u201d]+", "", line).replace("\u2013", "-") for line in text]

    file, old = bare(lines), bare(wanted)
    if not old:
        return 2
    return sum(file[at : at + len(old)] == old for at in range(len(file) - len(old) + 1))


def hopeless(edit: Edit, typed: Typed) -> bool:
    """Could a careful person not say where the edit goes?"""
    if typed.hopeless:
        return True
    exact = _count(typed.file.lines, edit.old)
    told = typed.anchor is not None or typed.line_hint is not None
    letters = sum(map(str.isalnum, "".join(typed.old)))
    return (exact > 1 and not told) or letters < _ENOUGH_TO_TELL


def written(typed: Typed, path: str, chance: random.Random) -> str:
    """The edit in one of the two formats; what only one of them can say decides."""
    if typed.anchor is None and (typed.line_hint is not None or chance.random() < 0.5):
        hint = f":start_line:{typed.line_hint}\n-------\n" if typed.line_hint is not None else ""
        old, new = ("".join(f"{line}\n" for line in lines) for lines in (typed.old, typed.new))
        return f"{path}\n````\n<<<<<<< SEARCH\n{hint}{old}=======\n{new}>>>>>>> REPLACE\n````\n"
    head = f"*** Begin Patch\n*** Update File: {path}\n@@{' ' + typed.anchor if typed.anchor else ''}\n"
    body: list[str] = []
    at = new_at = 0
    for change in [*changes(typed.old, typed.new), Change(len(typed.old), len(typed.old), len(typed.new), 0)]:
        body += [f" {line}" for line in typed.old[at : change.start]]
        body += [f"-{line}" for line in typed.old[change.start : change.end]]
        body += [f"+{line}" for line in typed.new[change.new_start : change.new_end]]
        at, new_at = change.end, change.new_end
    del new_at
    return head + "".join(f"{line}\n" for line in body) + "*** End Patch\n"


def outcome(typed: Typed, path: str, text: str) -> tuple[str, Rung | None]:
    """``right``, ``refused`` or ``wrong``, and the rung that placed the hunk."""
    parser = AutoParser()
    hunks = [
        event.hunk
        for event in [*parser.feed(text), *parser.close(clean=True)]
        if isinstance(event, Completed)
    ]
    lines, rung = list(typed.file.lines), None
    file = typed.file
    for hunk in hunks:
        if hunk.action is not Action.UPDATE:
            return ("refused", None)
        found = locate(file.lines, hunk)
        if isinstance(found, Place):
            made = splices(file, found, "\n")
            file = decode(file.encode(spliced(file, made)), path)
            rung = max(found.rung, rung or found.rung)
        elif not isinstance(found, Present):
            return ("refused", None)
    lines = list(file.lines)
    if lines == list(typed.file.lines):
        return ("right" if lines == list(typed.expected) else "refused", rung)
    return ("right" if same(lines, typed.expected) else "wrong", rung)


def same(lines: Sequence[str], expected: Sequence[str]) -> bool:
    """Equal, trailing space aside: where the damage wrote some, nobody can know it from the commit's own."""
    return [line.rstrip() for line in lines] == [line.rstrip() for line in expected]


def run(edits: Sequence[Edit], seed: int, show: Callable[[str], None] | None = None) -> dict[str, Tally]:
    """Damage each edit in every way, and count what became of it."""
    tallies: dict[str, Tally] = {}
    for number, edit in enumerate(edits):
        for damage in DAMAGES:
            chance = random.Random(f"{seed} {number} {damage.__name__}")
            typed = damage(edit, chance)
            if typed is None or typed.old == typed.new or not _writable(typed.old + typed.new):
                continue
            if typed.old != edit.old and occurrences(typed.file.lines, typed.old):
                # The damage made it a good edit of another place.
                continue
            tally = tallies.setdefault(damage.__name__, Tally())
            text = written(typed, edit.path, chance)
            result, rung = outcome(typed, edit.path, text)
            if result == "refused":
                lost = hopeless(edit, typed)
                tally.hopeless += lost
                tally.refused += not lost
            elif result == "right":
                tally.right += 1
            else:
                tally.wrong += 1
            if rung is not None and result != "refused":
                (tally.rungs if result == "right" else tally.wrong_rungs)[rung] += 1
            if show and (result == "wrong" or (result == "refused" and not hopeless(edit, typed))):
                show(f"--- {result} {damage.__name__} rung {rung} {edit.path}:{edit.start + 1}\n{text}")
    return tallies


def table(tallies: dict[str, Tally]) -> str:
    """The counts, one damage a line, then what each rung placed."""
    rows = [f"{'damage':24}{'right':>8}{'refused':>9}{'wrong':>7}{'hopeless':>10}{'right %':>9}"]
    total = Tally()
    for name, one in tallies.items():
        for item in ("right", "refused", "wrong", "hopeless"):
            setattr(total, item, getattr(total, item) + getattr(one, item))
        total.rungs.update(one.rungs)
        total.wrong_rungs.update(one.wrong_rungs)
        rows.append(_row(name, one))
    rows.append(_row("all", total))
    rows.append("")
    rows += [
        f"rung {rung.value} {rung.name.lower():9}"
        f" placed right {total.rungs[rung]:6}, wrong {total.wrong_rungs[rung]:4}"
        for rung in Rung
    ]
    return "\n".join(rows)


def _row(name: str, one: Tally) -> str:
    could = one.right + one.refused + one.wrong
    share = f"{100 * one.right / could:8.1f}%" if could else "        -"
    return f"{name:24}{one.right:8}{one.refused:9}{one.wrong:7}{one.hopeless:10}{share}"


def main() -> None:
    """Print the tables of the repositories given, each and together."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("repository", nargs="+")
    options.add_argument("--commits", type=int, default=200)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--show", action="store_true", help="print every edit that was wrong or refused")
    given = options.parse_args()
    for repository in given.repository:
        chance = random.Random(given.seed)
        edits = list(edits_of(repository, given.commits, chance))
        print(f"{Path(repository).resolve().parent.name}: {len(edits)} hunks")
        print(table(run(edits, given.seed, print if given.show else None)), end="\n\n")


if __name__ == "__main__":
    main()
