from __future__ import annotations

import os
import threading
import time
from pathlib import Path

import pytest

from context.disk.changes import Status
from context.disk.programs import find_program
from context.index import file_text, index_updater, outliner
from context.index.outliner import Outliner
from context.project.project import SECRET, Project
from context.project.snapshot import Snapshot
from tests.context.conftest import Repo
from tests.thorough import share

CODE = "def first():\n    return 1\n\n\ndef second():\n    return 2\n"


def same(one: Snapshot, other: Snapshot) -> bool:
    """Whether two snapshots are equal in all that is known of the project."""
    return (
        one.paths == other.paths
        and dict(one.changes) == dict(other.changes)
        and dict(one.unread) == dict(other.unread)
        and {path: (entry.digest, entry.block) for path, entry in one.entries.items()}
        == {path: (entry.digest, entry.block) for path, entry in other.entries.items()}
    )


def test_a_scan_knows_files_changes_and_outlines(repo: Repo) -> None:
    repo.commit(**{"a.py": CODE, "b.txt": "hello\n"})
    repo.write("a.py", CODE.replace("2", "3"))
    repo.write("logo.png", b"\x89PNG\0\0")
    repo.write(".env", "PASSWORD=x\n")
    snapshot = Project(repo.root).scan()
    assert snapshot.complete and snapshot.git and not snapshot.notes
    assert snapshot.paths == (".env", "a.py", "b.txt", "logo.png")
    assert snapshot.entries["a.py"].block == "a.py:\n def first()\n def second()\n"
    assert snapshot.changes["a.py"].status is Status.MODIFIED
    assert dict(snapshot.unread) == {".env": SECRET, "logo.png": "a binary file"}


