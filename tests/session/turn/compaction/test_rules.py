"""Summaries made from a dialogue by rules."""

from __future__ import annotations

from dataclasses import replace

import pytest

from session.base.events import PromptSubmitted, ToolEnded
from session.turn.compaction.summary import Summary
from session.turn.compaction.summary_by_rules import LAST_WORDS, code_blocks, summarize, without_code
from session.turn.past_turns import PastTurn, PastTurnsFold, RunFact
from tests.session.turn.compaction.saying import turn


def section(ledger: Summary, word: str) -> list[str]:
    return [entry.text for each in ledger.sections if each.title.startswith(word) for entry in each.entries]


def read(*turns: PastTurn) -> Summary:
    return summarize(turns, whole_last=True)


@pytest.mark.parametrize(
    "sentence",
    [
        "Don't touch the tests.",
        "You must keep the old signature.",
        "Never add a dependency.",
        "Always sort the imports.",
        "Use httpx, not requests.",
        "Please use a dict instead of a list.",
        "Keep it on one page.",
        "From now on answer in German.",
        "No new files please.",
    ],
)
def test_a_constraint_is_copied_word_for_word(sentence: str) -> None:
    ledger = read(turn(1, f"Rename the helper. {sentence} Thanks for that!"))
    assert section(ledger, "Constraints") == [sentence]


@pytest.mark.parametrize(
    "sentence",
    ["Why must it be sorted?", "Rename the helper.", "The musty cellar is noted.", "> never do it"],
)
def test_other_sentences_are_not_constraints(sentence: str) -> None:
    assert section(read(turn(1, sentence)), "Constraints") == []


def test_code_in_a_message_sets_no_constraint() -> None:
    prompt = "Fix this:\n```c\n/* never call twice */\nassert(must);\n```\n~~~\nalways\n"
    assert section(read(turn(1, prompt)), "Constraints") == []


def test_edits_are_listed_by_file_with_their_last_state() -> None:
    ledger = read(
        turn(
            1,
            "one",
            "Done!",
            ("h1", "applied", "a.py"),
            ("h2", "applied_fuzzy", "a.py"),
            ("h3", "applied", "b.py"),
        ),
        turn(2, "two", "", ("h2", "undone_by_user", "a.py"), ("h4", "rejected (no_match)", "b.py")),
    )
    assert section(ledger, "Done") == [
        "a.py: h1 landed; h2 undone_by_user",
        "b.py: h3 landed; h4 rejected (no_match)",
    ]


def test_next_steps_come_from_the_last_answers_alone() -> None:
    ledger = read(
        turn(1, "one", "Next: the old step."),
        turn(2, "two", "Nothing here."),
        turn(3, "three", "Done.\n\n**Next steps:**\n- rename the test\n- drop the shim\n\nThat is all."),
    )
    assert section(ledger, "Next") == ["rename the test", "drop the shim"]


def test_decisions_come_from_answers_without_their_code() -> None:
    said = "I'll use a set here. It is fast.\n```python\n# I'll use a list\n```\n"
    assert section(read(turn(1, "go", said)), "Decisions") == ["I'll use a set here."]


PYTEST = """It still breaks:
```
tests/test_app.py:12: in test_it
E   AssertionError: assert 1 == 2
FAILED tests/test_app.py::test_it - AssertionError: assert 1 == 2
=========== 1 failed, 3 passed in 0.1s ===========
```
"""


@pytest.mark.parametrize(
    ("line", "lines"),
    [
        ('Traceback (most recent call last):\n  File "a.py", line 1\nValueError: no', ["ValueError: no"]),
        ("error[E0308]: mismatched types", ["error[E0308]: mismatched types"]),
        ("main.c:3:5: error: no such thing", ["main.c:3:5: error: no such thing"]),
        ("--- FAIL: TestIt (0.00s)", ["--- FAIL: TestIt (0.00s)"]),
        ("thread 'main' panicked at src/main.rs:2:5:", ["thread 'main' panicked at src/main.rs:2:5:"]),
        ("src/a.ts(3,4): error TS2322: wrong", ["src/a.ts(3,4): error TS2322: wrong"]),
        ("the error is somewhere in main.c", []),
    ],
)
def test_failing_checks_are_what_the_user_quoted(line: str, lines: list[str]) -> None:
    assert section(read(turn(1, f"look:\n{line}\nplease")), "Failing") == lines


