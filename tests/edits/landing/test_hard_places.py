"""Landing where the system gets in the way: a full disk, a limit, a writer at every step."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from edits.hunk import Action, Format, Hunk, HunkLine, Landed, LineKind, RefusalCode, Refused, RefusedBy
from edits.landing import Landing
from edits.ledger.ledger import Ledger
from tests.edits.helpers import Project

BIG = tuple(HunkLine(LineKind.NEW, f"{number:064d}") for number in range(30_000))


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A real file system of one megabyte."""
    place = tmp_path / "disk"
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(place)]
    try:
        mounted = subprocess.run(command, capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        mounted = False
    if not mounted:
        pytest.skip("only root may mount a small file system; the test with a limit stands in")
    try:
        yield place
    finally:
        subprocess.run(["umount", str(place)], check=True)


def update(name: str, old: str, *new: HunkLine) -> Hunk:
    return Hunk(name, Action.UPDATE, Format.V4A, (HunkLine(LineKind.OLD, old), *new))


def test_a_full_disk_refuses_and_leaves_all_as_it_was(small_disk: Path, tmp_path: Path) -> None:
    root = small_disk / "project"
    root.mkdir()
    (root / "a.txt").write_text("one\ntwo\n")
    ledger = Ledger(tmp_path / "ledger")
    landing = Landing(root, ledger)
    added = Hunk("deep/new.txt", Action.ADD, Format.V4A, BIG)
    for number, hunk in enumerate((update("a.txt", "one", *BIG), added)):
        refused = landing.land(hunk, hunk_id=f"h{number}")
        assert isinstance(refused, Refused) and refused.code is RefusalCode.IO
        assert "No space left" in refused.message and refused.by is RefusedBy.DISK
        assert [path.name for path in root.rglob("*")] == ["a.txt"]
    assert (root / "a.txt").read_text() == "one\ntwo\n"
    assert ledger.entries() == [] and ledger.recover() == []
    assert isinstance(landing.land(update("a.txt", "two", HunkLine(LineKind.NEW, "2")), hunk_id="h9"), Landed)


def test_a_full_disk_under_the_ledger_refuses_before_anything_is_touched(
    small_disk: Path, tmp_path: Path
) -> None:
    root = tmp_path / "project"
    root.mkdir()
    (root / "a.txt").write_text("one\ntwo\n")
    landing = Landing(root, Ledger(small_disk / "ledger"))
    (small_disk / "filler").write_bytes(b"x" * 900_000)
    refused = landing.land(update("a.txt", "one", *BIG), hunk_id="h1")
    assert isinstance(refused, Refused) and refused.code is RefusalCode.IO
    assert (root / "a.txt").read_text() == "one\ntwo\n"
    (small_disk / "filler").unlink()
    assert isinstance(landing.land(update("a.txt", "two", HunkLine(LineKind.NEW, "2")), hunk_id="h2"), Landed)
    assert isinstance(landing.undo("h2"), Landed)


def test_a_limit_on_file_size_refuses_and_leaves_all_as_it_was(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.write({"a.txt": "one\n" * 3 + "two\n"})
    script = (
        "import resource, signal, sys; from pathlib import Path; from edits.hunk import *;"
        "from edits.landing import Landing; from edits.ledger.ledger import Ledger;"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN);"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000));"
        "big = tuple(HunkLine(LineKind.NEW, chr(97 + n % 26) * 99) for n in range(150));"
        "landing = Landing(Path(sys.argv[1]), Ledger(Path(sys.argv[2])));"
        "lines = (HunkLine(LineKind.OLD, 'two'), *big, *big);"
        "print(landing.land(Hunk('a.txt', Action.UPDATE, Format.V4A, lines), hunk_id='h1').code.value)"
    )
    command = [sys.executable, "-c", script, str(project.root), str(project.folder / "ledger")]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert said.strip() == "io"
    assert project.read() == {"a.txt": "one\n" * 3 + "two\n"}
    assert project.ledger.recover() == []
    assert isinstance(project.landing.land(update("a.txt", "two"), hunk_id="h2"), Landed)


STEPS = ("intent", "temporary created", "temporary written", "replaced", "folder synced", "settled")


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("same_line", [False, True])
def test_what_a_user_saves_during_any_step_is_never_lost(tmp_path: Path, step: str, same_line: bool) -> None:
    project = Project(tmp_path)
    project.write({"a.txt": "one\ntwo\nthree\n"})
    path = project.root / "a.txt"
    saved: list[str] = []

    def save(name: str) -> None:
        if name == step and not saved:
            saved.append(name)
            text = path.read_text()
            path.write_text(
                text.replace("two", "MINE").replace("2", "MINE") if same_line else f"mine\n{text}"
            )

    landing = Landing(project.root, project.ledger, step=save)
    result = landing.land(update("a.txt", "two", HunkLine(LineKind.NEW, "2")), hunk_id="h1")
    assert saved
    if same_line:
        assert path.read_text() == "one\nMINE\nthree\n"
    else:
        assert isinstance(result, Landed)
        assert path.read_text() == "mine\none\n2\nthree\n"
        assert isinstance(landing.undo("h1"), Landed)
        assert path.read_text() == "mine\none\ntwo\nthree\n"
    assert not list(project.root.glob(".*"))
