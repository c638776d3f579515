"""Counting tokens offline: the o200k_base encoding from a rank file that ships with the package.

Packing a window is integer sums because counts are *additive over blocks*: a block ends in ``\\n`` and
starts with a character that is neither white space nor ``/``. The encoding cuts text with a regular
expression before it merges, and no alternative of that expression matches across such a joint, so
``count(a + b) == count(a) + count(b)``. :func:`as_block` makes blocks; ``o200k_base.toml``
holds the expression.
"""

from __future__ import annotations

import re
import threading
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from context.text.encoding import Encoding

PIECE = 4_000
"""Number of characters from which on a text is cut: other threads wait while a piece is matched."""
SHORT_PIECE = 2_000
"""The same for a text that is not all ASCII: most of its pieces are, and those that are not take three times
as long."""

_REMEMBERED = 100_000
"""Number of texts whose counts are cached, such as outlines, which are counted on every turn."""

_REMEMBERED_SIZE = 16_000_000
"""Total length in characters of the texts whose counts are cached."""

_JOINT = re.compile(r"\n(?=[^\s/])|(?<=[A-Za-z0-9])(?=[\x00-&(-/:-@\[-`{-\x7f])")


class Counter:
    """Counts o200k_base tokens, exactly once loaded; any thread may use it.

    Until :meth:`load` has returned in some thread, a count is the UTF-8 length in bytes: the only
    strict upper bound, so a window packed with it is never over budget.
    """

    def __init__(self) -> None:
        self._encoding: Encoding | None = None
        self._known: dict[str, int] = {}
        self._size = 0

    @property
    def ready(self) -> bool:
        """True once counts are exact."""
        return self._encoding is not None

    def load(self) -> None:
        """Read and verify the rank file: some 10 ms and 4 MB, once a process.

        Raises RankFileError when the installed package lacks the file or it is damaged.
        """
        if self._encoding is None:
            from context.text.encoding import load_encoding

            with _LOADING:
                encoding = load_encoding()
            self._encoding = encoding

    def count(self, text: str) -> int:
        """Count the tokens of ``text``; never too few.

        The count is exact once the encoding is loaded, except for words and other runs of one kind of
        character with more than 64,000 bytes, which count as their bytes.
        """
        encoding = self._encoding
        if encoding is None:
            return _bytes(text)
        return sum(map(encoding.count, pieces(text)))

    def count_kept(self, text: str) -> int:
        """Like :meth:`count`, but cached, for texts that are counted on every turn."""
        if not self.ready:
            return self.count(text)
        known = self._known
        found = known.get(text)
        if found is None:
            self._size += len(text)
            if len(known) >= _REMEMBERED or self._size > _REMEMBERED_SIZE:
                known = self._forget(len(text))
            found = known[text] = self.count(text)
        return found

    def _forget(self, size: int) -> dict[str, int]:
        """Forget all counts, and return where those from now on are kept, the first of a text of ``size``."""
        old, self._known, self._size = self._known, {}, size
        # One by one: to drop all at once holds up other threads for some milliseconds.
        with suppress(KeyError):
            while True:
                old.popitem()
        return self._known


def as_block(text: str, heading: str) -> str:
    """``text`` as a block whose count adds up exactly with other blocks' counts.

    A missing last ``\\n`` is added; when the text starts with white space or ``/``, or is empty, the
    line ``heading`` is put before it.
    """
    if not is_block_start(text):
        text = f"{heading}\n\n{text}"
    return text if text.endswith("\n") else text + "\n"


def is_block_start(text: str) -> bool:
    """Whether a block may begin with ``text``."""
    return bool(text) and text[0] != "/" and not text[0].isspace()


def pieces(text: str) -> list[str]:
    """``text`` cut where counts are exactly additive, at the first such place behind each :data:`PIECE`
    or :data:`SHORT_PIECE` characters.

    Besides the joint of blocks, the end of a run of ASCII letters and digits is such a place where another
    ASCII character follows that is no ``'``: what the expression matches up to there holds none, whatever
    precedes it, and looks no further.
    """
    size = PIECE if text.isascii() else SHORT_PIECE
    cut: list[str] = []
    start = 0
    while joint := _JOINT.search(text, start + size):
        cut.append(text[start : joint.end()])
        start = joint.end()
    return [*cut, text[start:]]


_LOADING = threading.Lock()


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))
