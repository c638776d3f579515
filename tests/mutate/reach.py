"""Which test of a room executes which line of it, noted once and kept until a source or a test changes."""

from __future__ import annotations

import json
import os
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FrameType
from typing import TYPE_CHECKING

import pytest

from tests.mutate.fork import Fork, run_pytest
from tests.mutate.operators import Mutation
from tests.mutate.room import Room, fingerprint, relative

if TYPE_CHECKING:
    # Python has no public name for the type of a trace function.
    from _typeshed import TraceFunction

CACHE = Path(tempfile.gettempdir()) / f"spark-mutate-{os.getuid()}"
PLACES = (sys.base_prefix, sys.prefix)
IMPORTS = "imports"
AT_MOST = 1800.0
"""Seconds that all tests of a room may take while their lines are noted."""


class BrokenTestsError(Exception):
    """The room's tests cannot be run at all."""


@dataclass(frozen=True, slots=True)
class Reach:
    """What the tests of a room execute.

    ``seconds`` holds each test that passes. ``lines`` holds for each file and line the tests that execute it,
    and ``IMPORTS`` where it runs while tests are imported. ``failed`` are tests that fail without a fault,
    and ``imported`` the modules outside the project that the tests import, in the order of their import.
    """

    start: float
    seconds: dict[str, float]
    failed: tuple[str, ...]
    lines: dict[str, dict[int, list[str]]]
    imported: tuple[str, ...]

    def tests(self, fault: Mutation) -> list[str]:
        """The tests that execute one of the lines of a fault."""
        return [test for test in self._names(fault) if test != IMPORTS]

    def at_import(self, fault: Mutation) -> bool:
        """Whether the lines of a fault run while the tests are imported."""
        return IMPORTS in self._names(fault)

    def _names(self, fault: Mutation) -> dict[str, None]:
        lines = self.lines.get(fault.path, {})
        return dict.fromkeys(
            test for line in range(fault.first, fault.last + 1) for test in lines.get(line, ())
        )


def noted(room: Room) -> Reach:
    """The reach of a room's tests, from the cache or by running all of them once.

    Raises:
        BrokenTestsError: no test passes.
    """
    file = CACHE / f"{fingerprint(room)}.json"
    if not file.exists():
        CACHE.mkdir(exist_ok=True)
        _note(room, file)
    told = json.loads(file.read_text(encoding="utf-8"))
    lines = {
        path: {int(line): tests for line, tests in of_file.items()} for path, of_file in told["lines"].items()
    }
    return Reach(told["start"], told["seconds"], tuple(told["failed"]), lines, tuple(told["imported"]))


def _note(room: Room, file: Path) -> None:
    with tempfile.TemporaryDirectory(dir=CACHE) as folder:
        hits = Path(folder, "hits")
        summary = Path(folder, "summary")
        hits.touch()
        fork = Fork(lambda: _run(room, hits, summary), AT_MOST)
        ended = fork.wait()
        if not summary.exists():
            raise BrokenTestsError(f"the room's tests do not run:\n{ended.output}")
        told = json.loads(summary.read_text(encoding="utf-8"))
        if not told["seconds"]:
            raise BrokenTestsError(f"no test of the room passes:\n{ended.output}")
        told["lines"] = _lines(room, hits, told)
        made = Path(folder, "made")
        made.write_text(json.dumps(told), encoding="utf-8")
        made.replace(file)


def _run(room: Room, hits: Path, summary: Path) -> int:
    started = time.monotonic()
    tracer = _Tracer({str(path): at for at, path in enumerate(room.sources)}, hits)
    tracer.start(0)
    noting = _Noting(tracer)
    code = run_pytest([str(path) for path in room.tests], [noting], stop_early=False)
    left_out = noting.failed | noting.skipped
    told = {
        "start": noting.first - started,
        "tests": noting.tests,
        "seconds": {test: spent for test, spent in noting.seconds.items() if test not in left_out},
        "failed": sorted(noting.failed),
        "imported": list(_from_outside()),
    }
    summary.write_text(json.dumps(told), encoding="utf-8")
    return code


def _from_outside() -> Iterator[str]:
    """The modules of Python and of packages that are imported."""
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if name != "__main__" and file and file.startswith(PLACES):
            yield name


def _lines(room: Room, hits: Path, told: dict[str, list[str]]) -> dict[str, dict[int, list[str]]]:
    lines: dict[str, dict[int, list[str]]] = defaultdict(lambda: defaultdict(list))
    for hit in dict.fromkeys(hits.read_text(encoding="ascii").split()):
        test, file, line = map(int, hit.split(","))
        name = told["tests"][test]
        if name == IMPORTS or name in told["seconds"]:
            lines[relative(room.sources[file])][line].append(name)
    return lines


@dataclass(slots=True, eq=False)
class _Tracer:
    """Notes the first execution of each line in each test.

    Notes go straight to a file, so that those of forks of a test are there too, however they end.
    """

    files: dict[str, int]
    hits: Path
    test: int = -1
    _missing: dict[CodeType, set[int]] = field(default_factory=dict)
    _file: int = -1

    def start(self, test: int) -> None:
        """Begin another test."""
        self.test = test
        self._missing.clear()
        if self._file < 0:
            self._file = os.open(self.hits, os.O_WRONLY | os.O_APPEND)
        threading.settrace(self.call)
        sys.settrace(self.call)

    def call(self, frame: FrameType, _event: str, _argument: object) -> TraceFunction | None:
        """Follow a call into the room while some of its lines were not executed in this test."""
        code = frame.f_code
        if code.co_filename not in self.files:
            return None
        missing = self._missing.get(code)
        if missing is None:
            missing = self._missing[code] = {line for _, _, line in code.co_lines() if line is not None}
            self._hit(code, code.co_firstlineno)
        return self.line if missing else None

    def line(self, frame: FrameType, event: str, _argument: object) -> TraceFunction | None:
        """Note a line if it is new."""
        if event == "line":
            self._hit(frame.f_code, frame.f_lineno)
        return self.line if self._missing.get(frame.f_code, True) else None

    def _hit(self, code: CodeType, line: int) -> None:
        missing = self._missing.setdefault(code, {line})
        if line in missing:
            missing.discard(line)
            os.write(self._file, f"{self.test},{self.files[code.co_filename]},{line}\n".encode())


@dataclass(slots=True, eq=False)
class _Noting:
    """Tells the tracer which test runs, and keeps the tests' times and failures."""

    tracer: _Tracer
    tests: list[str] = field(default_factory=lambda: [IMPORTS])
    seconds: dict[str, float] = field(default_factory=dict)
    failed: set[str] = field(default_factory=set)
    skipped: set[str] = field(default_factory=set)
    first: float = 0.0

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """A test begins."""
        self.first = self.first or time.monotonic()
        self.tests.append(nodeid)
        self.tracer.start(len(self.tests) - 1)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """A part of a test is over."""
        self.seconds[report.nodeid] = self.seconds.get(report.nodeid, 0.0) + report.duration
        if report.failed:
            self.failed.add(report.nodeid)
        elif report.skipped:
            self.skipped.add(report.nodeid)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """A file of tests could not be imported."""
        if report.failed:
            self.failed.add(report.nodeid)
