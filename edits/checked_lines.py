"""Lines of JSON with a checksum each: the form of the ledger's journal and of the sessions' journals.

A line is one JSON object with the checksum of all before it as its last member, ``sum``. Journals of earlier
versions had no checksums: readers take lines without one up to the first that has one.
"""

from __future__ import annotations

import json
import re
from hashlib import blake2b
from typing import Any

_SUM_BYTES = 26
_WHOLE = re.compile(rb',"sum":"[0-9a-f]{16}"\}')


class DamagedLineError(ValueError):
    """A line that was whole once, and is not what was written."""


class UnfinishedLineError(ValueError):
    """The beginning of a line, whose process was killed while it wrote it."""


def to_line(record: dict[str, Any], *, ascii_only: bool = False) -> bytes:
    """The line of a record, with its end. With ``ascii_only`` it can hold lone surrogates."""
    body = json.dumps(record, ensure_ascii=ascii_only, separators=(",", ":")).encode()[:-1]
    return b'%b,"sum":"%b"}\n' % (body, _checksum(body))


def from_line(line: bytes, *, may_lack_sum: bool) -> tuple[dict[str, Any], bool]:
    """The record of a line, and whether it has a checksum.

    Raises DamagedLineError and UnfinishedLineError.
    """
    line = line.rstrip(b"\r\n")
    right = sum_is_right(line)
    if right is False:
        raise DamagedLineError("its checksum is wrong")
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        if is_cut(line):
            raise UnfinishedLineError from error
        raise DamagedLineError("it is not JSON") from error
    if not isinstance(record, dict) or (right is None and not may_lack_sum):
        raise DamagedLineError("it has no checksum" if isinstance(record, dict) else "it is not a record")
    return record, right is not None


def sum_is_right(line: bytes) -> bool | None:
    """Whether the checksum of a line without its end is right; None if it has none."""
    end = line[-_SUM_BYTES:]
    if end[:8] != b',"sum":"' or end[24:] != b'"}':  # this is asked of every line of a long journal
        return None
    return _checksum(line[:-_SUM_BYTES]) == end[8:24]


def is_cut(line: bytes) -> bool:
    """Whether a line that is not JSON looks like the beginning of a record: its process was killed."""
    return line.startswith(b'{"'[: len(line)]) and not _WHOLE.search(line)


def _checksum(body: bytes) -> bytes:
    return blake2b(body, digest_size=8).hexdigest().encode()
