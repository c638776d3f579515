"""The o200k_base encoding: how many tokens a text has.

The tokens, the pattern and so the counts are those of tiktoken. Its encoder takes 60 MB of memory, half of
what spark would take, and no other thread runs for 0.15 s while it is made. So it counts only what is slow
without it (:mod:`context.text.encoding`).

Counts text that is mostly not ASCII, such as Chinese, with tiktoken.

Merging in Python suits code, whose words come again and again. Text without spaces between its words takes
fifteen times as long as with tiktoken, whose encoder in turn takes 60 MB and 0.3 s to be made. So the encoder
is made once there was as much of such text as takes about that time, which most projects never have.

The tokens of an encoding with their merge order, in 3.4 MB that are read as they lie in the file.

The file is a hash table and the tokens' bytes behind it, in the order of their ranks. Each of the
:data:`SLOTS` entries is a little-endian ``uint32``: the place of a token among these bytes (21 bits), its
length less one (7) and 4 bits of its hash; :data:`FREE` where there is none. A token's entry is at the low
bits of its CRC-32, or the next free one behind it. The places rise as the ranks do, so that the place of a
token stands for its rank.

As a dict the same tokens take 26 MB, and 0.3 s to be made.
"""

from __future__ import annotations

import hashlib
import re
import sys
import threading
import tomllib
from array import array
from collections.abc import Callable
from functools import lru_cache
from heapq import heapify, heappop, heappush
from importlib import resources
from typing import TYPE_CHECKING
from zlib import crc32

if TYPE_CHECKING:
    import tiktoken


SLOTS = 1 << 19
FREE = 0xFFFFFFFF
LENGTH_SHIFT = 21
HASH_SHIFT = 28
LONGEST = 1 << (HASH_SHIFT - LENGTH_SHIFT)
"""Most bytes of a token."""
NONE = 1 << LENGTH_SHIFT
"""The place of bytes that are no token: it is behind all places."""
_LAST = SLOTS - 1
_PLACE = NONE - 1


class RankTable:
    """The tokens of an encoding; any thread may read it."""

    def __init__(self, data: bytes) -> None:
        """``data`` is the whole file, which the caller has checked to be undamaged."""
        self._slots = array("I", data[: 4 * SLOTS])
        if sys.byteorder == "big":
            self._slots.byteswap()
        self._tokens = data[4 * SLOTS :]

    def place(self, token: bytes) -> int:
        """The place of ``token``, which is lower the earlier it is merged; :data:`NONE` if it is no token."""
        size = len(token)
        if size > LONGEST:
            return NONE
        hashed = crc32(token)
        mark = hashed >> HASH_SHIFT << HASH_SHIFT | (size - 1) << LENGTH_SHIFT
        at = hashed & _LAST
        slots = self._slots
        while (found := slots[at]) != FREE:
            if mark <= found < mark + NONE and self._tokens.startswith(token, found & _PLACE):
                return found & _PLACE
            at = (at + 1) & _LAST
        return NONE

    def tokens(self) -> list[bytes]:
        """All tokens, in the order of their ranks."""
        taken = (slot for slot in self._slots if slot != FREE)
        spans = sorted((slot & _PLACE, (slot >> LENGTH_SHIFT) % LONGEST + 1) for slot in taken)
        return [self._tokens[place : place + size] for place, size in spans]


MUCH = 100_000
"""Characters of such text that are counted without tiktoken."""
LONGEST_TEXT = 64_000
"""Most characters that tiktoken is given at once: its regular expressions fail on a megabyte of spaces."""


class DenseText:
    """Counts dense text once there is much of it; any thread may use it."""

    def __init__(self, table: RankTable, pattern: str) -> None:
        self._table = table
        self._pattern = pattern
        self._seen = 0
        """The number of characters of dense text so far. A number lost between threads does no harm."""
        self._making = threading.Lock()
        self._encoding: tiktoken.Encoding | None = None

    @property
    def uses_tiktoken(self) -> bool:
        """Whether the encoder was made."""
        return self._encoding is not None

    def count(self, text: str) -> int | None:
        """The number of tokens of ``text``; None where it is not dense, or there was not yet much of it."""
        if len(text) > LONGEST_TEXT or 2 * len(text.encode("ascii", "ignore")) > len(text):
            return None
        self._seen += len(text)
        if self._seen <= MUCH:
            return None
        return len(self._loaded().encode_ordinary(text))

    def _loaded(self) -> tiktoken.Encoding:
        with self._making:
            if self._encoding is None:
                import tiktoken

                ranks = {token: rank for rank, token in enumerate(self._table.tokens())}
                self._encoding = tiktoken.Encoding(
                    "o200k_base", pat_str=self._pattern, mergeable_ranks=ranks, special_tokens={}
                )
                # The encoder has its own copy.
                ranks.clear()
            return self._encoding


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
