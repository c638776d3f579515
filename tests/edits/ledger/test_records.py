"""The ledger's records and its journal's file, as tables: values, lines, and what is read of them."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

from edits.checked_lines import from_line, to_line
from edits.hunk import Action, Rung, Status
from edits.ledger.entry import Entry, Op, State, from_record, to_record
from edits.ledger.journal_file import FIRST, JournalFile
from edits.placing.splices import Splice

FULL = Entry(
    seq=7,
    hunk="h3",
    op=Op.UNDO,
    action=Action.MOVE,
    root="/project",
    path="a.py",
    moved_to="b.py",
    before="a" * 64,
    after="b" * 64,
    splices=(Splice(2, ("x\n", "y\r\n"), ("z",)), Splice(9, (), ("w\n",))),
    reverts=5,
    in_place=True,
    mode=0o644,
    made=("to", "to/er"),
    session="s",
    turn="t",
    time=12.5,
    status=Status.APPLIED_FUZZY,
    rung=Rung.INDENT,
    token="t0k3n",
    same="c" * 64,
)
LEAST = Entry(1, "h1", Op.LAND, Action.UPDATE, "/project", "a.py", None, None, None)


@pytest.mark.parametrize("entry", [FULL, LEAST, replace(FULL, moved_to=None, before=None, mode=None)])
def test_an_entry_is_read_as_it_was_written(entry: Entry) -> None:
    record = json.loads(json.dumps(to_record(entry)))
    assert record["kind"] == "intent" and "state" not in record
    read = from_record(record)
    for item in fields(Entry):
        assert getattr(read, item.name) == getattr(entry, item.name), item.name
    assert read.state is State.OPEN


def test_a_record_leaves_out_what_is_empty() -> None:
    assert set(to_record(LEAST)) == {
        "kind", "seq", "hunk", "op", "action", "root", "path", "splices", "in_place", "time", "status", "rung"
    }  # fmt: skip
    assert FULL.place == "b.py" and LEAST.place == "a.py"


def test_a_record_of_an_old_version_has_less() -> None:
    least = {"seq": 1, "hunk": "h1", "op": "land", "action": "update", "root": "/project", "path": "a.py"}
    assert from_record(least) == LEAST


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("hunk", ""),
        ("hunk", 3),
        ("path", "a\0b"),
        ("root", None),
        ("moved_to", ""),
        ("op", "other"),
        ("action", "other"),
        ("status", "other"),
        ("rung", 9),
        ("before", "ab"),
        ("before", ""),
        ("after", "../x"),
        ("after", 12),
        ("token", "a/b"),
        ("token", 1),
        ("reverts", "5"),
        ("reverts", True),
        ("mode", 1.0),
        ("made", [""]),
        ("made", [3]),
        ("splices", [[1, "a"]]),
        ("splices", [["x", "a", "b"]]),
        ("seq", "x"),
        ("time", "soon"),
    ],
)
def test_a_record_that_is_wrong_is_refused(key: str, value: object) -> None:
    with pytest.raises((KeyError, TypeError, ValueError)):
        from_record({**to_record(FULL), key: value})


@pytest.mark.parametrize("key", ["seq", "hunk", "op", "action", "root", "path"])
def test_a_record_that_lacks_what_it_needs_is_refused(key: str) -> None:
    with pytest.raises(KeyError):
        from_record({name: value for name, value in to_record(FULL).items() if name != key})


def one(number: int) -> dict[str, Any]:
    return {"kind": "end", "seq": number}


def seqs(file: JournalFile) -> tuple[bool, list[int]]:
    news = file.read_new()
    return news.rewritten, [record["seq"] for record, _ in news.records]


def test_a_journal_is_read_from_where_one_left_off(tmp_path: Path) -> None:
    path = tmp_path / "hunks.jsonl"
    writer, reader = JournalFile(path), JournalFile(path)
    assert seqs(reader) == (False, [])
    writer.append(one(1), durable=True)
    writer.append(one(2), durable=False)
    assert seqs(writer) == (False, [])
    assert seqs(reader) == (True, [1, 2])
    assert seqs(reader) == (False, [])
    writer.append(one(3), durable=False)
    assert seqs(reader) == (False, [3])
    reader.append(one(4), durable=False)
    assert seqs(writer) == (False, [4])
    assert from_line(path.read_bytes().splitlines()[0], may_lack_sum=False)[0].items() >= FIRST.items()
    assert len(path.read_bytes().splitlines()) == 5 and not writer.is_old


def test_only_a_durable_line_waits_for_the_disk(tmp_path: Path) -> None:
    steps: list[str] = []
    file = JournalFile(tmp_path / "hunks.jsonl", steps.append)
    file.append(one(1), durable=False)
    assert steps == ["line written"]
    file.append(one(2), durable=True)
    assert steps == ["line written", "line written", "line synced"]


def test_a_journal_that_is_replaced_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "hunks.jsonl"
    file, other = JournalFile(path), JournalFile(path)
    for number in (1, 2, 3):
        file.append(one(number), durable=False)
    assert seqs(other) == (True, [1, 2, 3])
    (tmp_path / ".hunks.jsonl.left.new").write_bytes(b"half")
    file.replace([one(2), one(3)])
    assert seqs(file) == seqs(other) == (True, [2, 3])
    assert [path.name for path in tmp_path.iterdir()] == ["hunks.jsonl"]
    path.unlink()
    assert seqs(file) == (True, []) and seqs(file) == (False, [])
    path.write_bytes(to_line(FIRST) + to_line(one(9)))
    assert seqs(file) == (True, [9])


def test_a_journal_that_became_shorter_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "hunks.jsonl"
    file = JournalFile(path)
    for number in (1, 2):
        file.append(one(number), durable=False)
    assert seqs(file) == (False, [])
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:2]))
    assert seqs(file) == (True, [1])


WHOLE, OTHER = to_line(one(1)), to_line(one(2))


@pytest.mark.parametrize(
    ("content", "read", "damaged", "old"),
    [
        (WHOLE + OTHER, [1, 2], [], False),
        (to_line(FIRST) + WHOLE, [1], [], False),
        (b"\n  \n" + WHOLE, [1], [], False),
        (WHOLE + OTHER[:-1], [1], [], False),
        (WHOLE + OTHER[:-9] + b"\n" + OTHER, [1, 2], [], False),
        (WHOLE.replace(b"1", b"3", 1) + OTHER, [2], [WHOLE.replace(b"1", b"3", 1)], False),
        (b"junk\n" + OTHER, [2], [b"junk\n"], False),
        (b'{"kind":"end","seq":5}\n' + OTHER, [5, 2], [], True),
        (OTHER + b'{"kind":"end","seq":5}\n', [2], [b'{"kind":"end","seq":5}\n'], False),
    ],
)
def test_what_is_read_of_a_journal(
    tmp_path: Path, content: bytes, read: list[int], damaged: list[bytes], old: bool
) -> None:
    path = tmp_path / "hunks.jsonl"
    path.write_bytes(content)
    file = JournalFile(path)
    assert seqs(file) == (True, read)
    assert (file.damaged, file.is_old) == (damaged, old)
    whole = content[: content.rfind(b"\n") + 1]
    assert file.read_to == len(whole)


def test_a_line_after_a_torn_one_begins_on_a_line_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "hunks.jsonl"
    file = JournalFile(path)
    file.append(one(1), durable=False)
    with path.open("ab") as torn:
        torn.write(OTHER[:-5])
    assert seqs(file) == (False, [])
    file.append(one(3), durable=False)
    assert seqs(file) == (False, [])
    assert seqs(JournalFile(path)) == (True, [1, 3])


def test_damage_is_set_aside_once_and_counted(tmp_path: Path) -> None:
    path, aside = tmp_path / "hunks.jsonl", tmp_path / "damaged.jsonl"
    path.write_bytes(b"junk\n" + WHOLE + b"more junk\n" + b"junk\n")
    steps: list[str] = []
    file = JournalFile(path, steps.append)
    file.read_new()
    file.refuse(b"refused\n")
    assert file.set_aside(aside, [b"given\n", b"junk\n"]) == 4
    assert aside.read_bytes() == b"junk\nmore junk\nrefused\ngiven\n"
    assert steps == ["damage set aside"]
    assert file.set_aside(aside, [b"given\n", b"new\n"]) == 1
    assert aside.read_bytes().endswith(b"given\nnew\n")
    assert file.set_aside(aside) == 0 and len(steps) == 2


def test_a_journal_of_another_version_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "hunks.jsonl"
    path.write_bytes(to_line({**FIRST, "version": 1}) + WHOLE)
    with pytest.raises(OSError, match="newer version of spark"):
        JournalFile(path).read_new()
