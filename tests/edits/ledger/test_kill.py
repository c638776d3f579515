"""A kill at each moment of a landing: after recovery each file is before or after, never between."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from edits.files import durable
from edits.files.durable import no_step
from edits.hunk import Landed, Refused
from edits.landing import Landing
from edits.ledger.entry import State
from edits.ledger.ledger import Ledger
from tests.bench.kill_stress import stress
from tests.edits.helpers import Project
from tests.edits.ledger.landing_victim import HUNKS
from tests.faults import killed_at, moments, restore
from tests.thorough import share

TEXT = "".join(f"line {number}\n" for number in range(400))


def act(project: Project, what: str, step: Callable[[str], None] = no_step) -> Landed | Refused:
    landing = Landing(project.root, Ledger(project.folder / "ledger"), step=step)
    if what == "undo":
        return landing.undo("h1")
    return landing.land(HUNKS[what.removesuffix("-linked")], hunk_id="h1")


def prepared(folder: Path, what: str) -> Project:
    project = Project(folder)
    project.write({"a.txt": TEXT})
    if what.endswith("-linked"):
        os.link(project.root / "a.txt", folder / "other-name")
    if what == "undo":
        assert isinstance(project.landing.land(HUNKS["update"], hunk_id="h1"), Landed)
    return project


@pytest.mark.parametrize("what", ["update", "update-linked", "add", "delete", "move", "undo"])
def test_killed_at_any_moment_a_landing_is_whole_or_did_not_happen(
    tmp_path: Path, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(durable, "_CHUNK", len(TEXT) // 4)
    project = prepared(tmp_path, what)
    before = project.read()
    found = moments(project.folder, partial(act, project, what))
    after = project.read()
    assert before != after and len(found) >= 8
    ends: set[State] = set()
    for moment in found:
        restore(project.folder, moment.picture)
        fresh = Ledger(project.folder / "ledger")
        recovered = fresh.recover()
        now = project.read()
        assert now in (before, after), moment.name
        landed = any(entry.after != entry.before for entry in fresh.entries() if entry.seq > (what == "undo"))
        landed = landed or any(entry.moved_to for entry in fresh.entries())
        assert landed == (now == after), moment.name
        assert all(item.state is not State.LOST for item in recovered), moment.name
        ends.update(item.state for item in recovered)
        assert not [path for path in project.root.rglob("*") if path.name.endswith(".spark")], moment.name
        if now == after and what != "undo":
            assert isinstance(Landing(project.root, fresh).undo("h1"), Landed)
            assert project.read() == before
    assert State.DROPPED in ends and State.DONE in ends


def test_a_file_changed_by_the_user_before_recovery_is_left_to_the_user(tmp_path: Path) -> None:
    project = prepared(tmp_path, "update")
    written = next(
        each
        for each in moments(project.folder, partial(act, project, "update"))
        if each.name == "temporary created"
    )
    restore(project.folder, written.picture)
    project.write({"a.txt": "the user's\n"})
    (recovered,) = Ledger(project.folder / "ledger").recover()
    assert (recovered.hunk, recovered.path, recovered.state) == ("h1", "a.txt", State.LOST)
    assert project.read() == {"a.txt": "the user's\n"}
    assert Ledger(project.folder / "ledger").recover() == []


def test_a_torn_last_line_of_the_journal_is_passed_over(tmp_path: Path) -> None:
    project = prepared(tmp_path, "undo")
    with (project.folder / "ledger" / "hunks.jsonl").open("ab") as journal:
        journal.write(b'{"kind":"intent","seq":2,"hunk":"h')
    landing = Landing(project.root, Ledger(project.folder / "ledger"))
    assert isinstance(landing.undo("h1"), Landed)
    assert project.read() == {"a.txt": TEXT}
    assert isinstance(Landing(project.root, Ledger(project.folder / "ledger")).redo(), Landed)


@pytest.mark.parametrize(
    "line",
    [
        b"5",
        b"[" * 100_000,
        b'{"kind":"end","seq":1e999}',
        b'{"kind":"end","seq":1,"state":[]}',
        *(
            b'{"kind":"intent","seq":2,"hunk":"h2","op":"land","action":"update",%b}' % damage
            for damage in (
                b'"root":"/","path":5',
                b'"root":"/","path":"a","before":5',
                b'"root":"/","path":"a","after":"../../../x"',
                b'"root":"/","path":"a","reverts":"x"',
                b'"root":"/","path":"a","made":[1]',
            )
        ),
    ],
    ids=lambda line: line[-20:].decode(),
)
def test_a_line_of_the_journal_that_is_none_is_passed_over(tmp_path: Path, line: bytes) -> None:
    project = prepared(tmp_path, "undo")
    with (project.folder / "ledger" / "hunks.jsonl").open("ab") as journal:
        journal.write(line + b"\n")
    ledger = Ledger(project.folder / "ledger")
    assert ledger.recover() == [] and [entry.hunk for entry in ledger.entries()] == ["h1"]


def test_the_lock_of_a_killed_process_does_not_stay(tmp_path: Path) -> None:
    project = prepared(tmp_path, "update")
    assert killed_at(1, partial(act, project, "update"))
    assert isinstance(project.landing.land(HUNKS["update"], hunk_id="h2"), Landed)


def test_killed_at_any_moment_nothing_is_between(tmp_path: Path) -> None:
    counts, fault = stress(tmp_path, share(120, 18))
    assert fault is None
    assert counts["before"] and counts["after"]
