"""From a prompt to the items of its request, and what the memory knows once they are sent."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from context.project.project import Project
from context.window.pieces import BudgetTooSmall
from edits.files.tree import Tree
from edits.hunk import Action, Landed, RefusalCode, Refused, Rung, Status
from session.turn.compaction.compact import room_in
from session.turn.past_turns import PastTurn, PastTurns
from session.turn.preparation import Preparation, read_or_none
from session.turn.prepared import PreparedRequest
from session.turn.turn_memory import TurnMemory
from session.wire.input_items import item_text
from session.wire.instructions import DATA_HEAD, REPORT_HEAD
from tests.session.turn.compaction.saying import counter

LANDED = Landed("h1", "a.py", Action.UPDATE, Status.APPLIED, Rung.EXACT, 1, 2)
REFUSED = Refused("h2", "b.py", RefusalCode.NO_MATCH, "not there")
PAST = PastTurns((PastTurn("t1", "An earlier question?", "An earlier answer.", (), "completed"),))
NOTHING = PastTurns()
IMAGE = "shot.png is named in the prompt and was not shown: it is an image, and spark sends text alone"
TAKEN_OUT = "a.py is named in the prompt and was not shown: it is taken out (/restore a.py)"
OTHER = "The window was about another subject: it was started afresh, with the conversation as history."
FULL = "The window was full: it was started afresh, with the conversation as history."


def prepared(folder: Path, **more: Any) -> Preparation:
    """A preparation for a project of three files."""
    root = folder / "project"
    if not root.exists():
        root.mkdir()
        for name in ("a.py", "b.py", "shot.png"):
            (root / name).write_bytes(b"\0\1" if name.endswith("png") else f"{name[0]} = 1\n".encode())
    pins: Any = SimpleNamespace(pinned=(), removed=())
    given: dict[str, Any] = {
        "project": Project(root),
        "counter": counter(),
        "known": asyncio.Event(),
        "instructions": "Help.\n",
        "tools": "read the files",
        "budget": 9_000,
        "root": root,
        "open_files": (),
        "pins": pins,
        **more,
    }
    given["project"].scan()
    return Preparation(**given)


def texts(request: PreparedRequest) -> list[str]:
    return [item_text(item) for item in request.items]


def sent(preparation: Preparation, memory: TurnMemory, prompt: str, past: PastTurns = NOTHING) -> list[str]:
    """Prepare a prompt and send it; its tokens are those of its texts."""
    request = preparation.prepare_now(prompt, memory, past)
    before = memory.conversation.tokens
    count = preparation.counter.count
    used = 0 if request.afresh or not before else count(preparation.instructions) + before
    assert request.window.tokens == used + sum(piece.tokens for piece in request.window.pieces)
    request.commit(memory)
    assert memory.conversation.tokens - (0 if request.afresh else before) == request.tokens
    assert request.tokens == sum(map(count, texts(request))), "the tokens are exact"
    return texts(request)


def test_the_first_request_has_the_project_and_the_words(tmp_path: Path) -> None:
    preparation, memory = prepared(tmp_path, open_files=("b.py",)), TurnMemory()
    data, words = sent(preparation, memory, "What is a?")
    assert data.startswith(DATA_HEAD) and "## File: b.py" in data, "what is open is shown"
    assert words == "## Request\n\nWhat is a?\n"
    assert sent(preparation, memory, "And b?") == ["## Request\n\nAnd b?\n"], "nothing is new"
    data, _ = sent(prepared(tmp_path), TurnMemory(), "Hello")
    assert "## File: b.py" not in data


def test_a_request_has_what_the_model_is_owed_once(tmp_path: Path) -> None:
    preparation, memory = prepared(tmp_path), TurnMemory()
    sent(preparation, memory, "One")
    memory.unreported += [LANDED, REFUSED]
    memory.cut_short = "Your last answer was cut off before its end."
    memory.line_news += ["Remember this.\n"]
    memory.unsent += ["Said before", "And this"]
    report, news, first, second, words = sent(preparation, memory, "Two")
    assert report.startswith(REPORT_HEAD) and "h1 applied a.py" in report and "h2 rejected" in report
    assert "cut off" in report and news == f"{REPORT_HEAD}Remember this.\n"
    assert (first, second, words) == ("Said before", "And this", "## Request\n\nTwo\n")
    assert (memory.unreported, memory.cut_short, memory.line_news, memory.unsent) == ([], "", [], [])
    assert sent(preparation, memory, "Three") == ["## Request\n\nThree\n"]


def a_large_project(folder: Path) -> Path:
    """A project in which each module is about one noun and takes half a window of 9,000 tokens."""
    root = folder / "project"
    root.mkdir()
    for noun in ("packet", "cursor", "widget"):
        steps = (
            "".join(f"    value = {noun}_{at}(value, {line})\n" for line in range(9)) for at in range(40)
        )
        text = "\n\n".join(f"def turn_{noun}_{at}(value):\n{body}" for at, body in enumerate(steps))
        (root / f"{noun}.py").write_text(text)
    return root


def test_a_prompt_about_another_subject_starts_the_window_afresh(tmp_path: Path) -> None:
    a_large_project(tmp_path)
    preparation, memory = prepared(tmp_path), TurnMemory()
    first = preparation.prepare_now("every packet", memory, NOTHING)
    assert "packet_9(value, 8)" in first.window.text and "= cursor_9(" not in first.window.text
    first.commit(memory)
    same = preparation.prepare_now("and every packet again", memory, PAST)
    assert not same.afresh and not same.notes
    other = preparation.prepare_now("why does each cursor turn twice?", memory, PAST)
    assert other.afresh and other.notes == (OTHER,)
    assert "An earlier question?" in other.window.text, "the conversation is its history"
    assert other.window.text.count("cursor_") > 300 and other.window.tokens <= 9_000
    other.commit(memory)
    assert not preparation.prepare_now("and the first cursor?", memory, PAST).afresh


@pytest.mark.parametrize("what", ["edits", "failure"])
def test_going_on_is_about_the_last_edits_and_what_failed_last(tmp_path: Path, what: str) -> None:
    a_large_project(tmp_path)
    preparation, memory = prepared(tmp_path), TurnMemory()
    failing = "NameError: cursor_3" if what == "failure" else ""
    if what == "edits":
        memory.edited_files.landed("gone.py", "cursor_3()\n", "")
    went_on = preparation.prepare_now("Go on.", memory, replace(PAST, failing=failing)).window.text
    assert "def turn_cursor_3(" in went_on and "= cursor_3(value, 2)" in went_on
    assert "= packet_3(" not in went_on and "= cursor_3(" not in "".join(
        sent(preparation, TurnMemory(), "Go on.", PAST)
    )


def test_what_comes_while_a_request_is_prepared_stays_owed(tmp_path: Path) -> None:
    preparation, memory = prepared(tmp_path), TurnMemory()
    memory.unreported.append(LANDED)
    memory.unsent.append("before")
    memory.line_news.append("Old.\n")
    request = preparation.prepare_now("One", memory, NOTHING)
    memory.unreported.append(REFUSED)
    memory.unsent.append("behind")
    memory.line_news.append("New.\n")
    request.commit(memory)
    assert (memory.unreported, memory.unsent, memory.line_news) == ([REFUSED], ["behind"], ["New.\n"])


def test_what_the_user_changed_in_the_models_files_is_told_once(tmp_path: Path) -> None:
    preparation, memory = prepared(tmp_path), TurnMemory()
    memory.edited_files.landed("a.py", "a = 0\n", "a = 2\n")
    memory.edited_files.landed("gone.py", None, "x\n")
    report = sent(preparation, memory, "One")[1]
    assert "-a = 2" in report and "+a = 1" in report and "--- gone.py\nThis file is gone." in report
    assert len(sent(preparation, memory, "Two")) == 1
    assert read_or_none(Tree(preparation.root), "a.py") == "a = 1\n"
    assert (
        read_or_none(Tree(preparation.root), "shot.png") is read_or_none(Tree(preparation.root), "c") is None
    )


@pytest.mark.parametrize(
    ("share", "tokens", "afresh", "notes"),
    [
        (1.0, 7_600, False, ()),
        (1.0, 7_700, True, (FULL,)),
        (0.5, 0, True, (FULL.replace("full", "too long for the server"),)),
    ],
)
def test_a_window_that_is_full_is_started_afresh_with_the_dialogue(
    tmp_path: Path, share: float, tokens: int, afresh: bool, notes: tuple[str, ...]
) -> None:
    """Of 9,000 tokens the dialogue may take 85 %, but for those of the instructions and tools."""
    preparation, memory = prepared(tmp_path), TurnMemory()
    sent(preparation, memory, "One")
    memory.conversation.extend([], tokens - memory.conversation.tokens)
    request = preparation.prepare_now("Two", memory, PAST, share)
    assert (request.afresh, request.notes) == (afresh, notes)
    assert any("An earlier answer." in text for text in texts(request)) == afresh
    request.commit(memory)
    assert memory.conversation.starts == afresh
    assert len(memory.conversation.items) == (len(request.items) if afresh else 2 + len(request.items))


def test_a_first_request_has_the_dialogue_before_it(tmp_path: Path) -> None:
    data = sent(prepared(tmp_path), TurnMemory(), "Two", PAST)[0]
    assert "An earlier question?" in data and "An earlier answer." in data


@pytest.mark.parametrize(
    ("prompt", "removed", "notes"),
    [
        ("@a.py", (), []),
        ("@a.py", ("a.py",), [TAKEN_OUT]),
        ("@shot.png", (), [IMAGE]),
        ("@no.py", (), ["@no.py names nothing that belongs to this project"]),
        (
            "@n1.py @n2.py @n3.py @n4.py",
            (),
            [f"@n{n}.py names nothing that belongs to this project" for n in range(1, 5)],
        ),
        (
            "@n1.py @n2.py @n3.py @n4.py @n5.py @n6.py",
            (),
            [
                *(f"@n{n}.py names nothing that belongs to this project" for n in range(1, 5)),
                "2 more that the prompt names were not shown (/context tells which)",
            ],
        ),
    ],
)
def test_what_is_named_and_not_shown_is_told(
    tmp_path: Path, prompt: str, removed: tuple[str, ...], notes: list[str]
) -> None:
    pins: Any = SimpleNamespace(pinned=(), removed=removed)
    request = prepared(tmp_path, pins=pins).prepare_now(prompt, TurnMemory(), NOTHING)
    assert list(request.notes) == notes


def test_hidden_characters_are_told_once_a_file(tmp_path: Path) -> None:
    preparation, memory = prepared(tmp_path), TurnMemory()
    (preparation.root / "a.py").write_text("a = 1  # \u202ehidden\n")
    preparation.project.update(["a.py"])
    for told in (1, 0):
        request = preparation.prepare_now("@a.py", memory, NOTHING)
        assert [note[:22] for note in request.notes] == ["a.py holds characters "] * told
        request.commit(memory)
        (preparation.root / "a.py").write_text("a = 2  # \u202ehidden\n")
        preparation.project.update(["a.py"])


def test_the_room_of_the_dialogue_is_what_the_standing_words_leave(tmp_path: Path) -> None:
    preparation = prepared(tmp_path)
    standing = preparation.count("Help.\n") + preparation.count("read the files")
    assert preparation.instruction_tokens == standing
    assert preparation.dialogue_room == room_in(9_000, standing + 32)


def test_words_that_fit_no_window_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BudgetTooSmall):
        replace(prepared(tmp_path), budget=60).prepare_now("word " * 60, TurnMemory(), NOTHING)
