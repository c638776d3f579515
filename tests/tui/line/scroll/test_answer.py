"""What line mode prints: whole words, hunks as diffs, the end in plain words."""

from __future__ import annotations

import pytest
from prompt_toolkit.utils import get_cwidth

from session.base.events import Event, HunkLanded, HunkOpened, HunkTyped, Notice, TextDelta, TurnEnded
from tui.line.answer import Answer, in_rows

TEXT = "The greeting is polite now, and so is the farewell."
NOTICE = Notice(level="info", text="somebody else saved")


def printed(events: list[Event], capsys: pytest.CaptureFixture[str]) -> str:
    answer = Answer()
    for event in events:
        answer.show(event)
    return capsys.readouterr().out


@pytest.mark.parametrize("cut", range(1, len(TEXT)))
def test_what_happens_in_between_breaks_no_word(cut: int, capsys: pytest.CaptureFixture[str]) -> None:
    out = printed(
        [
            TextDelta(turn="t1", text=TEXT[:cut]),
            NOTICE,
            TextDelta(turn="t1", text=TEXT[cut:]),
            TurnEnded(turn="t1", status="completed", message=None),
        ],
        capsys,
    )
    lines = [line for line in out.splitlines() if line not in ("spark: somebody else saved", "[completed]")]
    assert " ".join(" ".join(lines).split()) == TEXT
    assert "spark: somebody else saved" in out


def test_a_landed_hunk_is_shown_as_a_diff(capsys: pytest.CaptureFixture[str]) -> None:
    landed = HunkLanded(
        turn="t1", hunk="h1", path="a.py", status="applied", tier=1, action="update", start=1, end=2
    )
    events: list[Event] = [
        HunkTyped(turn="t1", hunk="h1", kind="-", text="old\n"),
        HunkTyped(turn="t1", hunk="h1", kind="+", text="ne"),
        HunkTyped(turn="t1", hunk="h1", kind="+", text="w\n"),
        landed,
        TurnEnded(turn="t1", status="interrupted", message=None),
    ]
    out = printed(events, capsys)
    assert out.splitlines()[:3] == ["h1 landed a.py:1", "  -old", "  +new"]
    assert "Stopped. 1 landed hunk stays." in out


def test_what_spark_says_breaks_no_word(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    said = "the text is not in the file, and what is there is much longer than one line of this terminal"
    out = printed([Notice(level="warning", text=said)], capsys)
    assert " ".join(out.split()) == f"spark: {said}"
    assert all(len(line) < 40 for line in out.splitlines()) and len(out.splitlines()) > 2


def test_the_lines_of_a_diff_are_broken_between_words_behind_their_sign(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "30")
    events: list[Event] = [
        HunkTyped(turn="t1", hunk="h1", kind="-", text="    old\n"),
        HunkTyped(turn="t1", hunk="h1", kind="+", text="    say('a greeting that is long')\n"),
        HunkTyped(turn="t1", hunk="h1", kind="+", text="    " + "x" * 40 + "\n"),
        HunkLanded(
            turn="t1", hunk="h1", path="a.py", status="applied", tier=1, action="update", start=1, end=3
        ),
    ]
    assert printed(events, capsys).splitlines() == [
        "h1 landed a.py:1-2",
        "  -    old",
        "  +    say('a greeting that",
        "  ↳     is long')",
        f"  +    {'x' * 40}",
    ]


@pytest.mark.parametrize("width", range(1, 30))
def test_rows_keep_every_word_whole(width: int) -> None:
    text = "plain words,  two blanks, 日本語の 言葉 and averyveryverylongone"
    rows = in_rows(text, width)
    assert " ".join(rows).split() == text.split()
    assert all(get_cwidth(row) <= width or " " not in row for row in rows)


def test_the_last_word_before_a_hunk_stands_before_it(capsys: pytest.CaptureFixture[str]) -> None:
    events: list[Event] = [
        TextDelta("t1", "I change the greeting."),
        HunkOpened("t1", "h1", "a.py"),
        HunkLanded("t1", "h1", "a.py", "applied", 1, 1, 2),
        TextDelta("t1", "That is it."),
        TurnEnded("t1", "completed"),
    ]
    lines = printed(events, capsys).splitlines()
    assert lines[0] == "I change the greeting." and "That is it." in lines
