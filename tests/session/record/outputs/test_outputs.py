"""Whole outputs: kept as they came, both ends of what is too long, and shown without what could harm."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from context.text.secrets import without_cut_beginning, without_cut_end
from session.base.events import CommandEnded
from session.record import outputs
from session.record.outputs import Outputs
from tests.session.talking import PLAIN, talking


@given(
    st.lists(
        st.binary(max_size=9).map(lambda data: bytes(97 + byte % 26 if byte % 4 else 32 for byte in data)),
        max_size=12,
    )
)
def test_both_ends_are_kept_however_the_output_came(pieces: list[bytes]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(outputs, "HEAD", 10)
        patch.setattr(outputs, "TAIL", 6)
        kept = Outputs(Path())
        take = kept.keep("c1")
        for piece in pieces:
            take(piece)
        text = b"".join(pieces).decode()
        left = len(text) - 16
        first, last = without_cut_end(text[:10]), without_cut_beginning(text[-6:])
        wanted = f"{first}\n… {left} bytes of output were not kept …\n{last}" if left > 0 else text
        assert kept.text("c1") == wanted


def test_an_output_is_shown_without_control_sequences_and_keys(tmp_path: Path) -> None:
    kept = Outputs(tmp_path)
    kept.keep("c1")(b"\x1b[31mred\x1b[0m\r\n10 %\r20 %\nkey sk-proj-" + b"a1B2" * 12 + b"\n")
    text = kept.text("c1")
    assert text is not None and text.startswith("red\n20 %\nkey ")
    assert "\x1b" not in text and "a1B2a1B2" not in text


def test_the_oldest_outputs_go_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outputs, "MOST", 2)
    kept = Outputs(tmp_path)
    for name in ("c1", "c2", "c3"):
        kept.keep(name)(name.encode())
    assert [kept.text(name) for name in ("c1", "c2", "c3")] == [None, "c2", "c3"]
    assert not list(tmp_path.iterdir()), "no file has a name"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full to be a full disk")
def test_where_the_disk_is_full_what_came_before_stays(tmp_path: Path) -> None:
    kept = Outputs(tmp_path)
    take = kept.keep("c1")
    with Path("/dev/full").open("r+b", buffering=0) as full:
        take(b"some")
        kept._kept["c1"]._file._file = full  # what it writes to
        take(b"more")
        take(b"still more")
    assert kept._kept["c1"].total == 4


async def test_all_that_a_command_printed_is_kept(tmp_path: Path) -> None:
    async with talking(tmp_path, PLAIN) as talk:
        talk.session.shell.run("i=0; while [ $i -lt 3000 ]; do echo line $i; i=$((i+1)); done; exit 3")
        await talk.until(CommandEnded)
        text = talk.session.outputs.text("c1")
        assert text is not None and text.splitlines() == [f"line {number}" for number in range(3000)]
