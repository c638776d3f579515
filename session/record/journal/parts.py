"""The parts of a session's journal: ``ID.jsonl``, then ``ID.2.jsonl`` and so on as each becomes long.

The first part keeps the session's name, so that a session is found by it from its first line on. Only the
newest part is written to. Older parts are shortened, so that no session fills the disk: the answers'
text is taken out of all but the newest few, and everything else stays.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from edits.checked_lines import DamagedLineError, UnfinishedLineError, from_line, to_line
from edits.files.durable import Step, no_step
from edits.files.replacing import replacing
from session.base.events import ReasoningDelta, TextDelta
from session.base.storage.private_files import StoreError, open_to_read

SUFFIX = ".jsonl"
VERSION = 2
"""The version of the format. Version 1 had no headers, no checksums and no parts, and is still read."""
PART_BYTES = 16_000_000
"""The size from which on a part is not written to any more."""
KEPT_PARTS = 8
"""The number of newest parts that keep the text of the answers."""

HEADER = b'{"type":"journal"'
"""How the first line of a part begins."""
_THINNED = b'"thinned":true'


def beginnings(*kinds: type) -> tuple[bytes, ...]:
    """How the lines of these events begin."""
    return tuple(b'{"type":"%s"' % str(vars(kind)["type"]).encode() for kind in kinds)


TEXT = beginnings(TextDelta, ReasoningDelta)
"""How the lines of an answer's text begin."""


def header(part: int, *, thinned: bool = False) -> bytes:
    """The first line of a part."""
    record = {"type": "journal", "version": VERSION, "part": part}
    return to_line(record | {"thinned": True} if thinned else record)


def part_file(file: Path, number: int) -> Path:
    """The file of a part of the journal ``file``; parts count from 1."""
    return file if number == 1 else file.with_name(f"{file.stem}.{number}{SUFFIX}")


def parts(file: Path) -> list[int]:
    """The numbers of the parts of the journal ``file`` in their order, from 1. Raises OSError."""
    if not os.path.lexists(part_file(file, 2)):
        return [1]  # as nearly all are: to list the folder for each session would take long
    name = re.compile(rf"{re.escape(file.stem)}\.([1-9][0-9]{{0,6}}){re.escape(SUFFIX)}")
    found = [match[1] for each in file.parent.iterdir() if (match := name.fullmatch(each.name))]
    return [1, *sorted(int(number) for number in found if number != "1")]


def check_version(file: Path, line: bytes) -> None:
    """Raise StoreError if ``line``, the first of ``file``, was written by a newer version of spark."""
    if not line.startswith(HEADER):
        return
    try:
        version = from_line(line, may_lack_sum=False)[0].get("version")
    except (DamagedLineError, UnfinishedLineError):
        return
    if isinstance(version, int) and version > VERSION:
        raise StoreError(f"cannot read {file}: it was written by a newer version of spark: update this one")


def is_thinned(line: bytes) -> bool:
    """Whether ``line`` is the header of a part whose text was taken out."""
    return line.startswith(HEADER) and _THINNED in line


def thin_old_parts(file: Path, step: Step = no_step) -> None:
    """Take the answers' text out of all but the newest parts of the journal ``file``, each in one step.

    Raises OSError.
    """
    for number in parts(file)[:-KEPT_PARTS]:
        _thin(part_file(file, number), number, step)


def _thin(part: Path, number: int, step: Step) -> None:
    with open_to_read(part) as old:
        if is_thinned(old.readline()):
            return
        old.seek(0)
        with replacing(part) as new:
            step("part begun")
            new.write(header(number, thinned=True))
            new.writelines(_summed(line for line in old if not line.startswith((HEADER, *TEXT))))
            step("part prepared")
    step("part thinned")


def _summed(lines: Iterable[bytes]) -> Iterator[bytes]:
    """``lines`` with a checksum for each record of the first version; what is damaged stays as it is."""
    summed = False
    for line in lines:
        if not summed:
            try:
                record, summed = from_line(line, may_lack_sum=True)
            except (DamagedLineError, UnfinishedLineError):
                yield line
                continue
        yield line if summed else to_line(record, ascii_only=True)
