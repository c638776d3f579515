"""Tests that a draft that was taken back is no part of what an attempt does."""

from __future__ import annotations

from pathlib import Path

from edits.hunk import Action, Format, Hunk, Landed, Replacement
from edits.landing import Landing
from edits.ledger.ledger import Ledger
from session.race.attempt_files import AttemptFiles


def replacing(path: str, old: str, new: str) -> Hunk:
    return Hunk(path, Action.UPDATE, Format.JSON, replacement=Replacement(old, new))


def test_what_is_taken_back_is_no_part_of_an_attempt(tmp_path: Path) -> None:
    root = tmp_path / "project"
    root.mkdir()
    for name in ("a.py", "b.py"):
        (root / name).write_text("one\ntwo\n")
    files = AttemptFiles("a1", Landing(root, Ledger(tmp_path / "ledger")), root, attended=True)
    hunks = {
        "a1.h1": replacing("a.py", "one", "ONE"),
        "a1.h2": replacing("a.py", "two", "TWO"),
        "a1.h3": replacing("b.py", "one", "1"),
    }
    for name, hunk in hunks.items():
        assert isinstance(files.write(name, "t1", hunk, frozenset()), Landed)
    for name in ("a1.h3", "a1.h1"):
        taken = files.take_back(name)
        assert isinstance(taken, Landed) and taken.hunk == name
    assert list(files.now().edits) == [hunks["a1.h2"]]
    assert files.now().files == {"a.py": b"one\nTWO\n"}
    assert isinstance(files.write("a1.h4", "t1", replacing("a.py", "one", "1"), frozenset()), Landed)
    assert files.now().files == {"a.py": b"1\nTWO\n"}
    assert (root / "a.py").read_text() == "one\ntwo\n", "nothing is written"
