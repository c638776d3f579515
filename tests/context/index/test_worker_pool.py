"""Indexing in other processes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from context.disk.source import Unread
from context.index import worker_pool as workers
from context.index.part import Facts
from context.index.segment import Segment
from context.index.worker_pool import Written, read_all, read_here
from context.project.project import Project

COUNT = 200


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("many")
    for at in range(COUNT):
        (root / f"m{at}.py").write_text(f"def work_{at}(value):\n    return other_{at}(value)\n")
    (root / "binary.py").write_bytes(b"\0\1\2")
    (root / "näme 1.py").write_text("ä = 1\n")
    # A project's own modules must never be imported by a worker.
    (root / "json.py").write_text("raise SystemExit(9)\n")
    (root / "context").mkdir()
    (root / "context" / "__init__.py").write_text("raise SystemExit(9)\n")
    return root


def paths_of(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*.py"))


def found_by(answers: Iterable[Written | Facts | Unread]) -> dict[str, tuple[object, ...]]:
    """What was found of each file, however it was told."""
    found: dict[str, tuple[object, ...]] = {}
    for answer in answers:
        if isinstance(answer, Unread):
            found[answer.path] = (answer.why,)
        elif isinstance(answer, Facts):
            found[answer.path] = (answer.digest, answer.outline, answer.names, answer.lines)
        else:
            segment = Segment(answer.file)
            for path, number in answer.numbers.items():
                assert segment.path(number) == path
                names = frozenset(segment.names(number).split())
                told = segment.digest(number), segment.outline(number), names
                found[path] = (*told, segment.lines(number))
    return found


def test_workers_find_what_this_process_finds(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    paths = [*paths_of(folder), "gone.py"]
    found = found_by(read_all(folder, paths, tmp_path, lines=True))
    assert found == found_by(read_here(folder, path, lines=True) for path in paths)
    assert found["binary.py"] == ("a binary file",)


def test_a_project_scanned_by_workers_is_whole(folder: Path, tmp_path: Path) -> None:
    first = Project(folder, tmp_path).scan()
    assert set(first.entries) == {*paths_of(folder)} - {"binary.py"}
    assert first.complete and first.unread == {"binary.py": "a binary file"}
    again = Project(folder, tmp_path).scan()
    assert dict(again.entries) == dict(first.entries)
    assert again.words.score({"other_7": 1.0}) == first.words.score({"other_7": 1.0}) != {}


@pytest.mark.parametrize("interpreter", ["", "/nowhere/python", "/bin/false"])
def test_without_workers_the_files_are_read_here(
    folder: Path, tmp_path: Path, interpreter: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", interpreter)
    answers = list(read_all(folder, paths_of(folder), tmp_path, lines=False))
    assert not any(isinstance(answer, Written) for answer in answers)
    assert found_by(answers).keys() == {*paths_of(folder)}


def children() -> set[int]:
    tasks = Path(f"/proc/{os.getpid()}/task")
    if not tasks.is_dir():
        pytest.skip("processes can only be listed where there is a /proc")
    found = (task / "children" for task in tasks.iterdir())
    return {int(pid) for file in found if file.exists() for pid in file.read_text().split()}


def test_a_worker_that_is_killed_loses_nothing(folder: Path, tmp_path: Path) -> None:
    before = children()
    with closing(read_all(folder, paths_of(folder), tmp_path, lines=False)) as answers:
        seen = found_by([next(answers)])
        for pid in children() - before:
            os.kill(pid, signal.SIGKILL)
        seen |= found_by(answers)
    assert seen.keys() == {*paths_of(folder)}


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The processes that were started since."""
    found: list[int] = []

    class Counted(subprocess.Popen[bytes]):
        def __init__(self, *arguments: Any, **options: Any) -> None:
            super().__init__(*arguments, **options)
            found.append(self.pid)

    monkeypatch.setattr(subprocess, "Popen", Counted)
    return found


def test_a_worker_that_has_taken_its_memory_is_replaced(
    folder: Path, tmp_path: Path, started: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "_MOST_MEMORY", 1)
    monkeypatch.setattr(workers, "BATCH", 80)
    paths = paths_of(folder)
    answers = list(read_all(folder, paths, tmp_path, lines=True))
    # Each answer filled a segment and wore its worker out.
    batches = -(-len(paths) // workers.BATCH)
    assert sum(isinstance(answer, Written) for answer in answers) == batches
    assert len(set(started)) == batches
    assert found_by(answers) == found_by(read_here(folder, path, lines=True) for path in paths)


def test_a_worker_is_not_blamed_for_the_memory_of_who_started_it(
    folder: Path, tmp_path: Path, started: list[int]
) -> None:
    held = bytearray(os.urandom(1)) * workers._MOST_MEMORY
    list(read_all(folder, paths_of(folder), tmp_path, lines=True))
    assert len(held) == workers._MOST_MEMORY
    assert len(started) == min(workers._MOST, os.cpu_count() or 1)


def test_stopping_early_leaves_no_process_behind(folder: Path, tmp_path: Path) -> None:
    before, threads = children(), threading.active_count()
    with closing(read_all(folder, paths_of(folder), tmp_path, lines=False)) as answers:
        next(answers)
        assert children() - before
    # Those of another test may have ended meanwhile.
    assert not children() - before and threading.active_count() <= threads
