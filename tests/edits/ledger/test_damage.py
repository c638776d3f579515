"""Damage to the ledger: found, set aside and told; it never stops the rest, and undo never writes by it."""

from __future__ import annotations

import json
import random
import time
from pathlib import Path

import pytest

from edits.checked_lines import DamagedLineError, UnfinishedLineError, from_line, to_line
from edits.files.text import digest
from edits.hunk import Action, Format, Hunk, HunkLine, Landed, LineKind, RefusalCode, Refused
from edits.landing import Landing
from edits.ledger.entry import DAY, Entry, Op, Retention, State
from edits.ledger.ledger import Ledger
from tests.edits.helpers import Project
from tests.faults import picture, restore

LINES = [f"line {number}" for number in range(6)]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return filled(tmp_path)


def filled(folder: Path) -> Project:
    """Six hunks in one file and one in another, all landed."""
    project = Project(folder)
    project.write({"a.txt": "".join(f"{line}\n" for line in LINES), "b.txt": "x\n"})
    for number, line in enumerate(LINES):
        change(project, f"h{number}", "a.txt", line, line.upper())
    change(project, "h6", "b.txt", "x", "y")
    return project


def change(project: Project, name: str, path: str, old: str, new: str, session: str = "s") -> None:
    lines = (HunkLine(LineKind.OLD, old), HunkLine(LineKind.NEW, new))
    hunk = Hunk(path, Action.UPDATE, Format.V4A, lines)
    assert isinstance(project.landing.land(hunk, hunk_id=name, session=session, turn="t"), Landed)


def journal(project: Project) -> Path:
    return project.folder / "ledger/hunks.jsonl"


def lines_of(project: Project) -> list[bytes]:
    return journal(project).read_bytes().splitlines(keepends=True)


def of_intent(project: Project, hunk: str) -> int:
    return next(n for n, line in enumerate(lines_of(project)) if f'"hunk":"{hunk}"'.encode() in line)


def reopened(project: Project) -> tuple[Ledger, Landing]:
    ledger = Ledger(project.folder / "ledger")
    ledger.recover()
    return ledger, Landing(project.root, ledger)


def test_one_changed_character_makes_no_undo_write_wrong_code(project: Project) -> None:
    """It did, silently: the hash of the content before stood unused beside it."""
    lines = lines_of(project)
    at = of_intent(project, "h2")
    lines[at] = lines[at].replace(b"line 2", b"1ine 2")
    journal(project).write_bytes(b"".join(lines))
    before = project.read()
    ledger, landing = reopened(project)
    assert ledger.set_aside == 1
    result = landing.undo("h2")
    assert isinstance(result, Refused) and project.read() == before
    assert ledger.damaged_file.read_bytes() == lines[at]
    for hunk in ("h6", "h5", "h4", "h3"):
        assert isinstance(landing.undo(hunk), Landed), hunk
    # What the file was right after the damaged change can no longer be told.
    for hunk in ("h1", "h0"):
        result = landing.undo(hunk)
        assert isinstance(result, Refused) and "does not hold this content" in result.message
    assert project.read() == {
        "a.txt": "".join(f"{line.upper() if line < 'line 3' else line}\n" for line in LINES),
        "b.txt": "x\n",
    }
    assert Ledger(project.folder / "ledger").recover() == []


