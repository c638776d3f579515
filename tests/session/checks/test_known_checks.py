"""The checks of a project in tables: proposals, agreements, commands, settings, and the tests they run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from session.base.storage.private_files import StoreError
from session.base.text.tables import TableError
from session.checks.check import SECONDS, Check, Kind, command_problem, read_checks
from session.checks.hunk_checks import CHEAP
from session.checks.known_checks import Agreements, KnownChecks, UnknownCheckError, propose
from session.checks.reaching import runnable_tests

TESTS = Check("tests", "pytest -q", Kind.TESTS)


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
    with pytest.raises(UnknownCheckError, match=r"this project has none: add \[\[checks\]\] to config.toml"):
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
