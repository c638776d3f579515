"""Places hunks of real commits, damaged as models damage the edits they write.

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
from dataclasses import dataclass, field
from pathlib import Path

from edits.files.diff import Change, changes
from edits.files.text import FileError, decode
from edits.formats.detect import AutoParser
from edits.formats.events import Completed
from edits.hunk import Action, Rung
from edits.placing.blank_lines import occurrences
from edits.placing.found import Place, Present
from edits.placing.locate import locate
from edits.placing.splices import spliced, splices
from tests.bench.damages import DAMAGES, DEFINITION, Edit, Typed, hopeless

SUFFIXES = (".py", ".rs", ".js", ".go", ".ts", ".c", ".md", ".toml", ".txt", ".rb", ".java")
_LONGEST_FILE = 6000
_LONGEST_RUN = 30


@dataclass(slots=True)
class Tally:
    """The results for hunks with one kind of damage."""

    right: int = 0
    refused: int = 0
    hopeless: int = 0
    wrong: int = 0
    rungs: Counter[Rung] = field(default_factory=Counter)
    wrong_rungs: Counter[Rung] = field(default_factory=Counter)


def git(repository: str, *words: str) -> bytes:
    """Return what a git command prints."""
    return subprocess.run(["git", "-C", repository, *words], capture_output=True, check=True).stdout


def edits_of(repository: str, commits: int, chance: random.Random) -> Iterator[Edit]:
    """Return changes from commits spread over a repository's history, at most two of each file."""
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
    """Return the line of the definition around ``start``, as models write it after ``@@``."""
    depth = _depth(lines[min(start, len(lines) - 1)])
    for line in reversed(lines[:start]):
        if not line.strip() or _depth(line) >= depth:
            continue
        depth = _depth(line)
        if DEFINITION.match(line):
            return line.strip()
    return None


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip())


def written(typed: Typed, path: str, chance: random.Random) -> str:
    """Write the edit in one of the two formats, by what only one of them can express."""
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
    """Return ``right``, ``refused`` or ``wrong``, and the rung that placed the hunk."""
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
    """Return whether two texts are equal. Trailing space counts only where the damage wrote none."""
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
    """Return the counts, one line for each damage, then what each rung placed."""
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
    """Print the tables of the given repositories, each and together."""
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
