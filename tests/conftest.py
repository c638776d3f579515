"""Fixtures for all tests: private folders in place of the user's, and a small project."""

from __future__ import annotations

import gc
import itertools
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

from session.base.text import masking
from session.turn import turns
from tests.pilots import cost_less
from tests.thorough import IN_FULL
from tests.warm_spark import WarmSpark, fits

if TYPE_CHECKING:
    from tests.bench.pty_spark import Launch

# Workers and the processes that tests start, some thousands, would each compile all that they import.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# Importing readline puts COLUMNS and LINES into the environment, and so into that of test workers.
CLEARED = ("OPENAI_", "SPARK_", "_SPARK_", "GIT_", "COLUMNS", "LINES")
TERMINALS = Path(__file__).parent / "e2e"
PROJECT = Path(__file__).parent / "project"
MEMORY = Path("/dev/shm")
"""A file system in memory, where there is one: tests wait for no disk there."""
ENOUGH_MEMORY = 4 << 30
SELDOM = (10_000, 10, 50)
"""Objects, and rounds of younger ones, after which garbage of each age is looked for."""
FREEZE_EVERY = 100
"""Tests after which what lasts is set aside once more."""
LAST_WAIT = 0.8
"""The share of the tests behind which no test begins that mostly waits: the last ones are to be short."""
_numbers = itertools.count()
_tests_begun = itertools.count(1)

# In the usual run every example is the same on every machine, and no machine is too slow for one.
SLOW = [HealthCheck.too_slow]
settings.register_profile(
    "usual", deadline=None, derandomize=True, database=None, max_examples=30, suppress_health_check=SLOW
)
settings.register_profile("full", deadline=None, max_examples=200, suppress_health_check=SLOW)
settings.load_profile("full" if IN_FULL else "usual")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Two workers for each processor: more than half of a test's time is waiting for real time to pass."""
    return 2 * len(os.sched_getaffinity(0))


def pytest_configure() -> None:
    """Put the tests' temporary folders into memory if there is room."""
    if MEMORY.is_dir() and os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free >= ENOUGH_MEMORY:
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY))


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Collect no garbage while tests are collected, for nearly all that is made lasts. Set it aside, as the
    program does at its start: all garbage is looked for now and then, and it would be looked through. It
    is looked for seldom: under Pilot, where so much is made that lives, it took a twelfth of the time."""
    gc.disable()
    gc.set_threshold(*SELDOM)
    try:
        yield
    finally:
        gc.enable()
    gc.collect()
    gc.freeze()


def pytest_runtest_logstart() -> None:
    """Set aside what lasts of the tests so far, above all the modules that they imported."""
    if next(_tests_begun) % FREEZE_EVERY == 0:
        gc.collect()
        gc.freeze()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests that run the installed ``spark``, and run those of a file in real terminals one at a time.

    Each of them has folders and a terminal server of its own, so that files may run side by side. Those that
    read all of spark's source share what they parsed."""
    for item in items:
        if "spark_path" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.e2e)
        if item.path.is_relative_to(TERMINALS):
            item.add_marker(pytest.mark.xdist_group(f"terminals in {item.path.stem}"))
        if item.path.is_relative_to(PROJECT):
            item.add_marker(pytest.mark.xdist_group("source"))
    if "PYTEST_XDIST_WORKER" in os.environ:
        items[:] = spread(items)


def spread(items: Sequence[pytest.Item]) -> list[pytest.Item]:
    """The tests in an order in which those that mostly wait for a process run beside those that compute."""
    units = {item: _group(item) or item.nodeid for item in items}
    waiting = dict.fromkeys(unit for item, unit in units.items() if _waits(item))
    computing = [unit for unit in units.values() if unit not in waiting]
    place = {unit: LAST_WAIT * number / len(waiting) for number, unit in enumerate(waiting)}
    place |= {unit: number / len(computing) for number, unit in enumerate(computing)}
    return sorted(items, key=lambda item: place[units[item]])


def _group(item: pytest.Item) -> str | None:
    """The name of the tests that run one after the other with this one."""
    marker = item.get_closest_marker("xdist_group")
    return str(marker.args[0]) if marker else None


def _waits(item: pytest.Item) -> bool:
    """Whether a test talks to a program while it runs, or belongs to a group, which takes a while."""
    fixtures = set(getattr(item, "fixturenames", ()))
    starts = "spark_path" in fixtures and "run_spark" not in fixtures
    return _group(item) is not None or starts or "launch" in fixtures


