"""Reading the project in the background, and following its changes."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from context.project import git_uses
from context.project.snapshot import Snapshot
from session.base.events import Event, FilesChanged, Notice, ReadingProgress
from session.project import indexing
from session.project.indexing import ProjectReading
from tests.context.conftest import Repo
from tests.session.recording import recorder_for

PATIENCE = 20.0


async def until(wanted: Callable[[], bool], told: asyncio.Event) -> None:
    async with asyncio.timeout(PATIENCE):
        while not wanted():
            told.clear()
            await told.wait()


@asynccontextmanager
async def at_work(reading: ProjectReading, work: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
    """Let ``work`` of ``reading`` run as long as the block lasts, and close it."""
    running = asyncio.create_task(work)
    try:
        yield
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        await reading.close()


async def test_a_change_without_an_event_is_found_when_the_user_is_back(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    repo = Repo(tmp_path / "project")
    repo.commit(**{"a.py": "def a(): ...\n", "b.py": "def b(): ...\n"})
    events: list[Event] = []
    told = asyncio.Event()

    def send(event: Event) -> None:
        events.append(event)
        told.set()

    reading = ProjectReading(repo.root, tmp_path / "cache", recorder_for(tmp_path, send))
    reading.look_again()
    await asyncio.to_thread(reading.project.scan)
    reading.ready.set()
    # Without the watcher, as it is once the system has lost events.
    async with at_work(reading, reading._look()):
        repo.write("a.py", "def changed(): ...\n")
        reading.look_again()
        await until(lambda: FilesChanged(paths=("a.py",)) in events, told)
        assert reading.snapshot.entries["a.py"].names == {"changed"}


async def test_what_a_check_found_is_compared_beside_the_event_loop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "project").mkdir()
    repo = Repo(tmp_path / "project")
    repo.commit(**{"a.py": "def a(): ...\n", "b.py": "def b(): ...\n"})
    told = asyncio.Event()
    threads: list[int] = []
    compare = indexing.differing

    def noted(before: Snapshot, after: Snapshot) -> set[str]:
        threads.append(threading.get_ident())
        return compare(before, after)

    events: list[Event] = []

    def send(event: Event) -> None:
        events.append(event)
        told.set()

    monkeypatch.setattr(indexing, "differing", noted)
    reading = ProjectReading(repo.root, tmp_path / "cache", recorder_for(tmp_path, send))
    await asyncio.to_thread(reading.project.scan)
    reading.ready.set()
    async with at_work(reading, reading._look()):
        repo.write("new.py", "def new(): ...\n")
        (repo.root / "b.py").unlink()
        reading.look_again()
        await until(lambda: FilesChanged(paths=("b.py", "new.py")) in events, told)
        assert threads and threading.get_ident() not in threads


async def test_a_change_before_the_watcher_starts_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "project").mkdir()
    repo = Repo(tmp_path / "project")
    repo.commit(**{"a.py": "def a(): ...\n"})
    told = asyncio.Event()
    reading = ProjectReading(repo.root, tmp_path / "cache", recorder_for(tmp_path, lambda event: told.set()))
    start = reading._watcher.start

    def late() -> None:
        repo.write("a.py", "def changed(): ...\n")
        start()

    monkeypatch.setattr(reading._watcher, "start", late)
    async with at_work(reading, reading.run()):
        await until(lambda: reading.ready.is_set() and "a.py" in reading.snapshot.changes, told)
        assert reading.snapshot.entries["a.py"].names == {"changed"}


async def test_the_last_progress_event_comes_once_the_snapshot_is_complete(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(indexing, "TELL_SECONDS", 0.001)
    root = tmp_path / "project"
    root.mkdir()
    for number in range(800):
        (root / f"m{number}.py").write_text(f"def name_{number}(): ...\n")
    told: list[tuple[ReadingProgress, bool]] = []

    def send(event: Event) -> None:
        if isinstance(event, ReadingProgress):
            told.append((event, reading.snapshot.complete))

    reading = ProjectReading(root, tmp_path / "cache", recorder_for(tmp_path, send))
    async with at_work(reading, reading.run()):
        async with asyncio.timeout(PATIENCE):
            await reading.ready.wait()
        assert told and told[-1][0].known == 800
        assert all(complete for event, complete in told if event.known == event.total)


async def test_a_git_that_fails_later_is_told_once_and_its_return_too(
    tmp_path: Path,
) -> None:
    (tmp_path / "project").mkdir()
    repo = Repo(tmp_path / "project")
    repo.commit(**{"a.py": "def a(): ...\n"})
    events: list[Event] = []
    told = asyncio.Event()

    def send(event: Event) -> None:
        events.append(event)
        told.set()

    def notices() -> list[str]:
        return [event.text for event in events if isinstance(event, Notice)]

    reading = ProjectReading(repo.root, tmp_path / "cache", recorder_for(tmp_path, send))
    await asyncio.to_thread(reading.project.scan)
    reading.ready.set()
    index = repo.root / ".git" / "index"
    kept = index.read_bytes()
    async with at_work(reading, reading._look()):
        index.write_bytes(b"nonsense")
        for _ in range(2):
            looked = reading._looked
            reading._look_now()
            async with asyncio.timeout(PATIENCE):
                while reading._looked == looked:
                    await asyncio.sleep(0.01)
        assert len(notices()) == 1 and f"{index}: index file" in notices()[0]
        index.write_bytes(kept)
        reading._look_now()
        await until(lambda: len(notices()) == 2, told)
        assert "git answers again" in notices()[1]


async def test_a_git_that_works_again_is_noticed_though_nobody_types(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(git_uses, "FIRST_PAUSE", 0.05)
    monkeypatch.setattr(indexing, "_LEAST_WAIT", 0.05)
    (tmp_path / "project").mkdir()
    repo = Repo(tmp_path / "project")
    repo.commit(**{"a.py": "def a(): ...\n"})
    told = asyncio.Event()
    notices: list[str] = []

    def send(event: Event) -> None:
        if isinstance(event, Notice):
            notices.append(event.text)
            told.set()

    config = repo.root / ".git" / "config"
    kept = config.read_bytes()
    config.write_bytes(b"[nonsense")
    reading = ProjectReading(repo.root, tmp_path / "cache", recorder_for(tmp_path, send))
    async with at_work(reading, reading.run()):
        await until(lambda: len(notices) == 1, told)
        async with asyncio.timeout(PATIENCE):
            while not reading._looked:  # the check that follows the first reading
                await asyncio.sleep(0.01)
        config.write_bytes(kept)  # no watcher looks at it
        await until(lambda: len(notices) == 2 and reading.snapshot.git, told)
        assert "git answers again" in notices[1]
