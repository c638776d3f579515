"""The pure parts of the checks in tables: verdicts, commands, proposals, distances, requests and output."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest

from session.base.events import (
    CheckEnded,
    CheckStarted,
    Event,
    FileSaved,
    FilesChanged,
    HunkLanded,
    HunkRedone,
    HunkUndone,
    Notice,
    PromptSubmitted,
    TurnEnded,
    TurnStarted,
)
from session.base.storage.private_files import StoreError
from session.base.text.tables import TableError
from session.checks.check import SECONDS, Check, Kind, command_problem, read_checks
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
from session.checks.hunk_checks import CHEAP, stamp
from session.checks.known_checks import Agreements, KnownChecks, UnknownCheckError, propose
from session.checks.output import ProjectPaths, find, line_number
from session.checks.reaching import runnable_tests
from session.checks.red import AutoFix, Red, Round, red_request
from session.checks.runner import judge
from session.checks.sandbox.command import End, Outcome
from session.checks.turn_checks import TurnChecks, ended_event

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


PYTHON_FILES = ("*.py", "*.pyi")
NODE = 'PATH="$PWD/node_modules/.bin:$PATH";'


@pytest.mark.parametrize(
    ("files", "checks"),
    [
        (
            {"pyproject.toml": "[tool.ruff]\n[tool.mypy]\n[tool.pyright]\n"},
            [
                Check("ruff", "ruff check {files}", Kind.LINT, files=PYTHON_FILES, source="pyproject.toml"),
                Check("mypy", "mypy .", Kind.TYPES, source="pyproject.toml"),
                Check("pyright", "pyright", Kind.TYPES, source="pyproject.toml"),
            ],
        ),
        (
            {"pyproject.toml": "[tool.mypy]\nfiles = ['a']\n", "tests/x": ""},
            [
                Check("mypy", "mypy", Kind.TYPES, source="pyproject.toml"),
                Check("pytest", "python -m pytest -q {tests}", Kind.TESTS, source="pyproject.toml"),
            ],
        ),
        ({"tests/x": ""}, []),
        ({"pyproject.toml": "[project]\nname = 'a'\n"}, []),
        (
            {
                "package.json": json.dumps(
                    {
                        "scripts": {
                            "tests": "a",
                            "lint": "b",
                            "typecheck": "c",
                            "check": "d",
                            "test": "no test specified",
                        }
                    }
                )
            },
            [
                Check("npm-tests", f"{NODE} a", Kind.TESTS, source="package.json"),
                Check("npm-lint", f"{NODE} b", Kind.LINT, source="package.json"),
                Check("npm-typecheck", f"{NODE} c", Kind.TYPES, source="package.json"),
                Check("npm-check", f"{NODE} d", Kind.OTHER, source="package.json"),
            ],
        ),
        ({"package.json": '{"scripts": {"test": " ", "lint": 3}}'}, []),
        ({"package.json": '{"scripts": []}'}, []),
        ({"package.json": "[1]"}, []),
        (
            {"Cargo.toml": "[workspace]\n"},
            [
                Check("cargo-check", "cargo check --offline --quiet", Kind.TYPES, source="Cargo.toml"),
                Check("cargo-test", "cargo test --offline --quiet", Kind.TESTS, source="Cargo.toml"),
            ],
        ),
        ({"Cargo.toml": "[other]\n"}, []),
        (
            {"go.mod": "module a\n"},
            [
                Check("go-vet", "go vet ./...", Kind.TYPES, source="go.mod"),
                Check("go-test", "go test ./...", Kind.TESTS, source="go.mod"),
            ],
        ),
        (
            {"Makefile": "all: lint\nlint:\n\tx\ncheck-all:\ntests :\ntest := 3\n\ncheck: a\n"},
            [
                Check("make-tests", "make tests", Kind.TESTS, source="Makefile"),
                Check("make-lint", "make lint", Kind.LINT, source="Makefile"),
                Check("make-check", "make check", Kind.OTHER, source="Makefile"),
            ],
        ),
        ({"Makefile": "lint:\n" + "#" * 1_000_000}, []),
        ({"Makefile/x": ""}, []),
    ],
)
def test_what_a_projects_files_propose(files: dict[str, str], checks: list[Check], tmp_path: Path) -> None:
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    assert propose(tmp_path) == checks


def test_a_project_file_that_is_no_text_proposes_nothing(tmp_path: Path) -> None:
    (tmp_path / "Makefile").write_bytes(b"lint:\n\xff\n")
    assert propose(tmp_path) == []


def test_configured_checks_replace_proposed_ones_and_the_cheapest_come_first(tmp_path: Path) -> None:
    (tmp_path / "Makefile").write_text("test:\nlint:\n")
    mine = Check("make-test", "make quick", Kind.SYNTAX)
    known = KnownChecks(tmp_path, tmp_path / "state", [mine])
    lint = Check("make-lint", "make lint", Kind.LINT, source="Makefile")
    assert known.all() == known.named([]) == [mine, lint]
    assert known.named(["make-lint"]) == [lint]
    known.agree([lint])
    assert known.agreed() == [lint]
    known.revoke([lint])
    assert known.agreed() == []
    with pytest.raises(UnknownCheckError, match="no check 'x' here; there are: make-test, make-lint"):
        known.named(["make-lint", "x"])
    with pytest.raises(UnknownCheckError, match=r"there are: none: add \[\[checks\]\] to config.toml"):
        KnownChecks(tmp_path / "none", tmp_path / "state", []).named(["x"])


def test_agreements_that_cannot_be_kept_say_so(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("a file where the folder should be")
    with pytest.raises(StoreError, match=r"the agreement cannot be kept in .*checks\.json: "):
        Agreements(tmp_path / "state").add([TESTS])


def test_agreements_are_one_list_that_a_person_can_read(tmp_path: Path) -> None:
    store = Agreements(tmp_path)
    store.add([TESTS, Check("b", "b")])
    store.add([Check("a", "a", network=True)])
    store.revoke([Check("b", "b")])
    assert (tmp_path / "checks.json").read_text() == (
        '{\n "agreed": [\n  "a\\u0000with network",\n  "pytest -q"\n ]\n}'
    )


BETWEEN = "has {} between quotes in its command; leave these out, since each name gets its own"


@pytest.mark.parametrize(
    ("command", "problem"),
    [
        ("x", ""),
        ("x" * 2_000, ""),
        ("x" * 2_001, "has a command of more than 2,000 characters; put it into a script"),
        (" \n", "needs a command that is not empty"),
        ("a {files} 'b'", ""),
        ("a 'b' {tests}", ""),
        ("a \\' {files} '", ""),
        ("a '\\' {files}", ""),
        ('a "\'" {files}', ""),
        ('a "\\" {files}"', BETWEEN.format("{files}")),
        ("a '{tests}'", BETWEEN.format("{tests}")),
        ("'{files}", BETWEEN.format("{files}")),
    ],
)
def test_commands_that_no_check_can_have(command: str, problem: str) -> None:
    assert command_problem(command) == problem


def test_a_check_without_more_than_its_command_has_the_usual_rest() -> None:
    (check,) = read_checks([{"name": "a" * 40, "command": "x"}], "spark.toml")
    assert check == Check("a" * 40, "x", Kind.OTHER, SECONDS, (), network=False, source="spark.toml")
    assert SECONDS == 300.0 and frozenset({Kind.SYNTAX, Kind.LINT}) == CHEAP


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([{"name": "a" * 41, "command": "x"}], r"^\[\[checks\]\] number 1: needs a name of at most 40"),
        ([{"name": "a", "command": "x"}, {"name": "-", "command": "x"}], r"number 2: needs a name"),
        ([{"name": "a", "command": "x", "seconds": 86_401}], "above 0 and up to 86400"),
        (3, r"^\[\[checks\]\] must be a list of tables, each under \[\[checks\]\]$"),
    ],
)
def test_settings_of_checks_that_are_wrong(values: object, message: str) -> None:
    with pytest.raises(TableError, match=message):
        read_checks(values)


def test_each_program_knows_its_own_tests() -> None:
    paths = ["test_a.py", "a.test.ts", "x/test_b.py"]
    rows: list[tuple[Check, list[str]]] = [
        (Check("a", "python -m pytest {tests}"), ["test_a.py", "x/test_b.py"]),
        (Check("a", "pytest {tests}", files=("x/*",)), ["x/test_b.py"]),
        (Check("a", "vitest {tests}"), ["a.test.ts"]),
        (Check("a", "my-pytest-like {tests}"), paths),
    ]
    for check, found in rows:
        assert list(runnable_tests(check, paths)) == found


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
            assert auto.judged("t2" if "another" in story else "t1", request) == decided


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


# Checks of whole turns, by what the check says of each run.

LINT = Check("lint", "lint", Kind.LINT)
PYTEST = Check("pytest", "pytest {tests}", Kind.TESTS, files=("*.py",))


class Judged:
    """Turn checks whose verdicts the test gives one after the other, without files that change."""

    def __init__(self, root: Path, *verdicts: Verdict, tests: Sequence[str] = ()) -> None:
        self.asked: list[tuple[str, Sequence[str] | None]] = []
        self.events: list[Event] = []
        self.judged: list[str] = []
        self._verdicts = iter(verdicts)
        self._tests = tests
        checks = TurnChecks(
            root, [LINT, PYTEST], self._judge, self._reaching, self.events.append, self._settled, self._ended
        )
        self.take = checks.take
        self._task = asyncio.create_task(checks.judge_turns())
        self.quiet = asyncio.Event()

    async def _judge(self, check: Check, changed: Sequence[str] | None) -> Verdict:
        self.asked.append((check.line(changed), changed))
        verdict = next(self._verdicts, None)
        if verdict is None:
            raise AssertionError("nobody expected another run")
        return verdict

    async def _reaching(self, check: Check, changed: Sequence[str]) -> Sequence[str]:
        return self._tests

    async def _settled(self) -> None:
        pass

    def _ended(self, turn: str) -> None:
        self.judged.append(turn)
        self.quiet.set()

    async def turn(self, name: str, path: str = "a.py") -> None:
        """A turn that lands a hunk, until it is judged."""
        self.quiet.clear()
        self.take(TurnStarted(session="s", turn=name, model="m", effort="low", input_tokens=1))
        self.take(HunkLanded(name, "h1", path, "applied", 1, 1, 2))
        self.take(TurnEnded(name, "completed"))
        await self.quiet.wait()

    async def look(self) -> None:
        """Wait until the look before anything changed is taken."""
        while not self.asked:
            await asyncio.sleep(0)
        for _ in range(5):
            await asyncio.sleep(0)

    async def close(self) -> None:
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)


def says(status: Status, *messages: str, why: str = "") -> Verdict:
    findings = tuple(Finding("a.py", 1, message) for message in messages)
    return Verdict(PYTEST, status, 0.12345, findings, why)


def ended(status: str, *findings: str, why: str = "", before: int = 0) -> CheckEnded:
    return CheckEnded("pytest", status, 0.123, tuple(f"a.py:1: {each}" for each in findings), why, before)


GREEN, RED, UNCLEAR = Status.GREEN, Status.RED, Status.UNCLEAR
HELD = "pytest is red before any change and is not held against one: "
TURNS: dict[str, tuple[list[Verdict], Sequence[str], list[Event]]] = {
    "green before and after": ([says(GREEN), says(GREEN)], (), [ended("green")]),
    "red by the turn": ([says(GREEN), says(RED, "a", why="exit 1")], (), [ended("red", "a", why="exit 1")]),
    "what was red before is told once": (
        [says(RED, "a"), says(RED, "a")],
        (),
        [Notice("info", f"{HELD}a.py:1: a"), ended("as_before", before=1)],
    ),
    "many findings before are counted": (
        [says(RED, "a", "b"), says(RED, "a", "c")],
        (),
        [Notice("info", f"{HELD}2 findings, the first is a.py:1: a"), ended("red", "c", before=1)],
    ),
    "red before without any place": (
        [says(RED, why="exit 1"), says(RED, why="exit 1")],
        (),
        [Notice("info", f"{HELD}exit 1"), ended("as_before", why="exit 1")],
    ),
    "red before without a place, and with one after": (
        [says(RED, why="exit 1"), says(RED, "a", why="exit 1")],
        (),
        [Notice("info", f"{HELD}exit 1"), ended("red", "a", why="exit 1")],
    ),
    "unclear before": (
        [says(UNCLEAR, why="no pytest"), says(RED, "a")],
        (),
        [Notice("warning", "pytest says nothing of the project as it is: no pytest"), ended("red", "a")],
    ),
    "the tests that reach the change are enough where they find something new": (
        [says(GREEN), says(RED, "a", why="exit 1")],
        ["t/test_a.py"],
        [ended("red", "a", why="exit 1, in tests that reach the change; the others did not run")],
    ),
    "the tests that reach the change are followed by all where they find nothing new": (
        [says(RED, "a"), says(RED, "a"), says(GREEN)],
        ["t/test_a.py"],
        [Notice("info", f"{HELD}a.py:1: a"), ended("green")],
    ),
}


@pytest.mark.parametrize("story", TURNS)
async def test_what_is_told_of_one_turn(story: str, tmp_path: Path) -> None:
    verdicts, tests, told = TURNS[story]
    checks = Judged(tmp_path, *verdicts, tests=tests)
    await checks.look()
    await checks.turn("t1")
    assert [event for event in checks.events if event != CheckStarted("pytest")] == told
    assert checks.judged == ["t1"] and len(checks.asked) == len(verdicts)
    assert checks.asked[0] == ("pytest", None) and checks.asked[1][1] == ["a.py"]
    await checks.close()


async def test_what_was_mended_counts_when_it_breaks_again(tmp_path: Path) -> None:
    rows: list[tuple[Verdict, CheckEnded]] = [
        (says(UNCLEAR, why="no time"), ended("unclear", why="no time")),
        (says(RED, "a", "b"), ended("as_before", before=2)),
        (says(RED, "a"), ended("as_before", before=1)),
        (says(RED, "a", "b"), ended("red", "b", before=1)),
        (says(GREEN), ended("green")),
        (says(RED, "a"), ended("red", "a")),
    ]
    checks = Judged(tmp_path, says(RED, "a", "b"), *(verdict for verdict, _ in rows))
    await checks.look()
    for number, (_, told) in enumerate(rows, 1):
        checks.events.clear()
        await checks.turn(f"t{number}")
        assert checks.events == [CheckStarted("pytest"), told], f"row {number}"
    await checks.close()


async def test_of_equal_findings_those_that_were_mended_count_again(tmp_path: Path) -> None:
    rows = [
        (says(RED, "a"), ended("as_before", before=1)),
        (says(RED, "a", "a"), ended("red", "a", before=1)),
    ]
    checks = Judged(tmp_path, says(RED, "a", "a"), *(verdict for verdict, _ in rows))
    await checks.look()
    for number, (_, told) in enumerate(rows, 1):
        await checks.turn(f"t{number}")
        assert checks.events[-1] == told, f"row {number}"
    await checks.close()


async def test_a_turn_on_files_that_no_check_is_about_is_judged_without_one(tmp_path: Path) -> None:
    checks = Judged(tmp_path, says(GREEN))
    await checks.look()
    await checks.turn("t1", "notes.md")
    assert checks.events == [] and checks.judged == ["t1"]
    await checks.close()


CHANGES: list[tuple[Event, bool]] = [
    (FileSaved("b.py"), True),
    (FilesChanged(("b.py",)), True),
    (FilesChanged(("a.py",)), False),
    (HunkUndone("h1", "a.py", 1, 2), False),
    (HunkRedone("h1", "a.py", 1, 2), False),
]


@pytest.mark.parametrize(("event", "disturbs"), CHANGES, ids=lambda value: getattr(value, "type", None))
async def test_a_red_turn_says_whether_files_changed_after_it(
    event: Event, disturbs: bool, tmp_path: Path
) -> None:
    checks = Judged(tmp_path, says(GREEN), says(RED, "a", why="exit 1"))
    await checks.look()
    checks.take(TurnStarted(session="s", turn="t1", model="m", effort="low", input_tokens=1))
    checks.take(HunkLanded("t1", "h1", "a.py", "applied", 1, 1, 2))
    checks.take(TurnEnded("t1", "completed"))
    checks.take(event)
    await checks.quiet.wait()
    why = "exit 1, with files that changed after the turn" if disturbs else "exit 1"
    assert checks.events[-1] == ended("red", "a", why=why)
    await checks.close()


async def test_a_hunk_that_was_there_already_changes_nothing(tmp_path: Path) -> None:
    checks = Judged(tmp_path, says(GREEN))
    await checks.look()
    checks.take(TurnStarted(session="s", turn="t1", model="m", effort="low", input_tokens=1))
    checks.take(HunkLanded("t1", "h1", "a.py", "already_applied", 1, 1, 2))
    checks.take(TurnEnded("t1", "completed"))
    await checks.look()
    assert checks.events == [] and checks.judged == []
    await checks.close()


async def test_a_moved_file_is_judged_where_it_is_now(tmp_path: Path) -> None:
    checks = Judged(tmp_path, says(GREEN), says(GREEN))
    await checks.look()
    checks.take(TurnStarted(session="s", turn="t1", model="m", effort="low", input_tokens=1))
    checks.take(HunkLanded("t1", "h1", "a.py", "applied", 1, 1, 2, moved_to="b.py"))
    checks.take(TurnEnded("t1", "completed"))
    await checks.quiet.wait()
    assert checks.asked[1] == ("pytest", ["b.py"])
    await checks.close()


def test_the_event_of_a_verdict() -> None:
    verdict = Verdict(PYTEST, RED, 1.23456, (Finding("a.py", 0, "x"), Finding("b.py", 2, "y")), "exit 1")
    assert ended_event(verdict) == CheckEnded("pytest", "red", 1.235, ("a.py: x", "b.py:2: y"), "exit 1")
    assert ended_event(verdict, status="as_before", before=3).before == 3
