"""Which hunk a finding is blamed on."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from session.checks.check import Check
from session.checks.finding import (
    NOTHING_KNOWN,
    Before,
    Finding,
    LandedHunk,
    Status,
    Verdict,
    before_edits,
    judge_hunks,
    new_findings,
)

CLEAN = Before(Counter())
FIRST = LandedHunk("h1", "a.py", 3, 6)
SECOND = LandedHunk("h2", "a.py", 20, 22)
OTHER = LandedHunk("h3", "b.py", 1, 2)


def red(*findings: Finding) -> Verdict:
    return Verdict(Check("lint", "lint"), Status.RED, 0.1, findings, "exit 1")


def judged(verdict: Verdict, before: Before = CLEAN) -> dict[str, str]:
    return {each.hunk.hunk: str(each.status) for each in judge_hunks([FIRST, SECOND, OTHER], verdict, before)}


def test_a_finding_is_blamed_on_the_nearest_hunk_of_its_file() -> None:
    assert judged(red(Finding("a.py", 4, "x"))) == {"h1": "red", "h2": "green", "h3": "green"}
    assert judged(red(Finding("a.py", 18, "x"))) == {"h1": "green", "h2": "red", "h3": "green"}
    assert judged(red(Finding("c.py", 1, "x"))) == {"h1": "green", "h2": "green", "h3": "green"}


def test_what_was_wrong_before_is_not_held_against_a_hunk() -> None:
    before = Before(Counter({("a.py", "x"): 1}))
    assert judged(red(Finding("a.py", 4, "x")), before)["h1"] == "green"
    assert judged(red(Finding("a.py", 4, "x"), Finding("a.py", 20, "x")), before)["h2"] == "red"


def test_where_nothing_is_known_only_findings_inside_a_hunk_count() -> None:
    for before in (NOTHING_KNOWN, Before(Counter(), frozenset({"a.py"}))):
        assert judged(red(Finding("a.py", 4, "x")), before)["h1"] == "red"
        assert judged(red(Finding("a.py", 9, "x")), before)["h1"] == "green"


def test_a_check_without_places_can_blame_and_clear_nobody() -> None:
    assert set(judged(red()).values()) == {"unclear"}


def test_a_run_that_says_nothing_leaves_nothing_known() -> None:
    unclear = Verdict(Check("lint", "lint"), Status.UNCLEAR, 0.1)
    assert not before_edits(unclear, ()).knows("a.py")
    assert before_edits(red(), {"b.py"}).knows("a.py") and not before_edits(red(), {"b.py"}).knows("b.py")


FINDINGS = st.lists(
    st.builds(Finding, st.sampled_from(["a.py", "b.py"]), st.integers(1, 30), st.sampled_from("xyz")),
    max_size=8,
)


@given(FINDINGS, FINDINGS)
def test_new_findings_are_those_beyond_the_number_there_was(old: list[Finding], now: list[Finding]) -> None:
    new = new_findings(now, before_edits(red(*old), ()))
    more = _by_key(now) - _by_key(old)
    expected: list[Finding] = []
    for finding in reversed(now):  # of equal ones, the last are new
        key = (finding.path, finding.message)
        if more[key] > 0:
            more[key] -= 1
            expected.insert(0, finding)
    assert new == expected


def _by_key(findings: list[Finding]) -> Counter[tuple[str, str]]:
    return Counter((finding.path, finding.message) for finding in findings)
