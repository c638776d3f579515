"""``spark bench attempts``: past commits of a real repository, and a partner that is right now and then."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from session.partner.load_script import parse
from session.partner.server.server import Partner
from tests.conftest import Ran
from tests.session.local_servers import aside
from tests.session.race.attempts.races import ADD, BROKEN, RIGHT, WRONG, script
from tests.session.ways.coverage.test_past_commits import commit, git
from tui.cli.main import spark

CHECK = "grep -q pass {tests} || grep -q 'a [+] b' calc.py"
"""What these tests say, without a Python for each of them; one that only passes says green."""
ASSERTS = "import calc\n\n\ndef test_add():\n    assert calc.add(2, 3) == 5\n"
CHEAT = '''
[[scenario]]
id = "cheat"
match = ["add"]
times = 1
[[scenario.hunk]]
id = "cheat"
path = "test_calc.py"
lines = """
 def test_add():
-    assert calc.add(2, 3) == 5
+    pass
"""
[[scenario.step]]
patch = ["cheat"]
[[scenario.step]]
say = "Done."
'''
Bench = Callable[..., Ran]


@pytest.fixture
def bench(capsys: pytest.CaptureFixture[str]) -> Bench:
    """Run ``spark bench attempts`` in this process."""

    def run(url: str, folder: Path, *more: str) -> Ran:
        server = ("--base-url", url, "--provider", "partner", "--model", "spark-practice")
        try:
            code = spark.main(["bench", "attempts", "-C", str(folder), *server, *more], standalone_mode=False)
        except SystemExit as left:
            code = left.code
        return Ran(code or 0, *capsys.readouterr())

    return run


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    commit(folder, "Begin", calc=ADD, test_calc="def test_add():\n    pass\n")
    commit(folder, "Let add add", calc=ADD.replace("a - b", "a + b"), test_calc=ASSERTS)
    return folder


def test_the_coverage_of_past_commits_is_printed(bench: Bench, root: Path) -> None:
    commit(root, "Say more", calc="# say\n" + ADD.replace("a - b", "a + b"), test_calc="# more\n" + ASSERTS)
    answers = script(WRONG, RIGHT, BROKEN) + CHEAT
    with aside(Partner(rate=float("inf"), scripts=parse(answers))) as running:
        ran = bench(running.url, root, "--check", CHECK, "--attempts", "4", "--commits", "3")
    assert ran.code == 0, ran.err
    said = ran.err.splitlines()[0]
    assert "at most 12 answers: 4 for each of 3 commits; " in said
    assert "by how often the model calls tools; a red one answers again up to 2 times, about " in said
    least, most = (int(each.replace(",", "")) for each in re.findall(r"([\d,]+) (?:to|tokens,)", said)[:2])
    took = int(re.findall(r"([\d,]+) tokens", ran.out.splitlines()[-1])[0].replace(",", ""))
    assert took < most and least < most, said
    assert "left out: the tests are green without its change" in ran.err
    assert "1 of 4 right" in ran.err and "Let add add" in ran.err, "who changes the test is not right"
    first, *_, last, total = ran.out.splitlines()
    assert "1 attempts   25.0%" in first and "4 attempts  100.0%" in last
    assert total.startswith("1 commits, ")
    assert git(root, "status", "--porcelain") == "", "the repository is as it was"


def test_json_has_a_line_for_each_commit_and_the_curve(bench: Bench, root: Path) -> None:
    with aside(Partner(rate=float("inf"), scripts=parse(script(WRONG, RIGHT)))) as running:
        ran = bench(running.url, root, "--check", CHECK, "--attempts", "2", "--json")
    assert ran.code == 0, ran.err
    *tried, ended = [json.loads(line) for line in ran.out.splitlines()]
    assert [(each["right"], each["problem"]) for each in tried] == [(1, "")]
    assert [round(each["coverage"], 3) for each in ended["coverage"]] == [0.5, 1.0]
    assert ended["commits"] == 1 and ended["tokens"] > 0


def test_bad_input_is_one_line(bench: Bench, root: Path, tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.mkdir()
    nowhere = "http://127.0.0.1:9/v1"
    for folder, more, code, told in (
        (plain, ["--check", CHECK], 3, "git"),
        (root, [], 3, "--check"),
        (root, ["--check", CHECK, "--check", "true"], 2, "one --check"),
    ):
        ran = bench(nowhere, folder, *more)
        assert ran.code == code and told in ran.err.splitlines()[-1] and not ran.out, (more, ran)
        assert "Traceback" not in ran.err, more
    commit(root, "Code alone", calc="# nothing to try\n")
    nothing = bench(nowhere, root, "--check", CHECK, "--look-at", "1")
    assert nothing.code == 1 and "no commit could be tried" in nothing.err
