"""Which of a model's words count as a finding."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from session.assist.review.change import AROUND, ReviewedChange, ReviewedFile
from session.assist.review.finding import ReviewFinding, UnusableError, read_finding
from session.assist.review.request import requests
from tests.secret_texts import pieces, private_key
from tests.thorough import share

BEFORE = tuple(f"line {number}" for number in range(1, 41))
AFTER = (*BEFORE[:9], "new ten", "new eleven", *BEFORE[10:29], *BEFORE[31:])
"""Line 10 became two lines; lines 30 and 31 are gone: between the lines 30 and 31 of now."""
CHANGE = ReviewedChange((ReviewedFile("a.py", BEFORE, AFTER), ReviewedFile("new.py", None, ("x", "y"))))

NAMES = st.sampled_from(["path", "start", "end", "line", "lines", "severity", "message", "fix"])


def line(**fields: Any) -> dict[str, Any]:
    return {
        "path": "a.py",
        "start": 10,
        "end": 11,
        "severity": "error",
        "kind": "off-by-one",
        "message": "It is wrong.",
        "why": "With 0 it fails.",
        **fields,
    }


def test_a_finding_on_changed_lines_is_taken_as_it_is() -> None:
    finding = read_finding(line(fix={"old": "new ten\nnew eleven", "new": "ten"}), CHANGE)
    assert (finding.path, finding.start, finding.end, str(finding.severity)) == ("a.py", 10, 11, "error")
    assert finding.fix is not None and (finding.fix.start, finding.fix.new) == (10, ("ten",))


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"path": "b.py"}, "no file of the change"),
        ({"path": "../a.py"}, "no file of the change"),
        ({"path": ["a.py"]}, "no file of the change"),
        ({"start": 0}, "no such lines"),
        ({"end": 41}, "no such lines"),
        ({"start": 12, "end": 11}, "no such lines"),
        ({"start": True, "end": True}, "no such lines"),
        ({"start": "ten"}, "no such lines"),
        ({"start": 10**40, "end": 10**41}, "no such lines"),
        ({"start": 12, "end": 15}, "were not changed"),
        ({"start": 1, "end": 9}, "were not changed"),
        ({"severity": "purple"}, "its severity"),
        ({"severity": ["error"]}, "its severity"),
        ({"message": ""}, "no message"),
        ({"message": 5}, "no message"),
    ],
)
def test_a_finding_that_does_not_fit_the_change_is_none(fields: dict[str, Any], why: str) -> None:
    with pytest.raises(UnusableError, match=why):
        read_finding(line(**fields), CHANGE)


@pytest.mark.parametrize(("start", "counts"), [(29, False), (30, True), (31, True), (32, False)])
def test_where_lines_were_removed_the_lines_beside_the_gap_count(start: int, counts: bool) -> None:
    file = CHANGE.files[0]
    assert file.after[29] == "line 29" and file.after[30] == "line 32"
    assert file.touches(start, start) is counts


@pytest.mark.parametrize(
    "fix",
    [
        {"old": "not there", "new": "x"},
        {"old": "line 20", "new": "x"},
        {"old": "new ten", "new": "new ten"},
        {"old": "", "new": "x"},
        {"old": 5, "new": "x"},
        "new ten -> ten",
        {"old": "new ten", "new": "x\n" * 500},
        {"old": "new ten", "new": "x\x1b[2J"},
        {"old": "new ten", "new": "x \u202e# y"},
        {"old": "new ten", "new": "x\u200b"},
        {"old": "new ten", "new": "x\U000e0041"},
    ],
)
def test_a_fix_that_does_not_fit_is_left_out(fix: Any) -> None:
    assert read_finding(line(fix=fix), CHANGE).fix is None


def test_text_of_a_model_is_one_clean_line_of_bounded_length() -> None:
    finding = read_finding(line(message="\x1b[31mred\n\u202e" + "x" * 1_000, kind="Not A Kind!"), CHANGE)
    assert "\x1b" not in finding.message and "\n" not in finding.message and "\u202e" not in finding.message
    assert len(finding.message) == 300 and finding.kind == "other"


@settings(max_examples=share(200, 15))
@given(
    st.dictionaries(
        NAMES,
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.just("a.py"),
            lambda inner: st.lists(inner) | st.dictionaries(NAMES, inner),
        ),
    )
)
def test_any_json_is_a_finding_on_changed_lines_or_none(value: dict[str, Any]) -> None:
    try:
        finding = read_finding(value, CHANGE)
    except UnusableError:
        return
    assert isinstance(finding, ReviewFinding)


@given(st.integers(1, 400), st.sets(st.integers(0, 399), max_size=60), st.integers(2_000, 20_000))
def test_every_changed_line_is_sent_with_its_number_in_bounded_requests(
    count: int, changed: set[int], longest: int
) -> None:
    before = tuple(f"old {number}" for number in range(count))
    after = tuple(f"new {n}" if n in changed else text for n, text in enumerate(before))
    file = ReviewedFile("a.py", before, after)
    texts = list(requests([file] if file.changes else [], longest))
    assert all(len(text) <= longest for text in texts)
    sent = "\n".join(texts).splitlines()
    for number in changed & set(range(count)):
        assert f"{number + 1:>6} + new {number}" in sent
        assert f"     - - old {number}" in sent
    shown = [line for line in sent if line[6:9] == "   " and line[:6].strip().isdigit()]
    assert len(shown) <= 2 * AROUND * max(1, len(file.changes))


@pytest.mark.parametrize("line", ["x" * 9_000, "`" * 3_000, "word " * 900])
def test_a_long_line_is_cut_and_the_lines_after_it_are_sent(line: str) -> None:
    after = tuple(line if number == 3 else f"line {number}" for number in range(400))
    texts = list(requests([ReviewedFile("a.py", None, after)], 2_000))
    assert all(len(text) <= 2_000 for text in texts)
    assert sum("(cut here)" in text for text in texts) == 1
    assert all(any(f"+ line {number}" in text for text in texts) for number in range(400) if number != 3)


def test_secrets_in_the_change_are_masked() -> None:
    key = "sk-" + "a1B2c3D4" * 6
    (text,) = requests([ReviewedFile("a.py", None, (f'KEY = "{key}"',))])
    assert key not in text and "masked" in text


def test_a_private_key_that_begins_far_above_the_change_is_masked() -> None:
    key = private_key(60)
    before = ("x = 1", *key, "y = 1")
    after = (*before[:-1], "changed", *before[-1:])
    (text,) = requests((ReviewedFile("a.py", before, after),))
    assert "changed" in text
    assert not any(pieces(text, line) for line in key[1:-1])
