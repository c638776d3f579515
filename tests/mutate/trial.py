"""The tests of a room on one fault after the other."""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType

import pytest

from tests.mutate.fork import POLL, Fork, freeze, run_pytest
from tests.mutate.operators import Mutation
from tests.mutate.reach import Reach
from tests.mutate.room import ROOT, module_name

SHORTEST = 10.0
PATIENCE = 5
"""How many times the normal time tests may take before a fault is said to make them hang."""
KILLED = "killed"
BY_TIME = "by time"
SURVIVED = "survived"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of a fault: how it ended, the test that failed, how many tests ran it, and the seconds."""

    mutation: Mutation
    result: str
    by: str
    tests: int
    seconds: float


def verdicts(mutations: Sequence[Mutation], reach: Reach, jobs: int) -> Iterator[Verdict]:
    """Try the faults, ``jobs`` at a time, and yield what became of each."""
    _import(reach.imported)
    freeze()
    waiting = list(reversed(mutations))
    running: list[_Trial] = []
    while waiting or running:
        while waiting and len(running) < jobs:
            running.append(_Trial(waiting.pop(), reach))
        ended = [trial for trial in running if trial.over()]
        for trial in ended:
            running.remove(trial)
            yield trial.verdict()
        if not ended:
            time.sleep(POLL)


def _import(names: tuple[str, ...]) -> None:
    """Import what is no part of the project once, for all forks."""
    for name in names:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)


class _Trial:
    """One fault and the fork in which the tests that reach it run."""

    def __init__(self, mutation: Mutation, reach: Reach) -> None:
        self._mutation = mutation
        self._failed = Path(tempfile.mkstemp(prefix="mutate-")[1])
        reached = reach.tests(mutation.path, mutation.first, mutation.last)
        self._tests = {
            test: reach.seconds[test] for test in (reached if mutation.in_function else reach.seconds)
        }
        normal = reach.start + sum(self._tests.values())
        self._fork = Fork(self._run, max(SHORTEST, PATIENCE * normal)) if self._tests else None

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
        passed = ended.code in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)
        result = BY_TIME if ended.code is None else SURVIVED if passed else KILLED
        return Verdict(self._mutation, result, by, len(self._tests), ended.seconds)

    def _run(self) -> int:
        path = ROOT / self._mutation.path
        code = self._mutation.applied(path.read_bytes())
        sys.meta_path.insert(0, _Finder(module_name(path), path, code))
        files = dict.fromkeys(test.split("::", 1)[0] for test in self._tests)
        return run_pytest(list(files), [_Selecting(self._tests, self._failed)], stop_early=True)


class _Finder(MetaPathFinder):
    """Finds the one module with a fault in it."""

    def __init__(self, name: str, path: Path, code: bytes) -> None:
        self._name = name
        self._path = path
        self._code = code

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The changed module, and nothing for any other name."""
        if fullname != self._name:
            return None
        places = [str(self._path.parent)] if self._path.name == "__init__.py" else None
        loader = _Loader(fullname, str(self._path), self._code)
        return importlib.util.spec_from_file_location(
            fullname, self._path, loader=loader, submodule_search_locations=places
        )


class _Loader(SourceFileLoader):
    """Loads a module from another text than that of its file."""

    def __init__(self, name: str, path: str, code: bytes) -> None:
        super().__init__(name, path)
        self._code = code

    def get_code(self, fullname: str) -> CodeType:
        """The changed code."""
        return compile(self._code, self.path, "exec", dont_inherit=True)


class _Selecting:
    """Leaves the chosen tests, the quick files and tests first, and writes down the first that fails."""

    def __init__(self, tests: dict[str, float], failed: Path) -> None:
        self._tests = tests
        self._failed = failed

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Order the tests; those of a file stay together for what they share."""
        files: dict[str, float] = {}
        for test, seconds in self._tests.items():
            file = test.split("::", 1)[0]
            files[file] = files.get(file, 0.0) + seconds
        chosen = [item for item in items if item.nodeid in self._tests]
        chosen.sort(
            key=lambda one: (files[(file := one.nodeid.split("::", 1)[0])], file, self._tests[one.nodeid])
        )
        items[:] = chosen

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Write down a test that fails."""
        if report.failed:
            self._note(report.nodeid)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Write down a file of tests that cannot be imported."""
        if report.failed:
            self._note(report.nodeid)

    def _note(self, test: str) -> None:
        if not self._failed.stat().st_size:
            self._failed.write_text(test, encoding="utf-8")
