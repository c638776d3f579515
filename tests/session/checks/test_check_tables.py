"""The pure parts of the checks in tables: verdicts, lines, distances, requests, rounds and output."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest

from session.base.events import (
    Event,
    HunkLanded,
    PromptSubmitted,
    TurnEnded,
)
from session.checks.check import Check, Kind
from session.checks.finding import (
    Before,
    Finding,
    HunkVerdict,
    LandedHunk,
    Status,
    Verdict,
    before_edits,
    judge_hunks,
    new_findings,
)
from session.checks.hunk_checks import stamp
from session.checks.output import ProjectPaths, find, line_number
from session.checks.red import AutoFix, Red, Round, RoundsOver, red_request
from session.checks.runner import judge
from session.checks.sandbox.command import End, Outcome

TESTS = Check("tests", "pytest -q", Kind.TESTS)


@pytest.mark.parametrize(
    ("command", "outcome", "status", "why"),
    [
        ("make", Outcome(End.EXIT, 0, 1.0), Status.GREEN, ""),
        ("make", Outcome(End.EXIT, 1, 1.0), Status.RED, "exit 1"),
        ("make", Outcome(End.EXIT, 4, 1.0), Status.RED, "exit 4"),
        ("make", Outcome(End.EXIT, 128, 1.0), Status.RED, "exit 128"),
        ("make", Outcome(End.EXIT, 129, 1.0), Status.UNCLEAR, "it was ended by signal 1"),
        ("make", Outcome(End.EXIT, 139, 1.0), Status.UNCLEAR, "it was ended by signal 11"),
        ("make", Outcome(End.EXIT, 126, 1.0), Status.UNCLEAR, "its command cannot be run"),
        ("make", Outcome(End.EXIT, 127, 1.0), Status.UNCLEAR, "its command is not installed"),
        ("pytest -q", Outcome(End.EXIT, 1, 1.0), Status.RED, "exit 1"),
        ("pytest -q", Outcome(End.EXIT, 4, 1.0), Status.UNCLEAR, "pytest does not know these arguments"),
        ("a/pytest", Outcome(End.EXIT, 5, 1.0), Status.RED, "exit 5"),
        ("python -m pytest", Outcome(End.EXIT, 5, 1.0), Status.UNCLEAR, "pytest found no tests"),
        ("make", Outcome(End.CUT, 0, 1.0), Status.UNCLEAR, "it was ended: it printed more than 200 MB"),
        (
            "make",
            Outcome(End.TIME, 0, 1.0, "did not end within 1 s"),
            Status.UNCLEAR,
            "it was ended: it did not end within 1 s",
        ),
    ],
)
def test_the_end_of_a_command_gives_the_verdict(
    command: str, outcome: Outcome, status: Status, why: str
) -> None:
    assert judge(Check("c", command), outcome) == (status, why)


@pytest.mark.parametrize(
    ("check", "changed", "line"),
    [
        (Check("a", "pytest -q {tests}"), None, "pytest -q"),
        (Check("a", "pytest -q {tests}"), ["a.py"], "pytest -q"),
        (Check("a", "pytest -q {tests}").only(["t/a.py", "-x.py", "b c.py"]), ["a.py"], None),
        (Check("a", "run {tests} {files}"), ["a.py", "b.md"], "run  a.py b.md"),
        (Check("a", "lint {files}", files=("*.py",)), ["a.py", "b.md"], "lint a.py"),
        (Check("a", "lint {files}", files=("*.py",)), ["b.md"], "lint "),
        (Check("a", "make check "), ["a.py"], "make check "),
    ],
)
def test_the_line_of_a_check(check: Check, changed: Sequence[str] | None, line: str | None) -> None:
    assert check.line(changed) == (line or "pytest -q t/a.py ./-x.py 'b c.py'")


@pytest.mark.parametrize(
    ("patterns", "path", "taken"),
    [
        ((), "a.md", True),
        (("*.py",), "src/a.py", True),
        (("*.py", "*.md"), "a.md", True),
        (("*.py",), "a.md", False),
        (("*.py",), "A.PY", False),
    ],
)
def test_the_files_that_a_check_is_about(patterns: tuple[str, ...], path: str, taken: bool) -> None:
    assert Check("a", "x", files=patterns).takes(path) is taken


@pytest.mark.parametrize(("line", "distance"), [(1, 2), (2, 1), (3, 0), (5, 0), (6, 1), (9, 4)])
def test_the_distance_of_a_line_from_a_hunk(line: int, distance: int) -> None:
    assert LandedHunk("h1", "a.py", 3, 6).distance(line) == distance


def test_the_distance_from_a_hunk_that_only_deleted_is_from_its_one_place() -> None:
    assert [LandedHunk("h1", "a.py", 3, 3).distance(line) for line in (2, 3, 4)] == [1, 0, 1]


LINES = [Finding("a.py", 1, "x"), Finding("a.py", 9, "x"), Finding("b.py", 1, "x")]


@pytest.mark.parametrize(
    ("before", "new"),
    [
        (Before(Counter()), LINES),
        (Before(Counter({("a.py", "x"): 1})), LINES[1:]),
        (Before(Counter({("a.py", "x"): 5, ("b.py", "y"): 1})), LINES[2:]),
        (Before(Counter({("a.py", "x"): 5}), frozenset({"a.py"})), LINES),
        (Before(Counter({("a.py", "x"): 5}), whole=False), LINES),
    ],
)
def test_findings_that_were_there_before_are_not_new(before: Before, new: list[Finding]) -> None:
    assert new_findings(LINES, before) == new


def test_what_a_hunk_is_blamed_for_was_not_there_before_it() -> None:
    verdict = Verdict(TESTS, Status.RED, 1.0, tuple(LINES))
    known = before_edits(verdict, ["b.py"], LINES[:1])
    assert known == Before(Counter({("a.py", "x"): 1, ("b.py", "x"): 1}), frozenset({"b.py"}))


def test_each_hunk_is_told_its_own_findings() -> None:
    one, other = LandedHunk("h1", "a.py", 1, 2), LandedHunk("h2", "a.py", 8, 9)
    verdict = Verdict(TESTS, Status.RED, 1.0, tuple(LINES))
    assert judge_hunks([one, other], verdict, Before(Counter())) == [
        HunkVerdict(one, Status.RED, (LINES[0],)),
        HunkVerdict(other, Status.RED, (LINES[1],)),
    ]
    unclear = Verdict(TESTS, Status.UNCLEAR, 1.0, tuple(LINES))
    assert judge_hunks([one], unclear, Before(Counter())) == [HunkVerdict(one, Status.UNCLEAR)]
    green = Verdict(TESTS, Status.GREEN, 1.0)
    assert judge_hunks([one], green, Before(Counter())) == [HunkVerdict(one, Status.GREEN)]


@pytest.mark.parametrize(
    ("reds", "line"),
    [
        ([Red("a.py:1", "no", "lint")], "- a.py:1: no (lint)"),
        ([Red("", "no", "lint")], "- no (lint)"),
        ([Red("a.py:1", "no", "lint")] * 2, "- a.py:1: no (lint)"),
        (
            [Red(f"a.py:{line}", "no", "lint") for line in range(1, 5)],
            "- a.py:1: no (lint); the same at a.py:2, a.py:3, a.py:4",
        ),
        (
            [Red(f"a.py:{line}", "no", "lint") for line in range(1, 7)],
            "- a.py:1: no (lint); the same at a.py:2, a.py:3, a.py:4 and 2 more places",
        ),
    ],
)
def test_the_line_of_a_request(reds: list[Red], line: str) -> None:
    assert red_request(reds) == f"These checks fail. Mend what they found:\n```\n{line}\n```"


def test_twenty_messages_are_sent_and_the_others_counted() -> None:
    reds = [Red("", f"message {number}", "lint") for number in range(21)]
    assert "more" not in red_request(reds[:20])
    assert red_request(reds).splitlines()[-3:] == ["- message 19 (lint)", "… and 1 more", "```"]


AUTO_FIX: dict[str, list[tuple[Event | None, str, object]]] = {
    "a hunk that landed before the prompt does not count": [
        (HunkLanded("t1", "h1", "a.py", "applied", 1, 1, 2), "", None),
        (PromptSubmitted("t1", "go"), "", None),
        (None, "- a", ""),
    ],
    "another turn's end does not stop this one": [
        (PromptSubmitted("t2", "go"), "", None),
        (HunkLanded("t2", "h1", "a.py", "applied", 1, 1, 2), "", None),
        (TurnEnded("t1", "interrupted"), "", None),
        (None, "- a", Round("- a", "auto-fix 1 of 1: what is red goes back; Esc stops it")),
        (PromptSubmitted("t2", "- a"), "", None),
        (HunkLanded("t2", "h1", "a.py", "applied", 1, 1, 2), "", None),
        (None, "- b", "auto-fix stopped after 1 of 1 rounds; /fix sends what is red"),
        (PromptSubmitted("t2", "go"), "", None),
        (HunkLanded("t2", "h1", "a.py", "applied", 1, 1, 2), "", None),
        (None, "", ""),
        (None, "- a", Round("- a", "auto-fix 1 of 1: what is red goes back; Esc stops it")),
    ],
}


@pytest.mark.parametrize("story", AUTO_FIX)
def test_the_rounds(story: str) -> None:
    auto = AutoFix(1)
    for event, request, decided in AUTO_FIX[story]:
        if event is not None:
            auto.take(event)
        else:
            got = auto.judged("t2" if "another" in story else "t1", request)
            assert (got.told if isinstance(got, RoundsOver) else got) == decided


PATHS = ["app.py", "pkg/deep/util.go", "other/util.go", "src/main.rs", "odd/app.py"]


@pytest.mark.parametrize(
    ("printed", "path"),
    [
        ("app.py", "app.py"),
        (" ./app.py ", "app.py"),
        ("/home/me/project/app.py", "app.py"),
        ("/box/src/main.rs", "src/main.rs"),
        ("src\\main.rs", "src/main.rs"),
        ("main.rs", "src/main.rs"),
        ("deep/util.go", "pkg/deep/util.go"),
        ("util.go", ""),
        ("eep/util.go", ""),
        ("/app.py", ""),
        ("x/../app.py", ""),
        ("", ""),
        ("none.py", ""),
    ],
)
def test_the_file_that_a_printed_path_means(printed: str, path: str) -> None:
    assert ProjectPaths(Path("/home/me/project"), [Path("/box")], PATHS).resolve(printed) == path


@pytest.mark.parametrize(
    ("printed", "number"), [(None, 0), ("", 0), ("7", 7), ("12345678", 12_345_678), ("123456789", 0)]
)
def test_line_numbers_that_a_file_may_have(printed: str | None, number: int) -> None:
    assert line_number(printed) == number


@pytest.mark.parametrize(
    ("output", "findings"),
    [
        # A failed test is told by its file only where nothing else is known of that file.
        ("app.py:1: wrong\nFAILED app.py::test_a - no\n", ["app.py:1: wrong"]),
        (
            "FAILED app.py::test_a - no\nFAILED app.py::test_b\n",
            ["app.py: test_a: no", "app.py: test_b: failed"],
        ),
        # A frame waits for its exception, and belongs to one traceback alone.
        (
            'Traceback (most recent call last):\n  File "app.py", line 3, in a\nValueError: first\n'
            "ValueError: second\n",
            ["app.py:3: ValueError: first"],
        ),
        ("app.py:1: " + "x" * 400 + "\n", ["app.py:1: " + "x" * 300]),
        ("app.py:1: a   b\t c\n", ["app.py:1: a b c"]),
        ("y" * 995 + " app.py:1: wrong\n", []),
    ],
)
def test_findings_in_odd_output(output: str, findings: list[str]) -> None:
    paths = ProjectPaths(Path("/home/me/project"), [], ["app.py"])
    assert [str(each) for each in find(output, paths.resolve)] == findings


def test_the_stamp_of_a_file(tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    assert stamp(file) is None
    file.write_text("one")
    before = stamp(file)
    assert before == stamp(file)
    file.write_text("three")
    assert stamp(file) != before
