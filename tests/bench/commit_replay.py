"""Measures how much of a commit is in the window: ``python -m tests.bench.commit_replay CLONE...``.

For each commit (no merge, 2 to 8 source files) the parent is checked out in a temporary clone, and a session
is asked for the commit. The truth is what else it touched: the files, the definitions around the hunks, the
old lines that were edited; and of the files, how many are shown as text. History is read from ancestors only.

The modes: ``on`` has the commit's message and one of its files in hand, ``off`` only that file, ``masked``
the message without what looks like code, ``cold`` the message's first line and no file in hand, ``second``
the same as a second turn, after a first one about another commit of the project, ``afresh`` that of
``masked`` as a second turn whose conversation has run full, so that its window is started afresh. In the
states of ``DIRTY`` the tree has changes: in ``dirty`` the file in hand is as the commit leaves it and the
request is "Go on."; in ``landed`` hunks of this session made it so, and that is committed; in ``large`` a
long file that the commit edits has one other line changed, and the request is the message; ``largenamed``
names that file too. A commit without such a file has no figure there.

Recall is the mean over commits, with the 95 % interval of a bootstrap; a peer's line has the interval of its
paired difference to spark. With ``--equal`` each peer is measured again with the tokens that spark spent
(``=``). Prints where a peer is ahead of spark. Asserts nothing.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import subprocess
import tempfile
import time
from collections import defaultdict
from pathlib import Path

from context.project.project import Project
from context.text.tokens import Counter
from tests.bench.aider_peer import NAME, AiderMap
from tests.bench.replay_peers import PEERS, Filled, Filler
from tests.bench.replay_session import SessionWindows
from tests.bench.replay_truth import Truth, commits, git, masked, truth

BUDGETS = (8_000, 32_000, 100_000)
DIRTY = ("dirty", "landed", "large", "largenamed")
MODES = ("on", "off", "masked", "cold", "second", "afresh", *DIRTY)
MEASURES = ("file", "definition", "line", "text")
SPARK = "spark"
RESAMPLES = 1000
_SECOND, _AFRESH = "second", "afresh"
_LATER = (_SECOND, _AFRESH)
"""The modes that the peers have not: they know of one request only."""
_GOES_ON = ("dirty", "landed")
_COMMIT = ("-c", "user.name=x", "-c", "user.email=x@y.z", "commit", "--no-verify")
_LARGE = 20_000
"""Length in characters from which a file counts as long."""

Scores = defaultdict[tuple[str, int, str], dict[str, dict[str, float]]]
"""The figures of each commit by (mode, budget, filler): its hash, then the measure or ``tokens``."""


def recall(found: Truth, shown: Filled) -> dict[str, float]:
    """Return the share of the truth that is shown, without the kinds that the commit has none of."""
    files = [path in shown.texts or path in shown.outlines for path in found.files]
    definitions = [
        shows(
            shown.texts.get(wanted.path, set()) | shown.outlines.get(wanted.path, set()),
            wanted.head,
            wanted.signature,
        )
        for wanted in found.definitions
    ]
    lines = [line.partition(" — ")[0] in shown.texts.get(path, set()) for path, line in found.lines]
    texts = [path in shown.texts for path in found.files]
    each = zip(MEASURES, (files, definitions, lines, texts), strict=True)
    return {name: statistics.fmean(values) for name, values in each if values}


def shows(lines: set[str], head: str, signature: str) -> bool:
    """Return whether lines show a definition: its first line, or its signature, which a map may have cut."""
    if not {head, signature}.isdisjoint(lines):
        return True
    return any(line.endswith("…") and signature.startswith(line[:-1]) for line in lines)


def asked(found: Truth, mode: str) -> tuple[str, str]:
    """The words of a request and the file in hand; empty where there is none."""
    if mode in ("cold", _SECOND):
        return found.message.partition("\n")[0], ""
    if mode in DIRTY:
        return ("Go on." if mode in _GOES_ON else found.message), ""
    message = found.message if mode == "on" else "" if mode == "off" else masked(found.message)
    return message, found.given


def prompt(words: str, given: str) -> str:
    """The request as a user would write it."""
    return f'{words}\n\nI begin with @"{given}".'.lstrip() if given else words


def dirtied(folder: Path, found: Truth, mode: str) -> str:
    """Change one file of the tree as ``mode`` says, and return its path; empty where there is none."""
    if mode in _GOES_ON:
        text = git(folder, "show", f"{found.commit}:{found.given}")
        (folder / found.given).write_text(text, "utf-8", newline="")
        if mode == "landed":
            git(folder, *_COMMIT, "-qam", "work")
        return found.given
    long = [path for path in sorted(found.files) if (folder / path).stat().st_size >= _LARGE]
    if not long:
        return ""
    text = (folder / long[0]).read_text("utf-8", "replace")
    lines = text.split("\n")
    edited = {line for path, line in found.lines if path == long[0]}
    others = [at for at, line in enumerate(lines) if line.strip() and line.strip() not in edited]
    lines[random.Random(found.commit).choice(others)] += " "
    (folder / long[0]).write_text("\n".join(lines), "utf-8", newline="")
    return long[0]


class Replay:
    """The replay of one clone."""

    def __init__(self, given: argparse.Namespace, counter: Counter) -> None:
        self.scores: Scores = defaultdict(dict)
        self.over = self.made = 0
        self._given, self._counter = given, counter
        self._seconds: list[float] = []

    def run(self, clone: Path) -> None:
        """Replay the commits of a clone."""
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(scratch) / "work"
            git(Path(scratch), "clone", "-q", "--shared", "--no-checkout", str(clone.resolve()), str(folder))
            chosen = commits(folder, self._given.commits, self._given.reach)
            project = Project(folder, Path(scratch) / "cache")
            started = time.monotonic()
            peers: dict[str, Filler] = {name: PEERS[name] for name in self._given.peers}
            aider = AiderMap(self._given.aider, clone, Path(scratch) / "aider") if self._given.aider else None
            if aider is not None:
                peers[NAME] = aider
            subjects = [git(folder, "log", "-1", "--format=%s", commit).strip() for commit in chosen]
            for at, commit in enumerate(chosen):
                try:
                    found = truth(folder, commit)
                except subprocess.CalledProcessError as problem:
                    print(f"{title(clone)}: {commit[:10]} left out: git exits with {problem.returncode}")
                    continue
                if found is None:
                    continue
                if aider is not None:
                    aider.check_out(found.parent)
                self._commit(found, subjects[at - 1], project, peers)
                for mode in self._given.modes:
                    if mode in DIRTY:
                        self._dirty(found, mode, project, peers)
            ends = f"from {chosen[0][:10]} to {chosen[-1][:10]}" if chosen else ""
            print(
                f"\n{title(clone)}: {len(chosen)} commits {ends}, {len(project.snapshot.entries)} files, "
                f"{time.monotonic() - started:.0f} s, a window of spark "
                f"{statistics.median(self._seconds or [0]) * 1000:.0f} ms",
                flush=True,
            )
            project.close()
            if aider is not None:
                aider.close()
                print(f"{NAME}: {aider.over} of {aider.made} windows over their budget")

    def _commit(self, found: Truth, before: str, project: Project, peers: dict[str, Filler]) -> None:
        snapshot = project.scan()
        sessions = SessionWindows(project, self._counter)
        for mode in (mode for mode in self._given.modes if mode not in DIRTY):
            words, given = asked(found, mode)
            prompts = [prompt(words, given)]
            if mode in _LATER:
                prompts.insert(0, before)
            for budget in self._given.budgets:
                start = time.perf_counter()
                shown = sessions.turns(prompts, budget, full=mode == _AFRESH)
                self._seconds.append((time.perf_counter() - start) / len(prompts))
                self._take(found, (mode, budget, SPARK), shown)
                for name, fill in peers.items():
                    if mode not in _LATER and (given or name != NAME):
                        self._take(
                            found, (mode, budget, name), fill(snapshot, words, given, budget, self._counter)
                        )
                        if self._given.equal and name != NAME:
                            equal = fill(snapshot, words, given, shown.tokens, self._counter)
                            self._take(found, (mode, budget, f"{name} ="), equal)
        self.over += sessions.over
        self.made += sessions.made

    def _dirty(self, found: Truth, mode: str, project: Project, peers: dict[str, Filler]) -> None:
        folder = project.root
        before = (folder / found.given).read_text("utf-8", "replace")
        path = dirtied(folder, found, mode)
        if path:
            after = (folder / found.given).read_text("utf-8", "replace")
            edited = (path, before, after) if mode == "landed" else None
            snapshot = project.scan()
            sessions = SessionWindows(project, self._counter)
            words, _ = asked(found, mode)
            given = path if mode == "largenamed" else ""
            for budget in self._given.budgets:
                mine = sessions.turns([prompt(words, given)], budget, edited=edited)
                self._take(found, (mode, budget, SPARK), mine)
                for name, fill in peers.items():
                    if name != NAME:
                        shown = fill(snapshot, words, path, budget, self._counter)
                        self._take(found, (mode, budget, name), shown)
                        if self._given.equal:
                            equal = fill(snapshot, words, path, mine.tokens, self._counter)
                            self._take(found, (mode, budget, f"{name} ="), equal)
            self.over += sessions.over
            self.made += sessions.made
        git(folder, "checkout", "-q", "--force", found.parent)

    def _take(self, found: Truth, cell: tuple[str, int, str], shown: Filled) -> None:
        self.scores[cell][found.commit] = {**recall(found, shown), "tokens": shown.tokens}


def title(clone: Path) -> str:
    """The name of a clone's project."""
    parts = [part for part in clone.resolve().parts if part not in ("repo", ".git")]
    return parts[-1]


