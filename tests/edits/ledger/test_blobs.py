"""Contents that are kept under their hash: damage is told and mended, and only what is old is swept."""

from __future__ import annotations

import os
import zlib
from pathlib import Path

import pytest

from edits.files.text import FileError, digest
from edits.hunk import RefusalCode
from edits.ledger.blobs import Blobs

TEXT = b"text that is kept\n" * 9
NAME = digest(TEXT)


def place(folder: Path, sha256: str = NAME) -> Path:
    return folder / sha256[:2] / sha256[2:]


def test_a_content_is_kept_compressed_under_its_hash(tmp_path: Path) -> None:
    blobs = Blobs(tmp_path)
    assert not blobs.has(NAME) and blobs.size(NAME) == 0
    assert blobs.keep(TEXT) == NAME
    assert blobs.has(NAME) and blobs.get(NAME) == TEXT
    assert blobs.size(NAME) == place(tmp_path).stat().st_size < len(TEXT)


@pytest.mark.parametrize(
    ("copy", "message"),
    [
        (None, "does not hold this content"),
        (b"", "damaged: "),
        (zlib.compress(TEXT)[:-3], "damaged: "),
        (TEXT, "damaged: "),
        (zlib.compress(TEXT.upper()), "damaged: its hash is wrong"),
        (zlib.compress(TEXT[:-1]), "damaged: its hash is wrong"),
    ],
)
def test_a_damaged_copy_is_told_and_mended_by_keeping_it_again(
    tmp_path: Path, copy: bytes | None, message: str
) -> None:
    blobs = Blobs(tmp_path)
    blobs.keep(TEXT)
    if copy is None:
        place(tmp_path).unlink()
    else:
        place(tmp_path).write_bytes(copy)
    with pytest.raises(FileError, match=message) as told:
        blobs.get(NAME)
    assert told.value.code is RefusalCode.IO
    assert blobs.keep(TEXT) == NAME and blobs.get(NAME) == TEXT


def test_a_whole_copy_is_not_written_again(tmp_path: Path) -> None:
    blobs = Blobs(tmp_path)
    blobs.keep(TEXT)
    before = place(tmp_path).stat()
    blobs.keep(TEXT)
    assert place(tmp_path).stat().st_ino == before.st_ino


def test_what_goes_away_during_a_sweep_keeps_nothing_else(tmp_path: Path) -> None:
    blobs = Blobs(tmp_path)
    names = [blobs.keep(bytes([at]) * 9) for at in range(16)]
    for name in names:
        os.utime(place(tmp_path, name), (0, 0))
    for name in names[::2]:  # links that lead nowhere are as good as gone
        place(tmp_path, name).unlink()
        place(tmp_path, name).symlink_to("gone")
    blobs.sweep(set(), before=990)
    assert not any(map(blobs.has, names))


@pytest.mark.parametrize(
    ("age", "wanted", "left"), [(9, True, True), (9, False, True), (11, True, True), (11, False, False)]
)
def test_only_what_nobody_wants_and_is_old_is_swept(
    tmp_path: Path, age: int, wanted: bool, left: bool
) -> None:
    blobs = Blobs(tmp_path)
    blobs.keep(TEXT)
    os.utime(place(tmp_path), (1000 - age, 1000 - age))
    blobs.sweep({NAME} if wanted else set(), before=990)
    assert blobs.has(NAME) == left
