"""The tests of a room on one fault after the other."""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.mutate.finder import Finder
from tests.mutate.fork import POLL, Fork, freeze, run_pytest
from tests.mutate.operators import Mutation
from tests.mutate.reach import Reach
from tests.mutate.room import ROOT, Room, module_name
from tests.mutate.warm import UNFIT, Collected, FirstFailure, Selecting, Tests, Try

SHORTEST = 10.0
PATIENCE = 5
"""How many times the normal time tests may take before a fault is said to make them hang."""
DAY = 86400.0
KILLED = "killed"
BY_TIME = "by time"
SURVIVED = "survived"
NOT_TRIED = "not tried"
RESULTS = {
    None: BY_TIME,
    int(pytest.ExitCode.OK): SURVIVED,
    int(pytest.ExitCode.NO_TESTS_COLLECTED): SURVIVED,
    UNFIT: NOT_TRIED,
}
"""What a fork's exit code says of its fault; any other says that a test failed."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of a fault: how it ended, the test that failed, how many tests ran it, and the seconds."""

    mutation: Mutation
    result: str
    by: str
    tests: int
    seconds: float


def verdicts(mutations: Sequence[Mutation], room: Room, reach: Reach, jobs: int) -> Iterator[Verdict]:
    """Try the faults, ``jobs`` at a time, and yield what became of each."""
    _import(reach.imported)
    freeze()
    groups: dict[bool, list[Mutation]] = {True: [], False: []}
    for mutation in mutations:
        groups[mutation.in_function and not reach.at_import(mutation)].append(mutation)
    for one in _in_running_code(groups[True], room, reach, jobs):
        if one.result == NOT_TRIED:
            groups[False].append(one.mutation)
        else:
            yield one
    yield from _tried(groups[False], reach, jobs, _import_anew)


def _import(names: tuple[str, ...]) -> None:
    """Import what is no part of the project once, for all forks."""
    for name in names:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)


def _in_running_code(mutations: list[Mutation], room: Room, reach: Reach, jobs: int) -> Iterator[Verdict]:
    """Try faults in forks of one process that collects all tests once and tells the verdicts in a file."""
    if not mutations:
        return
    with tempfile.NamedTemporaryFile(mode="r", encoding="utf-8", prefix="mutate-") as told:
        plugin = Collected(room.sources, _Telling(mutations, reach, jobs, Path(told.name)).work)
        paths = [str(path) for path in room.tests]
        fork = Fork(lambda: run_pytest(paths, [plugin], stop_early=True), DAY)
        left = dict.fromkeys(mutations)
        begun, over = "", False
        while not over:
            over = fork.ended() is not None
            *lines, begun = (begun + told.read()).split("\n")
            for line in lines:
                one = verdict(json.loads(line))
                del left[one.mutation]
                yield one
            time.sleep(POLL)
    yield from (Verdict(mutation, NOT_TRIED, "", 0, 0.0) for mutation in left)


def verdict(told: dict[str, Any]) -> Verdict:
    """What became of a fault, as it was written as JSON."""
    return Verdict(**{**told, "mutation": Mutation(**told["mutation"])})


@dataclass(frozen=True, slots=True)
class _Telling:
    """Tries faults in forks of this process, and writes what became of each at the end of a file."""

    mutations: list[Mutation]
    reach: Reach
    jobs: int
    file: Path
    parent: int = field(default_factory=os.getpid)

    def work(self, run: Try) -> None:
        """Try all of them, while there is somebody who reads of it."""
        for one in _tried(self.mutations, self.reach, self.jobs, run):
            with self.file.open("a", encoding="utf-8") as told:
                told.write(json.dumps(asdict(one)) + "\n")
            if os.getppid() != self.parent:
                return


def _tried(mutations: list[Mutation], reach: Reach, jobs: int, run: Try) -> Iterator[Verdict]:
    """Try faults, each in a fork of this process in which ``run`` is called."""
    waiting = list(reversed(mutations))
    running: list[_Trial] = []
    while waiting or running:
        while waiting and len(running) < jobs:
            running.append(_Trial(waiting.pop(), reach, run))
        ended = [trial for trial in running if trial.over()]
        for trial in ended:
            running.remove(trial)
            yield trial.verdict()
        if not ended:
            time.sleep(POLL)


class _Trial:
    """One fault and the fork in which the tests that reach it run."""

    def __init__(self, mutation: Mutation, reach: Reach, run: Try) -> None:
        self._mutation = mutation
        self._failed = Path(tempfile.mkstemp(prefix="mutate-")[1])
        names = reach.tests(mutation) if mutation.in_function else reach.seconds
        self._tests = {test: reach.seconds[test] for test in names}
        limit = max(SHORTEST, PATIENCE * (reach.start + sum(self._tests.values())))
        self._fork = Fork(lambda: run(mutation, self._tests, self._failed), limit) if self._tests else None

    def over(self) -> bool:
        """Whether the tests have ended, or there are none."""
        return self._fork is None or self._fork.ended() is not None

    def verdict(self) -> Verdict:
        """What became of the fault."""
        by = self._failed.read_text(encoding="utf-8")
        self._failed.unlink()
        if self._fork is None:
            return Verdict(self._mutation, SURVIVED, "", 0, 0.0)
        ended = self._fork.wait()
        return Verdict(self._mutation, RESULTS.get(ended.code, KILLED), by, len(self._tests), ended.seconds)


def _import_anew(mutation: Mutation, tests: Tests, failed: Path) -> int:
    """In a fork that has imported nothing of the project: run the tests on a module with a fault in it."""
    path = ROOT / mutation.path
    sys.meta_path.insert(0, Finder(module_name(path), path, mutation.applied(path.read_bytes())))
    files = dict.fromkeys(test.split("::", 1)[0] for test in tests)
    return run_pytest(list(files), [Selecting(tests), FirstFailure(failed)], stop_early=True)
