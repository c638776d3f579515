"""Writes the rank file that ships with the package from the one that tiktoken publishes:
``python3 -m tests.context.text.make_rank_table o200k_base.tiktoken OUT``."""

from __future__ import annotations

import binascii
import struct
import sys
from collections.abc import Iterable
from pathlib import Path
from zlib import crc32

from context.text.encoding import FREE, HASH_SHIFT, LENGTH_SHIFT, LONGEST, NONE, SLOTS


def tokens_of(published: bytes) -> list[bytes]:
    """The tokens of a published rank file, in the order of their ranks: each line is a token and its rank."""
    fields = published.split()
    ranks = dict(zip(map(int, fields[1::2]), map(binascii.a2b_base64, fields[::2]), strict=True))
    return [ranks[rank] for rank in sorted(ranks)]


def rank_table(tokens: Iterable[bytes]) -> bytes:
    """The file of :mod:`context.text.encoding` that holds the tokens."""
    slots = [FREE] * SLOTS
    place = 0
    for token in (all_tokens := list(tokens)):
        assert 0 < len(token) <= LONGEST
        assert place < NONE - 1
        hashed = crc32(token)
        at = hashed % SLOTS
        while slots[at] != FREE:
            at = (at + 1) % SLOTS
        slots[at] = hashed >> HASH_SHIFT << HASH_SHIFT | (len(token) - 1) << LENGTH_SHIFT | place
        place += len(token)
    return struct.pack(f"<{SLOTS}I", *slots) + b"".join(all_tokens)


if __name__ == "__main__":
    Path(sys.argv[2]).write_bytes(rank_table(tokens_of(Path(sys.argv[1]).read_bytes())))
