"""What an answer to a review says: in which shapes findings are read, and when there are none."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from session.assist.review.answer import Answer
from session.assist.review.change import ReviewedChange, ReviewedFile
from session.assist.review.finding import UnusableError, read_finding
from tests.session.assist.review.example import ERROR

HEAD = "def mean(all):"
CHANGE = ReviewedChange(
    (ReviewedFile("a.py", (HEAD, "    return 0"), (HEAD, "    return sum(all) / len(all)")),)
)
BARE = {key: value for key, value in ERROR.items() if key != "fix"}
LINE = json.dumps(ERROR)


def read(text: str, size: int = 7) -> Answer:
    answer = Answer()
    records = [found for at in range(0, len(text), size) for found in answer.feed(text[at : at + size])]
    records += answer.end()
    answer.records = records  # type: ignore[attr-defined]
    return answer


def records(text: str, size: int = 7) -> list[dict[str, Any]]:
    return read(text, size).records  # type: ignore[attr-defined, no-any-return]


@pytest.mark.parametrize(
    "text",
    [
        LINE,
        f"{LINE}\n",
        f"```json\n{LINE}\n```",
        f"Here is what I found:\n\n{LINE}\n\nThat is all.",
        json.dumps(ERROR, indent=2),
        json.dumps([ERROR]),
        json.dumps([ERROR], indent=4),
        json.dumps({"findings": [ERROR]}, indent=2),
        json.dumps({"summary": "One fault.", "issues": [ERROR]}),
        json.dumps({"review": {"findings": [ERROR]}}),
        f"The dict {{x}} is fine, {{ too.\n{LINE}",
        f"- {LINE}",
    ],
)
@pytest.mark.parametrize("size", [1, 7, 10_000])
def test_findings_are_read_in_every_shape_that_can_be_meant(text: str, size: int) -> None:
    assert records(text, size) == [ERROR] and read(text, size).unclear == ""


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1_000])
def test_what_stands_in_a_string_ends_no_finding(size: int) -> None:
    odd = {**ERROR, "message": 'a "}" and {"x": 1}, a \\ at the end\\', "why": '{{\n}"]'}
    text = f"{json.dumps(odd)}\n{LINE}"
    assert records(text, size) == [odd, ERROR] and read(text, size).unclear == ""


def test_what_is_no_review_is_told_by_its_beginning() -> None:
    assert read("").unclear == read("```\n```").unclear == "the model's answer is empty"
    long = "I cannot review this, since " + "it is long " * 20
    assert read(long).unclear == f"the model's answer is no review: {long[:79]}…"


def test_a_finding_is_given_as_soon_as_it_is_whole() -> None:
    answer = Answer()
    assert answer.feed(f"[{LINE[:-1]}") == []
    assert answer.feed("}, ") == [ERROR]


@pytest.mark.parametrize(
    "text",
    [
        "nothing", "Nothing.", "None", "no findings", "No issues found.", "There are no problems.",
        "I found no faults.", "LGTM", "[]", "```json\n[]\n```", '{"findings": []}',
        '```json\n{\n  "issues": []\n}\n```',
    ],
)  # fmt: skip
def test_what_says_that_nothing_is_wrong_is_a_clean_review(text: str) -> None:
    assert records(text) == [] and read(text).unclear == ""


@pytest.mark.parametrize(
    "text",
    [
        "", " \n", "```json\n```",
        "I'm sorry, but I can't help with that.",
        "The change divides by zero for an empty list.",
        "No issues found in style, but mean([]) raises.",
        "Nothing could be reviewed.",
        "a.py:2: error: An empty list divides by zero.",
        "| file | line |\n| --- | --- |\n| a.py | 2 |",
        "<finding path='a.py' line='2'/>",
        "- path: a.py\n  start: 2\n",
        "{}", "[{}]", "[[]]", "null", "0",
        '{"error": "quota"}',
        '{"findings": "one: it divides by zero"}',
        '{"findings": [], "summary": "mean([]) raises."}',
        '{"findings": ["a.py:2 divides by zero"]}',
        '{"findings": []}\nBut mean([]) raises.',
        'mean([]) raises.\n{"findings": []}',
        '{"findings": []} {',
        LINE[:-20],
        json.dumps(ERROR, indent=2)[:-5],
        f"[{LINE}, {LINE[:40]}",
        LINE.replace('"error"', "error"),
        str(ERROR),
        f'{{"path": "a.py, "start": 2}}\n{LINE}',
        '{"a":' * 60_000,
        "{" * 60_000,
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_no_clean_review(text: str) -> None:
    answer = Answer()
    found = [each for part in (*answer.feed(text), *answer.end()) for each in _usable(part)]
    assert answer.unclear
    assert found in ([], [2])


def _usable(record: dict[str, Any]) -> list[int]:
    try:
        return [read_finding(record, CHANGE).start]
    except UnusableError:
        return []


def test_a_broken_line_does_not_take_those_behind_it_along() -> None:
    assert ERROR in records(f'{{"path": "a.py, "start": 2}}\n{LINE}\n')


@given(st.text(alphabet='{}[]",:\\ \nabc0', max_size=60), st.integers(1, 9))
def test_any_text_is_read_alike_in_any_pieces(text: str, size: int) -> None:
    assert records(text, size) == records(text, 100)
    assert read(text, size).unclear == read(text, 100).unclear


@pytest.mark.parametrize(
    ("changed", "severity"),
    [
        ({"severity": "critical"}, "error"),
        ({"severity": "HIGH"}, "error"),
        ({"severity": "Blocker"}, "error"),
        ({"severity": "fatal"}, "error"),
        ({"severity": "medium"}, "warning"),
        ({"severity": "warn"}, "warning"),
        ({"severity": "info"}, "note"),
        ({"severity": "low"}, "note"),
        ({"start": "2", "end": "2"}, "error"),
        ({"start": "L2", "end": None}, "error"),
        ({"start": 2.0, "end": 2.0}, "error"),
        ({"start": None, "end": None, "line": 2}, "error"),
        ({"start": None, "end": None, "lines": [2, 2]}, "error"),
        ({"start": None, "end": None, "line": "2-2"}, "error"),
        ({"start": None, "end": None, "start_line": 2, "end_line": 2}, "error"),
        ({"path": "./a.py"}, "error"),
        ({"path": "b/a.py"}, "error"),
        ({"path": "a.py:2"}, "error"),
        ({"path": None, "file": "a.py"}, "error"),
        ({"path": None}, "error"),
        ({"message": None, "description": "It divides."}, "error"),
    ],
)
def test_other_words_for_the_same_are_read(changed: dict[str, Any], severity: str) -> None:
    record = {key: value for key, value in {**BARE, **changed}.items() if value is not None}
    found = read_finding(record, CHANGE)
    assert (found.path, found.start, found.end, str(found.severity)) == ("a.py", 2, 2, severity)
    assert found.message