@pytest.mark.parametrize("seed", range(8))
def test_whatever_single_bytes_change_undo_restores_or_refuses(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    project = filled(tmp_path / "filled")
    whole = picture(project.folder)
    for _ in range(8):
        restore(project.folder, whole)
        data = bytearray(journal(project).read_bytes())
        for _ in range(chance.choice([1, 1, 5])):
            data[chance.randrange(len(data))] = chance.choice(b'a1"}\n\\ \0\xff')
        journal(project).write_bytes(data)
        left = {*range(6)}
        ledger, landing = reopened(project)
        for name in chance.sample(range(7), 7):
            if isinstance(landing.undo(f"h{name}"), Landed):
                left.discard(name)
        now = [line.upper() if number in left else line for number, line in enumerate(LINES)]
        assert project.read()["a.txt"].splitlines() == now
        if ledger.set_aside:
            assert len(ledger.damaged_file.read_bytes().splitlines()) >= 1
        assert isinstance(Landing(project.root, Ledger(project.folder / "ledger")).undo("h99"), Refused)


def test_a_damaged_end_is_known_from_what_came_later(project: Project) -> None:
    lines = lines_of(project)
    at = of_intent(project, "h2") + 1
    assert b'"end"' in lines[at]
    lines[at] = lines[at].replace(b"done", b"d0ne")
    journal(project).write_bytes(b"".join(lines))
    ledger = Ledger(project.folder / "ledger")
    assert [item.state for item in ledger.recover()] == [State.DONE]
    assert len(ledger.hunks()) == 7 and ledger.set_aside == 1
    assert isinstance(Landing(project.root, ledger).undo("h2"), Landed)


@pytest.mark.parametrize(
    ("first", "later", "state"),
    [
        # What the later change found in the file tells.
        (("x", "y"), ("y", "z"), State.DONE),
        (("x", "y"), ("x", "z"), State.DROPPED),
        # It found something else: then the file itself is looked at, which is as the later one left it.
        (("x", "y"), ("w", "z"), State.LOST),
        (("x", "z"), ("w", "z"), State.DONE),
        (("z", "y"), ("w", "z"), State.DROPPED),
    ],
)
def test_how_a_change_ended_is_known_from_the_next_one_of_its_file(
    tmp_path: Path, first: tuple[str, str], later: tuple[str, str], state: State
) -> None:
    project = Project(tmp_path)
    project.write({"f": "z\n"})
    ledger = project.ledger

    def entry(hunk: str, path: str, before: str, after: str) -> Entry:
        digests = [digest(f"{text}\n".encode()) for text in (before, after)]
        least = Entry(0, hunk, Op.LAND, Action.UPDATE, str(project.root), path, None, digests[0], digests[1])
        return ledger.intend(least, None)

    with ledger.exclusive():
        entry("h1", "f", *first)
        for path in ("other", "f"):
            ledger.settle(entry("h2", path, *later), State.DONE)
    recovered = Ledger(tmp_path / "ledger").recover()
    assert [(each.hunk, each.state) for each in recovered] == [("h1", state)]


def test_a_torn_line_is_not_told_as_damage(project: Project) -> None:
    with journal(project).open("ab") as file:
        file.write(b'{"kind":"intent","seq":99,"hunk":"h')
    ledger, landing = reopened(project)
    assert isinstance(landing.undo("h6"), Landed)
    ledger, _ = reopened(project)
    assert ledger.set_aside == 0 and not ledger.damaged_file.exists()


def test_damage_is_set_aside_once(project: Project) -> None:
    with journal(project).open("ab") as file:
        file.write(b"\0" * 300 + b"\n" + b"[" * 100_000 + b"\n")
    for expected in (2, 0):
        ledger, _ = reopened(project)
        assert ledger.set_aside == expected
    assert len(ledger.damaged_file.read_bytes().splitlines()) == 2
    assert len(ledger.hunks()) == 7


@pytest.mark.parametrize("damage", ["cut", "changed", "gone"])
def test_a_damaged_content_stops_only_what_needs_it(project: Project, damage: str) -> None:
    first = project.ledger.entries()[0]
    assert first.before is not None
    blob = project.folder / "ledger/blobs" / first.before[:2] / first.before[2:]
    if damage == "gone":
        blob.unlink()
    else:
        data = blob.read_bytes()
        blob.write_bytes(data[:5] if damage == "cut" else data[:-3] + b"abc")
    ledger, landing = reopened(project)
    ledger.compact(Retention(), now=0)
    assert isinstance(landing.undo("h6"), Landed)
    for number in range(len(LINES)):
        landing.undo(f"h{number}")
    now = project.read()["a.txt"].splitlines()
    assert all(text in (line, line.upper()) for text, line in zip(now, LINES, strict=True))


def as_version_1(project: Project) -> None:
    """Rewrite the journal as the first version of spark did: no first line, no checksums."""
    records = [json.loads(line) for line in lines_of(project)[1:]]
    for record in records:
        del record["sum"]
        record.pop("token", None)
    text = "".join(json.dumps(record, ensure_ascii=False, separators=(",", ":")) + "\n" for record in records)
    journal(project).write_text(text)


def test_a_journal_of_the_first_version_is_brought_up_to_date(project: Project) -> None:
    as_version_1(project)
    other = Ledger(project.folder / "ledger")
    assert len(other.hunks()) == 7
    ledger, _ = reopened(project)
    assert ledger.set_aside == 0 and len(ledger.hunks()) == 7
    for line in lines_of(project):
        assert from_line(line, may_lack_sum=False)[1]
    assert json.loads(lines_of(project)[0])["version"] == 2
    assert len(other.hunks()) == 7
    for number in (3, 0, 6, 5, 1, 2, 4):
        assert isinstance(Landing(project.root, other).undo(f"h{number}"), Landed)
    assert project.read() == {"a.txt": "".join(f"{line}\n" for line in LINES), "b.txt": "x\n"}


def test_a_landing_in_a_journal_of_the_first_version(project: Project) -> None:
    as_version_1(project)
    project.landing = Landing(project.root, Ledger(project.folder / "ledger"))
    change(project, "h7", "b.txt", "y", "z")
    ledger, landing = reopened(project)
    assert len(ledger.hunks()) == 8
    assert isinstance(landing.undo("h7"), Landed) and isinstance(landing.undo("h6"), Landed)


def test_a_changed_character_in_the_first_version_is_found_by_the_hashes(project: Project) -> None:
    as_version_1(project)
    text = journal(project).read_text()
    journal(project).write_text(text.replace('"line 2\\n","LINE 2', '"1ine 2\\n","LINE 2', 1))
    assert text != journal(project).read_text()
    ledger, landing = reopened(project)
    assert ledger.set_aside >= 1
    assert isinstance(landing.undo("h2"), Refused)
    assert "1ine" not in project.read()["a.txt"]


def test_a_journal_of_a_newer_version_is_left_alone(project: Project) -> None:
    data = to_line({"kind": "ledger", "version": 3}) + b'{"kind":"new"}\n'
    journal(project).write_bytes(data)
    with pytest.raises(OSError, match="newer version of spark") as problem:
        Ledger(project.folder / "ledger").recover()
    assert problem.value.strerror
    result = Landing(project.root, Ledger(project.folder / "ledger")).undo()
    assert isinstance(result, Refused) and "update this one" in result.message
    assert journal(project).read_bytes() == data


def test_a_ledger_of_more_than_64_mb_is_compacted(project: Project) -> None:
    big = to_line({"kind": "note", "text": "x" * 1_000_000})
    with journal(project).open("ab") as file:
        for _ in range(66):
            file.write(big)
    change(project, "h7", "b.txt", "y", "z", session="later")
    ledger, landing = reopened(project)
    ledger.compact(Retention(sessions=1, days=0), now=time.time() + 2 * DAY)
    assert [record.id for record in ledger.hunks()] == ["h7"]
    assert journal(project).stat().st_size < 1_000_000
    assert isinstance(landing.undo("h7"), Landed)


def test_what_a_killed_compaction_left_does_not_stop_the_next(project: Project) -> None:
    """The temporary name was fixed once, so that no session of the project could be opened any more."""
    folder = project.folder / "ledger"
    for name in (".hunks.jsonl.compact.spark", ".hunks.jsonl.0123456789abcdef.new"):
        (folder / name).write_bytes(b"half")
    as_version_1(project)
    for _ in range(2):
        ledger = Ledger(folder)
        ledger.recover()
    assert len(ledger.hunks()) == 7
    assert not list(folder.glob(".hunks.jsonl.*.new"))


@pytest.mark.parametrize("obstacle", ["file", "link", "folder", "gone", "locked"])
def test_an_open_landing_whose_folder_became_something_else_stops_nothing(
    project: Project, obstacle: str
) -> None:
    """A folder that became a file was an error at every later start."""
    project.write({"sub/deep/c.txt": "x\n"})
    change(project, "h7", "sub/deep/c.txt", "x", "y")
    change(project, "h8", "sub/deep/c.txt", "y", "z")
    lines = lines_of(project)
    journal(project).write_bytes(b"".join(lines[:-1]))  # h8 has no end
    sub = project.root / "sub"
    sub.rename(project.folder / "away")
    match obstacle:
        case "file":
            sub.write_text("a file\n")
        case "link":
            sub.symlink_to(project.folder / "away")
        case "folder":
            (sub / "deep/c.txt").mkdir(parents=True)
        case "locked":
            (sub / "deep").mkdir(parents=True)
            (sub / "deep/c.txt").symlink_to("c.txt")
    ledger = Ledger(project.folder / "ledger")
    (recovered,) = ledger.recover()
    assert (recovered.hunk, recovered.state) == ("h8", State.LOST)
    assert ledger.recover() == []
    landing = Landing(project.root, ledger)
    assert isinstance(landing.undo("h6"), Landed)
    assert (project.folder / "away/deep/c.txt").read_text() == "z\n"


@pytest.mark.parametrize("name", ["字" * 82 + ".py", "\U0001f600" * 60])
def test_a_wide_name_does_not_brick_the_project(project: Project, name: str) -> None:
    project.write({name: "x\n"})
    change(project, "h7", name, "x", "y")
    change(project, "h8", "b.txt", "y", "z")
    assert reopened(project)[0].set_aside == 0


@pytest.mark.parametrize(
    ("line", "error"),
    [
        (to_line({"kind": "end", "seq": 1})[:-5] + b"\n", UnfinishedLineError),
        (b'{"kind":"intent","seq', UnfinishedLineError),
        (to_line({"kind": "end", "seq": 1}).replace(b"1", b"2", 1), DamagedLineError),
        (b'{"kind":"end","seq":1}', DamagedLineError),
        (b"\0\0\0\0", DamagedLineError),
        (b"[1]", DamagedLineError),
        (b"[" * 100_000, DamagedLineError),
    ],
)
def test_lines_that_are_none(line: bytes, error: type[Exception]) -> None:
    with pytest.raises(error):
        from_line(line, may_lack_sum=False)


def test_a_wrong_record_is_refused(project: Project) -> None:
    """A record that was wrong when it was written is found by the hashes, too."""
    at = of_intent(project, "h3")
    lines = lines_of(project)
    record = from_line(lines[at], may_lack_sum=False)[0]
    record.pop("sum")
    record["splices"] = [[3, "other\n", "LINE 3\n"]]
    journal(project).write_bytes(b"".join([*lines[:at], to_line(record), *lines[at + 1 :]]))
    _, project.landing = reopened(project)
    result = project.landing.undo("h3")
    assert isinstance(result, Refused) and result.code is RefusalCode.IO and "damaged" in result.message
