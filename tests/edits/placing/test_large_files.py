"""Large files, which are searched as bytes: what is placed so, and what is not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from edits.files.text import decode
from edits.hunk import Format, Hunk, Replacement
from edits.placing import large_files
from edits.placing.large_files import change_exactly
from edits.placing.place import Placed, place
from edits.placing.splices import Splice, spliced
from tests.edits.placing.written import body, hunk


@pytest.fixture
def small_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files of eight bytes are searched as bytes, and read in pieces of three."""
    monkeypatch.setattr(large_files, "LARGE", 8)
    monkeypatch.setattr(large_files, "_CHUNK", 3)


@pytest.mark.usefixtures("small_is_large")
@pytest.mark.parametrize(
    ("before", "edit", "after"),
    [
        (b"one\ntwo words\nthree\n", hunk("-two words", "+2"), b"one\n2\nthree\n"),
        (b"two words\nthree\n", hunk("-two words", "+2"), b"2\nthree\n"),
        (b"one\r\ntwo words\r\n", hunk("-two words", "+2", "+3"), b"one\r\n2\r\n3\r\n"),
        (b"one\ntwo words\nthree words\nx\n", hunk(" two words", "-three words", "+3"),
         b"one\ntwo words\n3\nx\n"),
        ("one é\ntwo words\n\U0001f600\n".encode(), hunk("-two words", "+2"),
         "one é\n2\n\U0001f600\n".encode()),
        (b"x two words\ntwo words\n", hunk("-two words", "+2"), b"x two words\n2\n"),
        (b"two words\n", hunk("-two words", "+2"), b"2\n"),
        (b"eight888\nq\n", hunk("-eight888", "+2"), b"2\nq\n"),
    ],
)  # fmt: skip
def test_a_large_file_is_changed_as_any_other(before: bytes, edit: Hunk, after: bytes) -> None:
    found = change_exactly(before, edit)
    assert found is not None
    made, changed = found
    file = decode(before, "f")
    assert changed == after == file.encode(spliced(file, made))
    usual = place(file, edit)
    assert isinstance(usual, Placed) and usual.splices == made


@pytest.mark.usefixtures("small_is_large")
@pytest.mark.parametrize(
    ("before", "edit"),
    [
        (b"2 word\n", hunk("-2 word", "+2")),
        (b"one\nsevenn7\n", hunk("-sevenn7", "+2")),
        (b"two words\ntwo words\n", hunk("-two words", "+2")),
        (b"one\ntwo words", hunk("-two words", "+2")),
        (b"two words\nq\ntwo words", hunk("-two words", "+2")),
        (b"two words\r\nq\n", hunk("-two words", "+2")),
        (b"two words\rq\n", hunk("-two words", "+2")),
        (b"two words\n\xff\n", hunk("-two words", "+2")),
        (b"two words\n\xc3", hunk("-two words", "+2")),
        (b"two words\n\0\n", hunk("-two words", "+2")),
        (b"\xef\xbb\xbftwo words\n", hunk("-two words", "+2")),
        (b"q\ntwo words x\n", hunk("-two words", "+2")),
        (b"q\n x two words\n", hunk("-two words", "+2")),
        (b"two words\nnew\nq\n", hunk(" two words", "+new")),
        (b"two words\nnew\nq\n", hunk(" two words")),
        (b"two words\nq\n", hunk("-two words", "+2", anchors=("q",))),
        (b"two words\nq\n", hunk("-two words", "+2", alternatives=(body("-q"),))),
        (b"two words\nq\n", hunk("-two words", "+2", at_end_of_file=True)),
        (b"two words\nq\n", hunk("-two words", "+2", final_newline=False)),
        (b"two words\nq\n", hunk("-two words", "+2", replacement=Replacement("two", "2"))),
        (b"two words\nq\n", replace(hunk("-two words", "+2"), format=Format.WHOLE)),
    ],
)
def test_what_needs_more_is_placed_as_in_any_other_file(before: bytes, edit: Hunk) -> None:
    assert change_exactly(before, edit) is None


def test_a_small_file_is_always_decoded() -> None:
    assert change_exactly(b"one\ntwo words\n", hunk("-two words", "+2")) is None
    lines = b"".join(b"line %07d\n" % number for number in range(350_000))
    found = change_exactly(lines, hunk("-line 0000007", "+x"))
    assert found is not None and found[0] == (Splice(7, ("line 0000007\n",), ("x\n",)),)
