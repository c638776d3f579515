"""``spark exec --fix``: rounds until the checks are green, with a real partner and real checks."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from session.partner.load_script import parse
from session.partner.server.server import Partner
from tests.conftest import Ran, RunSpark
from tests.session.local_servers import aside
from tests.session.race.attempts.races import project

CHECK = f"{sys.executable} -B -c 'import calc; assert calc.add(2, 3) == 5, (calc.add(2, 3), 2 + 3)'"


def answers(*lines: str) -> str:
    """A partner's script in which each answer replaces the line of the one before."""
    parts = ['models = ["spark-practice-text"]']
    old = "return a - b"
    for number, new in enumerate(lines):
        asked = "These checks fail" if number else "mend add"
        parts.append(
            f'[[scenario]]\nid = "a{number}"\nmatch = ["{asked}"]\ntimes = 1\n'
            f'[[scenario.hunk]]\nid = "fix"\npath = "calc.py"\nlines = """\n'
            f' def add(a, b):\n-    {old}\n+    {new}\n"""\n'
            '[[scenario.step]]\npatch = ["fix"]\n'
        )
        old = new
    parts.append('[[scenario]]\nmatch = ["*"]\n[[scenario.step]]\nsay = "I give up.\\n"\n')
    return "\n".join(parts)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return project(tmp_path / "project")


def fixed(
    run_spark: RunSpark, root: Path, rounds: int, *lines: str, more: tuple[str, ...] = ()
) -> tuple[Ran, list[str]]:
    """``spark exec --fix`` with these answers, and the input of each request."""
    partner = Partner(rate=float("inf"), scripts=parse(answers(*lines)))
    with aside(partner) as running:
        options = ("--base-url", running.url, "--provider", "partner", "--model", "spark-practice-text")
        loop = ("--json", "--fix", str(rounds), "--check", CHECK, *more)
        ran = run_spark("exec", "mend add", *options, *loop, cwd=root)
        return ran, [str(request.body["input"]) for request in partner.requests if request.generate]


def test_what_is_red_goes_back_with_the_output_until_it_is_green(run_spark: RunSpark, root: Path) -> None:
    ran, sent = fixed(run_spark, root, 3, "return a * b", "return a + b")
    assert ran.code == 0, ran.err
    assert "return a + b" in (root / "calc.py").read_text()
    assert len(sent) == 2 and "AssertionError: (6, 5)" in sent[1] and "Traceback" in sent[1]
    judged = [json.loads(line) for line in ran.out.splitlines() if "turn.judged" in line]
    assert [(each["red"], each["again"]) for each in judged] == [(1, True), (0, False)]


def test_rounds_that_end_red_leave_with_1(run_spark: RunSpark, root: Path) -> None:
    ran, sent = fixed(run_spark, root, 1, "return a * b", "return b * a + 1", "return a + b")
    assert ran.code == 1 and len(sent) == 2
    assert "auto-fix stopped after 1 of 1 rounds" in ran.out


def test_a_round_that_lands_nothing_ends_it_and_says_so(run_spark: RunSpark, root: Path) -> None:
    ran, sent = fixed(run_spark, root, 3, "return a * b")
    assert ran.code == 1 and len(sent) == 2
    assert "auto-fix stopped: round 1 of 3 landed nothing" in ran.out


@pytest.mark.parametrize(("rounds", "code", "asked"), [(1, 0, 2), (0, 1, 1)])
def test_with_attempts_it_is_how_often_each_answers_again(
    run_spark: RunSpark, root: Path, rounds: int, code: int, asked: int
) -> None:
    ran, sent = fixed(run_spark, root, rounds, "return a * b", "return a + b", more=("--attempts", "1"))
    assert ran.code == code, ran.err
    assert len(sent) == asked and ran.out.count('"attempt.again"') == asked - 1
