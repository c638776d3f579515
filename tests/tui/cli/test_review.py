"""``spark review`` as a process, against the real partner."""

from __future__ import annotations

import json
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from session.partner.load_script import parse
from session.partner.server.server import Partner
from tests.conftest import RunSpark
from tests.session.assist.review.example import ERROR
from tests.session.assist.review.test_git_change import commit, git
from tests.session.local_servers import aside

NOTE = {**ERROR, "severity": "note", "kind": "naming", "message": "It hides a name.", "fix": None, "start": 1}
ELSEWHERE = {**ERROR, "path": "b.py"}


def script(*findings: object) -> str:
    said = "```json\n" + "".join(f"{json.dumps(each)}\n" for each in findings) + "```\n"
    return f"""
models = ["spark-practice"]
[[scenario]]
match = ["*"]
[[scenario.step]]
say = {json.dumps(said)}
"""


def partner(toml: str) -> AbstractContextManager[Partner]:
    """A partner in a thread of its own, since the command is waited for."""
    return aside(Partner(rate=float("inf"), scripts=parse(toml)))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "repo"
    folder.mkdir()
    git(folder, "init", "-q")
    commit(folder, a_py="def mean(all):\n    return 0\n")
    (folder / "a.py").write_text("def mean(all):\n    return sum(all) / len(all)\n")
    return folder


def options(url: str, root: Path) -> tuple[str, ...]:
    return ("--base-url", url, "--model", "spark-practice", "--provider", "partner", "-C", str(root))


def test_findings_are_printed_and_an_error_leaves_with_1(run_spark: RunSpark, root: Path) -> None:
    with partner(script(ERROR, ELSEWHERE, {**NOTE, "end": 1})) as running:
        ran = run_spark("review", *options(running.url, root))
        (request,) = [each for each in running.requests if each.generate]
    assert ran.code == 1
    assert ran.out.splitlines() == [
        "a.py:2: error: An empty list divides by zero. [division-by-zero]",
        "    mean([]) raises.",
        "    -     return sum(all) / len(all)",
        "    +     return sum(all) / len(all) if all else 0",
    ]
    assert "1 finding in 1 file · 2 left out that did not fit the change" in ran.err
    sent = str(request.body["input"])
    assert "     2 +     return sum(all) / len(all)" in sent and "- -     return 0" in sent
    assert request.body.get("tools") in (None, [])
    assert (root / "a.py").read_text().endswith("len(all)\n"), "nothing is written"


def test_json_lines_follow_the_contract(run_spark: RunSpark, root: Path) -> None:
    with partner(script(ERROR)) as running:
        ran = run_spark("review", "--json", *options(running.url, root))
    finding, ended = map(json.loads, ran.out.splitlines())
    assert finding["type"] == "finding"
    assert {key: finding[key] for key in ERROR if key != "fix"} == {
        key: value for key, value in ERROR.items() if key != "fix"
    }
    assert finding["fix"]["new"].endswith("if all else 0") and finding["t"] >= 0
    assert ended["type"] == "review.ended" and ended["findings"] == 1 and ended["tokens"] > 0
    assert "cost" in ended


def test_sarif_holds_every_finding(run_spark: RunSpark, root: Path) -> None:
    with partner(script(ERROR, {**NOTE, "start": 2})) as running:
        ran = run_spark("review", "--sarif", "--security", *options(running.url, root))
        (request,) = [each for each in running.requests if each.generate]
    report = json.loads(ran.out)
    (run,) = report["runs"]
    assert report["version"] == "2.1.0" and run["tool"]["driver"]["name"] == "spark"
    assert [result["level"] for result in run["results"]] == ["error", "note"]
    place = run["results"][0]["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "a.py" and place["region"] == {"startLine": 2, "endLine": 2}
    assert "security holes alone" in str(request.body)


def test_no_error_leaves_with_0_and_a_range_is_reviewed(run_spark: RunSpark, root: Path) -> None:
    commit(root, other_py="x = 1\n")
    note = {**NOTE, "path": "other.py", "start": 1, "end": 1}
    with partner(script(note)) as running:
        ran = run_spark("review", "HEAD", *options(running.url, root))
    assert ran.code == 0 and ran.out.startswith("other.py:1: note: It hides a name. [naming]")


def test_without_a_change_nothing_is_asked(run_spark: RunSpark, root: Path) -> None:
    git(root, "checkout", "-q", "a.py")
    with partner(script(ERROR)) as running:
        ran = run_spark("review", "--json", *options(running.url, root))
        assert not [each for each in running.requests if each.generate]
    assert ran.code == 0 and "nothing to review" in ran.err
    assert [json.loads(line)["type"] for line in ran.out.splitlines()] == ["review.ended"]


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (("nothing..HEAD",), 2, "there is no commit 'nothing'"),
        (("--json", "--sarif"), 2, "exclude each other"),
        (("HEAD", "HEAD"), 2, "unexpected extra argument"),
    ],
)
def test_a_wrong_command_line_says_what_is_wrong(
    run_spark: RunSpark, root: Path, arguments: tuple[str, ...], code: int, told: str
) -> None:
    ran = run_spark("review", *arguments, *options("http://127.0.0.1:9", root))
    assert ran.code == code and told in ran.err and not ran.out


