"""A small run of the bench of mutated commits, on a generated history: nothing lands in a wrong place."""

from __future__ import annotations

import random
import subprocess
from pathlib import Path

from edits.hunk import Rung
from tests.bench.mutated_commits import edits_of, run

WORDS = ("load", "store", "merge", "split", "render", "parse", "visit", "close", "open", "flush")


def source(chance: random.Random) -> list[str]:
    """A module of functions that are much alike, as real ones are."""
    lines = ["import os", "", ""]
    for number in range(25):
        verb, noun = chance.choice(WORDS), chance.choice(WORDS)
        lines += [f"def {verb}_{noun}_{number}(path, options):", f"    name = {noun}(path, '{verb}')"]
        lines += [f"    if options.get({number % 4}):", f"        {verb}(name)", "        return None", ""]
        lines += [f"    result = {noun}_all(name, {number})", "    return result", "", ""]
    return lines


def history(folder: Path, commits: int) -> None:
    """A repository whose commits change, add and delete a few lines each."""
    chance = random.Random(5)
    told: list[str] = []
    lines = source(chance)
    for number in range(commits):
        at = chance.randrange(3, len(lines) - 6)
        match number % 3:
            case 0:
                lines[at : at + 1] = [f"    changed = {number}  # {lines[at].strip()}"]
            case 1:
                lines[at:at] = [f"    added_{number} = '{number}'", f"    use(added_{number})"]
            case _:
                del lines[at : at + 2]
        text, message = "".join(f"{line}\n" for line in lines), f"change {number}"
        told += ["commit refs/heads/main", f"committer T <t@example.org> {number} +0000"]
        told += [f"data {len(message)}", message, f"M 644 inline module.py\ndata {len(text)}", text]
    subprocess.run(["git", "init", "-q", "-b", "main", str(folder)], check=True)
    given = "".join(f"{line}\n" for line in told)
    subprocess.run(["git", "-C", str(folder), "fast-import", "--quiet"], input=given, text=True, check=True)


def test_no_damaged_edit_of_a_history_lands_in_the_wrong_place(tmp_path: Path) -> None:
    history(tmp_path, 45)
    edits = list(edits_of(str(tmp_path), 44, random.Random(1)))
    tallies = run(edits, seed=1)
    assert sum(tally.wrong for tally in tallies.values()) == 0
    assert tallies["none"].refused == 0 and tallies["none"].right >= 30
    placed = set().union(*(tally.rungs for tally in tallies.values()))
    assert placed == set(Rung)
    right = sum(tally.right for tally in tallies.values())
    refused = sum(tally.refused for tally in tallies.values())
    assert right > 19 * refused
