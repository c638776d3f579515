"""Files without names: what is stored reads the same, and is gone when nobody keeps it."""

from __future__ import annotations

import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as some

from session.base.storage import unnamed_files
from session.base.storage.unnamed_files import UnnamedFiles
from tests.open_files import unnamed_in


@contextmanager
def no_file_longer_than(count: int) -> Iterator[None]:
    """The system writes no file of this process beyond so many bytes."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (count, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@given(pieces=some.lists(some.binary(max_size=300), max_size=30), largest=some.integers(1, 1_000))
def test_what_is_stored_reads_the_same_in_any_order(pieces: list[bytes], largest: int) -> None:
    with TemporaryDirectory() as name, pytest.MonkeyPatch.context() as patched:
        patched.setattr(unnamed_files, "LARGEST", largest)
        folder = Path(name)
        files = UnnamedFiles(folder / "state")
        stored = [files.store(piece) for piece in pieces]
        assert [each.read() for each in reversed(stored)] == pieces[::-1]
        assert [each.read() for each in stored] == pieces
        assert not pieces or list((folder / "state").iterdir()) == [], "a file has a name"


def test_without_a_folder_it_stays_in_memory() -> None:
    assert UnnamedFiles().store(b"kept").read() == b"kept"


def test_a_file_goes_when_nothing_in_it_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unnamed_files, "LARGEST", 1_000)
    files = UnnamedFiles(tmp_path)
    stored = [files.store(bytes([number]) * 400) for number in range(30)]
    assert len(unnamed_in(tmp_path)) == 10
    del stored[:9]
    assert len(unnamed_in(tmp_path)) == 7
    assert [each.read()[0] for each in stored] == list(range(9, 30))
    del files, stored
    assert not unnamed_in(tmp_path)


def test_only_the_user_can_read_it(tmp_path: Path) -> None:
    files = UnnamedFiles(tmp_path / "state")
    files.store(b"private")
    (descriptor,) = unnamed_in(tmp_path / "state")
    assert os.fstat(descriptor).st_mode & 0o777 == 0o600 and not os.get_inheritable(descriptor)
    assert (tmp_path / "state").stat().st_mode & 0o777 == 0o700


def test_on_a_full_disk_it_stays_in_memory_and_nothing_is_lost(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    files = UnnamedFiles(tmp_path)
    first = files.store(b"a" * 600)
    with no_file_longer_than(1_000):
        second = files.store(b"b" * 600)
    third = files.store(b"c" * 600)
    assert [each.read() for each in (first, second, third)] == [b"a" * 600, b"b" * 600, b"c" * 600]
    assert [record.message.split(":")[0] for record in caplog.records] == [
        "what is rarely read stays in memory"
    ]


@pytest.mark.parametrize("made", ["file", "link"])
def test_where_no_folder_can_be_made_it_stays_in_memory(tmp_path: Path, made: str) -> None:
    folder = tmp_path / "state"
    if made == "file":
        folder.write_text("in the way")
    else:
        folder.symlink_to(tmp_path / "nowhere")
    assert UnnamedFiles(folder / "deeper").store(b"kept").read() == b"kept"


def test_a_disk_that_gives_less_back_is_an_error(tmp_path: Path) -> None:
    stored = UnnamedFiles(tmp_path).store(b"a" * 600)
    (descriptor,) = unnamed_in(tmp_path)
    os.ftruncate(descriptor, 100)
    with pytest.raises(OSError, match="shorter than it was"):
        stored.read()
