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
from functools import lru_cache
from importlib import resources
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import tiktoken

PIECE = 64_000
"""Number of characters given to the encoder at once. Its regular expression engine panics on a megabyte of
spaces; 200,000 characters of anything tried were safe."""

_REMEMBERED = 100_000
"""Number of texts whose counts are cached, such as outlines, which are counted on every turn."""

_REMEMBERED_SIZE = 16_000_000
"""Total length in characters of the texts whose counts are cached."""

_LINES_AT_ONCE = 8_000
"""Number of lines of the rank file that are decoded at once, in about 4 ms."""

_JOINT = re.compile(r"\n(?=[^\s/])|(?<=[a-z])(?= [a-z])")


class RankFileError(Exception):
    """The rank file that ships with the package is missing or damaged."""


class Counter:
    """Counts o200k_base tokens, exactly once loaded; any thread may use it.

    Until :meth:`load` has returned in some thread, a count is the UTF-8 length in bytes: the only
    strict upper bound, so a window packed with it is never over budget.
    """

    def __init__(self) -> None:
        self._encoding: tiktoken.Encoding | None = None
        self._known: dict[str, int] = {}
        self._size = 0

    @property
    def ready(self) -> bool:
        """True once counts are exact."""
        return self._encoding is not None

    def load(self) -> None:
        """Unpack and verify the rank file: about a quarter of a second and 50 MB, once a process.

        Raises RankFileError when the installed package lacks the file or it is damaged.
        """
        if self._encoding is None:
            with _LOADING:
                encoding = _load_encoding()
            self._encoding = encoding

    def count(self, text: str) -> int:
        """Count the tokens of ``text``; never too few.

        The count is exact once the encoding is loaded, except for runs of more than 64,000 characters
        without a line end or a space between words, which count as their bytes.
        """
        encoding = self._encoding
        if encoding is None:
            return _bytes(text)
        return sum(
            len(encoding.encode_ordinary(piece)) if len(piece) <= PIECE else _bytes(piece)
            for piece in pieces(text)
        )

    def count_kept(self, text: str) -> int:
        """Like :meth:`count`, but cached, for texts that are counted on every turn."""
        if not self.ready:
            return self.count(text)
        known = self._known
        found = known.get(text)
        if found is None:
            self._size += len(text)
            if len(known) >= _REMEMBERED or self._size > _REMEMBERED_SIZE:
                known.clear()
                self._size = len(text)
            found = known[text] = self.count(text)
        return found


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
    """``text`` cut where counts are exactly additive, into pieces of about :data:`PIECE` characters.

    A piece is longer only if it has no joint. Besides the joint of blocks, a space between two lower-case
    ASCII letters is one: the expression starts a new match at that space, whatever precedes it.
    """
    if len(text) <= PIECE:
        return [text]
    cuts = [0]
    last = 0
    for joint in _JOINT.finditer(text):
        place = joint.end()
        if place - cuts[-1] > PIECE and last > cuts[-1]:
            cuts.append(last)
        last = place
    if len(text) - cuts[-1] > PIECE and last > cuts[-1]:
        cuts.append(last)
    return [text[a:b] for a, b in zip(cuts, [*cuts[1:], len(text)], strict=True)]


_LOADING = threading.Lock()


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


@lru_cache(maxsize=1)
def _load_encoding() -> tiktoken.Encoding:
    import binascii
    import hashlib
    import lzma
    import tomllib

    import tiktoken

    data = resources.files("context.text")
    try:
        about = tomllib.loads((data / "o200k_base.toml").read_text("utf-8"))
        ranks = lzma.decompress((data / about["ranks"]).read_bytes())
    except (OSError, EOFError, lzma.LZMAError, tomllib.TOMLDecodeError) as problem:
        raise RankFileError(
            f"the token rank file of the context package cannot be read: {problem}"
        ) from problem
    if hashlib.sha256(ranks).hexdigest() != about["sha256"]:
        raise RankFileError("the token rank file of the context package is damaged: install spark again")
    lines = ranks.splitlines()
    merges: dict[bytes, int] = {}
    # In slices, since one long call would block all other threads.
    for start in range(0, len(lines), _LINES_AT_ONCE):
        fields = b" ".join(lines[start : start + _LINES_AT_ONCE]).split()
        merges.update(zip(map(binascii.a2b_base64, fields[::2]), map(int, fields[1::2]), strict=True))
    encoding = tiktoken.Encoding(
        name="o200k_base", pat_str="|".join(about["pattern"]), mergeable_ranks=merges, special_tokens={}
    )
    # The encoder has its own copy. This one would be a quarter of spark's memory.
    merges.clear()
    return encoding
