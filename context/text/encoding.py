"""The o200k_base encoding: how many tokens a text has.

The tokens, the pattern and so the counts are those of tiktoken. Its encoder takes 60 MB of memory, half of
what spark would take, and no other thread runs for 0.15 s while it is made. So it counts only what is slow
without it (:mod:`context.text.dense_text`).
"""

from __future__ import annotations

import hashlib
import re
import tomllib
from collections.abc import Callable
from functools import lru_cache
from heapq import heapify, heappop, heappush
from importlib import resources

from context.text.dense_text import DenseText
from context.text.rank_table import NONE, RankTable

LONGEST_MATCH = 64_000
"""Most bytes of a match of the pattern that are merged, which takes some 0.3 s; a longer one counts as its
bytes."""
_REMEMBERED = 32_768
"""Most matches whose counts are remembered: code uses the same words over and over."""
_SHORT = 64
"""Most characters of a match that is remembered."""


class RankFileError(Exception):
    """The rank file that ships with the package is missing or damaged."""


class _Counts(dict[str, int]):
    """The token counts of matches of the pattern; counts those that it does not hold."""

    def __init__(self, table: RankTable) -> None:
        super().__init__()
        self._table = table

    def __missing__(self, match: str) -> int:
        data = match.encode("utf-8", "surrogatepass")
        count = count_merged(self._table, data) if len(data) <= LONGEST_MATCH else len(data)
        if len(match) <= _SHORT:
            if len(self) >= _REMEMBERED:
                self.clear()
            self[match] = count
        return count


class Encoding:
    """Counts tokens; any thread may use it."""

    def __init__(self, table: RankTable, ascii_pattern: str, pattern: str) -> None:
        self._counts = _Counts(table)
        self._pattern = pattern
        self._dense = DenseText(table, pattern)
        self._split_ascii: Callable[[str], list[str]] = re.compile(ascii_pattern, re.ASCII).findall

    def count(self, text: str) -> int:
        """The number of tokens of ``text``. Other threads wait while it is matched: for 1 ms with each 10,000
        characters, and for a third of that where all are ASCII."""
        if text.isascii():
            split = self._split_ascii
        elif (counted := self._dense.count(text)) is not None:
            return counted
        else:
            split = _any_splitter(self._pattern)
        return sum(map(self._counts.__getitem__, split(text)))


def count_merged(table: RankTable, piece: bytes) -> int:
    """The number of tokens of ``piece``: the adjacent parts that make the lowest token become one, the
    leftmost first, until no two make one. At first each byte is a part.

    The time is that of n log n steps for n bytes.
    """
    place = table.place
    size = len(piece)
    if size < 2 or place(piece) != NONE:
        return 1
    following = [*range(1, size + 1), size]
    """For each part, by its first byte, where the next one begins; 0 where no part begins any more."""
    before = [*range(-1, size)]
    """For each part, by its first byte, where the one before it begins."""
    waiting = [
        (at, start, start + 2) for start in range(size - 1) if (at := place(piece[start : start + 2])) != NONE
    ]
    heapify(waiting)
    count = size
    while waiting:
        _, start, end = heappop(waiting)
        second = following[start]
        if not second or second == size or following[second] != end:
            continue  # one of the two has become another part meanwhile
        following[start], following[second] = end, 0
        before[end] = start
        count -= 1
        if end < size and (at := place(piece[start : following[end]])) != NONE:
            heappush(waiting, (at, start, following[end]))
        if start and (at := place(piece[before[start] : end])) != NONE:
            heappush(waiting, (at, before[start], end))
    return count


@lru_cache(maxsize=1)
def _any_splitter(pattern: str) -> Callable[[str], list[str]]:
    # Python's own expressions have no classes of characters such as \p{Lu}.
    import regex

    return regex.compile(pattern).findall


@lru_cache(maxsize=1)
def load_encoding() -> Encoding:
    """Read and verify the rank file, once a process.

    Raises RankFileError when the installed package lacks the file or it is damaged.
    """
    data = resources.files("context.text")
    try:
        about = tomllib.loads((data / "o200k_base.toml").read_text("utf-8"))
        ranks = (data / about["ranks"]).read_bytes()
    except (OSError, tomllib.TOMLDecodeError) as problem:
        raise RankFileError(
            f"the token rank file of the context package cannot be read: {problem}"
        ) from problem
    if hashlib.sha256(ranks).hexdigest() != about["sha256"]:
        raise RankFileError("the token rank file of the context package is damaged: install spark again")
    return Encoding(RankTable(ranks), "|".join(about["ascii"]), "|".join(about["pattern"]))
