"""Measures next edits after renames: ``python -m tests.bench.rename_bench WORK [--half judge] [--show]``.

Each rename of ``rename_cases.json`` is made at its definition alone, in a copy of its package, as a user
saves it. What is offered then is compared with what the language's own server would have written, line by
line: an offer is right where it makes the line that the server makes, and what the server would have changed
and is not offered is missed. Names in comments, which no server renames, are counted by themselves. Asserts
nothing."""

from __future__ import annotations

import argparse
import json
import shutil
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from context.code.languages import grammar_of, language_of
from context.project.project import Project
from session.assist.next_edit.causes import left_behind
from session.assist.next_edit.move import Moves
from session.assist.next_edit.rename import Rename
from tests.bench.rename_packages import packages
from tests.bench.rename_truth import CASES


@dataclass(slots=True)
class Tally:
    """What was offered and missed: lines, and edits with a false offer."""

    edits: int = 0
    wanted: int = 0
    right: int = 0
    false: int = 0
    comments: int = 0
    edits_with_false: int = 0
    seconds: list[float] = field(default_factory=list)

    def __str__(self) -> str:
        offers = self.right + self.false
        false = 100 * self.false / max(1, offers)
        found = 100 * self.right / max(1, self.wanted)
        slowest = max(self.seconds, default=0.0)
        return (
            f"{self.edits} edits, {offers} offers, {self.false} false ({false:.1f} %)"
            f" in {self.edits_with_false} edits, {self.right} of {self.wanted} places ({found:.1f} %),"
            f" {self.comments} in comments,"
            f" at most {slowest:.2f} s"
        )


def applied(lines: Sequence[str], edits: Sequence[Sequence[Any]]) -> dict[int, str]:
    """The lines that edits change, by their row."""
    made: dict[int, str] = {}
    for _, row, start, end, new in sorted(edits, key=lambda each: (each[1], -each[2])):
        line = made.get(row, lines[row])
        made[row] = line[:start] + new + line[end:]
    return made


def in_comment(path: str, text: str, row: int, name: str) -> bool:
    """Whether all places of a name in a line are in comments or strings."""
    from tree_sitter import Parser

    language = language_of(path)
    assert language is not None
    root = Parser(grammar_of(language)).parse(text.encode()).root_node
    line = text.encode().split(b"\n")[row]
    at = line.find(name.encode())
    while at >= 0:
        node = root.descendant_for_point_range((row, at), (row, at + len(name)))
        if node is None or not any(word in node.type for word in ("comment", "string", "doc")):
            return False
        at = line.find(name.encode(), at + 1)
    return True


def tried(case: Mapping[str, Any], folder: Path, *, show: bool) -> Tally:
    """Make one rename in ``folder``, which it changes, and see what is offered."""
    path, row = case["path"], case["line"]
    by_file: dict[str, list[Sequence[Any]]] = defaultdict(list)
    for edit in case["edits"]:
        by_file[edit[0]].append(edit)
    wanted: dict[tuple[str, int], str] = {}
    for each, edits in by_file.items():
        lines = (folder / each).read_text("utf-8").split("\n")
        wanted |= {(each, at): line for at, line in applied(lines, edits).items()}
    text = (folder / path).read_text("utf-8")
    before = text.split("\n")
    after = list(before)
    after[row] = wanted.pop((path, row))
    (folder / path).write_text("\n".join(after))
    project = Project(folder)
    project.scan()
    start = time.perf_counter()
    left = left_behind(((path, tuple(before)),), project.snapshot, Moves())
    tally = Tally(edits=1, wanted=len(wanted), seconds=[time.perf_counter() - start])
    seen: Counter[str] = Counter()
    for place in left.places:
        if not isinstance(place.cause, Rename) or place.cause.old != case["old"]:
            continue
        key = place.path, place.line - 1
        truth = wanted.pop(key, None)
        if place.new == (truth,):
            tally.right += 1
        elif in_comment(place.path, (folder / place.path).read_text(), place.line - 1, case["old"]):
            tally.comments += 1
        else:
            tally.false += 1
            seen["false"] += 1
            if show and seen["false"] < 6:
                print(f"   FALSE {place.path}:{place.line}: {place.old[0].strip()}")
                if truth is not None and place.new is not None:
                    print(f"         {place.new[0].strip()}\n         {truth.strip()}")
    tally.edits_with_false = int(tally.false > 0)
    if show and (wanted or tally.false):
        for each, at in list(wanted)[:6]:
            print(f"   MISSED {each}:{at + 1}: {(folder / each).read_text().splitlines()[at].strip()}")
        print(f"^ {case['package']} {path}:{row + 1} {case['old']}: {tally}")
    return tally


def added(tallies: Sequence[Tally]) -> Tally:
    """The sum."""
    made = Tally()
    for each in tallies:
        for name in ("edits", "wanted", "right", "false", "comments", "edits_with_false"):
            setattr(made, name, getattr(made, name) + getattr(each, name))
        made.seconds += each.seconds
    return made


def main() -> None:
    """Print a row for each language."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("work", type=Path)
    parser.add_argument("--half", default="judge")
    parser.add_argument("--only", default="")
    parser.add_argument("--show", action="store_true")
    parser.add_argument("--cases", type=Path, default=CASES)
    given = parser.parse_args()
    cases = json.loads(given.cases.read_text())
    by_language: dict[str, list[Tally]] = defaultdict(list)
    for package in packages():
        if package.half != given.half or given.only not in ("", package.name, package.language):
            continue
        root = package.fetched(given.work.resolve())
        named = package.name, package.language
        for case in (each for each in cases if (each["package"], each["language"]) == named):
            with tempfile.TemporaryDirectory() as folder:
                copied = Path(folder) / "project" / root.name
                shutil.copytree(root, copied, ignore=shutil.ignore_patterns("node_modules"))
                by_language[package.language].append(tried(case, copied, show=given.show))
    for language, tallies in by_language.items():
        print(f"{language}: {added(tallies)}")
    print(f"all: {added([each for tallies in by_language.values() for each in tallies])}")


if __name__ == "__main__":
    main()