def interval(values: list[float]) -> tuple[float, float]:
    """Return the 95 % bootstrap interval of the mean."""
    chance = random.Random(0)
    means = sorted(statistics.fmean(chance.choices(values, k=len(values))) for _ in range(RESAMPLES))
    return means[int(RESAMPLES * 0.025)], means[int(RESAMPLES * 0.975)]


def print_table(scores: Scores) -> None:
    """Print a line for each mode, budget and filler, then where spark is behind."""
    print(
        f"{'mode':10}{'budget':>8}  {'filler':17}{'tokens':>8}" + "".join(f"{name:>21}" for name in MEASURES)
    )
    losses = []
    for (mode, budget, name), found in scores.items():
        mine = scores[mode, budget, SPARK]
        cells = []
        for measure in MEASURES:
            values = {key: each[measure] for key, each in found.items() if measure in each}
            if not values:
                cells.append("")
                continue
            mean = statistics.fmean(values.values())
            if name == SPARK:
                low, high = interval(list(values.values()))
                cells.append(f"{mean:7.2f} ({low:.2f}-{high:.2f})")
                continue
            ours = [mine[key][measure] for key in values]
            ahead = [value - own for value, own in zip(values.values(), ours, strict=True)]
            low, high = interval(ahead)
            cells.append(f"{mean:7.2f} ({low:+.2f} {high:+.2f})")
            if statistics.fmean(ahead) > 0.005:
                losses.append(f"{mode} {budget:,} {measure}: {name} {mean:.2f} [{low:+.2f}, {high:+.2f}]")
        tokens = statistics.fmean(each["tokens"] for each in found.values())
        print(f"{mode:10}{budget:8,}  {name:17}{tokens:8,.0f}" + "".join(f"{cell:>21}" for cell in cells))
    print("\n".join(["a peer is ahead:", *(losses or ["nowhere"])]), flush=True)


