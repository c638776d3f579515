"""The lines of the ledger's journal: one JSON object each, with a checksum as its last member.

The first line names the version of the format. Version 1 had neither that line nor checksums. It is still
read, and rewritten when a ledger is recovered: lines without a checksum count up to the first that has one.
"""

from __future__ import annotations

import hashlib
import json
import re
from typing import Any

VERSION = 2
FIRST = {"kind": "ledger", "version": VERSION}
"""The first line of a journal."""

_SUM_BYTES = 26
_SUM = re.compile(rb',"sum":"([0-9a-f]{16})"\}')
_SUM_BEGUN = re.compile(rb',"sum":"[0-9a-f]{16}"')


class DamagedLineError(ValueError):
    """A line that was whole once, and is not what was written."""


class UnfinishedLineError(ValueError):
    """The beginning of a line, whose process was killed while it wrote it."""


def to_line(record: dict[str, Any]) -> bytes:
    """The line of a record, with its end."""
    body = json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode()[:-1]
    return b'%b,"sum":"%b"}\n' % (body, _checksum(body))


def from_line(line: bytes, *, may_lack_sum: bool) -> tuple[dict[str, Any], bool]:
    """The record of a line, and whether it has a checksum.

    Raises DamagedLineError and UnfinishedLineError.
    """
    line = line.rstrip(b"\r\n")
    end = line[-_SUM_BYTES:]
    found = _SUM.fullmatch(end)
    if found is not None and _checksum(line[: -len(end)]) != found[1]:
        raise DamagedLineError("its checksum is wrong")
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        if line.startswith(b'{"kind":"') and not _SUM_BEGUN.search(line):
            raise UnfinishedLineError from error
        raise DamagedLineError("it is not JSON") from error
    if not isinstance(record, dict) or (found is None and not may_lack_sum):
        raise DamagedLineError("it has no checksum" if isinstance(record, dict) else "it is not a record")
    return record, found is not None


def _checksum(body: bytes) -> bytes:
    return hashlib.blake2b(body, digest_size=8).hexdigest().encode()
