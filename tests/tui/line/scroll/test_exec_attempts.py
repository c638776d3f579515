"""``spark exec --attempts``: the installed command races attempts, and what it leaves behind is nothing."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from session.base.storage.folders import state_folder
from session.partner.load_script import parse
from session.partner.server.server import Partner
from tests.conftest import RunSpark
from tests.session.local_servers import aside
from tests.session.race.attempts.races import ADD, BROKEN, RIGHT, WRONG, project, script

CHECK = f"{sys.executable} -B -c 'import calc; assert calc.add(2, 3) == 5'"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return project(tmp_path / "project")


@contextmanager
def answering(*answers: str, stall: float = 0.0) -> Iterator[str]:
    with aside(Partner(rate=float("inf"), scripts=parse(script(*answers, stall=stall)))) as running:
        yield running.url


def arguments(url: str, *more: str) -> list[str]:
    return [
        "exec",
        "mend add",
        "--base-url",
        url,
        "--provider",
        "partner",
        "--model",
        "spark-practice",
        *more,
    ]


def records(out: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in out.splitlines()]


def left_behind() -> list[str]:
    folder = state_folder() / "sandboxes"
    return [each.name for each in folder.iterdir()] if folder.is_dir() else []


def test_the_green_attempt_lands_and_the_events_are_those_of_the_contract(
    run_spark: RunSpark, root: Path
) -> None:
    with answering(WRONG, RIGHT, BROKEN) as url:
        ran = run_spark(*arguments(url, "--attempts", "3", "--check", CHECK, "--json"), cwd=root)
    assert ran.code == 0, ran.err
    assert (root / "calc.py").read_text() == ADD.replace("return a - b", RIGHT)
    told = records(ran.out)
    kinds = [each["type"] for each in told]
    started = [each for each in told if each["type"] == "attempt.started"]
    assert [each["attempt"] for each in started] == [1, 2, 3]
    assert all({"model", "effort"} <= each.keys() for each in started)
    checked = [each for each in told if each["type"] == "attempt.checked"]
    assert all({"attempt", "check", "status", "seconds", "findings"} <= each.keys() for each in checked)
    ends = {each["attempt"]: each["status"] for each in told if each["type"] == "attempt.ended"}
    race = next(each for each in told if each["type"] == "race.ended")
    assert ends[race["winner"]] == "won" and set(ends) == {1, 2, 3}
    assert {"attempts", "green", "tokens", "seconds"} <= race.keys()
    assert kinds.index("race.ended") < kinds.index("hunk.landed") < kinds.index("turn.ended")
    assert not left_behind()


def test_without_a_green_attempt_nothing_lands_and_the_exit_code_is_1(
    run_spark: RunSpark, root: Path
) -> None:
    with answering(WRONG, BROKEN) as url:
        ran = run_spark(*arguments(url, "--attempts", "2", "--check", CHECK, "--json"), cwd=root)
    assert ran.code == 1
    race = next(each for each in records(ran.out) if each["type"] == "race.ended")
    assert race["winner"] is None and race["green"] == 0
    assert "hunk.landed" not in ran.out and (root / "calc.py").read_text() == ADD


def test_a_check_alone_judges_one_attempt(run_spark: RunSpark, root: Path) -> None:
    with answering(WRONG) as url:
        ran = run_spark(*arguments(url, "--check", CHECK), cwd=root)
    assert ran.code == 1 and (root / "calc.py").read_text() == ADD
    assert "none of 1 attempts passed" in ran.err


def test_a_race_without_checks_is_refused_in_one_line(run_spark: RunSpark, root: Path) -> None:
    with answering(RIGHT) as url:
        ran = run_spark(*arguments(url, "--attempts", "2"), cwd=root)
    assert ran.code == 3 and "check" in ran.err and len(ran.err.splitlines()) == 1
    assert run_spark("exec", "x", "--attempts", "0", cwd=root).code == 2


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGKILL])
def test_a_race_that_is_ended_leaves_nothing_running(
    spark_path: Path, root: Path, end: signal.Signals
) -> None:
    sleeping = f"sleep 76.{os.getpid()}"
    with answering(RIGHT, WRONG, stall=0.2) as url:
        command = arguments(url, "--attempts", "2", "--check", f"{sleeping}; true")
        spark = subprocess.Popen([spark_path, *command], cwd=root, stderr=subprocess.PIPE, text=True)
        until(lambda: running(sleeping))
        spark.send_signal(end)
        _, errors = spark.communicate(timeout=30)
        until(lambda: not running(sleeping))
    assert "Traceback" not in errors and (root / "calc.py").read_text() == ADD
    if end is signal.SIGINT:
        assert spark.returncode == 130 and not left_behind()


def running(line: str) -> bool:
    listed = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True)
    return any(entry.strip() == line for entry in listed.stdout.splitlines())


def until(true: Any) -> None:
    for _ in range(600):
        if true():
            return
        time.sleep(0.05)
    raise AssertionError("it never came")
