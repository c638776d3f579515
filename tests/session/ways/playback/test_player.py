"""The player: a state machine without a clock, and recordings whose times are anything."""

from __future__ import annotations

import json
import math
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from edits.checked_lines import to_line
from session.base.events import (
    Event,
    HunkLanded,
    HunkOpened,
    HunkTyped,
    Notice,
    PromptSubmitted,
    TextDelta,
    TurnEnded,
    to_dict,
)
from session.base.storage.private_files import StoreError
from session.record.archive import markdown
from session.record.journal.session_list import list_sessions
from session.ways.player import NEXT, SPEEDS, Player, Signal, State
from session.ways.recording import LONGEST_PIECE, LONGEST_WAIT, MOST_FIELD, Moment, read_recording


def landed(hunk: str) -> HunkLanded:
    return HunkLanded(turn="t1", hunk=hunk, path="a.py", status="applied", tier=1, start=1, end=2)


EVENTS: tuple[Event, ...] = (
    PromptSubmitted(turn="t1", text="do it", kind="prompt"),
    TextDelta(turn="t1", text="Now."),
    landed("h1"),
    landed("h2"),
    TurnEnded(turn="t1", status="completed"),
    PromptSubmitted(turn="t2", text="more", kind="prompt"),
    landed("h3"),
    TurnEnded(turn="t2", status="completed"),
)
MOMENTS = tuple(Moment(float(at), event) for at, event in enumerate(EVENTS))


class Playing(RuleBasedStateMachine):
    """Whatever is pressed, the events that were shown are those before the position, once and in order."""

    def __init__(self) -> None:
        super().__init__()
        self.player = Player(MOMENTS)
        self.shown: list[Event] = []

    @rule(seconds=st.floats(0, 20))
    def time_passes(self, seconds: float) -> None:
        self.shown += self.player.advance(seconds)

    @rule()
    def toggles(self) -> None:
        if self.player.state is State.ENDED:
            self.shown = []  # as the screen does
        self.player.toggle()

    @rule(by=st.sampled_from([1, -1]))
    def changes_the_speed(self, by: int) -> None:
        self.player.faster(by)

    @rule(unit=st.sampled_from(["event", "hunk", "turn"]), by=st.sampled_from([1, -1]))
    def steps(self, unit: str, by: int) -> None:
        before = self.player.position
        target = self.player.target(unit, by)  # type: ignore[arg-type]
        assert (target - before) * by > 0 or target in (0, len(MOMENTS))
        self.goes(target)

    @rule(tenths=st.integers(0, 9))
    def jumps(self, tenths: int) -> None:
        self.goes(self.player.share(tenths))

    def goes(self, target: int) -> None:
        passed = self.player.seek(target)
        self.shown = [*EVENTS[:target]] if not passed else self.shown + passed
        assert self.player.state in (State.PAUSED, State.ENDED)

    @invariant()
    def all_before_the_position_was_shown(self) -> None:
        assert self.shown == [*EVENTS[: self.player.position]]
        assert (self.player.state is State.ENDED) == (self.player.position == len(EVENTS))
        assert self.player.speed in SPEEDS
        wait = self.player.wait
        assert (wait is not None) == (self.player.state is State.PLAYING)


TestPlaying = Playing.TestCase


def test_every_signal_has_a_next_state() -> None:
    assert set(NEXT) == {(state, signal) for state in State for signal in Signal}


def test_steps_go_from_hunk_to_hunk_and_turn_to_turn() -> None:
    player = Player(MOMENTS)
    places = []
    for unit, by in (("hunk", 1), ("hunk", 1), ("turn", 1), ("hunk", 1), ("hunk", -1), ("turn", -1)):
        player.seek(player.target(unit, by))  # type: ignore[arg-type]
        places.append((player.turn, player.hunk))
    assert places == [(1, "h1"), (1, "h2"), (2, "h2"), (2, "h3"), (1, "h2"), (1, None)]


def write(file: Path, *records: object) -> Path:
    file.write_bytes(b"".join(to_line(each) for each in records))  # type: ignore[arg-type]
    return file


@given(st.lists(st.one_of(st.floats(allow_nan=True), st.integers(-(10**12), 10**12), st.text(max_size=3))))
def test_clocks_that_jump_neither_reorder_nor_stop_a_recording(times: list[object]) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as name:
        records = [{**to_dict(Notice("info", str(at))), "at": each} for at, each in enumerate(times)]
        lines = [json.dumps(each) + "\n" for each in [{**to_dict(Notice("info", "begin"))}, *records]]
        file = Path(name) / "20260101-000000-abcd.jsonl"
        file.write_text("".join(lines))
        moments = read_recording(file)
    told = [each.event.text for each in moments if isinstance(each.event, Notice)]
    assert told == ["begin", *(str(at) for at in range(len(times)))]
    played = [each.time for each in moments]
    assert all(math.isfinite(each) for each in played)
    assert all(0 <= after - before <= LONGEST_WAIT for before, after in pairwise(played))


