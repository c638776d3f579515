"""Measures whether an issue finds its file: ``python -m tests.bench.localisation_bench LIST CLONE...``.

``LIST`` is a JSON list in the form of SWE-bench: ``repo``, ``base_commit``, ``problem_statement`` and
``patch`` of each instance. It is no part of this project. A clone is in a folder ``OWNER+NAME``. With ``-``
for a list, the instances are commits of the clones that ``commit_replay`` would take, and their messages
without what looks like code.

The tree is checked out at the commit, and the issue is asked with nothing in hand; no model is asked.
Printed are the shares of the instances of which all files of the patch are the first, and among the first
five, of spark's order without tests; of which the window *as a session builds it* at 16,000 tokens shows
all as text, and at least names their definitions; and the share of the old lines of the patch that it
shows. Beside it stand BM25 over whole files (the order) and over functions (the window). Asserts nothing.
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import subprocess
import tempfile
from pathlib import Path

from context.find.named_definitions import is_aside
from context.find.ranking import rank
from context.project.project import Project
from context.project.snapshot import Snapshot
from context.text.tokens import Counter
from tests.bench.commit_replay import interval
from tests.bench.replay_peers import Filled, bm25_functions, ranked_files
from tests.bench.replay_session import SessionWindows
from tests.bench.replay_truth import commits, git, is_source, masked, truth

BUDGET = 16_000
MEASURES = ("top 1", "top 5", "text", "named", "lines")
_FILE = re.compile(r"^--- a/(.+)$", re.MULTILINE)


def gold(patch: str) -> tuple[set[str], set[tuple[str, str]]]:
    """The files that a patch changes, and the lines that it removes, stripped, with their files."""
    lines, path = set(), ""
    for line in patch.split("\n"):
        if match := _FILE.match(line):
            path = match[1]
        elif line.startswith("-") and not line.startswith("--- ") and len(line.strip("- \t")) > 3:
            lines.add((path, line[1:].strip()))
    return set(_FILE.findall(patch)), lines


def made_list(folder: Path, count: int) -> list[dict[str, str]]:
    """Instances from the commits of a clone."""
    made = []
    for commit in commits(folder, count, 1500):
        found = truth(folder, commit)
        if found is not None:
            paths = sorted({*found.files, found.given})
            patch = git(folder, "diff", "--no-ext-diff", found.parent, commit, "--", *paths)
            made.append(
                {"base_commit": found.parent, "problem_statement": masked(found.message), "patch": patch}
            )
    return made


def measured(order: list[str], shown: Filled, patch: str) -> dict[str, float]:
    """The figures of one instance from an order of files and a filled window."""
    files, lines = gold(patch)
    first = [path for path in order if not is_aside(path)]
    figures = {
        "top 1": float(files <= set(first[: max(1, len(files))])),
        "top 5": float(files <= set(first[:5])),
        "text": float(files <= shown.texts.keys()),
        "named": float(files <= shown.texts.keys() | shown.outlines.keys()),
    }
    if lines:
        figures["lines"] = statistics.fmean(line in shown.texts.get(path, ()) for path, line in lines)
    return figures


def orders(snapshot: Snapshot, issue: str) -> dict[str, list[str]]:
    """The order of source files by spark, and by BM25."""
    mine = [path for path in rank(snapshot, issue, []).order if is_source(path)]
    return {"spark": mine, "BM25": ranked_files(snapshot, issue)}


def main() -> None:
    """Measure the given clones."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("list", help="a JSON file, or - for the clones' own commits")
    options.add_argument("clones", nargs="+", type=Path)
    options.add_argument("--commits", type=int, default=10, help="how many of each clone, without a list")
    given = options.parse_args()
    every = [] if given.list == "-" else json.loads(Path(given.list).read_text("utf-8"))
    counter = Counter()
    counter.load()
    figures: dict[str, list[dict[str, float]]] = {"spark": [], "BM25": []}
    over = 0
    for clone in given.clones:
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(scratch) / "work"
            git(Path(scratch), "clone", "-q", "--shared", "--no-checkout", str(clone.resolve()), str(folder))
            title = next(part for part in reversed(clone.resolve().parts) if part not in ("repo", ".git"))
            mine = [each for each in every if each["repo"].replace("/", "+") == title]
            mine = mine if given.list != "-" else made_list(folder, given.commits)
            project = Project(folder, Path(scratch) / "cache")
            done = 0
            for each in mine:
                try:
                    git(folder, "checkout", "-q", "--detach", "--force", each["base_commit"])
                except subprocess.CalledProcessError:
                    continue
                snapshot, issue = project.scan(), each["problem_statement"]
                sessions = SessionWindows(project, counter)
                shown = {
                    "spark": sessions.first(issue, BUDGET),
                    "BM25": bm25_functions(snapshot, issue, "", BUDGET, counter),
                }
                over += sessions.over
                for name, order in orders(snapshot, issue).items():
                    figures[name].append(measured(order, shown[name], each["patch"]))
                done += 1
            project.close()
            print(f"{title}: {done} of {len(mine)}", flush=True)
    for name, found in figures.items():
        cells = []
        for measure in MEASURES:
            values = [each[measure] for each in found if measure in each]
            low, high = interval(values)
            cells.append(f"{measure} {statistics.fmean(values):.3f} ({low:.2f}-{high:.2f})")
        print(f"{name:6} n={len(found)}  " + "  ".join(cells))
    print(f"windows over their budget: {over}")


if __name__ == "__main__":
    main()
