from __future__ import annotations

import pytest

from session.base.events import (
    CheckEnded,
    CommandEnded,
    Event,
    FileSaved,
    HunkDropped,
    HunkLanded,
    HunkRedone,
    HunkRefused,
    HunkUndone,
    Notice,
    PromptSubmitted,
    ReasoningDelta,
    TextDelta,
    ToolEnded,
    TurnEnded,
)
from session.turn.past_turns import PastTurn, PastTurnsFold


def fold(*events: Event) -> tuple[str, ...]:
    exchanges = PastTurnsFold()
    for event in events:
        exchanges.take(event)
    return tuple(turn.text() for turn in exchanges.past().turns)


def landed(hunk: str, turn: str = "t1", path: str = "a.py", status: str = "applied") -> HunkLanded:
    return HunkLanded(turn, hunk, path, status, 1, 1, 2)


def test_a_new_dialogue_is_empty() -> None:
    assert fold() == ()
    assert fold(Notice("info", "x"), FileSaved("a.py"), ReasoningDelta("t1", "hm")) == ()


def test_a_turn_holds_its_prompt_answer_and_edits() -> None:
    assert fold(
        PromptSubmitted("t1", "  fix it\n"),
        ReasoningDelta("t1", "hm"),
        TextDelta("t1", "I will "),
        landed("h1"),
        TextDelta("t1", "fix it.\n"),
        landed("h2", status="applied_fuzzy"),
        HunkRefused("t1", "h3", "b.py", "no_match", "long explanation"),
        HunkDropped("t1", "h4", "c.py"),
        TurnEnded("t1", "completed"),
    ) == (
        "The developer asked:\nfix it\n"
        "You answered:\nI will fix it.\n"
        "Your edits:\n"
        "- h1 applied a.py\n"
        "- h2 applied_fuzzy a.py\n"
        "- h3 rejected (no_match) b.py\n"
        "- h4 not_received c.py\n",
    )


def test_turns_come_in_order_and_late_events_go_to_their_own_turn() -> None:
    texts = fold(
        PromptSubmitted("t1", "one"),
        PromptSubmitted("t2", "two", kind="redirect"),
        TextDelta("t1", "late"),
        TurnEnded("t1", "interrupted"),
    )
    assert texts == (
        "The developer asked:\none\nYou answered:\nlate\nThis answer was interrupted.\n",
        "The developer asked:\ntwo\n",
    )


@pytest.mark.parametrize(("count", "first"), [(12, "- call 0"), (13, "- and 1 before\n- call 1")])
def test_of_many_calls_the_last_twelve_are_told(count: int, first: str) -> None:
    calls = tuple(f"call {number}" for number in range(count))
    told = PastTurn("t1", "go", "", (), "completed", calls).text()
    assert f"You called tools:\n{first}\n" in told and told.endswith(f"- call {count - 1}\n")


@pytest.mark.parametrize("status", ["interrupted", "failed"])
def test_an_answer_that_was_cut_short_is_marked(status: str) -> None:
    (text,) = fold(PromptSubmitted("t1", "x"), TurnEnded("t1", status))
    assert text.endswith(f"This answer was {status}.\n")


def test_an_undo_by_the_developer_is_part_of_the_last_turn() -> None:
    texts = fold(
        PromptSubmitted("t1", "one"),
        landed("h1"),
        PromptSubmitted("t2", "two"),
        HunkUndone("h1", "a.py", 1, 2),
        HunkRedone("h1", "a.py", 1, 2),
    )
    assert "undone" not in texts[0]
    assert "- h1 undone_by_user a.py\n- h1 landed again by the developer a.py\n" in texts[1]


def test_a_refused_undo_belongs_to_no_turn() -> None:
    texts = fold(PromptSubmitted("t1", "x"), HunkRefused("", "h9", "a.py", "conflict", "m"))
    assert texts == ("The developer asked:\nx\n",)


FAILS = CommandEnded("c1", "pytest", "failed", "exit 1", "1 failed", ("a.py:3: old_rate",))


@pytest.mark.parametrize(
    ("events", "failing"),
    [
        ([FAILS], "1 failed\na.py:3: old_rate"),
        ([FAILS, CommandEnded("c2", "ls", "done", "exit 0", "a.py")], "1 failed\na.py:3: old_rate"),
        ([FAILS, CommandEnded("c2", "pytest", "done", "exit 0", "1 passed")], ""),
        ([FAILS, CommandEnded("c2", "mypy", "failed", "exit 1", "b.py:1")], "b.py:1"),
        ([FAILS, CommandEnded("c2", "pytest", "failed", "exit 1", "x" * 9_000)], "x" * 8_000),
        ([CheckEnded("types", "red", 1.0, ("b.py:1: no",), excerpt="Found 1")], "Found 1\nb.py:1: no"),
        ([CheckEnded("types", "red", 1.0), CheckEnded("types", "green", 1.0)], ""),
        ([ToolEnded("t1", "k1", "run", "failed", "run make · exit 2", "b.c:4")], "run make · exit 2\nb.c:4"),
        ([ToolEnded("t1", "k1", "read", "failed", "read x")], ""),
    ],
)
def test_what_failed_last_is_kept_until_it_passes(events: list[Event], failing: str) -> None:
    past = PastTurnsFold()
    for event in events:
        past.take(event)
    assert past.past().failing == failing


def test_an_undo_before_any_prompt_is_not_lost() -> None:
    (text,) = fold(HunkUndone("h1", "a.py", 1, 2))
    assert "- h1 undone_by_user a.py" in text


def test_the_developers_own_word_on_a_hunk_is_part_of_the_turn() -> None:
    declined = "the developer declined it: not in this file"
    (text,) = fold(
        PromptSubmitted("t1", "go"),
        landed("h1"),
        HunkRefused("t1", "h2", "b.py", "locked", declined, "user", "not in this file"),
        HunkRefused("t1", "h3", "c.py", "locked", "the developer declined it (a lock)", "user"),
        TurnEnded("t1", "completed"),
        HunkUndone("h1", "a.py", 1, 2, why="use a\nset"),
    )
    assert "- h1 undone_by_user a.py: use a set\n" in text
    assert "- h2 rejected (locked) b.py: not in this file\n" in text
    assert "- h3 rejected (locked) c.py\n" in text
