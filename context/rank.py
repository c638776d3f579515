"""The order of a project's files for a request: rank decides what is in the window, never where it stands.

A blend of evidence, each kind scaled to at most 1, by the weights in ``data/ranking.toml``: words of the
request, files that changed together, names used and defined, file names, folders. The files *in hand*
are those that the request names, that changed, or that are open.
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from typing import TYPE_CHECKING, Any

from context.languages import is_code
from context.words import words

if TYPE_CHECKING:
    from context.snapshot import Snapshot

_MOST_SHARED = 400
"""Names of the files in hand that are looked up: the longest."""
_SURE_NAMES = 3.0
"""So many used names that a single file defines make it sure that the files belong together."""
_SHARED_WEIGHT = 0.3
"""What a name shared with the files in hand weighs beside a word of the request, in choosing parts."""
_AFFIX = re.compile(r"^(?:tests?|spec)[_.-]|[_.-]?(?:tests?|spec|impl|mock)$")


@dataclass(frozen=True, slots=True)
class Ranking:
    """All paths with the likeliest to matter first (ties in path order), and what each scored."""

    order: list[str]
    scores: Mapping[str, float]
    """Evidence of each path but nearness: that alone is no reason to show a file."""
    reasons: Mapping[str, str]
    """Why, for each path with any evidence."""
    wanted: Mapping[str, float]
    """Words with weights that parts of files are chosen by."""


def rank(snapshot: Snapshot, request: str, in_hand: Iterable[str]) -> Ranking:
    """Rank a snapshot's paths for a request; those ``in_hand`` come first of all."""
    hand = list(dict.fromkeys(in_hand))
    evidence, wanted = _evidence(snapshot, request, hand)
    weights: dict[str, float] = settings()["weights"]
    words_for: dict[str, str] = settings()["why"]
    blend: defaultdict[str, float] = defaultdict(float)
    scores_alone: defaultdict[str, float] = defaultdict(float)
    strongest: dict[str, tuple[float, str]] = {}
    for kind, scores in evidence.items():
        for path, score in scores.items():
            part = weights[kind] * score
            blend[path] += part
            if kind != "near":
                scores_alone[path] += part
            if path not in strongest or part > strongest[path][0]:
                strongest[path] = (part, kind)
    first = set(hand)
    prose: float = settings()["related"]["prose"]
    for path in scores_alone:
        if not is_code(path):
            scores_alone[path] *= prose
    order = sorted(snapshot.paths, key=lambda path: (path not in first, -blend[path], path))
    named = f"{hand[0]} and others" if len(hand) > 1 else "".join(hand)
    reasons = {path: words_for[kind].format(hand=named) for path, (_, kind) in strongest.items()}
    return Ranking(order, scores_alone, reasons, wanted)


def _evidence(
    snapshot: Snapshot, request: str, hand: list[str]
) -> tuple[dict[str, dict[str, float]], dict[str, float]]:
    """The score of each path by each kind of evidence, and the words that were looked for."""
    postings, live = snapshot.postings, snapshot.live
    asked = {word: count**0.5 for word, count in words(request).items()}
    matches = postings.score(asked, live)
    sure = postings.sure(max(matches.values(), default=0.0), live)
    evidence = {"asked": _scaled(matches, sure)}
    wanted = dict(asked)
    if hand:
        held = [snapshot.entries[path].facts for path in hand if path in snapshot.entries]
        defined = {name.lower() for facts in held for name in facts.names}
        used: Counter[str] = Counter()
        for facts in held:
            used.update(facts.words)
        for name in defined:
            used.pop(name, None)
        shared = sorted(defined, key=lambda name: (-len(name), name))[:_MOST_SHARED]
        users = postings.score(dict.fromkeys(shared, 1.0), live)
        makers = postings.makers(used, live)
        for path in hand:
            makers.pop(path, None)
        evidence |= {
            "together": snapshot.history.together(hand),
            "users": _scaled(users, postings.sure(max(users.values(), default=0.0), live), hand),
            "makers": _scaled(makers, min(1.0, max(makers.values(), default=0.0) / _SURE_NAMES), hand),
            "alike": _alike(snapshot.paths, hand),
            "near": near_paths(snapshot.paths, hand),
        }
        for name in (*shared, *postings.defined(used)):
            wanted[name] = max(wanted.get(name, 0.0), _SHARED_WEIGHT)
    return evidence, wanted


def _scaled(scores: dict[str, float], sure: float, without: Iterable[str] = ()) -> dict[str, float]:
    for path in without:
        scores.pop(path, None)
    top = max(scores.values(), default=0.0)
    return {path: sure * score / top for path, score in scores.items()} if top else {}


def _alike(paths: Iterable[str], hand: list[str]) -> dict[str, float]:
    """Files whose names differ from one in hand only in extension, or in saying that they are tests."""
    stems = {_stem(path) for path in hand} - {"", "index", "main", "mod", "__init__"}
    return {path: 1.0 for path in paths if stems and _stem(path) in stems}


def _stem(path: str) -> str:
    return _AFFIX.sub("", path.rpartition("/")[2].partition(".")[0].lower())


def near_paths(paths: Iterable[str], hand: list[str]) -> dict[str, float]:
    """How near each path is to the files in hand, from 0 to 1."""
    around = _folders_around(hand)
    return {path: _nearness(path, around) for path in paths}


def _nearness(path: str, around: frozenset[str]) -> float:
    """How near a path is to the files in hand: the share of its folders that lead to one of them."""
    folder = path.rpartition("/")[0]
    depth = folder.count("/") + 1 if folder else 0
    common = depth
    while folder and folder not in around:
        folder = folder.rpartition("/")[0]
        common -= 1
    return (1 + common) / (1 + depth)


def _folders_around(paths: Iterable[str]) -> frozenset[str]:
    folders: set[str] = set()
    for path in paths:
        folder = path.rpartition("/")[0]
        while folder and folder not in folders:
            folders.add(folder)
            folder = folder.rpartition("/")[0]
    return frozenset(folders)


@lru_cache(maxsize=1)
def settings() -> dict[str, Any]:
    """The tables of ``data/ranking.toml``."""
    return tomllib.loads((resources.files("context") / "data" / "ranking.toml").read_text("utf-8"))
