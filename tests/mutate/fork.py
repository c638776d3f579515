"""Forks of this process in which pytest runs, with a time limit and without output."""

from __future__ import annotations

import gc
import os
import shutil
import signal
import tempfile
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import Phase, settings

from tests.mutate.room import ROOT

MEMORY = Path("/dev/shm")
OPTIONS = (
    "-q",
    "--tb=no",
    "--no-header",
    "-p",
    "no:cacheprovider",
    "-p",
    "no:xdist",
    "-p",
    "no:faulthandler",
    "--capture=sys",
)
POLL = 0.01
OUTPUT = "output"
LAST_WORDS = 2000
CRASHED = 99
"""The exit code of a fork in which pytest itself failed."""


@dataclass(frozen=True, slots=True)
class Ended:
    """How a fork ended: its exit code, or ``None`` if its time was up, the seconds, and its last words."""

    code: int | None
    seconds: float
    output: str


class Fork:
    """A function that runs in a fork, in a group of processes of its own, for at most ``limit`` seconds."""

    def __init__(self, function: Callable[[], int], limit: float) -> None:
        self._folder = Path(
            tempfile.mkdtemp(prefix="mu-", dir=MEMORY if os.access(MEMORY, os.W_OK) else None)
        )
        self._started = time.monotonic()
        self._limit = limit
        self._ended: Ended | None = None
        self._pid = os.fork()
        if self._pid == 0:
            _become_child(function, self._folder)

    def ended(self) -> Ended | None:
        """How the fork ended, if it did; one whose time is up is ended here."""
        if self._ended is not None:
            return self._ended
        pid, status = os.waitpid(self._pid, os.WNOHANG)
        spent = time.monotonic() - self._started
        if pid:
            self._finish(os.waitstatus_to_exitcode(status), spent)
        elif spent > self._limit:
            self._kill()
            os.waitpid(self._pid, 0)
            self._finish(None, spent)
        return self._ended

    def wait(self) -> Ended:
        """Wait until the fork has ended."""
        while (ended := self.ended()) is None:
            time.sleep(POLL)
        return ended

    def _finish(self, code: int | None, spent: float) -> None:
        self._kill()
        written = (self._folder / OUTPUT).read_bytes() if (self._folder / OUTPUT).exists() else b""
        self._ended = Ended(code, spent, written[-LAST_WORDS:].decode(errors="replace"))
        shutil.rmtree(self._folder, ignore_errors=True)

    def _kill(self) -> None:
        """End all that is left of the fork's group, such as programs that its tests started."""
        try:
            os.killpg(self._pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            return


def _become_child(function: Callable[[], int], folder: Path) -> None:
    code = CRASHED
    try:
        os.setsid()
        os.chdir(ROOT)
        _silence(folder)
        os.environ["PYTEST_DEBUG_TEMPROOT"] = str(folder)
        code = function()
    except BaseException:  # noqa: BLE001 # Nothing may return into the code of the parent.
        traceback.print_exc()
    finally:
        os._exit(code)


def _silence(folder: Path) -> None:
    nothing = os.open(os.devnull, os.O_RDONLY)
    output = os.open(folder / OUTPUT, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.dup2(nothing, 0)
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.close(nothing)
    os.close(output)


class _Quick:
    """Makes hypothesis stop at the first example that fails."""

    def pytest_configure(self) -> None:
        """Change the profile that the tests' conftest has loaded."""
        quick = settings(phases=(Phase.explicit, Phase.generate))
        settings.register_profile("mutants", quick)
        settings.load_profile("mutants")


def run_pytest(paths: list[str], plugins: list[object], *, stop_early: bool) -> int:
    """Run the tests at some paths in this process; return pytest's exit code."""
    stop = ["-x"] if stop_early else []
    return int(pytest.main([*OPTIONS, "-o", "addopts=", *stop, *paths], plugins=[_Quick(), *plugins]))


def freeze() -> None:
    """Let forks share the memory of what was imported."""
    gc.collect()
    gc.freeze()
