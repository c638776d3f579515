"""Checks as they are configured, proposed and agreed to."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from session.base.storage.private_files import StoreError
from session.base.text.tables import TableError
from session.checks.check import Check, Kind, by_cost, read_checks
from session.checks.known_checks import Agreements, propose


def test_a_check_is_read_with_all_it_says() -> None:
    (check,) = read_checks(
        [
            {
                "name": "lint",
                "command": "ruff check {files}",
                "kind": "lint",
                "seconds": 20,
                "files": ["*.py"],
                "network": True,
            }
        ]
    )
    assert check == Check("lint", "ruff check {files}", Kind.LINT, 20.0, ("*.py",), network=True)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ("ruff", "must be a list of tables"),
        ([{"name": "a"}], r"\[\[checks\]\] number 1: needs command, a string"),
        ([{"name": "a b", "command": "x"}], "needs a name of at most 40 letters"),
        ([{"name": "a", "command": " "}], "not empty"),
        ([{"name": "a", "command": "x", "kind": "test"}], "kind must be one of"),
        ([{"name": "a", "command": "x", "second": 1}], "second"),
        ([{"name": "a", "command": 'sh -c "ruff {files}"'}], r"\{files\} between quotes"),
        ([{"name": "a", "command": "echo \\\"; x 'a\"{tests}'"}], r"\{tests\} between quotes"),
        ([{"name": "a", "command": "x `cat {files}`"}], r"\{files\} between quotes"),
        ([{"name": "a", "command": "true\u202e"}], r"invisible character \(U\+202E\)"),
        ([{"name": "a", "command": "x" * 3_000}], "more than 2,000 characters"),
        ([{"name": "a", "command": "x"}, {"name": "a", "command": "y"}], "'a' more than once"),
    ],
)
def test_a_check_that_cannot_be_used_is_refused_with_the_reason(values: object, message: str) -> None:
    with pytest.raises(TableError, match=message):
        read_checks(values)


def test_the_changed_files_take_their_place_in_the_command() -> None:
    check = Check("lint", "ruff check {files}", files=("*.py",))
    changed = ["app.py", "my file.py", "-rf.py", "notes.md", "$(touch x).py"]
    assert check.line(changed) == "ruff check app.py 'my file.py' ./-rf.py '$(touch x).py'"
    assert check.line() == "ruff check ."
    assert Check("tests", "pytest").line(changed) == "pytest"


def test_cheap_checks_come_first() -> None:
    checks = [
        Check("t", "t", Kind.TESTS),
        Check("o", "o"),
        Check("l", "l", Kind.LINT),
        Check("m", "m", Kind.TYPES),
    ]
    assert [check.name for check in by_cost(checks)] == ["l", "m", "t", "o"]


def test_a_python_project_proposes_its_tools(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(
        '[tool.ruff]\n[tool.mypy]\nfiles = ["a"]\n[tool.pytest.ini_options]\n'
    )
    assert [(check.name, check.command) for check in propose(tmp_path)] == [
        ("ruff", "ruff check {files}"),
        ("mypy", "mypy"),
        ("pytest", "python -m pytest -q {tests}"),
    ]


def test_other_projects_propose_their_scripts_and_targets(tmp_path: Path) -> None:
    scripts = {"test": "node --test", "lint": "eslint .", "start": "node server.js", "tests": 3}
    (tmp_path / "package.json").write_text(json.dumps({"scripts": scripts}))
    (tmp_path / "Cargo.toml").write_text("[package]\nname = 'a'\n")
    (tmp_path / "go.mod").write_text("module example.com/a\n")
    (tmp_path / "Makefile").write_text("CC := gcc\ntest: build\n\tgo test\nclean:\n\trm -rf x\n")
    proposed = {check.name: check for check in propose(tmp_path)}
    assert list(proposed) == [
        "npm-test", "npm-lint", "cargo-check", "cargo-test", "go-vet", "go-test", "make-test",
    ]  # fmt: skip
    assert proposed["npm-test"].command.endswith("; node --test")


@pytest.mark.parametrize("text", ["", "[", "[tool]\nruff = 3\n", "\0", "a = " + "[" * 5_000])
def test_a_broken_project_file_proposes_nothing(text: str, tmp_path: Path) -> None:
    for name in ("pyproject.toml", "package.json", "Cargo.toml", "Makefile"):
        (tmp_path / name).write_text(text)
    assert [check.name for check in propose(tmp_path)] in ([], ["ruff"])


def test_a_script_that_hides_characters_is_not_proposed(tmp_path: Path) -> None:
    (tmp_path / "package.json").write_text(json.dumps({"scripts": {"test": "true \u200b; rm -rf ."}}))
    assert propose(tmp_path) == []


def test_an_agreement_is_to_the_exact_text(tmp_path: Path) -> None:
    store = Agreements(tmp_path)
    check = Check("tests", "pytest -q")
    assert store.agreed([check]) == []
    store.add([check])
    assert store.agreed([check, Check("other name", "pytest -q")]) == [
        check,
        Check("other name", "pytest -q"),
    ]
    assert store.agreed([Check("tests", "pytest -q "), Check("tests", "pytest -q", network=True)]) == []
    assert stat.S_IMODE((tmp_path / "checks.json").stat().st_mode) == 0o600
    store.revoke([check])
    assert store.agreed([check]) == []


def test_no_text_of_a_command_is_an_agreement_to_the_network(tmp_path: Path) -> None:
    store = Agreements(tmp_path)
    for mark in (" # (with network)", " (with network)"):
        store.add([Check("tests", f"pytest{mark}")])
    for command in ("pytest", "pytest #"):
        assert store.agreed([Check("tests", command, network=True)]) == []
    with_network = Check("tests", "pytest", network=True)
    store.add([with_network])
    assert store.agreed([with_network, Check("tests", "pytest")]) == [with_network]


@pytest.mark.parametrize("text", ["{", "[]", '{"agreed": [3]}', '{"agreed": 3}'])
def test_agreements_that_cannot_be_read_are_no_agreement(text: str, tmp_path: Path) -> None:
    (tmp_path / "checks.json").write_text(text)
    with pytest.raises(StoreError, match="repair or remove that file"):
        Agreements(tmp_path).agreed([Check("tests", "pytest")])
