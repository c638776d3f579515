"""Ranks a project's files for a request. The rank decides what is in the window, not its order there.

A score is a weighted sum of evidence, each kind scaled to at most 1: words of the request, files that
changed together, names used and defined, file names, folders. The weights are in ``ranking.toml``. The
files *in hand* are those that the request names, that changed, or that are open.

Of a changed file the words of what changed count: they tell what the user is working on, better than the
rest of the file does.
"""

from __future__ import annotations

import math
from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from heapq import nlargest
from pathlib import Path
from typing import TYPE_CHECKING

from context.code.languages import is_code
from context.disk.changes import Change, differences
from context.disk.source import Unread, read
from context.find.expansion import other_forms
from context.find.order import Order, Ranking, settings
from context.index.file_text import file_text
from context.project.attributes import unedited_in
from context.project.project_paths import Nearness, ProjectPaths, nearness, project_paths
from context.project.snapshot import Snapshot
from context.text.generated import unedited_root
from context.text.lines import TextLines
from context.text.sorting import sorted_in_parts
from context.text.words import stem, words

if TYPE_CHECKING:
    from context.index.postings import Words
    from context.project.snapshot import Snapshot


_MOST_FILES = 60
"""Number of changed files that are looked at."""
_LONGEST = 50_000
"""Number of characters of the changed lines of one file that are looked at."""


def changed_words(snapshot: Snapshot, paths: Iterable[str], told: str = "") -> Mapping[str, int]:
    """Count the words of the lines of ``paths`` that are new, gone or moved, and of what else is ``told``.

    Files without an earlier state count as a whole elsewhere: all of them changed.
    """
    found = Counter(words(told))
    changes = [change for path in paths if (change := snapshot.changes.get(path)) and change.base is not None]
    for change in changes[:_MOST_FILES]:
        for lines in _changed_lines(change, snapshot):
            found.update(words("\n".join(lines)[:_LONGEST]))
    return found


def _changed_lines(change: Change, snapshot: Snapshot) -> Iterator[list[str]]:
    """The lines of a file that are new, and those that are gone, as far as they are known."""
    source, gone = snapshot.read(change.path), TextLines(change.text)
    if not isinstance(source, Unread):
        now = file_text(source)
        pairs = differences(change.base or array("I"), now.sums)
        yield [line for _, new in pairs for line in now.lines[new.start : new.stop]]
        yield [line for old, _ in pairs for line in gone[old.start : old.stop]]
    elif source.gone:
        yield gone[:]


_MOST_SHARED = 400
"""Number of names defined by the files in hand that are looked up: the longest ones."""
_SURE_NAMES = 3.0
"""Number of used names defined by one file from which the files certainly belong together."""
_SURE_MESSAGE = 20.0
"""Score of past commits' messages from which they are certainly about the same."""
_NAMED_ALIKE = 0.5
_LONGEST_ASKED = 4_000
"""Number of characters of a request that are looked at to tell whether it says much."""
_MOST_LIKELY = 4
"""Number of files with most evidence whose commits are looked at."""
_SHARED_WEIGHT = 0.3
"""Weight of a name shared with the files in hand, relative to a word of the request."""
_HELD_WEIGHT = 0.15
"""Weight of a rare word of the files in hand, relative to a word of the request."""
_CHANGED_WEIGHT = 0.5
"""Weight of a word of what changed in them, relative to a word of the request."""
_MOST_HELD_WORDS = 40
"""Number of these words."""
_MOST_WEIGHED = 600
"""Number of the files' most frequent words of which the rarest are chosen."""
_SUBJECT_WEIGHT = 1.8
"""Weight of a word of a long request's first line, relative to one of the rest."""
_LONGEST_SUBJECT = 160
"""Number of characters up to which the first line says what a request is about."""
_EARLIER_WEIGHT = 0.4
"""Weight of a word of earlier prompts, relative to one of the request."""
_MOST_HELD = 60
"""Number of files in hand whose words and names are used."""
_LONGEST_HELD = 200_000
"""Number of characters that are read of each."""


def rank(
    snapshot: Snapshot,
    request: str,
    in_hand: Iterable[str],
    *,
    at_work: str = "",
    earlier: str = "",
    related: bool = True,
) -> Ranking:
    """Rank a snapshot's paths for a request; the paths ``in_hand`` come first.

    ``earlier`` is the text of earlier requests, and ``at_work`` that of the last edits and failures, which
    tells what the user works on as changed lines do. Without ``related`` only the files in hand are ranked.
    """
    hand = list(dict.fromkeys(in_hand))
    paths = project_paths(snapshot.paths)
    if not related:
        asked = (
            snapshot.words.score_of(hand, snapshot.entries, _weighted_words(request)) if len(hand) > 1 else {}
        )
        in_order = sorted(filter(paths.__contains__, hand), key=lambda path: (-asked.get(path, 0.0), path))
        return Ranking(
            Order(tuple(in_order), (), array("d"), Nearness({}, {}), paths, _no_discount), {}, {}, {}
        )
    return snapshot.kept(
        "ranking",
        (request, at_work, earlier, tuple(hand)),
        lambda: _ranked(snapshot, request, at_work, earlier, hand, paths),
    )


