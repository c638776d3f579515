"""Reading a journal's past: what is kept of a short session, and what of a long one."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from session.base.events import (
    Event,
    HunkAimed,
    HunkLanded,
    Notice,
    PhaseChanged,
    PromptSubmitted,
    ReasoningDelta,
    TextDelta,
    TurnEnded,
    to_dict,
)
from session.record.journal import parts, reading
from session.record.journal.journals import Journal
from session.record.journal.reading import read_event, read_past, read_records
from tests.thorough import share

NAME = "20260102-030405-abcd"


def told(events: list[Event]) -> list[Event]:
    """``events`` with the text that is in a row as one event."""
    joined: list[Event] = []
    for event in events:
        last = joined[-1] if joined else None
        if isinstance(event, TextDelta) and isinstance(last, TextDelta) and last.turn == event.turn:
            joined[-1] = TextDelta(event.turn, last.text + event.text)
        elif (
            isinstance(event, ReasoningDelta) and isinstance(last, ReasoningDelta) and last.turn == event.turn
        ):
            joined[-1] = ReasoningDelta(event.turn, last.text + event.text)
        else:
            joined.append(event)
    return joined


def journal(folder: Path, events: list[Event]) -> Path:
    """A journal with each event as a line of its own, as they were written before."""
    written = Journal(folder, NAME)
    for event in events:
        written.write(event)
        written.flush()
    written.close()
    return written.file


turns = some.sampled_from(["t1", "t2"])
texts = some.text(max_size=8)
an_event = some.one_of(
    some.builds(TextDelta, turns, texts),
    some.builds(ReasoningDelta, turns, texts),
    some.builds(PromptSubmitted, turns, texts),
    some.builds(HunkLanded, turns, texts, texts, texts, *[some.integers(0, 9)] * 3),
)
damage = some.sampled_from(
    [b"nonsense", b"", b"[", b"{},{}", b'{"type":"text.delta","turn":1,"text":"x"}', b'{"type":"text.delta']
)


@settings(max_examples=share(150, 40), deadline=None)
@given(events=some.lists(some.one_of(an_event, damage), max_size=30), size=some.integers(1, 2_000))
def test_a_journal_is_read_as_it_was_told_whatever_is_damaged_and_however_it_is_split(
    tmp_path_factory: pytest.TempPathFactory, events: list[Event | bytes], size: int
) -> None:
    file = tmp_path_factory.mktemp("journal") / f"{NAME}.jsonl"
    for event in events:
        if isinstance(event, bytes):
            with file.open("ab") as handle:
                handle.write(event + b"\n")
        else:
            journal(file.parent, [event])
    file.touch()
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(reading, "BLOCK", size)
        assert list(read_past(file).events) == told([event for event in events if isinstance(event, Event)])


def test_what_means_nothing_after_its_turn_is_not_read(tmp_path: Path) -> None:
    aimed, phase = HunkAimed("t1", "h1", "a.py", 1, 2), PhaseChanged("t1", "streaming")
    events: list[Event] = [TextDelta("t1", "a"), aimed, phase, TextDelta("t1", "b")]
    assert read_past(journal(tmp_path, events)).events == (TextDelta("t1", "ab"),)


def test_of_a_long_session_the_newest_text_and_all_else_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "LAST_PART", 20_000)
    monkeypatch.setattr(reading, "BLOCK", 2_000)
    events: list[Event] = []
    for turn in (f"t{number}" for number in range(300)):
        landed = HunkLanded(turn, f"h{turn}", "a.py", "applied", 0, 1, 2)
        answer = [TextDelta(turn, f"line {number} of {turn}\n") for number in range(10)]
        events += [PromptSubmitted(turn, "go"), *answer, landed, TurnEnded(turn, "completed")]
    file = journal(tmp_path, events)
    past = read_past(file).events
    rest = [event for event in past if not isinstance(event, TextDelta | Notice)]
    assert rest == [event for event in events if not isinstance(event, TextDelta)]
    (notice,) = [event for event in past if isinstance(event, Notice)]
    assert f"spark export {NAME}" in notice.text
    before, after = past[: past.index(notice)], past[past.index(notice) :]
    assert not any(isinstance(event, TextDelta) for event in before)
    kept = "".join(event.text for event in after if isinstance(event, TextDelta))
    whole = "".join(event.text for event in events if isinstance(event, TextDelta))
    # A record is longer or shorter by the digits of its time.
    assert whole.endswith(kept) and 1_000 < len(kept) < 20_000


@pytest.mark.parametrize("kind", [TextDelta, ReasoningDelta, HunkAimed, PhaseChanged])
def test_lines_are_recognised_by_how_they_begin(tmp_path: Path, kind: type[Event]) -> None:
    event = kind("t1", "x", "y", 1, 2) if kind is HunkAimed else kind("t1", "x")  # type: ignore[call-arg]
    assert next(iter(to_dict(event))) == "type"
    file = journal(tmp_path, [event])
    assert file.read_bytes().splitlines()[1].startswith(parts.TEXT + reading._TRANSIENT)
    assert [read_event(record) for record in read_records(file)] == [event]
