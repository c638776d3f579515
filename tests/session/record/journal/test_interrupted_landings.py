"""What is told of a ledger that a kill or a fault of the disk has left in disorder."""

from __future__ import annotations

from pathlib import Path

import pytest

from edits.checked_lines import to_line
from edits.ledger.ledger import Ledger
from session.project.workspace import settle_interrupted
from session.setup.config import Flags
from session.setup.doctor_setup import examine_setup
from tests.conftest import RunSpark
from tests.session.talking import environment

PATCH = "*** Begin Patch\n*** Add File: {name}.txt\n+x\n*** End Patch\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


def damaged(folder: Path) -> None:
    with (folder / "hunks.jsonl").open("ab") as file:
        file.write(to_line({"kind": "end", "seq": 7}).replace(b"7", b"8"))


def test_damage_is_told_once(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger")
    damaged(tmp_path / "ledger")
    (notice,) = settle_interrupted(ledger)
    assert "1 of its lines were set aside" in notice.text and "damaged.jsonl" in notice.text
    assert settle_interrupted(ledger) == settle_interrupted(Ledger(tmp_path / "ledger")) == []


def test_doctor_reports_damage_until_it_was_seen(root: Path) -> None:
    def ledger_finding() -> tuple[bool | None, str]:
        findings, _ = examine_setup(root, Flags(provider="openai"), environment(root.parent / "xdg"))
        (found,) = (finding for finding in findings if finding.step == "ledger")
        return found.well, found.found

    assert ledger_finding() == (True, "no edits yet")
    (folder,) = (root.parent / "xdg/state/spark/projects").glob("*/ledger")
    damaged(folder)
    well, found = ledger_finding()
    assert well is False and "1 damaged records" in found
    Ledger(folder).recover()
    assert ledger_finding() == (well, found)
    (folder / "damaged.jsonl").unlink()
    assert ledger_finding()[0] is True


def test_a_ledger_of_a_newer_version_is_said_in_one_line(
    root: Path, own_folders: Path, run_spark: RunSpark
) -> None:
    assert run_spark("apply", cwd=root, given=PATCH.format(name="a")).code == 0
    (journal,) = own_folders.glob("state/spark/projects/*/ledger/hunks.jsonl")
    journal.write_bytes(to_line({"kind": "ledger", "version": 9}))
    second = run_spark("apply", cwd=root, given=PATCH.format(name="b"))
    assert second.code != 0 and not (root / "b.txt").exists()
    assert "newer version of spark" in second.err and len(second.err.splitlines()) == 1
