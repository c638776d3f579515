"""The composer's draft and the history of prompts, kept on disk."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest

from session.project.prompts import Draft, PromptHistory
from session.storage.line_files import StoreError


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("text", ["hello", "two\nlines\n", "crlf\r\nstays", "Grüße 🎉", " leading"])
def test_a_draft_is_kept_as_it_was(tmp_path: Path, text: str) -> None:
    Draft(tmp_path / "state").write(text)
    assert Draft(tmp_path / "state").read() == text


def test_a_draft_can_be_replaced_and_removed_and_leaves_nothing_beside_it(tmp_path: Path) -> None:
    draft = Draft(tmp_path)
    assert draft.read() == ""
    draft.write("one")
    draft.write("two")
    assert draft.read() == "two"
    assert [file.name for file in tmp_path.iterdir()] == ["draft.txt"]
    draft.write("")
    draft.write("")
    assert draft.read() == ""
    assert list(tmp_path.iterdir()) == []


def test_a_draft_is_private(tmp_path: Path) -> None:
    old = os.umask(0)
    try:
        Draft(tmp_path / "state").write("secret plans")
    finally:
        os.umask(old)
    assert mode(tmp_path / "state" / "draft.txt") == 0o600


def test_a_draft_with_a_lone_surrogate_or_odd_bytes_is_still_read(tmp_path: Path) -> None:
    Draft(tmp_path).write("a\udcffb")
    assert Draft(tmp_path).read() == "a?b"
    (tmp_path / "draft.txt").write_bytes(b"a\xffb")
    assert Draft(tmp_path).read() == "a\ufffdb"


def test_a_draft_that_cannot_be_written_or_read_is_a_store_error(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("")
    with pytest.raises(StoreError, match=r"cannot store the draft .*draft\.txt"):
        Draft(tmp_path / "state").write("x")
    (tmp_path / "other" / "draft.txt").mkdir(parents=True)
    with pytest.raises(StoreError, match="cannot read the draft"):
        Draft(tmp_path / "other").read()


def test_prompts_are_kept_in_order_and_a_repeated_one_once(tmp_path: Path) -> None:
    history = PromptHistory(tmp_path / "state")
    assert history.read() == []
    for prompt in ("one", "two\nlines", "two\nlines", "one", "\udcff", "日本"):
        history.add(prompt)
    assert PromptHistory(tmp_path / "state").read() == ["one", "two\nlines", "one", "\udcff", "日本"]
    assert mode(tmp_path / "state" / "prompts.jsonl") == 0o600


def test_only_the_last_prompts_are_read(tmp_path: Path) -> None:
    lines = "".join(json.dumps(f"p{number}") + "\n" for number in range(PromptHistory.LONGEST + 5))
    (tmp_path / "prompts.jsonl").write_text(lines)
    read = PromptHistory(tmp_path).read()
    assert (len(read), read[0], read[-1]) == (PromptHistory.LONGEST, "p5", f"p{PromptHistory.LONGEST + 4}")


def test_damaged_prompts_are_skipped_and_the_next_one_is_whole(tmp_path: Path) -> None:
    (tmp_path / "prompts.jsonl").write_bytes(b'"one"\n3\n\xff\n\n' + b"[" * 100_000 + b'\n"torn')
    PromptHistory(tmp_path).add("two")
    assert PromptHistory(tmp_path).read() == ["one", "two"]


def test_prompts_that_cannot_be_written_or_read_are_store_errors(tmp_path: Path) -> None:
    (tmp_path / "prompts.jsonl").mkdir()
    with pytest.raises(StoreError, match="cannot write"):
        PromptHistory(tmp_path).add("x")
    with pytest.raises(StoreError, match="cannot read the prompts"):
        PromptHistory(tmp_path).read()


def test_a_damaged_draft_does_nothing_to_the_terminal(tmp_path: Path) -> None:
    (tmp_path / "draft.txt").write_bytes(b"fix \x1b]52;c;eA==\x07 \xff\xe2\x80\xae\0\nand\tthat")
    assert Draft(tmp_path).read() == "fix ␛]52;c;eA==␇ \ufffd\ufffd␀\nand\tthat"
