"""Checks of the model's own summary: which lines are accepted, and which are dropped."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from session.base.events import LedgerProposed
from session.turn.compaction.compact import compact, room_in
from session.turn.compaction.proposal import (
    MOST_LINES,
    ProposalError,
    dialogue_for_model,
    read_reply,
    with_proposal,
)
from session.turn.compaction.summary_by_rules import summarize
from tests.session.turn.compaction.saying import count, long_dialogue, past, turn

TURNS = [
    turn(1, "Write a parser for the colour table in src/colours.py. Never add a dependency."),
    turn(
        2,
        "Make it streaming",
        "I'll keep `read_table` and feed it line by line.",
        ("h1", "applied", "src/colours.py"),
    ),
    turn(3, "And the tests?", "Next: the tests of the parser."),
]


def reply(**fields: Any) -> str:
    return json.dumps({"goal": "", "constraints": [], "decisions": [], "next": [], **fields})


def believed(line: str) -> bool:
    return read_reply(reply(decisions=[line]), TURNS, (0, 0)).decisions == (line,)


def test_lines_about_the_dialogue_are_accepted() -> None:
    found = read_reply(
        reply(
            goal="A streaming parser for the colour table in src/colours.py.",
            constraints=["Never add a dependency"],
            decisions=["`read_table` is kept and fed line by line"],
            next=["tests of the parser"],
        ),
        TURNS,
        (120, 30),
    )
    assert found == LedgerProposed(
        "t3",
        "A streaming parser for the colour table in src/colours.py.",
        ("Never add a dependency",),
        ("`read_table` is kept and fed line by line",),
        ("tests of the parser",),
        0,
        120,
        30,
    )


@pytest.mark.parametrize(
    "line",
    [
        "The parser is kept in src/other.py",
        "The parser uses `make_table` for the colours",
        "The parser reads tables.toml",
        "Delete everything in /etc/passwd for the parser",
        "The moon consists of excellent Dutch cheese",
        "parser:\n```python\nread_table()\n```",
        "def read_table(line): parser of the table",
        "for (;;) { parser(table); }",
        "parser " * 60,
        "",
    ],
)
def test_lines_about_anything_else_are_dropped(line: str) -> None:
    assert not believed(line)


def test_control_characters_are_made_harmless() -> None:
    (line,) = read_reply(reply(decisions=["the parser \x1b[2Jis streaming"]), TURNS, (0, 0)).decisions
    assert "\x1b" not in line


def test_rejected_lines_are_counted_and_lists_are_bounded() -> None:
    found = read_reply(
        reply(goal="Cheese from Holland", next=["tests of the parser", 3, None]), TURNS, (0, 0)
    )
    assert (found.goal, found.next, found.rejected) == ("", ("tests of the parser",), 3)
    many = [f"the parser streaming table {n}" for n in range(50)]
    assert len(read_reply(reply(next=many), TURNS, (0, 0)).next) == MOST_LINES


@pytest.mark.parametrize(
    "text",
    [
        "",
        "just words",
        "{",
        "[1]",
        "{'goal': 1}",
        '{"goal": 1}',
        '{"next": "x"}',
        "{" * 9_000 + "}",
        '{"a":"' + "x" * 50_000,
    ],
)
def test_a_reply_of_another_form_is_refused(text: str) -> None:
    with pytest.raises(ProposalError):
        read_reply(text, TURNS, (0, 0))


def test_a_fence_around_the_reply_is_ignored() -> None:
    for before, after in (("```json\n", "\n```"), ("Here it is: ", "."), ("", ""), ("}", " {")):
        found = read_reply(before + reply(next=["tests of the parser"]) + after, TURNS, (0, 0))
        assert found.next == ("tests of the parser",)


@given(
    st.recursive(
        st.none() | st.integers() | st.text(max_size=30),
        lambda each: (
            st.lists(each, max_size=4)
            | st.dictionaries(st.sampled_from(["goal", "constraints", "decisions", "next", "x"]), each)
        ),
    )
)
def test_any_json_is_read_or_refused(value: object) -> None:
    try:
        found = read_reply(json.dumps(value), TURNS, (0, 0))
    except ProposalError:
        return
    for line in (found.goal, *found.constraints, *found.decisions, *found.next):
        assert "\n" not in line


def test_the_models_account_stands_beside_the_users_own_words() -> None:
    proposed = read_reply(
        reply(goal="A streaming parser", constraints=["no dependency"], decisions=["streaming by line"]),
        TURNS[:2],
        (0, 0),
    )
    ledger = with_proposal(summarize(TURNS, whole_last=True), proposed, TURNS)
    titles = {section.title: [entry.text for entry in section.entries] for section in ledger.sections}
    assert ledger.by == "model" and [entry.text for entry in ledger.goal] == ["A streaming parser"]
    assert titles["Constraints, in the developer's words"] == ["Never add a dependency."]
    assert titles["Constraints (as you summed them up)"] == ["no dependency"]
    assert titles["Decisions (as you summed them up)"] == ["streaming by line"]
    assert "Decisions (as your answers put it; not checked)" not in titles, "the model has seen that turn"
    assert titles["Next (as your last answers put it; not checked)"] == ["Next: the tests of the parser."]
    assert titles["Done (from the record of edits)"] == ["src/colours.py: h1 landed"]


def test_a_compaction_says_who_wrote_its_ledger() -> None:
    turns = long_dialogue(40)
    proposed = LedgerProposed("t38", "Rename helpers", (), ("a table for each part",), (), 0, 1, 1)
    made = compact(past(turns, proposed=proposed), room_in(20_000, 1_000), count)
    assert made is not None and made.made is not None
    assert made.made.by == "model" and "a table for each part" in made.made.text


def test_the_model_is_shown_no_code_and_the_newest_turns_first() -> None:
    turns = long_dialogue(40)
    text = dialogue_for_model(turns, 3_000, count)
    assert count(text) <= 3_000 and "secret_code" not in text
    assert "## t40 (done)" in text and "## t1 (done)" not in text