@pytest.fixture(autouse=True)
def own_folders(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Point the home folder and the XDG folders at an empty folder, and clear what would reach into spark."""
    home = tmp_path_factory.getbasetemp() / f"home-{next(_numbers)}"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    for variable, name in (("CONFIG", "config"), ("STATE", "state"), ("CACHE", "cache")):
        monkeypatch.setenv(f"XDG_{variable}_HOME", str(home / name))
    for variable in list(os.environ):
        if variable.startswith(CLEARED):
            monkeypatch.delenv(variable)
    yield home
    shutil.rmtree(home, ignore_errors=True)


@pytest.fixture(autouse=True)
def own_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """Mask no keys that another test had."""
    monkeypatch.setattr(masking, "_known", set())


@pytest.fixture(autouse=True, scope="session")
def interruptible() -> None:
    """Let programs that tests start be interrupted and hung up on, also where the tests themselves run behind
    ``nohup`` or in the background and are not."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in (signal.SIGHUP, signal.SIGQUIT):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)


@pytest.fixture(autouse=True, scope="session")
def cheap_pilots() -> Iterator[None]:
    """Let no Pilot wait in vain, no app parse what another parsed, and no turn collect all garbage."""
    with pytest.MonkeyPatch.context() as patched:
        cost_less(patched)
        patched.setattr(turns, "gc", SimpleNamespace(collect=lambda: 0))
        yield


@pytest.fixture(scope="session")
def committed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A git repository with two committed files, of which the ``project`` of each test is a copy."""
    if shutil.which("git") is None:
        pytest.skip("git is not installed: this test is about a git repository")
    root = tmp_path_factory.mktemp("committed")
    (root / "app.py").write_text("def greet(name):\n    return 'Hello ' + name\n\n\nprint(greet('you'))\n")
    (root / "notes.md").write_text("# Notes\n\nfirst\nsecond\nthird\n")
    # What lasts longer than a test's own folders hears nothing of the user's settings.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    for arguments in (
        ["init", "-q", "-b", "main", "--template="],
        ["add", "-A"],
        ["-c", "user.name=A", "-c", "user.email=a@example.org", "commit", "-q", "-m", "first"],
    ):
        subprocess.run(
            ["git", *arguments],
            cwd=root,
            env={**environment, "GIT_CONFIG_GLOBAL": os.devnull},
            check=True,
            capture_output=True,
        )
    for name in ("hooks", "info"):
        (root / ".git" / name).mkdir(exist_ok=True)
    return root


@pytest.fixture
def project(committed: Path, tmp_path: Path) -> Path:
    """A git repository with two committed files, ``app.py`` and ``notes.md``."""
    root = tmp_path / "project"
    shutil.copytree(committed, root, symlinks=True)
    return root


@dataclass(frozen=True, slots=True)
class Ran:
    """A finished command: its exit code and what it wrote."""

    code: int
    out: str
    err: str


RunSpark = Callable[..., Ran]
LONGEST_COMMAND = 180.0
"""Seconds after which a command hangs: on a busy machine some take a minute."""


@pytest.fixture
def spark_path() -> Path:
    """The installed console script."""
    script = Path(sys.executable).with_name("spark")
    if not script.exists():
        pytest.skip("the console script is not installed beside this Python: pip install -e '.[dev]'")
    return script


@pytest.fixture(scope="session")
def warm_spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WarmSpark]:
    """What runs commands in forks of one process, which all workers share."""
    base = tmp_path_factory.getbasetemp()
    warm = WarmSpark((base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "warm")
    yield warm
    warm.end()


@pytest.fixture
def quick_spark(spark_path: Path, warm_spark: WarmSpark) -> Path:
    """What stands in for the console script where a process is talked to while it runs."""
    return warm_spark.script()


@pytest.fixture
def launch(warm_spark: WarmSpark) -> Launch:
    """What starts spark on a terminal in milliseconds, in a fork."""
    return warm_spark.launch


@pytest.fixture
def run_spark(spark_path: Path, tmp_path: Path, warm_spark: WarmSpark) -> RunSpark:
    """Run ``spark`` as its own process; no command may ever show a traceback."""

    def run(
        *arguments: str | bytes,
        cwd: Path = tmp_path,
        given: str | bytes = b"",
        env: dict[str, str] | None = None,
    ) -> Ran:
        data = given.encode() if isinstance(given, str) else given
        environ = {**os.environ, **(env or {})}
        words = [str(spark_path), *map(os.fsdecode, arguments)]
        if fits(environ):
            code, out, err = warm_spark.run(words, cwd, environ, data, LONGEST_COMMAND)
        else:
            done = subprocess.run(
                words,
                cwd=cwd,
                input=data,
                env=environ,
                capture_output=True,
                timeout=LONGEST_COMMAND,
                check=False,
            )
            code, out, err = done.returncode, done.stdout, done.stderr
        ran = Ran(code, out.decode(), err.decode())
        assert "Traceback" not in ran.err, ran.err
        return ran

    return run