def test_what_the_journal_has_as_one_piece_is_spread_over_its_time(tmp_path: Path) -> None:
    opened = HunkOpened(turn="t1", hunk="h1", path="a.py")
    file = write(
        tmp_path / "s.jsonl",
        {**to_dict(EVENTS[0]), "at": 100.0},
        {**to_dict(TextDelta(turn="t1", text="word " * 20)), "at": 100.25},
        {**to_dict(opened), "at": 100.5},
        {**to_dict(landed("h1")), "at": 101.5},
    )
    moments = read_recording(file, lambda hunk: [("-", "old"), ("+", "new")])
    pieces = [each for each in moments if isinstance(each.event, TextDelta)]
    assert len(pieces) > 3
    assert "".join(each.event.text for each in pieces if isinstance(each.event, TextDelta)) == "word " * 20
    typed = [each for each in moments if isinstance(each.event, HunkTyped)]
    assert [(each.event.kind, each.event.text) for each in typed if isinstance(each.event, HunkTyped)] == [
        ("-", "old\n"),
        ("+", "new\n"),
    ]
    assert [each.time for each in moments] == sorted(each.time for each in moments)
    assert isinstance(moments[-1].event, HunkLanded)


def test_a_recording_from_a_stranger_is_shown_without_control_sequences(tmp_path: Path) -> None:
    file = write(tmp_path / "s.jsonl", to_dict(Notice("info", "\x1b]52;c;aGk=\x07red \u202e\x9b31m")))
    (moment,) = read_recording(file)
    assert isinstance(moment.event, Notice)
    assert not set("\x1b\x07\u202e\x9b") & set(moment.event.text)


def test_giant_records_come_in_pieces_or_are_left_out_and_told(tmp_path: Path) -> None:
    text = TextDelta(turn="t1", text="x" * 300_000)
    giant = PromptSubmitted(turn="t2", text="y" * (MOST_FIELD + 1), kind="prompt")
    records = [{**to_dict(event), "at": 1.0} for event in (text, giant, EVENTS[0])]
    shown = [moment.event for moment in read_recording(write(tmp_path / "s.jsonl", *records))]
    pieces = [event.text for event in shown if isinstance(event, TextDelta)]
    assert "".join(pieces) == text.text and max(map(len, pieces)) <= LONGEST_PIECE
    assert shown[len(pieces) :] == [
        Notice("warning", "an event was left out: it is too long to replay"),
        EVENTS[0],
    ]


@pytest.mark.parametrize("content", [b"", b"not json\n", b"\x00" * 100, b'{"type": "nonsense"}\n'])
def test_a_file_without_events_is_named(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "s.jsonl"
    file.write_bytes(content)
    with pytest.raises(StoreError, match=r"s\.jsonl"):
        read_recording(file)


@pytest.mark.parametrize("version", ["2", None, [], {}, -1, 1.5, True])
def test_a_header_that_makes_no_sense_is_passed_over(tmp_path: Path, version: object) -> None:
    header = {"type": "journal", "version": version, "part": "one"}
    file = write(tmp_path / "s.jsonl", header, to_dict(Notice("info", "said")))
    assert [each.event for each in read_recording(file)] == [Notice("info", "said")]


@pytest.mark.parametrize("at", [10**400, 1e300, -(10**400), "1", [1], None], ids=lambda at: str(at)[:9])
def test_a_time_that_no_calendar_has_is_passed_over(tmp_path: Path, at: object) -> None:
    said = to_dict(PromptSubmitted(turn="t1", text="said", kind="prompt"))
    (tmp_path / "sessions").mkdir()
    file = write(tmp_path / "sessions" / "20260101-000000-abcd.jsonl", {**said, "at": at}, {**said, "at": 5})
    assert [each.time for each in read_recording(file)] == [0.0, 0.0]
    assert "said" in "".join(markdown(file))
    (row,) = list_sessions(file.parent).rows
    assert row.started == 5.0


def test_a_hunk_that_is_said_to_begin_a_thousand_times_is_typed_once(tmp_path: Path) -> None:
    opened = to_dict(HunkOpened(turn="t1", hunk="h1", path="a.py"))
    file = write(tmp_path / "s.jsonl", *[opened] * 1_000, *[to_dict(landed("h1"))] * 1_000)
    moments = read_recording(file, lambda hunk: [("+", "new")] * 300)
    assert len([each for each in moments if isinstance(each.event, HunkTyped)]) == 300


def test_very_many_events_of_one_moment_leave_room_for_keys() -> None:
    player = Player([Moment(0.0, EVENTS[1])] * 100_000)
    played, rounds = 0, 0
    while player.state is State.PLAYING:
        assert player.wait == 0.0
        played, rounds = played + len(player.advance(0.01)), rounds + 1
        assert played == player.position
    assert played == 100_000 and rounds >= 200


def test_a_pipe_or_a_folder_is_not_read(tmp_path: Path) -> None:
    import os

    os.mkfifo(tmp_path / "pipe.jsonl")
    for file in (tmp_path / "pipe.jsonl", tmp_path, tmp_path / "none.jsonl"):
        with pytest.raises(StoreError):
            read_recording(file)
