"""Every defence that ``docs/security.md`` describes names a test that is there."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from tests.checkout import ROOT

TEXT = (ROOT / "docs" / "security.md").read_text("utf-8")
SECTIONS = {
    found[1]: found[2] for found in re.finditer(r"^## (.+)\n((?:(?!^## ).*\n?)*)", TEXT, re.MULTILINE)
}
COMPLAINTS = "What users of other programs lost"
COUNT = 25
"""The complaints of the field that are known."""
UNTESTED = {"Assets, entries and limits", "Checks of the code"}


def named_tests(section: str) -> set[str]:
    return set(re.findall(r"`(test_\w+|tests/[\w/]+\.py)`", SECTIONS[section]))


@cache
def known_tests() -> set[str]:
    found = set()
    for file in (ROOT / "tests").rglob("test_*.py"):
        found.add(file.relative_to(ROOT).as_posix())
        found |= set(re.findall(r"^ *(?:async )?def (test_\w+)", file.read_text("utf-8"), re.MULTILINE))
    return found


@pytest.mark.parametrize("section", sorted(SECTIONS.keys() - UNTESTED))
def test_each_defence_names_tests_that_are_there(section: str) -> None:
    named = named_tests(section)
    assert named, "a defence without a test"
    assert named - known_tests() == set()


def test_each_complaint_about_other_programs_has_a_test_of_its_own() -> None:
    rows = re.findall(r"^\| (?!complaint|---)([^|]+) \|([^|]+)\|$", SECTIONS[COMPLAINTS], re.MULTILINE)
    assert len(rows) == COUNT
    named = [set(re.findall(r"`(test_\w+|tests/[\w/]+\.py)`", tests)) for _, tests in rows]
    assert all(named)
    assert sum(map(len, named)) == len(set().union(*named)), "a test stands for one complaint"


def test_the_table_of_entries_names_every_section() -> None:
    linked = set(re.findall(r"\]\(#([\w-]+)\)", SECTIONS["Assets, entries and limits"]))
    headings = {name.lower().replace(" ", "-") for name in SECTIONS.keys() - UNTESTED}
    assert linked == headings


def test_there_is_a_policy_and_it_is_linked() -> None:
    assert "Reporting a vulnerability" in (ROOT / "SECURITY.md").read_text("utf-8")
    assert "SECURITY.md" in (ROOT / "README.md").read_text("utf-8")
    assert Path(ROOT / "docs" / "security.md").exists()