def test_an_empty_folder_and_one_that_is_not_there(tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    assert Project(empty).scan().paths == ()
    missing = Project(tmp_path / "missing").scan()
    assert missing.paths == () and missing.unread


def test_saves_update_the_snapshot_one_by_one(repo: Repo) -> None:
    repo.commit(**{"a.py": CODE, "sub/b.py": CODE, ".gitignore": "*.log\n"})
    project = Project(repo.root)
    first = project.scan()
    steps: list[tuple[str, str | bytes | None]] = [
        ("a.py", CODE.replace("1", "7")),
        ("a.py", CODE.replace("1", "8") + "\n\ndef third(): ...\n"),
        ("new.py", "def new(): ...\n"),
        ("noise.log", "n\n"),
        ("sub/b.py", None),
        ("new.py", None),
        ("a.py", b"\0\0"),
        ("sub/b.py", CODE),
        ("a.py", CODE),
    ]
    for path, content in steps:
        if content is None:
            (repo.root / path).unlink()
        else:
            repo.write(path, content)
        updated = project.update([path])
        assert same(updated, Project(repo.root).scan()), (path, content)
    assert same(first, project.snapshot)
    assert first.entries["a.py"].block == "a.py:\n def first()\n def second()\n"


def test_a_branch_switch_is_noticed_by_git_events(repo: Repo) -> None:
    repo.commit(**{"a.py": CODE})
    repo.git("checkout", "-q", "-b", "side")
    repo.commit(**{"a.py": CODE + "\n\ndef side(): ...\n", "side.py": "s = 1\n"})
    project = Project(repo.root)
    project.scan()
    repo.git("checkout", "-q", "main")
    snapshot = project.update([".git/HEAD", "a.py"])
    assert snapshot.paths == ("a.py",) and not snapshot.changes
    assert "side" not in snapshot.entries["a.py"].block
    repo.write("a.py", CODE.replace("1", "9"))
    assert project.update(["a.py"]).changes
    repo.git("commit", "-qam", "nine")
    assert not project.update([".git/index"]).changes


def test_folders_come_and_go(repo: Repo) -> None:
    repo.commit(**{"keep.py": CODE, "sub/a.py": CODE, "sub/deep/b.py": CODE})
    project = Project(repo.root)
    project.scan()
    (repo.root / "sub").rename(repo.root / "moved")
    snapshot = project.update(["sub", "moved"])
    assert snapshot.paths == tuple(snapshot.entries) == ("keep.py", "moved/a.py", "moved/deep/b.py")
    assert same(snapshot, Project(repo.root).scan())
    (repo.root / "moved").rename(repo.root.parent / "away")
    snapshot = project.update(["moved"])
    assert snapshot.paths == ("keep.py",)
    assert {change.status for change in snapshot.changes.values()} == {Status.DELETED}


def test_without_git_changes_are_those_of_this_session(tmp_path: Path) -> None:
    for name in ("a.py", "b.py", "c.py"):
        (tmp_path / name).write_text(CODE)
    project = Project(tmp_path)
    assert not project.scan().changes
    (tmp_path / "a.py").write_text(CODE.replace("2", "3"))
    (tmp_path / "b.py").unlink()
    (tmp_path / "d.py").write_text("d = 1\n")
    snapshot = project.update(["a.py", "b.py", "d.py"])
    assert {path: change.status for path, change in snapshot.changes.items()} == {
        "a.py": Status.MODIFIED,
        "b.py": Status.DELETED,
        "d.py": Status.ADDED,
    }
    change, lines = snapshot.changes["a.py"], snapshot.entries.lines("a.py")
    assert lines is not None and change.ranges(lines) == [range(5, 6)]
    assert same(project.scan(), snapshot)
    (tmp_path / "a.py").write_text(CODE)
    assert "a.py" not in project.update(["a.py"]).changes


def test_the_cache_is_used_and_is_correct(repo: Repo, tmp_path: Path) -> None:
    repo.commit(**{f"m{n}.py": CODE.replace("first", f"f{n}") for n in range(20)})
    for file in repo.root.glob("*.py"):
        os.utime(file, (1_000_000, 1_000_000))
    cache = tmp_path / "cache"
    cold = Project(repo.root, cache).scan()
    (stored,) = segments(cache)
    # A mark that can only come from the cache.
    stored.write_bytes(stored.read_bytes().replace(b"def f3()", b"def g3()"))
    warm = Project(repo.root, cache).scan()
    assert warm.entries["m3.py"].block == cold.entries["m3.py"].block.replace("f3()", "g3()")
    repo.write("m3.py", "def other(): ...\n")
    again = Project(repo.root, cache).scan()
    assert again.entries["m3.py"].block == "m3.py:\n def other()\n"
    assert again.words.defining_files({"other": 1})[0].keys() == {"m3.py"}
    assert again.words.defining_files({"f3": 1}) == ({}, [])


def segments(cache: Path) -> list[Path]:
    return sorted(cache.glob("*/*.segment"))


@pytest.mark.parametrize("what", ["*/files", "*/*.segment", "*/history"])
@pytest.mark.parametrize("damage", [b"not an index at all, but long enough to look like one" * 30, b"", None])
def test_a_damaged_cache_is_rebuilt(repo: Repo, tmp_path: Path, what: str, damage: bytes | None) -> None:
    repo.commit(**{"a.py": CODE, "b.py": CODE})
    repo.commit(**{"a.py": f"{CODE}#", "b.py": f"{CODE}#"})
    cache = tmp_path / "cache"
    first = Project(repo.root, cache).scan()
    known = dict(first.entries)
    (damaged,) = cache.glob(what)
    whole = damaged.read_bytes()
    damaged.write_bytes(whole[: len(whole) // 2] if damage is None else damage)
    for _ in range(2):
        again = Project(repo.root, cache).scan()
        assert dict(again.entries) == known
        assert again.history == first.history and len(again.history.commits) == 1


def test_a_cache_that_cannot_be_written_is_not_needed(repo: Repo, tmp_path: Path) -> None:
    repo.commit(**{"a.py": CODE})
    (tmp_path / "file").write_text("in the way")
    assert "a.py" in Project(repo.root, tmp_path / "file").scan().entries


def test_readers_see_consistent_snapshots_during_a_scan(repo: Repo) -> None:
    repo.commit(**{f"m{n:03}.py": CODE * 20 for n in range(share(120, 40))})
    project = Project(repo.root)
    thread = threading.Thread(target=project.scan)
    thread.start()
    while thread.is_alive():
        snapshot = project.snapshot
        assert snapshot.entries.keys() <= set(snapshot.paths)
        assert snapshot.words.files == len(snapshot.entries)
        assert set(snapshot.words.score({"first": 1.0})) == set(snapshot.entries)
    thread.join()
    assert project.snapshot.complete


def test_a_closed_project_ends_its_scan(repo: Repo) -> None:
    repo.commit(**{"a.py": CODE})
    project = Project(repo.root)
    project.close()
    assert not project.scan().complete


def close_during_scan(project: Project, reached: Path) -> None:
    """Close ``project`` once its scan made the file ``reached``: both end before what they run does."""
    scanning = threading.Thread(target=project.scan, daemon=True)
    scanning.start()
    while not reached.exists():
        time.sleep(0.01)
    closing = threading.Thread(target=project.close, daemon=True)
    closing.start()
    for thread in (closing, scanning):
        thread.join(timeout=10)  # git would be given twenty seconds
        assert not thread.is_alive()
    assert not project.snapshot.complete


def test_closing_waits_for_no_git_command(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    repo.commit(**{"a.py": CODE})
    project = Project(repo.root)
    program = find_program("git", repo.root)
    folder = repo.root.parent / "bin"
    folder.mkdir()
    reached = folder / "reached"
    slow = f'case "$*" in *ls-files*) touch {reached}; exec sleep 300;; esac; exec {program} "$@"'
    (folder / "git").write_text(f"#!/bin/sh\n{slow}\n")
    (folder / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    close_during_scan(project, reached)


@pytest.mark.parametrize("files", [1, 200])
def test_closing_waits_for_no_worker(files: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_text, "OUTLINER", Outliner())
    monkeypatch.setattr(file_text, "_KNOWN", {})
    started = tmp_path / "started"
    monkeypatch.setattr(
        outliner, "_START", f"import time; open({str(started)!r}, 'w').close(); time.sleep(300)"
    )
    root = tmp_path / "project"
    root.mkdir()
    for number in range(files):
        (root / f"m{number}.py").write_text(CODE)
    project = Project(root)
    close_during_scan(project, started)


def test_unusual_files_are_reported_and_nothing_fails(tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(b"bad\xff.py")).write_text(CODE)
    (tmp_path / "new\nline.py").write_text(CODE)
    (tmp_path / "latin.py").write_bytes(b"# caf\xe9\n")
    (tmp_path / "link.py").symlink_to("/etc/passwd")
    (tmp_path / "dangling.py").symlink_to("nowhere")
    (tmp_path / "loop").symlink_to(".")
    os.mkfifo(tmp_path / "pipe.py")
    with (tmp_path / "sparse.py").open("wb") as file:
        file.truncate(1 << 30)
    (tmp_path / "fine.py").write_text(CODE)
    snapshot = Project(tmp_path).scan()
    assert list(snapshot.entries) == ["fine.py"]
    assert dict(snapshot.unread) == {
        "bad\ufffd.py": "its name is not valid UTF-8",
        "new\\nline.py": "its name holds control characters",
        "latin.py": "not UTF-8 text",
        "link.py": "a symbolic link",
        "dangling.py": "a symbolic link",
        "loop": "a symbolic link",
        "pipe.py": "not a regular file",
        "sparse.py": "too large (1073.7 MB; files over 1 MB are not read)",
    }


def test_worktrees_are_projects_too(repo: Repo, tmp_path: Path) -> None:
    repo.commit(**{"a.py": CODE})
    repo.git("worktree", "add", "-q", str(tmp_path / "tree"))
    (tmp_path / "tree" / "a.py").write_text("def changed(): ...\n")
    snapshot = Project(tmp_path / "tree").scan()
    assert snapshot.paths == ("a.py",) and list(snapshot.changes) == ["a.py"]


def test_a_scan_reports_when_few_files_are_missing(
    repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("context.index.index_updater._RACY_NS", 0)
    repo.commit(**{f"part{number}.py": f"def at_{number}(): ...\n" for number in range(40)})
    pictures: list[set[str]] = []
    project = Project(repo.root, tmp_path / "cache")

    def nearly() -> None:
        pictures.append(set(project.snapshot.entries))
        assert not project.snapshot.complete and project.snapshot.history.head

    first = project.scan(nearly)
    project.close()
    assert pictures == [] and first.complete
    repo.write("part0.py", "def changed(): ...\n")
    repo.write("new.py", "def new(): ...\n")
    project = Project(repo.root, tmp_path / "cache")
    second = project.scan(nearly)
    assert pictures == [set(first.entries)]
    assert set(second.entries) - set(first.entries) == {"new.py"}
    assert second.entries["part0.py"].names == {"changed"}


def test_a_complete_snapshot_stays_complete_during_a_rescan(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_updater, "_RACY_NS", 0)
    for name in "abcdefghijklmnopqrstuvwxyz":
        (tmp_path / f"{name}.py").write_text(f"def {name}(): ...\n")
    project = Project(tmp_path)
    assert project.scan().complete
    (tmp_path / "a.py").write_text("def changed(): ...\n")
    meanwhile: list[bool] = []
    again = project.scan(lambda: meanwhile.append(project.snapshot.complete))
    assert meanwhile == [True] and again.complete and again.entries["a.py"].names == {"changed"}


def test_a_rescan_of_many_new_files_publishes_snapshots(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    many = share(3_000, 400)
    monkeypatch.setattr("context.project.project._PUBLISH_EVERY", 0.25 * many / 3_000)
    monkeypatch.setattr("context.project.project._MANY", many // 10)
    (tmp_path / "a.py").write_text("def a(): ...\n")
    project = Project(tmp_path)
    project.scan()
    for number in range(many):
        (tmp_path / f"new{number}.py").write_text(f"def new{number}(): ...\n")
    done = threading.Event()
    seen: list[Snapshot] = []

    def look() -> None:
        while not done.is_set():
            if not seen or seen[-1] is not project.snapshot:
                seen.append(project.snapshot)

    looking = threading.Thread(target=look)
    looking.start()
    last = project.scan()
    done.set()
    looking.join()
    assert last.complete and len(last.entries) == many + 1
    assert any(not snapshot.complete for snapshot in seen)