def _ranked(
    snapshot: Snapshot, request: str, at_work: str, earlier: str, hand: list[str], paths: ProjectPaths
) -> Ranking:
    asked = {**_weighted_words(earlier, _EARLIER_WEIGHT), **_asked_words(request)}
    known_words = set().union(*map(words, hand[:_MOST_HELD]))
    subject = {word: weight for word, weight in asked.items() if word not in known_words}
    more = other_forms(subject, snapshot.words)
    asked, subject = {**more, **asked}, {**more, **subject}
    evidence, wanted, held_words = _evidence(snapshot, asked, hand, at_work)
    by_changes = "changed" in evidence
    near = _near(tuple(hand), paths)
    weights: dict[str, float] = settings()["weights"]
    scores: defaultdict[str, float] = defaultdict(float)
    strongest: dict[str, tuple[float, str]] = {}
    for kind, found in evidence.items():
        weight = weights[kind]
        for path, score in found.items():
            part = weight * score
            scores[path] += part
            if path not in strongest or part > strongest[path][0]:
                strongest[path] = (part, kind)
    discount = _discounts(snapshot, hand)
    likeliest = nlargest(_MOST_LIKELY, scores, key=lambda path: (scores[path] * discount(path), path))
    beside = snapshot.history.together(likeliest)
    for path in likeliest:
        for other in snapshot.words.with_stems(_stems([path])):
            if other != path:
                beside[other] = max(beside.get(other, 0.0), _NAMED_ALIKE)
    for path, score in beside.items():
        part = weights["beside"] * score
        scores[path] += part
        if path not in strongest or part > strongest[path][0]:
            strongest[path] = (part, "beside")
    blend = {}
    weight = weights["near"]
    for path, score in scores.items():
        by_place = weight * near.by_folder.get(path.rpartition("/")[0], 0.0)
        counts = discount(path)
        blend[path] = (score + by_place) * counts
        scores[path] *= counts
        if hand and by_place > strongest[path][0]:
            strongest[path] = (by_place, "near")
    known = [path for path in hand if path in paths]
    first = sorted(known, key=lambda path: (-blend.get(path, 0.0), path))
    held = set(first)
    top = sorted_in_parts(
        (-score, path) for path, score in blend.items() if path not in held and path in paths
    )
    named = f"{hand[0]} and others" if len(hand) > 1 else "".join(hand)
    said = {kind: text.format(hand=named) for kind, text in settings()["why"].items()}
    reasons = {path: said[kind] for path, (_, kind) in strongest.items()}
    negated = array("d", [score for score, _ in top])
    order = Order(tuple(first), tuple(path for _, path in top), negated, near, paths, discount)
    # Kept without what the garbage collector would look at: pairs, and a dict that makes its values.
    return Ranking(order, dict(scores), reasons, wanted, held_words, subject, by_changes)


def _evidence(
    snapshot: Snapshot, asked: dict[str, float], hand: list[str], at_work: str
) -> tuple[dict[str, dict[str, float]], dict[str, float], dict[str, float]]:
    """The scores by kind of evidence and path, the weighted words that were searched for, and those of the
    files in hand."""
    index = snapshot.words
    matches = index.score(asked)
    evidence = {"asked": _scaled(matches, index.certainty(max(matches.values(), default=0.0)))}
    alike = snapshot.history.alike(asked)
    evidence["alike"] = _scaled(alike, min(1.0, max(alike.values(), default=0.0) / _SURE_MESSAGE))
    evidence["branch"] = {path: 1.0 for path in snapshot.branch if path not in snapshot.changes}
    wanted = dict(asked)
    held: dict[str, float] = {}
    if hand or at_work:
        known = index.kept("hand", (tuple(hand), at_work), lambda: _evidence_of_hand(snapshot, hand, at_work))
        evidence |= known[0]
        for name in known[1]:
            wanted[name] = max(wanted.get(name, 0.0), _SHARED_WEIGHT)
        held = dict.fromkeys(known[2], _HELD_WEIGHT)
        for name, weight in known[3].items():
            wanted[name] = max(wanted.get(name, 0.0), weight)
    return evidence, wanted, held


