"""A session as Markdown, as JSON, and searched."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from session.base.events import (
    Event,
    HunkLanded,
    HunkRefused,
    HunkUndone,
    PromptSubmitted,
    TextDelta,
    ToolEnded,
    TurnEnded,
    TurnStarted,
)
from session.record.archive import Found, markdown, read_turns, search_session
from session.record.journal.journals import Journal

NAME = "20260102-030405-abcd"
TOLD: list[Event] = [
    PromptSubmitted("t1", "fix\nthe Größe"),
    TurnStarted(NAME, "t1", "fast-model", "", 100),
    TextDelta("t1", "First the **store**.\n"),
    TextDelta("t1", "Then more.\n"),
    HunkLanded("t1", "h1", "a.py", "applied", 0, 10, 14),
    HunkRefused("t1", "h2", "b.py", "no_match", "the old text\nis not there"),
    TextDelta("t1", "Done.\n"),
    ToolEnded("t1", "c1", "read", "done", "read a.py"),
    TurnEnded("t1", "completed"),
    HunkUndone("h1", "a.py", 10, 14),
    HunkRefused("", "nosuch", "", "no_match", "this project has no hunk nosuch that landed"),
    PromptSubmitted("t2", "again"),
    TurnEnded("t2", "failed", "the server is away"),
    PromptSubmitted("t3", "once more"),
]
MARKDOWN = """# Session 20260102-030405-abcd

## t1 · WHEN · fast-model

> fix
> the Größe

First the **store**.
Then more.

- h1 landed a.py:10-13
- h2 refused b.py: the old text is not there

Done.

- read a.py
- h1 undone a.py
- nosuch refused: this project has no hunk nosuch that landed

## t2 · WHEN

> again

*This turn was failed: the server is away.*

## t3 · WHEN

> once more

*This turn did not end.*
"""


def written(folder: Path) -> Path:
    journal = Journal(folder, NAME)
    for event in TOLD:
        journal.write(event)
    journal.close()
    return journal.file


def test_a_session_as_markdown(tmp_path: Path) -> None:
    lines = "".join(markdown(written(tmp_path))).split("\n")
    when = re.compile(r"· 20[0-9-]+ [0-9:]+")
    assert "\n".join(when.sub("· WHEN", line) for line in lines) == MARKDOWN


def test_a_session_as_json_has_each_turn_whole(tmp_path: Path) -> None:
    first, second, third = (turn.as_json() for turn in read_turns(written(tmp_path)))
    assert first["prompt"] == "fix\nthe Größe"
    assert first["answer"] == "First the **store**.\nThen more.\nDone.\n"
    assert [(edit["hunk"], edit["status"]) for edit in first["edits"]] == [
        ("h1", "landed"),
        ("h2", "refused"),
        ("h1", "undone"),
        ("nosuch", "refused"),
    ]
    assert (second["status"], second["message"], third["status"]) == ("failed", "the server is away", "")
    json.dumps([first, second, third])


def test_text_is_found_in_prompts_and_answers_whatever_its_case(tmp_path: Path) -> None:
    file = written(tmp_path)
    assert list(search_session(file, "GRÖSSE")) == [Found(NAME, "t1", "you", "the Größe")]
    assert [found.who for found in search_session(file, "A.py")] == ["model"] * 3
    assert [found.turn for found in search_session(file, "more")] == ["t1", "t3"]
    assert list(search_session(file, "nowhere")) == []


def test_of_a_long_line_the_part_around_is_shown(tmp_path: Path) -> None:
    journal = Journal(tmp_path, NAME)
    journal.write(PromptSubmitted("t1", "x" * 5_000 + "needle" + "y" * 5_000))
    journal.close()
    (found,) = search_session(journal.file, "needle")
    assert found.line == "…" + "x" * 60 + "needle" + "y" * 60 + "…"


@pytest.mark.parametrize("lost", ["t1", "t2", "t3"])
def test_a_turn_without_the_record_of_its_prompt_is_told_all_the_same(tmp_path: Path, lost: str) -> None:
    events: list[Event] = []
    for turn in ("t1", "t2", "t3"):
        events += [] if turn == lost else [PromptSubmitted(turn, f"ask {turn}")]
        events += [TurnStarted(NAME, turn, "m", "", 1), TextDelta(turn, f"answer {turn}")]
        events += [
            HunkLanded(f"h{turn}", f"h{turn}", "a.py", "applied", 0, 1, 2),
            TurnEnded(turn, "completed"),
        ]
    journal = Journal(tmp_path, NAME)
    for event in events:
        journal.write(event)
    journal.close()
    told = [
        (turn.turn, turn.prompt, turn.as_json()["answer"], turn.status) for turn in read_turns(journal.file)
    ]
    assert told == [
        (turn, "" if turn == lost else f"ask {turn}", f"answer {turn}", "completed")
        for turn in ("t1", "t2", "t3")
    ]
