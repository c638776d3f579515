"""Checks run for real: pytest, ruff and shell commands in sandboxes of a small project."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from session.checks.check import Check, Kind
from session.checks.finding import Finding, Status, Verdict
from session.checks.output import Failure, read_failure
from session.checks.runner import CheckRunner
from session.checks.sandbox.plan import MEGABYTE, Limits
from session.checks.sandbox.sandbox import Sandboxes
from session.tools.command.environment import allowed_environment

PYTHON = sys.executable


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / "tests").mkdir(parents=True)
    (folder / "pytest.ini").write_text("[pytest]\n")
    (folder / "app.py").write_text("def greet(name):\n    return 'Hi ' + name\n")
    (folder / "tests" / "test_app.py").write_text(
        "from app import greet\n\n\ndef test_greets():\n    assert greet('you') == 'Hello you'\n"
    )
    return folder


async def run(
    root: Path, check: Check, changed: list[str] | None = None, limits: Limits | None = None
) -> Verdict:
    files = [str(path.relative_to(root)) for path in root.rglob("*") if path.is_file()]
    environ = allowed_environment(os.environ)
    runner = CheckRunner(root, Sandboxes(root, os.environ), environ, lambda: files)
    return await runner.run(check, changed, limits)


async def test_failing_tests_are_red_with_the_place_and_mended_ones_green(root: Path) -> None:
    check = Check(
        "tests", f"PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 {PYTHON} -m pytest -q -p no:cacheprovider", Kind.TESTS
    )
    verdict = await run(root, check)
    assert verdict.status is Status.RED and verdict.why == "exit 1"
    assert verdict.findings == (
        Finding("tests/test_app.py", 5, "AssertionError: assert 'Hi you' == 'Hello you'"),
    )
    assert "1 failed" in verdict.last
    (root / "app.py").write_text("def greet(name):\n    return 'Hello ' + name\n")
    assert (await run(root, check)).status is Status.GREEN


async def test_a_linter_is_told_the_changed_files(root: Path) -> None:
    (root / "app.py").write_text("import os\n")
    (root / "other.py").write_text("import sys\n")
    check = Check(
        "lint", f"{PYTHON} -m ruff check --no-cache --isolated {{files}}", Kind.LINT, files=("*.py",)
    )
    verdict = await run(root, check, ["app.py", "pytest.ini"])
    assert verdict.findings == (Finding("app.py", 1, "F401 `os` imported but unused"),)
    assert {finding.path for finding in (await run(root, check)).findings} == {"app.py", "other.py"}


@pytest.mark.parametrize(
    ("command", "why"),
    [
        ("no-such-program-anywhere", "is not installed"),
        ("pytest() { return 4; }; pytest -q empty", "pytest does not know these arguments"),
        ("sleep 60", "did not end within 0.5 s"),
        ("kill -SEGV $$", "ended by signal 11"),
    ],
)
async def test_a_check_that_did_not_judge_is_unclear(root: Path, command: str, why: str) -> None:
    seconds = 0.5 if command.startswith("sleep") else 60.0
    verdict = await run(root, Check("odd", command, seconds=seconds))
    assert verdict.status is Status.UNCLEAR and why in verdict.why and verdict.findings == ()


async def test_a_check_that_uses_too_much_is_unclear_and_says_what(root: Path) -> None:
    check = Check("greedy", f"{PYTHON} -SEc 'b = bytearray(150_000_000); import time; time.sleep(60)'")
    verdict = await run(root, check, limits=Limits(memory=60 * MEGABYTE))
    if verdict.note:
        pytest.skip(f"limits need a sandbox with walls: {verdict.note}")
    assert verdict.status is Status.UNCLEAR and "60 MB of memory" in verdict.why


async def test_a_check_that_changes_the_project_changes_only_its_sandbox(root: Path) -> None:
    verdict = await run(root, Check("formatter", "echo changed > app.py; rm -rf tests; false"))
    assert verdict.status is Status.RED
    assert "Hi " in (root / "app.py").read_text() and (root / "tests" / "test_app.py").exists()


async def test_a_check_sees_no_keys_and_asks_for_none(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-of-the-test")
    verdict = await run(root, Check("env", "env; cat; exit 1"))
    assert "sk-secret" not in verdict.last and verdict.status is Status.RED


async def test_a_flood_of_output_is_kept_at_its_ends_only(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("session.checks.runner.KEPT", 10_000)
    flood = "yes x | head -c 100k; echo app.py:3: not kept; yes x | head -c 100k"
    verdict = await run(root, Check("loud", f"echo app.py:1: first; {flood}; echo app.py:2: last; false"))
    assert [finding.message for finding in verdict.findings] == ["first", "last"]
    assert verdict.last.splitlines()[-1] == "app.py:2: last"


async def test_what_a_check_printed_is_not_read_on_the_event_loop(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two megabytes took up to two seconds, in which no key was answered."""
    readers: list[threading.Thread] = []

    def noted(*given: Any) -> Failure:
        readers.append(threading.current_thread())
        return read_failure(*given)

    monkeypatch.setattr("session.checks.runner.read_failure", noted)
    verdict = await run(root, Check("red", "seq 3000; echo app.py:1: wrong; exit 1"))
    assert [str(each) for each in verdict.findings] == ["app.py:1: wrong"]
    assert readers and threading.main_thread() not in readers


async def test_control_sequences_of_a_check_reach_no_screen(root: Path) -> None:
    place = r"app.py:1: \033]0;owned\007\033[2Jbad\233 \342\200\256end\n"
    shout = rf"printf '{place}\033[?1049h\033]52;c;aGk=\007last\n'; exit 1"
    verdict = await run(root, Check("loud", shout))
    told = "\n".join((*map(str, verdict.findings), verdict.last, verdict.why))
    assert verdict.status is Status.RED and "bad" in told and "last" in told
    assert not any((ord(each) < 32 and each != "\n") or 0x7F <= ord(each) < 0xA0 for each in told)
    assert "\u202e" not in told


async def test_a_check_that_wants_a_terminal_gets_none_and_ends(root: Path) -> None:
    verdict = await run(root, Check("asks", "test -t 0 && exit 0; read answer || exit 3; exit 0", seconds=20))
    assert (verdict.status, verdict.why) == (Status.RED, "exit 3")
    opened = await run(root, Check("opens", "exec 3<>/dev/tty && exit 0; exit 4", seconds=20))
    assert opened.status is Status.RED


async def test_a_check_that_leaves_a_daemon_ends_with_it(root: Path) -> None:
    seconds = f"86.{os.getpid()}"
    check = Check("daemon", f"setsid sleep {seconds} >/dev/null 2>&1 & exit 0", seconds=20)
    assert (await run(root, check)).status is Status.GREEN
    listed = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
    assert f"sleep {seconds}" not in [line.strip() for line in listed.splitlines()]
