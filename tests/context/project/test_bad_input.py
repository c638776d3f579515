"""Folders with bad input: each has a snapshot that reports what is missing, and windows within the budget."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import context.disk.git
from context.index import commit_history
from context.project.project import Project
from context.project.snapshot import Snapshot
from context.text.tokens import Counter
from context.window.pieces import Window, WindowRequest
from context.window.window import build
from tests.context.conftest import Repo
from tests.thorough import IN_FULL, share

Look = Callable[[Path], tuple[Snapshot, dict[str, str]]]
CODE = "def work(item):\n    return item\n"
BUDGETS = (300, 2_000, 20_000)


@pytest.fixture
def looked_at(tmp_path_factory: pytest.TempPathFactory, counter: Counter) -> Look:
    """Scan a folder twice (cold and from the cache), build windows, and return what was left out and why."""
    cache = tmp_path_factory.mktemp("cache")

    def look(root: Path) -> tuple[Snapshot, dict[str, str]]:
        left: dict[str, str] = {}
        for _ in range(2):
            project = Project(root, cache)
            snapshot = project.scan()
            for budget in BUDGETS:
                window = build(WindowRequest("what does work do?", "", budget), snapshot, counter)
                check(window, counter)
            left = {each.path: each.why for each in window.left_out}
            project.close()
        return snapshot, left

    return look


def check(window: Window, counter: Counter) -> None:
    text = "".join(piece.text for piece in window.pieces)
    assert counter.count(text) == window.tokens <= window.budget
    text.encode("utf-8")


def test_broken_syntax(tmp_path: Path, looked_at: Look) -> None:
    rng = random.Random(3)
    for at, path in enumerate(sorted((Path(__file__).parents[1] / "code" / "samples").glob("*.sample"))):
        text = path.read_text("utf-8")
        name = path.name.removesuffix(".sample")
        mixed = list(text)
        rng.shuffle(mixed)
        ways = [
            (f"half_{name}", text[: len(text) // 2]),
            (f"mixed_{name}", "".join(mixed)),
            (f"open_{name}", "({[<" * 400 + text),
        ]
        for damaged, content in ways if IN_FULL else [ways[at % 3]]:
            (tmp_path / damaged).write_text(content)
    (tmp_path / "fine.py").write_text(CODE)
    snapshot, _ = looked_at(tmp_path)
    assert len(snapshot.entries) == len(snapshot.paths) and snapshot.entries["fine.py"].names == {"work"}


def test_deep_nesting(tmp_path: Path, looked_at: Look) -> None:
    (tmp_path / "deep.py").write_text("x = " + "[" * 50_000 + "]" * 50_000)
    (tmp_path / "deep.c").write_text("int f() {" + "{" * 50_000)
    (tmp_path / "deep.json").write_text('{"a":' * 40_000)
    (tmp_path / "line.js").write_text("a" * 900_000)
    (tmp_path / "defines.h").write_text("".join(f"#define N{n} {n}\n" for n in range(30_000)))
    snapshot, _ = looked_at(tmp_path)
    assert len(snapshot.entries) == 5


def test_binaries_with_text_names(tmp_path: Path, looked_at: Look) -> None:
    (tmp_path / "binary.py").write_bytes(b"\x7fELF\0\0\0\1" * 40)
    (tmp_path / "late.py").write_bytes(b"# fine\n" * 2000 + b"\0\xff\xfe")
    (tmp_path / "latin.md").write_bytes(b"caf\xe9\n")
    _, left = looked_at(tmp_path)
    assert left == {
        "binary.py": "a binary file",
        "late.py": "not UTF-8 text",
        "latin.md": "not UTF-8 text",
    }


def test_a_file_of_a_gigabyte(tmp_path: Path, looked_at: Look) -> None:
    with (tmp_path / "huge.py").open("wb") as file:
        file.truncate(1 << 30)
    _, left = looked_at(tmp_path)
    assert left == {"huge.py": "too large (1073.7 MB; files over 1 MB are not read)"}


@pytest.mark.parametrize("git", [True, False])
def test_links_in_circles(tmp_path: Path, git: bool, looked_at: Look) -> None:
    root = tmp_path / "links"
    (root / "in").mkdir(parents=True)
    (root / "in" / "up").symlink_to("..")
    (root / "one").symlink_to("two")
    (root / "two").symlink_to("one")
    (root / "outside.py").symlink_to("/etc/passwd")
    (root / "in" / "a.py").write_text(CODE)
    if git:
        Repo(root)
    snapshot, left = looked_at(root)
    assert list(snapshot.entries) == ["in/a.py"]
    assert left == dict.fromkeys(("in/up", "one", "two", "outside.py"), "a symbolic link")


def test_files_that_vanish_mid_read(tmp_path: Path) -> None:
    root = tmp_path / "busy"
    root.mkdir()
    Repo(root)
    stop = threading.Event()

    def churn() -> None:
        at = 0
        while not stop.is_set():
            at += 1
            folder = root / f"d{at % 5}"
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(exist_ok=True)
            for name in range(20):
                (folder / f"m{name}.py").write_text(CODE * (1 + at % 3))

    thread = threading.Thread(target=churn)
    thread.start()
    try:
        project = Project(root, tmp_path / "cache")
        for _ in range(share(6, 2)):
            snapshot = project.scan()
            for path in snapshot.paths:
                snapshot.read(path)
            project.update([f"d{at}/m{at}.py" for at in range(5)] + ["d1"])
    finally:
        stop.set()
        thread.join()
    snapshot = project.scan()
    assert len(snapshot.entries) == len(snapshot.paths) == 100


def test_names_with_newlines_and_invalid_bytes(repo: Repo, looked_at: Look) -> None:
    repo.commit(**{"fine.py": CODE, " spaced.py": CODE, "-dash.py": CODE, ":(top)magic.py": CODE})
    for name in (b"new\nline.py", b"tab\there.py", b"bad\xff.py", b"esc\x1b[31m.py"):
        (repo.root / os.fsdecode(name)).write_text(CODE)
    (repo.root / os.fsdecode(b"dir\xfe")).mkdir()
    (repo.root / os.fsdecode(b"dir\xfe/in.py")).write_text(CODE)
    snapshot, left = looked_at(repo.root)
    assert {*snapshot.entries} == {"fine.py", " spaced.py", "-dash.py", ":(top)magic.py"}
    assert left == {
        "new\\nline.py": "its name holds control characters",
        "tab\\there.py": "its name holds control characters",
        "esc\\x1b[31m.py": "its name holds control characters",
        "bad\ufffd.py": "its name is not valid UTF-8",
        "dir\ufffd/in.py": "its name is not valid UTF-8",
    }
    names = [os.fsdecode(b"bad\xff.py"), "new\nline.py", ":(top)magic.py"]
    assert Project(repo.root).update(names).paths == snapshot.paths


@pytest.mark.parametrize("what", [".git/index", ".git/HEAD", ".git/config", ".git/objects"])
def test_a_broken_repository(repo: Repo, what: str, looked_at: Look) -> None:
    repo.commit(**{"a.py": CODE})
    broken = repo.root / what
    if broken.is_dir():
        shutil.rmtree(broken)
    else:
        broken.write_bytes(b"\0garbage\n" * 9)
    snapshot, _ = looked_at(repo.root)
    assert "a.py" in snapshot.entries


def test_a_repository_that_breaks_while_it_is_watched(repo: Repo) -> None:
    repo.commit(**{"a.py": CODE})
    project = Project(repo.root)
    assert project.scan().git
    (repo.root / ".git" / "index").write_bytes(b"garbage")
    repo.write("a.py", "def broken(): ...\n")
    assert project.update(["a.py"]).entries["a.py"].names == {"broken"}
    snapshot = project.reconcile()
    assert snapshot.entries["a.py"].names == {"broken"} and snapshot.notes
    (repo.root / ".git" / "index").unlink()
    repo.git("reset", "-q")
    assert list(project.reconcile().changes) == ["a.py"] and not project.snapshot.notes


@pytest.mark.parametrize("moved", [False, True], ids=["same HEAD", "new HEAD"])
def test_a_save_is_noticed_after_the_private_git_folder_was_deleted(repo: Repo, moved: bool) -> None:
    repo.commit(**{"a.py": CODE, "b.py": CODE})
    project = Project(repo.root)
    git = project.scan().git and project._git
    assert git
    shutil.rmtree(git.environment["GIT_DIR"])
    if moved:
        repo.git("checkout", "-q", "-b", "other")
    repo.write("a.py", "def edited(): ...\n")
    repo.write("new.py", "def fresh(): ...\n")
    snapshot = project.update(["a.py", "new.py"])
    assert sorted(snapshot.changes) == ["a.py", "new.py"]
    assert snapshot.paths == ("a.py", "b.py", "new.py") and not snapshot.notes


def test_a_huge_history_is_read_in_bounds(
    repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    most = share(commit_history.MOST, 100)
    monkeypatch.setattr(commit_history, "MOST", most)
    stream = []
    for at in range(3 * most):
        text = f"n = {at}\n"
        stream.append(
            f"commit refs/heads/main\ncommitter A <a@b> {at} +0000\ndata 1\nx\n"
            + f"M 644 inline m{at % 50}.py\ndata {len(text)}\n{text}\n"
            + f"M 644 inline n{at % 50}.py\ndata {len(text)}\n{text}\n"
        )
    subprocess.run(
        ["git", "fast-import", "--quiet"], input="".join(stream), text=True, cwd=repo.root, check=True
    )
    repo.git("reset", "-q", "--hard")
    project = Project(repo.root, tmp_path / "cache")
    history = project.scan().history
    assert len(history.commits) == most and set(history.together(["m1.py"])) == {"n1.py"}
    project.close()
    (kept,) = (tmp_path / "cache").glob("*/history")
    assert kept.stat().st_size < 100 * most
    repo.commit(**{"m1.py": "", "z.py": ""})
    # Built upon, not read again: the older commits are those of the file.
    kept.write_text(kept.read_text().replace('"n1.py"', '"marked.py"'))
    again = Project(repo.root, tmp_path / "cache").scan().history
    assert again.commits[0] == ("m1.py", "z.py") and "marked.py" in again.together(["m1.py"])


def test_a_git_that_is_too_slow_is_not_used(
    repo: Repo, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    repo.commit(**{"a.py": CODE})
    slow = tmp_path / "bin" / "git"
    slow.parent.mkdir()
    slow.write_text("#!/bin/sh\nexec sleep 60\n")
    slow.chmod(0o755)
    monkeypatch.setenv("PATH", f"{slow.parent}:{os.environ['PATH']}")
    monkeypatch.setattr(context.disk.git, "TIMEOUT", 0.2)
    snapshot = Project(repo.root).scan()
    assert list(snapshot.entries) == ["a.py"] and "took more than" in snapshot.notes[0]


@pytest.fixture
def apart() -> Iterator[Path]:
    """A folder outside pytest's own, which every pytest that starts closes to other users."""
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)


