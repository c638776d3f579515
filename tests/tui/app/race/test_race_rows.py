"""A race as rows: every event, every width."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from session.base.events import (
    AttemptAnswered,
    AttemptChecked,
    AttemptEnded,
    AttemptProgress,
    AttemptStarted,
    BaselineChecked,
    Event,
    Notice,
    RaceEnded,
    RaceStarted,
)
from tui.app.race.rows import MOST_LINES, RaceView, diff_rows
from tui.app.review.review_book import unified
from tui.front.words.check_lines import race_line
from tui.screen.drawing import plain
from tui.screen.drawing.plain import visible

STARTED = RaceStarted(
    turn="t1", attempts=3, checks=("ruff", "tests"), input_tokens=9, estimate="about 9 tokens"
)
NUMBERS, STATUS = st.integers(0, 5), st.sampled_from(["green", "red", "unclear"])
TEXT = st.text(max_size=30)
EVENTS = st.one_of(
    st.builds(AttemptStarted, turn=st.just("t1"), attempt=NUMBERS, model=TEXT, effort=TEXT),
    st.builds(
        AttemptProgress,
        turn=st.just("t1"),
        attempt=NUMBERS,
        tokens=st.integers(0, 10**7),
        rate=st.floats(0, 9_999),
        hunks=NUMBERS,
    ),
    st.builds(
        AttemptAnswered, turn=st.just("t1"), attempt=NUMBERS, hunks=NUMBERS, lines=NUMBERS, paths=st.just(())
    ),
    st.builds(
        AttemptChecked,
        turn=st.just("t1"),
        attempt=NUMBERS,
        check=st.sampled_from(["ruff", "tests", "other"]),
        status=STATUS,
        seconds=st.just(0.1),
        why=TEXT,
        as_before=st.booleans(),
    ),
    st.builds(
        BaselineChecked, turn=st.just("t1"), check=st.just("ruff"), status=STATUS, seconds=st.just(0.1)
    ),
    st.builds(
        AttemptEnded,
        turn=st.just("t1"),
        attempt=NUMBERS,
        status=st.sampled_from(["won", "green", "red", "cut", "failed"]),
        tokens=NUMBERS,
        why=TEXT,
    ),
    st.builds(
        RaceEnded,
        turn=st.just("t1"),
        winner=st.none() | st.integers(1, 3),
        best=st.none(),
        attempts=st.just(3),
        green=NUMBERS,
        tokens=NUMBERS,
        seconds=st.just(1.0),
        why=TEXT,
    ),
)


def view_of(*events: Event) -> RaceView:
    view = RaceView()
    for event in events:
        view.take(event)
    return view


# A busy machine makes the events slowly; nothing here is about time.
@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(EVENTS, max_size=10), st.integers(1, 200), st.integers(2, 6))
def test_rows_fit_whatever_happens(events: list[Event], width: int, most: int) -> None:
    view = view_of(STARTED, *events)
    rows = view.rows(width, most)
    assert len(rows) == min(4, most)
    assert all(cell_len(row.text) <= width for row in rows)
    assert all("\n" not in row.text and "\x1b" not in row.text for row in rows)


def test_a_race_is_told_from_its_start_to_its_end() -> None:
    checked = AttemptChecked(turn="t1", attempt=2, check="ruff", status="green", seconds=0.1)
    same = AttemptChecked(turn="t1", attempt=2, check="tests", status="red", seconds=1.0, as_before=True)
    answered = AttemptAnswered(turn="t1", attempt=2, hunks=1, lines=3, paths=("a.py",))
    before = BaselineChecked(turn="t1", check="tests", status="red", seconds=1.0)
    won = AttemptEnded(turn="t1", attempt=2, status="won", tokens=20_800)
    cut = AttemptEnded(turn="t1", attempt=1, status="cut", tokens=5, why="attempt 2 won")
    view = view_of(STARTED, AttemptStarted(turn="t1", attempt=2, model="m", effort="low"), answered, before)
    head, _, second, _ = (row.text for row in view.rows(120, 9))
    assert "race of 3" in head and "✗tests" in head and "judging" in second and "1 hunk 3 lines" in second
    for event in (checked, same, won, cut):
        view.take(event)
    _, first, second, _ = (row.text for row in view.rows(120, 9))
    assert "✓ won" in second and "✓ruff ≈tests" in second and "attempt 2 won" in first
    assert "20.8k" in second, "those that were sent count, as in the head"
    view.take(RaceEnded(turn="t1", winner=2, best=2, attempts=3, green=1, tokens=10, seconds=2.0))
    assert "attempt 2 of 3 won" in view.rows(120, 9)[0].text
    assert not view.take(Notice(level="info", text="x")) and race_line(Notice(level="info", text="x")) is None


def test_the_walls_of_a_race_are_said_where_they_are_not_the_usual_ones() -> None:
    fenced = ("landlock", " · behind Landlock", "here, behind Landlock:")
    for walls, said, panel in (fenced, ("namespaces", "", "here:")):
        before = BaselineChecked(turn="t1", check="tests", status="red", seconds=1.0, walls=walls)
        judged = AttemptChecked(turn="t1", attempt=2, check="tests", status="green", seconds=1.0, walls=walls)
        assert race_line(before) == f"before: tests is red · 1.0 s{said}"
        assert (race_line(judged) or "").endswith(f" · 1.0 s{said}")
        assert panel in view_of(STARTED, before).head(120).text


@pytest.mark.parametrize(
    ("width", "head"),
    [
        (99, " no attempt won: none of 3 attempts passed the checks · 2 answered again · 900 tokens · $0.02"),
        (90, " no attempt won: none of 3 attempts passed the checks · 2 answered again · 900 tokens"),
        (80, " no attempt won: none of 3 attempts passed the checks · 2 answered again"),
        (60, " no attempt won: none of 3 attempts passed the checks"),
    ],
)
def test_how_a_race_was_lost_is_said_in_whole_words(width: int, head: str) -> None:
    view = view_of(STARTED)
    why = "none of 3 attempts passed the checks"
    ended = RaceEnded(
        turn="t1",
        winner=None,
        best=1,
        attempts=3,
        green=0,
        tokens=900,
        seconds=34.0,
        cost=0.02,
        why=why,
        again=2,
    )
    view.take(ended)
    assert view.head(width).text.rstrip() == head


def test_where_room_is_short_live_attempts_are_shown_first() -> None:
    ended = AttemptEnded(turn="t1", attempt=1, status="red", tokens=5)
    view = view_of(
        STARTED, *(AttemptStarted(turn="t1", attempt=n, model="m", effort="") for n in (1, 2, 3)), ended
    )
    shown = [row.text.split()[0] for row in view.rows(80, 3)[1:]]
    assert shown == ["2", "3"]


def test_a_diff_keeps_its_lines() -> None:
    diff = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-old\n+new\n"
    rows = diff_rows(diff, 40)
    assert [row.text for row in rows] == diff.splitlines()
    assert [row.spans[0][1] for row in rows] == ["strong", "strong", "accent", "removed", "added"]


@pytest.mark.parametrize("character", ["x", "\t", "漢", "\x1b", "\u0301"])
def test_of_a_long_line_no_more_is_read_than_is_in_sight(
    character: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[int] = []

    def noted(text: str) -> str:
        read.append(len(text))
        return visible(text)

    monkeypatch.setattr(plain, "visible", noted)
    line = character * 900_000
    (row,) = diff_rows(f"+{line}", 80)
    (change,) = unified([("+", line)], 80)
    assert row.text.endswith("…") and cell_len(row.text) <= 80 and cell_len(change.text) <= 80
    assert "…" in change.text and max(read) < 5_000, "tabs become four blanks"


def test_of_a_diff_of_a_million_lines_the_first_are_drawn() -> None:
    rows = diff_rows("+x\n" * 1_000_000, 80)
    assert len(rows) == MOST_LINES + 1 and "998,000 lines more" in rows[-1].text
