"""What line mode prints: whole words, hunks as diffs, the end in plain words."""

from __future__ import annotations

import pytest

from session.events import Event, HunkLanded, HunkTyped, Notice, TextDelta, TurnEnded
from tui.scroll.answer import Answer

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
    assert out.splitlines()[:3] == ["h1 landed a.py:1-1", "  -old", "  +new"]
    assert "Stopped. 1 landed hunk stays." in out


def test_what_spark_says_breaks_no_word(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    said = "the text is not in the file, and what is there is much longer than one line of this terminal"
    out = printed([Notice(level="warning", text=said)], capsys)
    assert " ".join(out.split()) == f"spark: {said}"
    assert all(len(line) < 40 for line in out.splitlines()) and len(out.splitlines()) > 2
