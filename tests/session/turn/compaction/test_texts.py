"""The ledger as text, for the user and for the model: what is known of a dialogue, and every line of it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from session.base.events import DialogueCompacted, LedgerProposed
from session.commands.compaction_commands import show_summary
from session.turn.compaction.proposal import dialogue_for_model, with_proposal
from session.turn.compaction.summary import (
    Entry,
    Kind,
    Message,
    Section,
    Summary,
    last_words_block,
    remembered_block,
)
from session.turn.compaction.summary_by_rules import (
    sentences,
    summarize,
    without_code,
)
from session.turn.past_turns import PastTurn, PastTurns, RunFact
from tests.session.turn.compaction.saying import count, past, turn

TURNS = [
    turn(1, "Write a parser. Never add a dependency.", "I'll use a table.", ("h1", "applied", "a.py")),
    turn(2, "  Go on\nwith the tests  ", "Next: the docs of it.", status="failed"),
]
COMPACTED = DialogueCompacted("t2", 2, 12_000, 3_400, "rules", (), (), "the text")
LONGEST, MOST, MOST_FAILING, LAST_WORDS = 300, 40, 12, 600
LEFT_OUT = "… (its beginning is left out)\n"
NONE_IN_FORCE = "No compaction is in force: the model has the dialogue in its own words."


@pytest.mark.parametrize(
    ("given", "lines"),
    [
        (past([]), ["Nothing was asked yet.", NONE_IN_FORCE]),
        (
            past([], ["be brief", "in German"]),
            ["Nothing was asked yet.", "Remembered", "  1: be brief", "  2: in German", NONE_IN_FORCE],
        ),
        (
            past([turn(1, "x" * 72)], compacted=COMPACTED),
            [
                "Ledger of t1 to t1 (by rules)",
                "Last instruction: t1, done",
                f"Goal: {'x' * 72}",
                "Your messages (kept word for word as long as they fit)",
                f"  - t1 (done): {'x' * 72}",
                "In force: the compaction up to t2, 12,000 to 3,400 tokens, by rules",
            ],
        ),
        (
            past([turn(1, "x" * 73)]),
            [
                "Ledger of t1 to t1 (by rules)",
                "Last instruction: t1, done",
                f"Goal: {'x' * 73}",
                "Your messages (kept word for word as long as they fit)",
                f"  - t1 (done): {'x' * 72} …",
                NONE_IN_FORCE,
            ],
        ),
        (
            past(TURNS, proposed=LedgerProposed("t2", "A parser", (), (), ("the docs",), 0, 1, 1)),
            [
                "Ledger of t1 to t2 (by rules, and a model's account)",
                "Last instruction: t2, pending: the answer failed",
                "Goal: A parser",
                "Constraints, in the developer's words",
                "  - t1: Never add a dependency.",
                "Done (from the record of edits)",
                "  - a.py: h1 landed",
                "Next (as you summed it up)",
                "  - the docs",
                "Decisions (as your answers put it; not checked)",
                "  - t1: I'll use a table.",
                "Your messages (kept word for word as long as they fit)",
                "  - t1 (done): Write a parser. Never add a dependency.",
                "  - t2 (pending: the answer failed): Go on …",
                NONE_IN_FORCE,
            ],
        ),
    ],
)
def test_what_the_user_is_shown(given: PastTurns, lines: list[str]) -> None:
    assert show_summary(given).split("\n") == lines


def test_blocks_of_the_summary() -> None:
    assert Entry("one", "t1").block() == "- t1: one\n" and Entry("one").block() == "- one\n"
    assert Message("t1", "\n a\n\n", "done").block() == "#### t1 (done)\n```\n a\n```\n"
    assert Section(Kind.NEXT, "Next", ()).heading() == "### Next\n"
    assert last_words_block("so") == "### How your last answer ended (code left out)\n```\nso\n```\n"
    one = Summary("t1", "t1", 1, "t1, done")
    assert one.head().startswith("## The conversation so far, compacted (t1)\n")
    assert replace(one, through="t3").head().startswith("## The conversation so far, compacted (t1 to t3)\n")
    assert one.head().endswith("Last instruction of these turns: t1, done\n")


def test_what_is_remembered_as_text() -> None:
    assert remembered_block(()) == ""
    assert remembered_block(((1, "brief"), (4, "two\nlines"))) == (
        "## What the developer wants you to keep in mind, always\n- 1: brief\n- 4:\n```\ntwo\nlines\n```\n"
    )


def section(turns: list[PastTurn], word: str) -> list[str]:
    ledger = summarize(turns, whole_last=True)
    return [entry.text for each in ledger.sections if each.title.startswith(word) for entry in each.entries]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Seven c", []),
        ("Eight ch", ["Eight ch"]),
        ("x" * LONGEST, ["x" * LONGEST]),
        ("x" * (LONGEST + 1), []),
        (
            "- A list item.\n1) Another item.\n## A heading here",
            ["A list item.", "Another item.", "A heading here"],
        ),
        (
            "One is here. Two is there! three is not apart",
            ["One is here.", "Two is there! three is not apart"],
        ),
        ("> quoted by the user\nnot quoted at all", ["not quoted at all"]),
        ("Before it.\n```\ncode in it\n```\nBehind it.", ["Before it.", "Behind it."]),
    ],
)
def test_sentences(text: str, found: list[str]) -> None:
    assert list(sentences(text)) == found


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("a\n   ```\nb\n   ```\nc", "a\nc"),
        ("a\n    ```\nb", "a\n    ```\nb"),
        ("a\n````\nb\n```\nc\n````\nd", "a\nd"),
        ("a\n```\nb\n``` py\nc\n`````  \nd", "a\nd"),
        ("a\n```\nb\n~~~\nc\n```\nd", "a\nd"),
        ("a\n```\nnever closed", "a"),
    ],
)
def test_text_without_code(text: str, plain: str) -> None:
    assert without_code(text) == plain


@pytest.mark.parametrize(("count_of", "first"), [(MOST, 1), (MOST + 1, 2)])
def test_of_many_lines_of_one_kind_the_newest_are_kept(count_of: int, first: int) -> None:
    numbers = range(1, count_of + 1)
    wants = [
        turn(n, f"Never touch file {n}.", f"I'll use table {n}.", (f"h{n}", "applied", f"f{n}.py"))
        for n in numbers
    ]
    assert section(wants, "Constraints")[0] == f"Never touch file {first}."
    assert section(wants, "Decisions")[0] == f"I'll use table {first}."
    assert section(wants, "Done")[0] == f"f{first}.py: h{first} landed"
    steps = "\n".join(f"- step {n}" for n in numbers)
    assert section([turn(1, "go", f"Next steps:\n{steps}")], "Next")[0] == f"step {first}"
    for kind in ("Constraints", "Decisions", "Done"):
        assert len(section(wants, kind)) == MOST


@pytest.mark.parametrize(("count_of", "first"), [(MOST_FAILING, 1), (MOST_FAILING + 1, 2)])
def test_of_many_failures_the_last_are_kept(count_of: int, first: int) -> None:
    numbers = range(1, count_of + 1)
    quoted = "\n".join(f"ValueError: number {n} {'x' * LONGEST}" for n in numbers)
    lines = section([turn(1, quoted)], "Failing")
    assert len(lines) == MOST_FAILING and lines[0].startswith(f"ValueError: number {first} ")
    assert all(len(line) == LONGEST for line in lines)
    runs = tuple(RunFact(f"run check {n} · exit 1 · 0.1 s", True) for n in numbers)
    failed = section([replace(turn(1, "go"), runs=runs)], "Commands")
    assert len(failed) == MOST_FAILING and failed[0] == f"run check {first} · exit 1 · 0.1 s"


def test_a_command_that_failed_again_is_listed_where_it_ran_last() -> None:
    runs = tuple(RunFact(f"run {name} · exit 1 · {n} s", True) for n, name in enumerate("aba"))
    assert section([replace(turn(1, "go"), runs=runs)], "Commands") == [
        "run b · exit 1 · 1 s",
        "run a · exit 1 · 2 s",
    ]


@pytest.mark.parametrize(
    ("hunks", "told"),
    [(6, "h1, h2, h3, h4, h5, h6"), (7, "h1, h2, h3, h4, h5 and 2 more")],
)
def test_many_hunks_of_a_file_are_counted(hunks: int, told: str) -> None:
    edits = [(f"h{n}", "applied", "a.py") for n in range(1, hunks + 1)]
    assert section([turn(1, "go", "", *edits)], "Done") == [f"a.py: {told} landed"]


def test_of_hunks_that_did_not_land_the_first_eight_are_named() -> None:
    edits = [(f"h{n}", "rejected (no_match)", "a.py") for n in range(1, 10)]
    assert summarize([turn(1, "go", "", *edits)], whole_last=True).last == (
        "t1, answered; not landed: h1, h2, h3, h4, h5, h6, h7, h8"
    )


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("", ""),
        ("x" * LAST_WORDS, "x" * LAST_WORDS),
        ("x" * (LAST_WORDS + 1), ""),
        ("First. " + "X" * LAST_WORDS, f"{LEFT_OUT}{'X' * LAST_WORDS}"),
        (
            "First.\nSecond. " + "X" * (LAST_WORDS - 8),
            f"… (its beginning is left out)\nSecond. {'X' * (LAST_WORDS - 8)}",
        ),
    ],
)
def test_how_the_last_answer_ended(said: str, words: str) -> None:
    assert summarize([turn(1, "go", said)], whole_last=False).last_words == words
    assert summarize([turn(1, "go", said)], whole_last=True).last_words == ""


@pytest.mark.parametrize(
    ("said", "steps"),
    [
        ("Next steps:\n- one\n\n- two\nThe end of it.\n- three", ["one", "two"]),
        (f"Next steps:\n- {'x' * LONGEST}\n- {'y' * (LONGEST + 1)}", ["x" * LONGEST]),
        ("**Next steps**\n1. one\n1. one", ["one"]),
        ("Nothing.\n- one", []),
    ],
)
def test_next_steps_are_the_list_below_their_heading(said: str, steps: list[str]) -> None:
    assert section([turn(1, "go", said)], "Next") == steps


def test_the_goal_is_the_first_sentence_of_the_first_request_with_any() -> None:
    turns = [turn(1, "```\ncode\n```"), turn(2, "Write it. And more of it."), turn(3, "Another subject.")]
    ledger = summarize(turns, whole_last=True)
    assert ledger.goal == (Entry("Write it.", "t2"),) and summarize(turns[:1], whole_last=True).goal == ()
    assert (ledger.first, ledger.through, ledger.turns, ledger.by) == ("t1", "t3", 3, "rules")
    blank = summarize([turn(1, " \n")], whole_last=True)
    assert blank.messages == () and [each.turn for each in ledger.messages] == ["t1", "t2", "t3"]


@pytest.mark.parametrize(("through", "steps"), [("t1", False), ("t2", True), ("t3", True), ("t9", True)])
def test_next_steps_of_the_model_stand_for_one_more_turn(through: str, steps: bool) -> None:
    turns = [turn(n, f"Request number {n}.", f"I'll use table {n}.") for n in (1, 2, 3)]
    proposed = LedgerProposed(through, "", (), ("a table for all",), ("the docs",), 0, 1, 1)
    ledger = with_proposal(summarize(turns, whole_last=True), proposed, turns)
    entries = {each.title: [(entry.turn, entry.text) for entry in each.entries] for each in ledger.sections}
    assert ("Next (as you summed it up)" in entries) == steps
    own = entries.get("Decisions (as your answers put it; not checked)", [])
    seen = {"t1": 1, "t2": 2, "t3": 3, "t9": 3}[through]
    assert own == [(f"t{n}", f"I'll use table {n}.") for n in range(seen + 1, 4)]
    assert entries["Decisions (as you summed them up)"] == [("", "a table for all")]


def test_an_account_without_lines_changes_nothing() -> None:
    turns = [turn(1, "Request one.", "I'll use a table.")]
    ledger = summarize(turns, whole_last=True)
    for proposed in (None, LedgerProposed("t1", "", (), (), (), 3, 1, 1)):
        assert with_proposal(ledger, proposed, turns) is ledger
    same = LedgerProposed("t0", "", (), ("I'll use a table.",), (), 0, 1, 1)
    titles = [each.title for each in with_proposal(ledger, same, turns).sections]
    assert titles == ["Decisions (as you summed them up)"]


def test_the_dialogue_for_the_model_is_of_the_newest_turns_that_fit() -> None:
    turns = [
        turn(1, "One\n```\nfence\n```", "Said.\n```\ncode\n```", ("h1", "applied", "a.py")),
        turn(2, "Two", "```\nonly code\n```", status="interrupted"),
    ]
    second = "## t2 (pending: the developer stopped the answer)\nThe developer asked:\n```\nTwo\n```\n"
    whole = (
        "## t1 (done)\nThe developer asked:\n````\nOne\n```\nfence\n```\n````\n"
        "The answer, without code:\n```\nSaid.\n```\n- a.py: h1 landed\n" + second
    )
    assert dialogue_for_model(turns, 1_000, len) == whole
    assert dialogue_for_model(turns, len(whole), len) == whole
    assert dialogue_for_model(turns, len(whole) - 1, len) == second
    assert dialogue_for_model(turns, len(second) - 1, len) == ""
    long, short = turn(1, "x" * 500), turn(0, "y")
    assert dialogue_for_model([short, long, turns[1]], len(second) + 200, len) == second, "no turn is skipped"
    assert count(whole) > 0
