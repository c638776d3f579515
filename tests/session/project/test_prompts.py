"""The composer's draft and the history of prompts, kept on disk."""

from __future__ import annotations

import fcntl
import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from session.base.events import PromptSubmitted
from session.base.storage.private_files import StoreError
from session.project.prompts import Draft, PromptHistory
from tests.thorough import share


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


def test_the_draft_of_another_process_is_not_lost(tmp_path: Path) -> None:
    (tmp_path / "draft.txt").write_text("of yesterday")
    one, other = Draft(tmp_path), Draft(tmp_path)
    assert one.read() == other.read() == "of yesterday"
    one.write("of yesterday, longer")
    other.write("")
    assert Draft(tmp_path).read() == "of yesterday, longer"
    other.write("another thought")
    other.write("another thought, longer")
    assert Draft(tmp_path).read() == "another thought, longer"
    assert PromptHistory(tmp_path).read() == ["of yesterday, longer"]
    other.write("")
    assert Draft(tmp_path).read() == "" and not (tmp_path / "draft.txt").exists()


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


def test_only_what_the_user_typed_of_a_prompt_is_kept(tmp_path: Path) -> None:
    history = PromptHistory(tmp_path / "state")
    history.take(PromptSubmitted("t1", "mend it"))
    history.take(PromptSubmitted("t2", "These checks fail. Mend what they found", typed=""))
    history.take(PromptSubmitted("t3", "why?\n\nThis command failed with exit 1.", typed="why?"))
    history.take(PromptSubmitted("t4", ""))
    assert history.read() == ["mend it", "why?"]


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
    with pytest.raises(StoreError, match=r"cannot store the prompt in .*prompts\.jsonl: Is a directory"):
        PromptHistory(tmp_path).add("x")
    with pytest.raises(StoreError, match="cannot read the prompts"):
        PromptHistory(tmp_path).read()


def test_a_damaged_draft_does_nothing_to_the_terminal(tmp_path: Path) -> None:
    (tmp_path / "draft.txt").write_bytes(b"fix \x1b]52;c;eA==\x07 \xff\xe2\x80\xae\0\nand\tthat")
    assert Draft(tmp_path).read() == "fix ␛]52;c;eA==␇ \ufffd\ufffd␀\nand\tthat"


# --- a history that does not grow without end -------------------------------------------------------

WRITER = """
import sys
from pathlib import Path
from session.project.prompts import PromptHistory
PromptHistory.LARGEST = 6_000
history = PromptHistory(Path(sys.argv[1]))
for number in range(int(sys.argv[3])):
    history.add(f"{sys.argv[2]} {number}" + "x" * 40)
    print(number, flush=True)
"""


def writer(folder: Path, name: str, count: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", WRITER, str(folder), name, str(count)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def test_the_history_is_shortened_and_keeps_the_newest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(PromptHistory, "LARGEST", 2_000)
    history, file = PromptHistory(tmp_path), tmp_path / "prompts.jsonl"
    for number in range(300):
        history.add(f"prompt {number}")
        assert history.read()[-1] == f"prompt {number}"
        assert file.stat().st_size <= 2_000
    numbers = [int(prompt.split()[1]) for prompt in history.read()]
    assert numbers == list(range(300 - len(numbers), 300)) and len(numbers) > 50
    assert mode(file) == 0o600 and [each.name for each in tmp_path.iterdir()] == ["prompts.jsonl"]


def test_a_newest_prompt_above_the_limit_is_kept_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(PromptHistory, "LARGEST", 2_000)
    history = PromptHistory(tmp_path)
    history.add("first")
    history.add("y" * 9_000)
    assert history.read() == ["y" * 9_000]
    history.add("last")
    assert history.read() == ["last"]


def test_a_large_history_of_before_is_read_from_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(PromptHistory, "LARGEST", 2_000)
    file = tmp_path / "prompts.jsonl"
    file.write_text('"' + "z" * 50_000 + '"\n' + "".join(f'"p{number}"\n' for number in range(100)))
    assert PromptHistory(tmp_path).read() == [f"p{number}" for number in range(100)]


def test_processes_that_shorten_the_history_at_once_lose_no_new_prompt(tmp_path: Path) -> None:
    writers = [writer(tmp_path, name, 800) for name in ("one", "two", "three")]
    assert [(each.communicate(timeout=120), each.returncode)[1] for each in writers] == [0, 0, 0]
    prompts = [prompt.rstrip("x").split() for prompt in PromptHistory(tmp_path).read()]
    assert {name for name, _ in prompts} & {"one", "two", "three"}
    for name in ("one", "two", "three"):
        numbers = [int(number) for which, number in prompts if which == name]
        assert numbers == list(range(800 - len(numbers), 800)), "what is kept has no gap"
    assert (tmp_path / "prompts.jsonl").stat().st_size <= 6_200


def test_a_kill_while_the_history_is_shortened_loses_no_prompt(tmp_path: Path) -> None:
    for attempt in range(share(12, 3)):
        process = writer(tmp_path, f"run{attempt}", 100_000)
        assert process.stdout is not None
        for _ in range(150 + 67 * attempt):
            process.stdout.readline()
        process.kill()
        told = process.communicate(timeout=60)[0].split()
        if told:
            prompts = PromptHistory(tmp_path).read()
            assert f"run{attempt} {told[-1]}" + "x" * 40 in prompts
    PromptHistory(tmp_path).add("after")
    assert PromptHistory(tmp_path).read()[-1] == "after"


def test_a_process_that_holds_the_history_is_not_waited_for_without_end(tmp_path: Path) -> None:
    history = PromptHistory(tmp_path)
    history.add("one")
    with (tmp_path / "prompts.jsonl").open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(StoreError, match="another process of spark holds it"):
            history.add("two")
    history.add("three")
    assert history.read() == ["one", "three"]
