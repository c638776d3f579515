"""Ways to fill a window that spark is compared with, measured in the same run.

Each is given what spark is: the request, the file in hand if there is one, and the whole budget. They read
source files only, since prose matches every request and an edit seldom needs it. aider's map is in
``aider_peer.py``: it needs over a hundred packages of its own.
"""

from __future__ import annotations

import math
from collections import Counter as Counts
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from context.disk.source import Source
from context.index.file_text import file_text
from context.project.project_paths import nearness, project_paths
from context.project.snapshot import Snapshot
from context.text.safe import fenced
from context.text.tokens import Counter
from context.text.words import words
from tests.bench.replay_truth import is_source

_CHUNK = 100
"""Number of lines of a chunk."""
_K1, _B = 1.2, 0.75
_RRF = 60
"""The usual constant of reciprocal rank fusion."""
_OUTLINES = 0.3
"""The share of the budget that outlines get where a peer has them."""
_GIVEN_NAMES = 40
"""Number of the rarest words of the file in hand that are searched for."""
_MISSES = 30
"""Number of files or chunks in a row that did not fit, after which no more are tried."""


@dataclass(frozen=True, slots=True)
class Filled:
    """The lines of texts and of outlines that a window showed, stripped, by path."""

    tokens: int
    texts: dict[str, set[str]]
    outlines: dict[str, set[str]]


Filler = Callable[[Snapshot, str, str, int, Counter], Filled]
"""Takes (snapshot, request, path of the file in hand or "", budget, counter), and returns what is shown."""


@dataclass(frozen=True, slots=True)
class _Chunk:
    path: str
    start: int
    text: str
    words: Mapping[str, int]
    length: int


@lru_cache(maxsize=20_000)
def _chunks_of(path: str, digest: str, text: str, cuts: tuple[int, ...]) -> tuple[_Chunk, ...]:
    lines = text.split("\n")
    found = []
    for start, end in pairwise((*cuts, len(lines))):
        part = "\n".join(lines[start:end])
        if part.strip():
            counted = words(f"{path}\n{part}")
            found.append(_Chunk(path, start, part, counted, sum(counted.values())))
    return tuple(found)


def _by_length(source: Source, _: Snapshot) -> tuple[int, ...]:
    """The lines at which a file is cut into chunks of equal length."""
    return tuple(range(0, source.text.count("\n") + 1, _CHUNK))


def _whole(_: Source, __: Snapshot) -> tuple[int, ...]:
    """One chunk for all of a file."""
    return (0,)


def _by_function(source: Source, snapshot: Snapshot) -> tuple[int, ...]:
    """The lines at which a file is cut into its functions, and into chunks of what is between them."""
    layout = snapshot.entries.layout(source.path, source.digest)
    cuts, at = [0], 0
    functions = [each for each in file_text(source, layout).long_definitions if each.kind == "function"]
    for each in (*sorted(functions, key=lambda each: (each.start, -each.end)), None):
        start = source.text.count("\n") + 1 if each is None else each.start
        if start >= at:
            cuts += [*range(at, start, _CHUNK), *([start, each.end] if each else [])]
            at = each.end if each else start
    return tuple(sorted({cut for cut in cuts if cut <= source.text.count("\n")}))


_Cuts = Callable[[Source, Snapshot], tuple[int, ...]]


class _Search:
    """BM25 over the chunks of a project's source files."""

    def __init__(self, snapshot: Snapshot, cuts: _Cuts) -> None:
        self.chunks: list[_Chunk] = []
        for path in snapshot.paths:
            source = snapshot.read(path) if is_source(path) and path in snapshot.entries else None
            if isinstance(source, Source):
                self.chunks += _chunks_of(path, source.digest, source.text, cuts(source, snapshot))
        self._held: Counts[str] = Counts()
        for chunk in self.chunks:
            self._held.update(chunk.words.keys())
        self._average = sum(chunk.length for chunk in self.chunks) / max(1, len(self.chunks))

    def rarity(self, word: str) -> float:
        held = self._held[word]
        return math.log(1 + (len(self.chunks) - held + 0.5) / (held + 0.5)) if held else 0.0

    def score(self, wanted: Mapping[str, float]) -> list[tuple[float, _Chunk]]:
        """The chunks that have any of the weighted words, best first."""
        weights = {word: weight * self.rarity(word) for word, weight in wanted.items()}
        scored = []
        for chunk in self.chunks:
            norm = _K1 * (1 - _B + _B * chunk.length / self._average)
            score = 0.0
            for word, weight in weights.items():
                count = chunk.words.get(word)
                if count:
                    score += weight * count * (_K1 + 1) / (count + norm)
            if score:
                scored.append((score, chunk))
        return sorted(scored, key=lambda item: (-item[0], item[1].path, item[1].start))

    def given_words(self, given: str) -> dict[str, float]:
        """The rarest words of the file in hand that other files have too."""
        mine: Counts[str] = Counts()
        for chunk in self.chunks:
            if chunk.path == given:
                mine.update(chunk.words)
        shared = [word for word in mine if self._held[word] > 1]
        best = sorted(shared, key=lambda word: (-self.rarity(word) * (1 + math.log(mine[word])), word))
        return dict.fromkeys(best[:_GIVEN_NAMES], 0.3)