def main() -> None:
    """Replay the given clones."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("clones", nargs="+", type=Path)
    options.add_argument("--commits", type=int, default=20, help="how many of each clone")
    options.add_argument("--reach", type=int, default=1500, help="out of how many of the newest")
    options.add_argument("--aider", help="an interpreter that has aider, to measure its map too")
    options.add_argument("--peers", nargs="*", default=list(PEERS), choices=list(PEERS))
    options.add_argument("--modes", nargs="*", default=list(MODES), choices=list(MODES))
    options.add_argument("--budgets", nargs="*", type=int, default=list(BUDGETS))
    options.add_argument("--equal", action="store_true", help="measure peers with as many tokens too")
    options.add_argument("--each", action="store_true", help="print a table of each clone too")
    options.add_argument("--out", type=Path, help="a JSON file for the figures of each commit")
    given = options.parse_args()
    counter = Counter()
    counter.load()
    together: Scores = defaultdict(dict)
    over = made = 0
    for clone in given.clones:
        replay = Replay(given, counter)
        replay.run(clone)
        if len(given.clones) == 1 or given.each:
            print_table(replay.scores)
        for cell, values in replay.scores.items():
            together[cell] |= values
        over += replay.over
        made += replay.made
    if len(given.clones) > 1:
        print("\nall clones together")
        print_table(together)
    print(f"windows of spark over their budget: {over} of {made:,}")
    if given.out:
        given.out.write_text(json.dumps([[*cell, values] for cell, values in together.items()]), "utf-8")


if __name__ == "__main__":
    main()