def test_a_server_that_is_not_there_leaves_with_4(run_spark: RunSpark, root: Path) -> None:
    ran = run_spark("review", *options("http://127.0.0.1:9", root))
    assert ran.code == 4 and "Nothing listens" in ran.err


def test_without_a_key_or_a_repository_it_leaves_with_3(
    run_spark: RunSpark, root: Path, tmp_path: Path
) -> None:
    ran = run_spark("review", "--provider", "openai", "-C", str(root))
    assert ran.code == 3 and "spark login openai" in ran.err
    bare = tmp_path / "bare"
    bare.mkdir()
    ran = run_spark("review", *options("http://127.0.0.1:9", bare))
    assert ran.code == 3 and "nothing to compare with" in ran.err


def saying(text: str) -> str:
    return script().replace(json.dumps("```json\n```\n"), json.dumps(text))


BARE = {key: value for key, value in ERROR.items() if key != "fix"}


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("Nothing.", 0),
        ("```json\n[]\n```", 0),
        (json.dumps(ERROR, indent=2), 1),
        (json.dumps([ERROR]), 1),
        (json.dumps({"findings": [ERROR]}, indent=1), 1),
        (json.dumps({**BARE, "severity": "critical"}), 1),
        (json.dumps({**BARE, "severity": "note"}) + json.dumps(BARE), 1),
        ("I'm sorry, but I can't help with that.", 5),
        ("Line 2 divides by zero where the list is empty.", 5),
        ("a.py:2: error: it divides by zero", 5),
        ("", 5),
        (json.dumps(ERROR)[:-30], 5),
        (json.dumps({**BARE, "severity": "purple"}), 5),
        (json.dumps({**BARE, "path": "other.py"}), 5),
        (json.dumps({**NOTE, "start": 2}) + "\n" + json.dumps({**BARE, "start": 200, "end": 200}), 5),
    ],
)
def test_an_answer_of_another_shape_is_read_or_fails_and_is_never_clean(
    run_spark: RunSpark, root: Path, text: str, code: int
) -> None:
    with partner(saying(text)) as running:
        ran = run_spark("review", "--sarif", *options(running.url, root))
    assert ran.code == code, ran.err
    (run,) = json.loads(ran.out)["runs"]
    (invocation,) = run["invocations"]
    assert invocation["executionSuccessful"] is (code != 5) and invocation["exitCode"] == code
    assert bool(invocation.get("toolExecutionNotifications")) is (code == 5)
    assert bool([each for each in run["results"] if each["level"] == "error"]) is (code == 1)
    assert ("this is not a whole review" in ran.err) is (code == 5)


def test_json_says_that_an_answer_is_no_review(run_spark: RunSpark, root: Path) -> None:
    with partner(saying("I can't help with that.")) as running:
        ran = run_spark("review", "--json", *options(running.url, root))
    (ended,) = map(json.loads, ran.out.splitlines())
    assert (ran.code, ended["status"], ended["findings"]) == (5, "unclear", 0)
    assert ended["message"] == "the model's answer is no review: I can't help with that."


@pytest.mark.parametrize("form", ["--json", "--sarif"])
def test_a_lost_connection_is_no_finding(run_spark: RunSpark, root: Path, form: str) -> None:
    toml = script(ERROR) + "[[scenario.step]]\nclose = {}\n"
    with partner(toml) as running:
        ran = run_spark("review", form, *options(running.url, root))
    assert ran.code == 4
    if form == "--json":
        ended = json.loads(ran.out.splitlines()[-1])
        assert ended["status"] == "failed" and ended["message"]
    else:
        (invocation,) = json.loads(ran.out)["runs"][0]["invocations"]
        assert invocation["exitCode"] == 4 and not invocation["executionSuccessful"]


def test_a_large_change_is_sent_only_to_who_agreed(run_spark: RunSpark, root: Path) -> None:
    (root / "large.py").write_text("".join(f"value_{number} = {number}\n" for number in range(20_000)))
    with partner(saying("Nothing.")) as running:
        ran = run_spark("review", "--json", *options(running.url, root))
        assert not [each for each in running.requests if each.generate]
        assert ran.code == 5 and "--most" in ran.err and "tokens" in ran.err
        assert json.loads(ran.out)["status"] == "unclear" and json.loads(ran.out)["tokens"] == 0
        ran = run_spark("review", "--most", "1000000", *options(running.url, root))
    assert ran.code == 0