def _search(snapshot: Snapshot, cuts: _Cuts = _by_length) -> _Search:
    """The search of a snapshot; those of the last one are kept."""
    found = _SEARCHES.get(cuts)
    if found is None or found[0] is not snapshot:
        found = _SEARCHES[cuts] = (snapshot, _Search(snapshot, cuts))
    return found[1]


_SEARCHES: dict[_Cuts, tuple[Snapshot, _Search]] = {}


def lines_of(text: str) -> set[str]:
    """The lines of a text, stripped; in outlines, without the documentation after the signature."""
    return {line.partition(" — ")[0].strip() for line in text.split("\n")}


class _Filling:
    """A window that is being filled."""

    def __init__(self, snapshot: Snapshot, given: str, budget: int, counter: Counter) -> None:
        self.texts: dict[str, set[str]] = {}
        self.outlines: dict[str, set[str]] = {}
        self._snapshot, self._counter = snapshot, counter
        self._budget = self.room = budget
        self.whole: set[str] = set()
        if given:
            self.file(given)

    def file(self, path: str) -> bool:
        """Add a whole file if it fits."""
        source = self._snapshot.read(path)
        if path in self.whole or not isinstance(source, Source):
            return True
        if not self._take(f"## File: {path}\n\n{fenced(path, source.text)}"):
            return False
        self.whole.add(path)
        self.texts[path] = lines_of(source.text)
        return True

    def chunk(self, chunk: _Chunk) -> bool:
        """Add a chunk if it fits."""
        if chunk.path in self.whole:
            return True
        last = chunk.start + chunk.text.count("\n") + 1
        heading = f"## File: {chunk.path}, lines {chunk.start + 1} to {last}"
        if not self._take(f"{heading}\n\n{fenced(chunk.path, chunk.text)}"):
            return False
        self.texts.setdefault(chunk.path, set()).update(lines_of(chunk.text))
        return True

    def outline(self, path: str) -> bool:
        """Add a file's outline if it fits."""
        entry = self._snapshot.entries.get(path)
        if entry is None or not entry.outline:
            return True
        if not self._take(entry.block):
            return False
        self.outlines[path] = lines_of(entry.block)
        return True

    def _take(self, text: str) -> bool:
        tokens = self._counter.count_kept(text)
        if tokens > self.room:
            return False
        self.room -= tokens
        return True

    def done(self) -> Filled:
        return Filled(self._budget - self.room, self.texts, self.outlines)


def _fill(items: Iterable[object], add: Callable[..., bool]) -> None:
    misses = 0
    for item in items:
        misses = 0 if add(item) else misses + 1
        if misses == _MISSES:
            return


def _best_files(scored: list[tuple[float, _Chunk]]) -> list[str]:
    """The files of scored chunks, in the order of their best chunks."""
    return list(dict.fromkeys(chunk.path for _, chunk in scored))


def _wanted(search: _Search, request: str, given: str) -> dict[str, float]:
    asked = {word: count**0.5 for word, count in words(f"{request} {given}").items()}
    return {**(search.given_words(given) if given else {}), **asked}


