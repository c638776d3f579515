"""Faults put into running code: each in a fork of one process that has collected all the room's tests.

Only the body of a function can be changed so, and only where it has not yet run, for what was made of it
while the tests were imported would stay. All other faults need the modules imported anew (``trial``).
"""

from __future__ import annotations

import contextlib
import gc
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import CodeType, FunctionType

import pytest

from tests.mutate.finder import Finder
from tests.mutate.fork import freeze
from tests.mutate.operators import Mutation
from tests.mutate.room import ROOT, module_name

UNFIT = 98
"""The exit code of a fork in which the running code could not be changed."""

Tests = dict[str, float]
Try = Callable[[Mutation, Tests, Path], int]


class Collected:
    """In place of running the tests of a room once, hands on how a fork is to try them on a fault."""

    def __init__(self, sources: Iterable[Path], work: Callable[[Try], None]) -> None:
        self._files = {str(path) for path in sources}
        self._work = work
        self._functions: dict[str, list[FunctionType]] = {}
        self._session: pytest.Session

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Do the work, once all tests are collected."""
        self._session = session
        gc.unfreeze()
        for found in gc.get_objects():
            if isinstance(found, FunctionType) and found.__code__.co_filename in self._files:
                self._functions.setdefault(found.__code__.co_filename, []).append(found)
        freeze()
        self._work(self._try)
        return True

    def _try(self, mutation: Mutation, tests: Tests, failed: Path) -> int:
        """In a fork: put the fault into the code, and run the tests until one fails."""
        path = ROOT / mutation.path
        code = mutation.applied(path.read_bytes())
        if module_name(path) not in sys.modules:
            sys.meta_path.insert(0, Finder(module_name(path), path, code))
        elif not exchange(self._functions.get(str(path), []), path.read_bytes(), code, str(path)):
            return UNFIT
        return self._run(tests, failed)

    def _run(self, tests: Tests, failed: Path) -> int:
        manager = self._session.config.pluginmanager
        manager.register(FirstFailure(failed))
        Selecting(tests).pytest_collection_modifyitems(self._session.items)
        run = manager.subset_hook_caller("pytest_runtestloop", remove_plugins=[self])
        with contextlib.suppress(pytest.Session.Failed):
            run(session=self._session)
        code = pytest.ExitCode.TESTS_FAILED if self._session.testsfailed else pytest.ExitCode.OK
        self._session.config.hook.pytest_sessionfinish(session=self._session, exitstatus=code)
        return int(code)


class Selecting:
    """Leaves the chosen tests, quick files and tests first; those of a file share what is made for it."""

    def __init__(self, tests: Tests) -> None:
        self._tests = tests

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Order the tests, once they are collected."""
        files: dict[str, float] = {}
        for test, seconds in self._tests.items():
            files[_file(test)] = files.get(_file(test), 0.0) + seconds
        chosen = [item.nodeid for item in items if item.nodeid in self._tests]
        chosen.sort(key=lambda test: (files[_file(test)], _file(test), self._tests[test]))
        by_name = {item.nodeid: item for item in items}
        items[:] = [by_name[test] for test in chosen]


def _file(test: str) -> str:
    return test.split("::", 1)[0]


class FirstFailure:
    """Writes down the first test that fails."""

    def __init__(self, failed: Path) -> None:
        self._failed = failed

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """A part of a test is over."""
        if report.failed:
            self._note(report.nodeid)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """A file of tests is imported, or cannot be."""
        if report.failed:
            self._note(report.nodeid)

    def _note(self, test: str) -> None:
        if not self._failed.stat().st_size:
            self._failed.write_text(test, encoding="utf-8")


def exchange(functions: Iterable[FunctionType], before: bytes, after: bytes, path: str) -> bool:
    """Give functions made from a file's text ``before`` the code of its text ``after``.

    ``False`` says that no function has the code that changed, or that one binds other names than before.
    """
    old = compile(before, path, "exec", dont_inherit=True)
    new = dict(_pairs(old, compile(after, path, "exec", dont_inherit=True)))
    changed = False
    for function in functions:
        code = new.get(function.__code__)
        if code is None or code == function.__code__:
            continue
        if code.co_freevars != function.__code__.co_freevars:
            return False
        function.__code__ = code
        changed = True
    return changed


def _pairs(one: CodeType, other: CodeType) -> Iterator[tuple[CodeType, CodeType]]:
    """Each piece of code of one text with the piece at the same place in the other."""
    yield one, other
    inner = [value for value in one.co_consts if isinstance(value, CodeType)]
    outer = [value for value in other.co_consts if isinstance(value, CodeType)]
    if len(inner) == len(outer):
        for mine, theirs in zip(inner, outer, strict=True):
            yield from _pairs(mine, theirs)
