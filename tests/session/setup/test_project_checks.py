"""Checks in a project's own file, and the rounds of auto-fix."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.session.setup.test_config import Setup


@pytest.fixture
def setup(tmp_path: Path) -> Setup:
    return Setup(tmp_path)


PROJECTS_CHECKS = """
[[checks]]
name = "lint"
command = "make lint"
kind = "lint"

[[checks]]
name = "tests"
command = "make tests"
"""


def test_a_trusted_project_brings_checks_and_the_users_own_win(setup: Setup) -> None:
    setup.project(PROJECTS_CHECKS)
    assert setup.load().checks == ()
    setup.trust('[[checks]]\nname = "tests"\ncommand = "my tests"\n')
    found = {check.name: (check.command, check.source) for check in setup.load().checks}
    assert found == {"lint": ("make lint", ".spark.toml"), "tests": ("my tests", "config.toml")}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('checks = "make"', "[[checks]] must be a list of tables"),
        ('[[checks]]\nname = "x"\ncommand = ""\n', "empty"),
        ('[[checks]]\nname = "x"\ncommand = "a"\nroot = true\n', "root"),
    ],
)
def test_a_wrong_check_of_a_project_names_the_file(setup: Setup, text: str, said: str) -> None:
    setup.trust()
    setup.project(text)
    message = setup.problem()
    assert str(setup.root / ".spark.toml") in message and said in message


@pytest.mark.parametrize("value", ["-1", "11", '"two"', "true"])
def test_the_rounds_of_auto_fix_are_bounded(setup: Setup, value: str) -> None:
    setup.user(f"auto_fix = {value}\n")
    assert "auto_fix must be a whole number from 0 to 10" in setup.problem()