def test_failing_checks_say_whether_edits_have_landed_since() -> None:
    still = read(turn(1, PYTEST))
    assert "still open" in next(s.title for s in still.sections)
    landed = read(turn(1, PYTEST, "ok", ("h1", "applied", "app.py")), turn(2, "go on"))
    assert "edits have landed since" in next(s.title for s in landed.sections)
    assert len(section(landed, "Failing")) == 3


def test_failing_checks_are_over_when_the_user_says_that_they_pass() -> None:
    assert section(read(turn(1, PYTEST), turn(2, "All tests pass now. Next, the docs")), "Failing") == []


@pytest.mark.parametrize(
    "words", ["Make sure that all tests pass", "The tests still don't pass", "Why does it work?"]
)
def test_a_request_for_green_tests_does_not_say_that_they_are_green(words: str) -> None:
    assert len(section(read(turn(1, PYTEST), turn(2, words)), "Failing")) == 3


def test_newer_failing_checks_replace_older_ones() -> None:
    ledger = read(turn(1, PYTEST), turn(2, "now this:\nTypeError: nope"))
    assert section(ledger, "Failing") == ["TypeError: nope"]


@pytest.mark.parametrize(
    ("last", "state"),
    [
        (turn(2, "x"), "done"),
        (turn(2, "x", status="interrupted"), "pending: the developer stopped the answer"),
        (turn(2, "x", status="failed"), "pending: the answer failed"),
        (turn(2, "x", status=""), "pending: not ended"),
        (turn(2, "x", "", ("h1", "rejected (no_match)", "a.py")), "answered; not landed: h1"),
        (turn(2, "x", "", ("h1", "rejected (no_match)", "a.py"), ("h1", "applied", "a.py")), "done"),
    ],
)
def test_the_last_instruction_is_marked_done_or_pending(last: PastTurn, state: str) -> None:
    ledger = read(turn(1, "first"), last)
    assert ledger.last == f"t2, {state}"
    assert ledger.messages[-1].state == state


def test_messages_are_word_for_word_whatever_they_hold() -> None:
    prompt = "Look:\n````\n```\nnested\n```\n````\n### Next\n- not a heading of ours\n"
    (message,) = read(turn(1, prompt)).messages
    block = message.block()
    assert prompt.strip("\n") in block
    fence = block.split("\n", 2)[1]
    assert fence.startswith("`````") and block.count(fence) == 2, "nothing in it closes its fence"


def test_the_last_answers_end_is_kept_without_its_code() -> None:
    said = "Beginning. " + "word " * 200 + "\n```\ncode\n```\nShall I go on with b.py?\n"
    words = summarize([turn(1, "go", said)], whole_last=False).last_words
    assert "Shall I go on with b.py?" in words and "code" not in words and "left out" in words
    assert len(words) < LAST_WORDS + 100


def test_code_is_found_by_its_fences() -> None:
    text = "a\n```py\nb\n``\n```\nc\n~~~~\nd\n~~~\n~~~~~\ne\n```\nnever closed"
    assert without_code(text) == "a\nc\ne"
    assert code_blocks(text) == 3


def test_commands_whose_last_run_failed_are_listed() -> None:
    def ran(number: int, *lines: tuple[str, bool]) -> PastTurn:
        return replace(turn(number, "go"), runs=tuple(RunFact(*line) for line in lines))

    ledger = read(
        ran(1, ("run make test · exit 1 · 0.2 s", True), ("run make lint · exit 1 · 0.1 s", True)),
        ran(2, ("run make lint · exit 0 · 0.1 s", False), ("run make docs · exit 0 · 0.1 s", False)),
    )
    assert section(ledger, "Commands that failed") == ["run make test · exit 1 · 0.2 s"]


def test_commands_are_read_from_the_events_of_their_ends() -> None:
    exchanges = PastTurnsFold()
    exchanges.take(PromptSubmitted("t1", "check it"))
    for event in (
        ToolEnded("t1", "c1", "read", "failed", "read a.py · there is no such file"),
        ToolEnded("t1", "c2", "run", "failed", "run make test · exit 2 · 0.2 s"),
        ToolEnded("t1", "c3", "run", "declined", "run rm -r build"),
    ):
        exchanges.take(event)
    assert section(read(*exchanges.past().turns), "Commands that failed") == [
        "run make test · exit 2 · 0.2 s"
    ]
