"""``spark run``: the command's own output and exit code, and the model where it is asked."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import pytest

from session.partner.load_script import parse
from session.partner.server.server import Partner
from tests.conftest import RunSpark
from tests.session.local_servers import aside
from tests.session.race.attempts.races import ADD, RIGHT, project, script


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = project(tmp_path / "project")
    (folder / "run.py").write_text(
        "from calc import add\n\nprint('begins')\nassert add(2, 3) == 5, 'wrong sum'\n"
    )
    return folder


def run_of(*more: str) -> list[str]:
    return ["run", *more, "--", sys.executable, "-B", "-u", "run.py"]


def test_a_command_that_works_is_as_if_run_by_itself(run_spark: RunSpark, root: Path) -> None:
    ran = run_spark("run", "--", sys.executable, "-c", "print('fine')", cwd=root)
    assert (ran.code, ran.out, ran.err) == (0, "fine\n", "")


def test_a_command_that_fails_keeps_its_code_and_names_the_lines(run_spark: RunSpark, root: Path) -> None:
    ran = run_spark(*run_of(), cwd=root)
    assert ran.code == 1 and ran.out.startswith("begins\n") and "Traceback" in ran.out
    assert "spark: run.py:4: AssertionError: wrong sum" in ran.err and "exit 1" in ran.err
    assert run_spark("run", "--", "sh", "-c", "exit 7", cwd=root).code == 7
    assert run_spark("run", "--", "sh", "-c", "kill -9 $$", cwd=root).code == 137


def test_a_command_that_was_stopped_is_no_failure(run_spark: RunSpark, root: Path) -> None:
    ran = run_spark("run", "--ask", "--", "sh", "-c", "kill -INT $$", cwd=root)
    assert (ran.code, ran.out, ran.err) == (130, "", "")


def test_the_model_is_asked_with_the_places_and_its_edit_lands(run_spark: RunSpark, root: Path) -> None:
    partner = Partner(rate=float("inf"), scripts=parse(script(RIGHT).replace('"add"', '"wrong sum"')))
    with aside(partner) as running:
        options = ("--base-url", running.url, "--provider", "partner", "--model", "spark-practice")
        ran = run_spark("run", "--ask", *options, "--", sys.executable, "-B", "run.py", cwd=root)
        sent = str([request.body["input"] for request in partner.requests if request.generate])
    assert ran.code == 1, "the command failed, whatever the model did then"
    assert (root / "calc.py").read_text() == ADD.replace("return a - b", RIGHT)
    assert "wrong sum" in sent and "run.py" in sent and "assert add(2, 3) == 5" in sent


def test_what_is_no_program_is_said_in_one_line(run_spark: RunSpark, root: Path) -> None:
    ran = run_spark("run", "--", "not-a-program-at-all", cwd=root)
    assert ran.code == 127 and ran.err == "spark: not-a-program-at-all: there is no such program\n"
    assert run_spark("run", cwd=root).code == 2


def test_what_a_command_leaves_running_is_not_waited_for(run_spark: RunSpark, root: Path) -> None:
    ran = run_spark("run", "--", "sh", "-c", "sleep 300 & echo $!; exit 3", cwd=root)
    left = int(ran.out)
    os.kill(left, signal.SIGKILL)  # it still ran: raises where it was gone
    assert ran.code == 3
    ran = run_spark("run", "--", "sh", "-c", "yes & echo $!; exit 3", cwd=root)
    assert ran.code == 3
