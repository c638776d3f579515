"""Every system call of a landing fails once with each error of a disk: files are whole, the ledger right.

``python3 -m tests.edits.ledger.test_disk_faults`` plays all of them and prints the counts.
"""

from __future__ import annotations

import errno
import os
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from stat import S_ISDIR

import pytest

from edits.files.text import FileError, digest
from edits.hunk import HunkLine, Landed, LineKind, Refused
from edits.landing import Landing
from edits.ledger.blobs import Blobs
from edits.ledger.ledger import Ledger
from tests.edits.ledger.landing_victim import HUNKS
from tests.faults import CODES, failing

CALLS = (
    "open",
    "write",
    "pwrite",
    "fsync",
    "rename",
    "link",
    "unlink",
    "mkdir",
    "ftruncate",
    "fchmod",
    "fstat",
)
KINDS = (*HUNKS, "undo")
OLD = "".join(f"line {number}\n" for number in range(1, 8))


def prepare(folder: Path, what: str) -> tuple[Path, Path]:
    """A project with a file and its ledger; for an undo, a hunk has landed."""
    root, ledger = folder / "project", folder / "ledger"
    root.mkdir(parents=True)
    (root / "a.txt").write_text(OLD)
    if what == "undo":
        act(root, ledger, "update")
    return root, ledger


def act(root: Path, ledger: Path, what: str) -> Landed | Refused | object:
    landing = Landing(root, Ledger(ledger))
    return landing.undo("h1") if what == "undo" else landing.land(HUNKS[what], hunk_id="h1")


def files(root: Path) -> dict[str, bytes]:
    return {
        each.relative_to(root).as_posix(): each.read_bytes() for each in root.rglob("*") if each.is_file()
    }


@cache
def outcomes(what: str) -> tuple[dict[str, bytes], dict[str, bytes]]:
    """The files before and after."""
    with tempfile.TemporaryDirectory(dir=os.environ.get("PYTEST_DEBUG_TEMPROOT")) as name:
        root, ledger = prepare(Path(name), what)
        before = files(root)
        act(root, ledger, what)
        return before, files(root)


def faults(what: str, call: str, code: int) -> Iterator[tuple[int, str]]:
    """Play ``what`` with the first, second, … call failing, until none does; what is wrong of each, or ''."""
    before, after = outcomes(what)
    for number in range(1, 500):
        with tempfile.TemporaryDirectory(dir=os.environ.get("PYTEST_DEBUG_TEMPROOT")) as name:
            root, ledger = prepare(Path(name), what)
            told: object = None
            with failing(call, number, code) as count:
                try:
                    told = act(root, ledger, what)
                except (OSError, FileError) as problem:
                    told = problem
            if count[0] < number:
                return
            yield number, _wrong(root, ledger, what, told, (before, after))


def _wrong(
    root: Path, ledger: Path, what: str, told: object, outcome: tuple[dict[str, bytes], dict[str, bytes]]
) -> str:
    before, after = outcome
    opened = Ledger(ledger)
    opened.recover()
    now = files(root)
    if now not in (before, after):
        return f"torn: {sorted(now)} after {told!r}"
    states = {record.id: record.state for record in opened.hunks()}
    wanted = "undone" if what == "undo" else "landed"
    if (states.get("h1") == wanted) != (now == after):
        return (
            f"the ledger says {states}, but the files are {'after' if now == after else 'before'}: {told!r}"
        )
    if isinstance(told, Landed) and now != after:
        return f"told as landed, but it is not on disk: {told!r}"
    if now == before:
        act(root, ledger, what)
        if files(root) != after:
            return f"it cannot be done afterwards ({told!r})"
    return ""


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("what", KINDS)
def test_whichever_call_fails_files_are_whole_and_the_ledger_is_right(what: str, call: str) -> None:
    code = CODES[(CALLS.index(call) + KINDS.index(what)) % len(CODES)]
    wrong = [f"{call} {number}: {told}" for number, told in faults(what, call, code) if told]
    assert not wrong, "\n".join([errno.errorcode[code], *wrong])


class Synced:
    """Which files and folders are on the disk as they are, so that no loss of power takes them."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._known: set[tuple[int, ...]] = set()
        sync = os.fsync

        def note(descriptor: int) -> None:
            sync(descriptor)
            self._known.add(_identity(os.fstat(descriptor)))

        monkeypatch.setattr(os, "fsync", note)

    def lacks(self, folder: Path, pattern: str) -> list[str]:
        """The files and folders that are not."""
        return [str(each) for each in folder.glob(pattern) if _identity(each.stat()) not in self._known]


def _identity(status: os.stat_result) -> tuple[int, ...]:
    return status.st_dev, status.st_ino, status.st_mtime_ns, 0 if S_ISDIR(status.st_mode) else status.st_size


@pytest.mark.parametrize("linked", [False, True], ids=["", "in place"])
@pytest.mark.parametrize("what", KINDS)
def test_what_a_loss_of_power_must_not_take_is_on_the_disk_before_anything_builds_on_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str, linked: bool
) -> None:
    """The intent and what the file was, before the file is touched; then the file before it has its name."""
    root, ledger = prepare(tmp_path, what)
    if linked:
        os.link(root / "a.txt", tmp_path / "other")
    synced, steps = Synced(monkeypatch), list[str]()

    def look(step: str) -> None:
        steps.append(step)
        if step == "settled":  # the file itself shows how the change ended
            return
        assert (ledger / "hunks.jsonl").stat().st_size, "nothing is written before its intent"
        assert synced.lacks(ledger, "hunks.jsonl") == [], step
        if what != "undo":  # the hunk before it has kept the content
            assert synced.lacks(ledger, "blobs/??/*") == [], step
        if step == "target checked" and not (linked and what in ("update", "undo")):
            assert list(root.rglob(".*")) or what == "delete", "the new text is prepared"
            assert synced.lacks(root, "**/.*") == [], "the new text is on the disk before it has the name"

    landing = Landing(root, Ledger(ledger), step=look)
    told = landing.undo("h1") if what == "undo" else landing.land(HUNKS[what], hunk_id="h1")
    assert isinstance(told, Landed) and "intent" in steps
    assert synced.lacks(root, told.moved_to or told.path) == [], "the file itself"


def test_a_file_that_is_overwritten_in_place_is_kept_whole_each_time(tmp_path: Path) -> None:
    """What it was cannot only be built from its history: a kill in the middle leaves a mix of both texts."""
    root, ledger = prepare(tmp_path, "update")
    os.link(root / "a.txt", tmp_path / "other")
    landing, blobs = Landing(root, Ledger(ledger)), Blobs(ledger / "blobs")
    for number in (1, 2):
        before = (root / "a.txt").read_bytes()
        edit = replace(HUNKS["update"], lines=(HunkLine(LineKind.OLD, f"line {number}"),))
        assert isinstance(landing.land(edit, hunk_id=f"h{number}"), Landed)
        assert blobs.get(digest(before)) == before


def main() -> int:
    """Play all, and print how many of each."""
    counts: Counter[str] = Counter()
    for what in KINDS:
        for call in CALLS:
            for code in CODES:
                for number, told in faults(what, call, code):
                    counts[what] += 1
                    if told:
                        counts["wrong"] += 1
                        print(what, call, number, errno.errorcode[code], told)
    print(", ".join(f"{name} {count}" for name, count in counts.items()))
    return 1 if counts["wrong"] else 0


if __name__ == "__main__":
    raise SystemExit(main())
