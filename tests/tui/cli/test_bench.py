"""``spark bench attempts``: past commits of a real repository, and a partner that is right now and then."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from session.partner.load_script import parse
from session.partner.server.server import Partner
from tests.conftest import RunSpark
from tests.session.local_servers import aside
from tests.session.race.attempts.races import ADD, BROKEN, RIGHT, WRONG, script
from tests.session.ways.coverage.test_past_commits import commit, git

CHECK = f"{sys.executable} -B -m unittest -q {{tests}}"
ASSERTS = (
    "import unittest\n\nfrom calc import add\n\n\nclass Adding(unittest.TestCase):\n"
    "    def test_add(self):\n        self.assertEqual(add(2, 3), 5)\n"
)
CHEAT = '''
[[scenario]]
id = "cheat"
match = ["add"]
times = 1
[[scenario.hunk]]
id = "cheat"
path = "test_calc.py"
lines = """
     def test_add(self):
-        self.assertEqual(add(2, 3), 5)
+        pass
"""
[[scenario.step]]
patch = ["cheat"]
[[scenario.step]]
say = "Done."
'''


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    commit(folder, "Begin", calc=ADD, test_calc="def test_add():\n    pass\n")
    commit(folder, "Let add add", calc=ADD.replace("a - b", "a + b"), test_calc=ASSERTS)
    commit(folder, "Say more", calc="# say\n" + ADD.replace("a - b", "a + b"), test_calc="# more\n" + ASSERTS)
    return folder


def arguments(url: str, *more: str) -> list[str]:
    server = ("--base-url", url, "--provider", "partner", "--model", "spark-practice")
    return ["bench", "attempts", *server, "--check", CHECK, *more]


@pytest.mark.slow
def test_the_coverage_of_past_commits_is_printed(run_spark: RunSpark, root: Path) -> None:
    answers = script(WRONG, RIGHT, BROKEN) + CHEAT
    with aside(Partner(rate=float("inf"), scripts=parse(answers))) as running:
        ran = run_spark(*arguments(running.url, "--attempts", "4", "--commits", "3"), cwd=root)
        assert ran.code == 0, ran.err
        assert "at most 12 answers: 4 for each of 3 commits" in ran.err
        assert "left out: the tests are green without its change" in ran.err
        assert "1 of 4 right" in ran.err and "Let add add" in ran.err, "who changes the test is not right"
        first, *_, last, total = ran.out.splitlines()
        assert "1 attempts   25.0%" in first and "4 attempts  100.0%" in last
        assert total.startswith("1 commits, ")
    assert git(root, "status", "--porcelain") == "", "the repository is as it was"


@pytest.mark.slow
def test_json_has_a_line_for_each_commit_and_the_curve(run_spark: RunSpark, root: Path) -> None:
    with aside(Partner(rate=float("inf"), scripts=parse(script(WRONG, RIGHT)))) as running:
        ran = run_spark(*arguments(running.url, "--attempts", "2", "--json"), cwd=root)
    assert ran.code == 0, ran.err
    *tried, ended = [json.loads(line) for line in ran.out.splitlines()]
    assert [each["right"] for each in tried if not each["problem"]] == [1]
    assert [round(each["coverage"], 3) for each in ended["coverage"]] == [0.5, 1.0]
    assert ended["commits"] == 1 and ended["tokens"] > 0


@pytest.mark.slow
def test_bad_input_is_one_line(run_spark: RunSpark, root: Path, tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.mkdir()
    with aside(Partner(rate=float("inf"), scripts=parse(script(RIGHT)))) as running:
        no_git = run_spark(*arguments(running.url), cwd=plain)
        assert no_git.code == 3 and "Traceback" not in no_git.err
        no_check = run_spark(*arguments(running.url)[:-2], cwd=root)
        assert no_check.code == 3 and "--check" in no_check.err
        two = run_spark(*arguments(running.url, "--check", "true"), cwd=root)
        assert two.code == 2 and "one --check" in two.err
        nothing = run_spark(*arguments(running.url, "--look-at", "1"), cwd=root)
        assert nothing.code == 1 and "no commit could be tried" in nothing.err