def _evidence_of_hand(
    snapshot: Snapshot, hand: list[str], at_work: str
) -> tuple[dict[str, dict[str, float]], tuple[str, ...], tuple[str, ...], dict[str, float]]:
    """The evidence from the files in hand, the names that they share with other files, their rarest words
    that other files have too, and the weighted words of what changed in them and of what is ``at_work``."""
    index = snapshot.words
    held = [path for path in hand if path in snapshot.entries][:_MOST_HELD]
    defined = {name.lower() for path in held for name in snapshot.entries[path].names}
    used: Counter[str] = Counter()
    for path in held:
        used.update(_words_in(snapshot.root, path, snapshot.entries.digest(path)))
    rarest = _rarest(used, index)
    for name in defined:
        used.pop(name, None)
    shared = sorted(defined, key=lambda name: (-len(name), name))[:_MOST_SHARED]
    using_files = index.score(dict.fromkeys(shared, 1.0))
    defining_files, known = index.defining_files(used)
    # A name that no other file has finds nothing there, and would take the place of one that does.
    alone = index.rarity_of(1)
    elsewhere = tuple(name for name in (*shared, *known) if index.rarity(name) < alone)
    for path in hand:
        defining_files.pop(path, None)
    evidence = {
        "together": snapshot.history.together(hand),
        "uses": _scaled(using_files, index.certainty(max(using_files.values(), default=0.0)), hand),
        "defines": _scaled(
            defining_files, min(1.0, max(defining_files.values(), default=0.0) / _SURE_NAMES), hand
        ),
        "same_stem": dict.fromkeys(index.with_stems(_stems(hand)), 1.0),
    }
    changed = _rarest_changed(changed_words(snapshot, hand, at_work), index)
    if changed:
        matches = index.score(changed)
        certainty = index.certainty(max(matches.values(), default=0.0))
        evidence["changed"] = _scaled(matches, certainty)
    weighted = {word: _CHANGED_WEIGHT * weight for word, weight in changed.items()}
    return evidence, elsewhere, rarest, weighted


def _rarest_changed(counted: Mapping[str, int], index: Words) -> dict[str, float]:
    """The rarest of the words of what changed, weighted by how often they occur there."""
    weighted = {word: count**0.5 for word, count in counted.items()}
    weighed = {word: weight * index.rarity(word) for word, weight in weighted.items()}
    chosen = sorted(weighed, key=lambda word: (-weighed[word], word))[:_MOST_HELD_WORDS]
    return {word: min(weighted[word], 2.0) for word in chosen}


def _rarest(used: Counter[str], index: Words) -> tuple[str, ...]:
    """The rarest of the words that files in hand use often and that other files have too."""
    alone = index.rarity_of(1)
    weighed = {}
    for word, count in used.most_common(_MOST_WEIGHED):
        rarity = index.rarity(word)
        if rarity < alone:
            weighed[word] = rarity * (1 + math.log(count))
    return tuple(sorted(weighed, key=lambda word: (-weighed[word], word))[:_MOST_HELD_WORDS])


def _stems(paths: Iterable[str]) -> set[str]:
    return {stem(path) for path in paths} - {"", "index", "main", "mod", "__init__"}


@lru_cache(maxsize=2)
def _near(hand: tuple[str, ...], paths: ProjectPaths) -> Nearness:
    """The nearness of each folder to the files in hand."""
    return nearness(paths.folders, hand)


def _discounts(snapshot: Snapshot, hand: list[str]) -> Callable[[str], float]:
    """A function that gives the discount of a path: 1 for code that people edit, less for other files."""
    rules: dict[str, float] = settings()["discounts"]
    unedited = unedited_in(snapshot)
    mine = tuple({root for path in hand if (root := unedited_root(path))})

    def is_script(path: str) -> bool:
        entry = None if "." in path.rpartition("/")[2] else snapshot.entries.get(path)
        return entry is not None and bool(entry.names)

    def discount(path: str) -> float:
        if unedited(path) and not path.startswith(mine):
            return rules["unedited"]
        return 1.0 if is_code(path) or is_script(path) else rules["prose"]

    return discount


def says_much(request: str, snapshot: Snapshot) -> bool:
    """Whether a request has so rare words that they can find something by themselves."""
    talk = settings()["small_talk"]["words"]
    said = (word for word in words(request[:_LONGEST_ASKED]) if word not in talk)
    found = sum(snapshot.words.rarity(word) for word in said)
    return found >= math.log(2 + snapshot.words.files) / 2


def _no_discount(path: str) -> float:
    return 1.0


def _asked_words(request: str) -> dict[str, float]:
    """The weighted words of a request; those of its first line count more where others follow."""
    weighted = _weighted_words(request)
    first, _, rest = request.strip().partition("\n")
    if rest and len(first) <= _LONGEST_SUBJECT:
        for word in words(first):
            weighted[word] *= _SUBJECT_WEIGHT
    return weighted


def _weighted_words(request: str, weight: float = 1.0) -> dict[str, float]:
    return {word: weight * count**0.5 for word, count in words(request).items()}


@lru_cache(maxsize=128)
def _words_in(root: Path, path: str, digest: str) -> Mapping[str, int]:
    """The words of a file in hand, cached by its path and ``digest``."""
    source = read(root, path)
    if isinstance(source, Unread):
        return {}
    return words(source.text[:_LONGEST_HELD])


def _scaled(scores: dict[str, float], certainty: float, without: Iterable[str] = ()) -> dict[str, float]:
    for path in without:
        scores.pop(path, None)
    top = max(scores.values(), default=0.0)
    return {path: certainty * score / top for path, score in scores.items()} if top else {}
