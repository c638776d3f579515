"""Real folders are watched. Each test waits for the changes that it makes; none measures time."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import context.disk.watch
from context.disk.watch import Watcher, file_system, watch_plan
from tests.context.conftest import Repo

PATIENCE = 20.0


@pytest.fixture
def watching() -> Iterator[Callable[..., Watcher]]:
    started: list[Watcher] = []

    def start(root: Path, *, poll: bool = False) -> Watcher:
        watcher = Watcher(root, poll=poll)
        started.append(watcher)
        watcher.start()
        return watcher

    yield start
    for watcher in started:
        watcher.stop()


async def until(watcher: Watcher, *wanted: str) -> set[str]:
    """All changes until every wanted path is among them."""
    seen: set[str] = set()
    async with asyncio.timeout(PATIENCE):
        while not seen.issuperset(wanted):
            seen |= await watcher.changes()
    return seen


async def test_saves_creations_deletions_and_moves(repo: Repo, watching: Callable[..., Watcher]) -> None:
    repo.commit(**{"a.py": "a\n", "sub/b.py": "b\n", "gone.py": "g\n"})
    watcher = watching(repo.root)
    repo.write("a.py", "A\n")
    await until(watcher, "a.py")
    repo.write("sub/b.py", "B\n")
    (repo.root / "gone.py").unlink()
    (repo.root / "a.py").rename(repo.root / "sub" / "c.py")
    await until(watcher, "sub/b.py", "gone.py", "a.py", "sub/c.py")
    assert watcher.note is None


async def test_new_folders_are_watched_and_their_files_reported(
    repo: Repo, watching: Callable[..., Watcher]
) -> None:
    repo.commit(**{"a.py": "a\n"})
    watcher = watching(repo.root)
    repo.write("new/deep/b.py", "b\n")
    await until(watcher, "new/deep/b.py")
    repo.write("new/deep/b.py", "B\n")
    await until(watcher, "new/deep/b.py")
    (repo.root / "new" / "deep" / "b.py").unlink()
    (repo.root / "new" / "deep").rmdir()
    (repo.root / "new").rmdir()
    await until(watcher, "new")
    repo.write("new/again.py", "n\n")
    await until(watcher, "new/again.py")
    repo.write("new/again.py", "N\n")
    await until(watcher, "new/again.py")


async def test_ignored_folders_are_not_reported_but_head_and_index_are(
    repo: Repo, watching: Callable[..., Watcher]
) -> None:
    repo.commit(**{".gitignore": "node_modules\n", "a.py": "a\n"})
    repo.write("node_modules/dep/index.js", "d\n")
    watcher = watching(repo.root)
    repo.write("node_modules/dep/index.js", "D\n")
    repo.write("node_modules/new/index.js", "D\n")
    repo.git("checkout", "-q", "-b", "side")
    seen = await until(watcher, ".git/HEAD")
    repo.write("a.py", "A\n")
    seen |= await until(watcher, "a.py")
    assert not [path for path in seen if path.startswith("node_modules")]
    assert {path for path in seen if path.startswith(".git/")} <= {".git/HEAD", ".git/index"}


async def test_a_folder_without_git(tmp_path: Path, watching: Callable[..., Watcher]) -> None:
    watcher = watching(tmp_path)
    (tmp_path / "a.txt").write_text("a")
    assert await until(watcher, "a.txt") == {"a.txt"}


async def test_changes_before_the_wait_are_not_lost(tmp_path: Path, watching: Callable[..., Watcher]) -> None:
    watcher = watching(tmp_path)
    (tmp_path / "a.txt").write_text("a")
    while not watcher._changed:
        await asyncio.sleep(0.01)
    assert await watcher.changes() == {"a.txt"}


async def test_polling_reports_the_same_changes(
    repo: Repo, watching: Callable[..., Watcher], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(context.disk.watch, "EVERY", 0.02)
    monkeypatch.setattr(context.disk.watch, "ALL_EVERY", 2)
    repo.commit(**{"a.py": "a\n", "gone.py": "g\n"})
    watcher = watching(repo.root, poll=True)
    repo.write("a.py", "longer\n")
    repo.write("new.py", "n\n")
    (repo.root / "gone.py").unlink()
    seen = await until(watcher, "a.py", "new.py", "gone.py")
    assert not [path for path in seen if path.startswith(".git/objects")]
    repo.git("checkout", "-q", "-b", "side")
    await until(watcher, ".git/HEAD")


def test_without_a_free_watch_it_polls_and_notes_it(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("a")
    script = (
        "import asyncio, os, resource, sys\n"
        "from pathlib import Path\n"
        "import context.disk.watch, watchdog.observers, watchdog.observers.inotify\n"
        "import pathspec, tempfile\n"
        "context.disk.watch.EVERY = 0.02\n"
        "root = Path(sys.argv[1])\n"
        "watcher = context.disk.watch.Watcher(root)\n"
        "loop = asyncio.new_event_loop()\n"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))\n"
        "taken = []\n"
        "try:\n"
        "    while True: taken.append(os.open('/dev/null', os.O_RDONLY))\n"
        "except OSError: os.close(taken.pop())\n"
        "watcher.start()\n"
        "for spare in taken: os.close(spare)\n"
        "(root / 'a.py').write_text('longer')\n"
        "print(watcher.note, sorted(loop.run_until_complete(asyncio.wait_for(watcher.changes(), 20))))\n"
        "watcher.stop()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path)], capture_output=True, text=True, timeout=60, check=False
    )
    assert "within seconds" in done.stdout and "['a.py']" in done.stdout, done.stderr


def test_the_plan_leaves_out_ignored_folders(tmp_path: Path) -> None:
    for folder in ("src/deep", "web/node_modules/x", "web/ui/y", ".git/objects", ".venv/lib"):
        (tmp_path / folder).mkdir(parents=True)
    assert watch_plan(tmp_path, frozenset({"web/node_modules", ".venv"})) == {
        "": False,
        "src": True,
        "web": False,
        "web/ui": True,
    }


def test_file_systems_are_named() -> None:
    if not Path("/proc/self/mountinfo").exists():
        pytest.skip("only Linux lists its mounts in /proc")
    assert file_system(Path("/proc/self")) == "proc"