def test_permissions_denied(apart: Path) -> None:
    root = apart / "closed"
    (root / "folder").mkdir(parents=True)
    (root / "file.py").write_text(CODE)
    (root / "folder" / "in.py").write_text(CODE)
    (root / "fine.py").write_text(CODE)
    (root / "file.py").chmod(0)
    (root / "folder").chmod(0)
    script = (
        "import sys; from pathlib import Path; from context.project.project import Project\n"
        "s = Project(Path(sys.argv[1])).scan()\n"
        "print(sorted(s.entries), sorted(s.unread.items()))\n"
    )
    command = [sys.executable, "-c", script, str(root)]
    if os.geteuid() == 0:
        if shutil.which("setpriv") is None or not readable_by_others(root):
            pytest.skip("this user may read every file, and cannot become one who may not")
        command = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", *command]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    finally:
        (root / "folder").chmod(0o755)
    assert done.stdout == (
        "['fine.py'] [('file.py', 'permission denied'), "
        "('folder', 'the folder cannot be listed: Permission denied')]\n"
    ), done.stderr


def readable_by_others(folder: Path) -> bool:
    """Make a test's folder accessible; whether any user can reach it and the interpreter."""
    own = [each for each in (folder, *folder.parents) if each.stat().st_uid == os.geteuid()]
    for each in own:
        if each != Path("/"):
            each.chmod(each.stat().st_mode | 0o011)
    program = [sys.executable, "-c", "import context.project.project, pathspec"]
    reached = subprocess.run(
        ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", *program],
        capture_output=True,
        check=False,
    )
    return reached.returncode == 0
