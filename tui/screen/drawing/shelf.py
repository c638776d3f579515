"""A shelf for what is seldom looked at: on the disk, and in memory only what was looked at last."""

from __future__ import annotations

import logging
import zlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from session.base.storage.unnamed_files import Stored, UnnamedFiles

AT_HAND = 4
"""The pieces that are kept in memory as well: a pane shows rows of one or two."""
_FASTEST = 1
"""zlib's level that takes the least time."""


class Shelf:
    """Puts bytes away, and gets them again. Until :meth:`begin` says where to put them, it takes none."""

    def __init__(self) -> None:
        self._files: UnnamedFiles | None = None
        self._at_hand: dict[Stored, bytes] = {}
        """What was looked at last, the latest at the end."""
        self._told = False
        """Whether the log has a failure: there would be one for each row of each frame."""

    def begin(self, files: UnnamedFiles) -> None:
        """Put what comes from now on into ``files``."""
        self._files = files

    def put(self, data: bytes) -> Stored | None:
        """Put ``data`` away; None where whoever asks has to keep it."""
        return None if self._files is None else self._files.store(data)

    def get(self, stored: Stored) -> bytes | None:
        """What was put away; None where the disk does not give it, which the log tells once."""
        data = self._at_hand.pop(stored, None)
        if data is None:
            try:
                data = stored.read()
            except OSError as problem:
                if not self._told:
                    logging.getLogger("spark").error("the chat's scroll-back cannot be read: %s", problem)
                self._told = True
                return None
        self._at_hand[stored] = data
        if len(self._at_hand) > AT_HAND:
            del self._at_hand[next(iter(self._at_hand))]
        return data


class ShelvedText:
    """A text in zlib's form: on the shelf, or in memory where that takes none."""

    __slots__ = ("_data", "_shelf", "_stored")

    def __init__(self, text: str, shelf: Shelf | None) -> None:
        data = zlib.compress(text.encode("utf-8", "surrogatepass"), _FASTEST)
        self._shelf = shelf
        self._stored = None if shelf is None else shelf.put(data)
        self._data: bytes | None = data if self._stored is None else None

    def read(self, missing: str) -> str:
        """The text; ``missing`` where the disk does not give it."""
        data = self._data
        if self._stored is not None and self._shelf is not None:
            data = self._shelf.get(self._stored)
        return missing if data is None else zlib.decompress(data).decode("utf-8", "surrogatepass")
