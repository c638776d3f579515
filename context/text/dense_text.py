"""Counts text that is mostly not ASCII, such as Chinese, with tiktoken.

Merging in Python suits code, whose words come again and again. Text without spaces between its words takes
fifteen times as long as with tiktoken, whose encoder in turn takes 60 MB and 0.3 s to be made. So the encoder
is made once there was as much of such text as takes about that time, which most projects never have.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from context.text.rank_table import RankTable

if TYPE_CHECKING:
    import tiktoken

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
