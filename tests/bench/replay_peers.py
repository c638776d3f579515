"""Simple ways to fill a window, measured beside spark's in the same run.

Each gets the same file first. All but ``all outlines`` then add whole files in their order as long as they
fit. aider's map is in ``aider_peer.py``: it needs over a hundred packages of its own.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from context.disk.source import Source
from context.project.project_paths import nearness, project_paths
from context.project.snapshot import Snapshot
from context.text.fences import fenced
from context.text.tokens import Counter
from context.text.words import words
from context.window.pieces import Kind
from context.window.window import Window, WindowRequest, build
from tests.bench.replay_truth import is_source

INSTRUCTIONS = "You are a pair programmer.\n"


@dataclass(frozen=True, slots=True)
class Filled:
    """The lines of texts and of outlines that a window showed, stripped, by path."""

    tokens: int
    texts: dict[str, set[str]]
    outlines: dict[str, set[str]]


Filler = Callable[[Snapshot, str, str, int, Counter], Filled]
"""Takes (snapshot, message, given path, budget, counter), and returns what is shown."""


def ours(snapshot: Snapshot, message: str, given: str, budget: int, counter: Counter) -> Filled:
    """Build spark's own window."""
    text = f'{message}\n\nI begin with @"{given}".'
    window = build(WindowRequest(text, INSTRUCTIONS, budget), snapshot, counter)
    return read_window(window)


def read_window(window: Window) -> Filled:
    """Return the lines of a window by file."""
    texts = {
        piece.path: lines_of(piece.text)
        for piece in window.pieces
        if piece.path is not None and piece.kind in (Kind.MENTIONED, Kind.CHANGED)
    }
    shown = "".join(piece.text for piece in window.pieces if piece.kind is Kind.MAP)
    return Filled(window.tokens, texts, outlines_in(shown))


def outlines_in(text: str) -> dict[str, set[str]]:
    """Return the lines of a map's outlines by path: a name and a colon, then indented lines."""
    outlines: dict[str, set[str]] = {}
    path = ""
    for line in text.split("\n"):
        if line.startswith(" "):
            outlines.setdefault(path, set()).update(lines_of(line))
        elif line.endswith(":"):
            path = line.removesuffix(":").removeprefix("./")
    return outlines


def lines_of(text: str) -> set[str]:
    """Return the lines of a text, stripped; in outlines, without the documentation after the signature."""
    return {line.partition(" — ")[0].strip() for line in text.split("\n")}


def whole_files(
    snapshot: Snapshot, order: Iterable[str], given: str, budget: int, counter: Counter
) -> Filled:
    """Fill the window with whole files in an order, the given one first."""
    room = budget
    texts: dict[str, set[str]] = {}
    for path in (given, *order):
        if path in texts or path not in snapshot.entries or room < 50:
            continue
        source = snapshot.read(path)
        if isinstance(source, Source):
            text = f"## File: {path}\n\n{fenced(path, source.text)}"
            tokens = counter.count_kept(text)
            if tokens <= room:
                room -= tokens
                texts[path] = lines_of(text)
    return Filled(budget - room, texts, {})


def _sorted(snapshot: Snapshot, scores: dict[str, float]) -> list[str]:
    return sorted(scores, key=lambda path: (-scores[path], path))


def bm25(snapshot: Snapshot, message: str, given: str, budget: int, counter: Counter) -> Filled:
    """Rank files by BM25 on the message and the given file's name."""
    wanted = dict.fromkeys(words(f"{message} {given}"), 1.0)
    return whole_files(snapshot, _sorted(snapshot, snapshot.words.score(wanted)), given, budget, counter)


def path_near(snapshot: Snapshot, message: str, given: str, budget: int, counter: Counter) -> Filled:
    """Rank files by how near their path is to the given one."""
    folders = nearness(project_paths(snapshot.paths).folders, [given])
    near = {path: folders[path.rpartition("/")[0]] for path in snapshot.paths if is_source(path)}
    return whole_files(snapshot, _sorted(snapshot, near), given, budget, counter)


def co_change(snapshot: Snapshot, message: str, given: str, budget: int, counter: Counter) -> Filled:
    """Rank files by how often they changed together with the given one."""
    return whole_files(
        snapshot, _sorted(snapshot, snapshot.history.together([given])), given, budget, counter
    )


def random_files(snapshot: Snapshot, message: str, given: str, budget: int, counter: Counter) -> Filled:
    """Put source files in random order."""
    order = [path for path in snapshot.paths if is_source(path)]
    random.Random(given).shuffle(order)
    return whole_files(snapshot, order, given, budget, counter)


def all_outlines(snapshot: Snapshot, message: str, given: str, budget: int, counter: Counter) -> Filled:
    """Show the given file, and outlines in path order as long as they fit."""
    first = whole_files(snapshot, (), given, budget, counter)
    room = budget - first.tokens
    outlines: dict[str, set[str]] = {}
    for path, entry in sorted(snapshot.entries.items()):
        tokens = counter.count_kept(entry.block)
        if entry.outline and tokens <= room:
            room -= tokens
            outlines[path] = lines_of(entry.block)
    return Filled(budget - room, first.texts, outlines)


FILLERS: dict[str, Filler] = {
    "ours": ours,
    "BM25": bm25,
    "path-near": path_near,
    "co-change": co_change,
    "all outlines": all_outlines,
    "random": random_files,
}