def _fused(snapshot: Snapshot, search: _Search, request: str, given: str) -> list[str]:
    """Source files by reciprocal rank fusion: of their best chunks for the request and for the words of the
    file in hand, of the commits that they share with it, and of how near they are."""
    asked = {word: count**0.5 for word, count in words(request).items()}
    rankings = [_best_files(search.score(asked))] if asked else []
    if given:
        rankings.append(_best_files(search.score(search.given_words(given))))
        together = snapshot.history.together([given])
        rankings.append(sorted(filter(is_source, together), key=lambda path: (-together[path], path)))
        folders = nearness(project_paths(snapshot.paths).folders, [given]).by_folder
        near = {path: folders[path.rpartition("/")[0]] for path in snapshot.paths if is_source(path)}
        rankings.append(sorted(near, key=lambda path: (-near[path], path)))
    scores: dict[str, float] = {}
    for ranking in rankings:
        for at, path in enumerate(ranking):
            scores[path] = scores.get(path, 0.0) + 1 / (_RRF + at)
    return sorted(scores, key=lambda path: (-scores[path], path))


def bm25_files(snapshot: Snapshot, request: str, given: str, budget: int, counter: Counter) -> Filled:
    """Whole source files, in the order of their best chunk."""
    search, filling = _search(snapshot), _Filling(snapshot, given, budget, counter)
    _fill(_best_files(search.score(_wanted(search, request, given))), filling.file)
    return filling.done()


def ranked_files(snapshot: Snapshot, request: str) -> list[str]:
    """Source files by BM25 over all of each, best first."""
    return _best_files(_search(snapshot, _whole).score(_wanted(_search(snapshot, _whole), request, "")))


def bm25_chunks(snapshot: Snapshot, request: str, given: str, budget: int, counter: Counter) -> Filled:
    """Chunks of source files, best first."""
    search, filling = _search(snapshot), _Filling(snapshot, given, budget, counter)
    _fill((chunk for _, chunk in search.score(_wanted(search, request, given))), filling.chunk)
    return filling.done()


def bm25_functions(snapshot: Snapshot, request: str, given: str, budget: int, counter: Counter) -> Filled:
    """Functions, and chunks of what is between them, best first."""
    search, filling = _search(snapshot, _by_function), _Filling(snapshot, given, budget, counter)
    _fill((chunk for _, chunk in search.score(_wanted(search, request, given))), filling.chunk)
    return filling.done()


def rrf_files(snapshot: Snapshot, request: str, given: str, budget: int, counter: Counter) -> Filled:
    """Whole source files in a fused order."""
    filling = _Filling(snapshot, given, budget, counter)
    _fill(_fused(snapshot, _search(snapshot), request, given), filling.file)
    return filling.done()


def outlines_and_chunks(
    snapshot: Snapshot, request: str, given: str, budget: int, counter: Counter
) -> Filled:
    """Outlines in a fused order for 30 % of the budget; then chunks, by the fusion of their own rank and that
    of their file."""
    search, filling = _search(snapshot), _Filling(snapshot, given, budget, counter)
    order = _fused(snapshot, search, request, given)
    kept = int(budget * (1 - _OUTLINES))
    filling.room -= kept
    if filling.room > 0:
        _fill(order, filling.outline)
    filling.room += kept
    place = {path: at for at, path in enumerate(order)}
    scored = search.score(_wanted(search, request, given))
    best = sorted(
        enumerate(chunk for _, chunk in scored),
        key=lambda item: -(1 / (_RRF + item[0]) + 1 / (_RRF + place.get(item[1].path, len(place)))),
    )
    _fill((chunk for _, chunk in best), filling.chunk)
    return filling.done()


def grep_files(snapshot: Snapshot, request: str, given: str, budget: int, counter: Counter) -> Filled:
    """Search for the rarest words of the request, and read the files with most of them."""
    search, filling = _search(snapshot), _Filling(snapshot, given, budget, counter)
    asked = words(request) or words(given)
    rarest = sorted(asked, key=lambda word: (-search.rarity(word), word))[:12]
    hits: dict[str, set[str]] = {}
    for chunk in search.chunks:
        hits.setdefault(chunk.path, set()).update(word for word in rarest if word in chunk.words)
    scores = {path: math.fsum(map(search.rarity, found)) for path, found in hits.items() if found}
    order = sorted(scores, key=lambda path: (-scores[path], path))
    _fill(order, filling.file)
    return filling.done()


PEERS: dict[str, Filler] = {
    "outlines, chunks": outlines_and_chunks,
    "BM25 functions": bm25_functions,
    "BM25 chunks": bm25_chunks,
    "BM25 files": bm25_files,
    "RRF files": rrf_files,
    "grep, files": grep_files,
}
