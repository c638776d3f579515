"""The recorder gives every event to the journal, to its subscribers and to all listeners."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from session.base.events import (
    DialogueCompacted,
    Event,
    HunkLanded,
    HunkRedone,
    HunkUndone,
    Notice,
    PhaseChanged,
    PromptSubmitted,
    TextDelta,
    TurnEnded,
)
from session.base.storage.private_files import StoreError
from session.record.journal.journals import Journal
from session.record.journal.reading import read_event, read_records
from session.record.journal.recorder import Recorder


@pytest.fixture
def recorder(tmp_path: Path) -> Recorder:
    return Recorder(Journal(tmp_path, "20250101-000000-0000"))


def note(number: int) -> Notice:
    return Notice("info", str(number))


async def test_each_listener_gets_every_event_in_order(recorder: Recorder) -> None:
    one, other = recorder.listen(), recorder.listen()
    events = [note(number) for number in range(1, 501)]
    for event in events:
        recorder.publish(event)
    recorder.close()
    assert [event async for event in one] == events
    assert [event async for event in other] == events


async def test_a_listener_gets_events_from_its_call_on_not_from_its_first_read(recorder: Recorder) -> None:
    recorder.publish(note(1))
    stream = recorder.listen()
    recorder.publish(note(2))
    recorder.close()
    assert [event async for event in stream] == [note(2)]


async def test_a_listener_that_reads_nothing_delays_nobody(recorder: Recorder) -> None:
    idle, busy = recorder.listen(), recorder.listen()
    for number in range(500):
        recorder.publish(note(number))
    assert await anext(busy) == note(0)
    assert await anext(idle) == note(0)


async def test_listening_after_the_end_ends_at_once(recorder: Recorder) -> None:
    recorder.close()
    assert [event async for event in recorder.listen()] == []


async def test_a_listener_that_left_is_forgotten(recorder: Recorder) -> None:
    stays = recorder.listen()

    async def read_one() -> Event:
        async for event in recorder.listen():
            return event
        raise AssertionError("the stream ended")

    reading = asyncio.create_task(read_one())
    await asyncio.sleep(0)
    recorder.publish(note(1))
    assert await reading == note(1)
    recorder.publish(note(2))
    assert [await anext(stays), await anext(stays)] == [note(1), note(2)]


async def test_a_waiting_listener_is_woken_by_the_end(recorder: Recorder) -> None:
    stream = recorder.listen()

    async def read_all() -> list[Event]:
        return [event async for event in stream]

    reading = asyncio.create_task(read_all())
    await asyncio.sleep(0)
    recorder.close()
    assert await reading == []


async def test_subscribers_have_an_event_before_those_who_listen_and_after_the_journal(
    recorder: Recorder, tmp_path: Path
) -> None:
    stream, taken = recorder.listen(), []

    def take(event: Event) -> None:
        file = tmp_path / "20250101-000000-0000.jsonl"
        taken.append([read_event(record) for record in read_records(file)])

    recorder.subscribe(take)
    recorder.publish(note(1))
    assert taken == [[note(1)]]
    assert await anext(stream) == note(1)


async def test_a_subscriber_whose_disk_fails_is_told_and_the_others_go_on(recorder: Recorder) -> None:
    def full(_: Event) -> None:
        raise StoreError("the disk is full")

    taken: list[Event] = []
    recorder.subscribe(full, lost="usage is not added up")
    recorder.subscribe(taken.append)
    stream = recorder.listen()
    recorder.publish(note(1))
    recorder.close()
    warning = Notice("warning", "the disk is full; usage is not added up")
    assert [event async for event in stream] == [warning, note(1)]
    assert taken == [note(1)]


async def test_a_subscriber_gets_the_kinds_of_events_that_it_named(recorder: Recorder) -> None:
    notices: list[Event] = []
    everything: list[Event] = []
    recorder.subscribe(notices.append, Notice, PhaseChanged)
    recorder.publish(note(1))
    recorder.subscribe(everything.append)
    delta = TextDelta(turn="t1", text="a")
    recorder.publish(delta)
    recorder.publish(note(2))
    assert notices == [note(1), note(2)]
    assert everything == [delta, note(2)]


async def test_a_fault_of_one_subscriber_is_told_and_keeps_nobody_from_the_event(recorder: Recorder) -> None:
    def broken(_: Event) -> None:
        raise ValueError("a fault")

    taken: list[Event] = []
    told: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: told.append(context["exception"]))
    recorder.subscribe(broken)
    recorder.subscribe(taken.append)
    stream = recorder.listen()
    recorder.publish(note(1))
    assert taken == [note(1)] and await anext(stream) == note(1)
    assert [str(problem) for problem in told] == ["a fault"]


async def test_events_that_could_not_be_written_are_written_later(tmp_path: Path) -> None:
    folder = tmp_path / "sessions"
    folder.write_text("a file where the folder should be")
    recorder = Recorder(Journal(folder, "20250101-000000-0000"))
    stream = recorder.listen()
    for number in range(3):
        recorder.publish(note(number))
    recorder.publish(TextDelta("t1", "an unfinished line"))
    folder.unlink()
    recorder.publish(note(3))
    recorder.publish(note(4))
    recorder.close()
    told = [event async for event in stream]
    errors = [event for event in told if isinstance(event, Notice) and event.level == "error"]
    assert len(errors) == 1 and "not recorded until it can be written" in errors[0].text
    assert Notice("info", "this session is recorded again; nothing is missing") in told
    written = [read_event(record) for record in read_records(folder / "20250101-000000-0000.jsonl")]
    before = [note(0), note(1), note(2), TextDelta("t1", "an unfinished line")]
    assert written == [*before, note(3), note(4)]


async def test_text_is_in_the_file_after_its_time_though_nothing_more_comes(tmp_path: Path) -> None:
    journal = Journal(tmp_path, "20250101-000000-0000")
    recorder = Recorder(journal)
    recorder.publish(TextDelta("t1", "a piece "))
    recorder.publish(TextDelta("t1", "of a line"))
    while journal.holds_text:
        await asyncio.sleep(0.01)
    assert [read_event(record) for record in read_records(journal.file)] == [
        TextDelta("t1", "a piece of a line")
    ]
    recorder.close()


class Kept(Journal):
    """A journal that is made durable at once, and counts how often."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, "20250101-000000-0000")
        self.times = 0

    def upkeep(self) -> None:
        work = super().upkeep()
        assert work is not None
        work()
        self.times += 1


@pytest.mark.parametrize(
    ("event", "durable"),
    [
        (PromptSubmitted("t1", "go"), True),
        (TurnEnded("t1", "completed"), True),
        (HunkUndone("h1", "a.py", 1, 2), True),
        (HunkRedone("h1", "a.py", 1, 2), True),
        (DialogueCompacted("t1", 1, 900, 100, "rules", (), (), "what was said"), True),
        (HunkLanded("t1", "h1", "a.py", "applied", 1, 1, 2), False),
        (PhaseChanged("t1", "waiting"), False),
        (TextDelta("t1", "a piece"), False),
    ],
    ids=lambda value: getattr(value, "type", None),
)
async def test_the_events_that_a_loss_of_power_must_not_take_are_made_durable_at_once(
    tmp_path: Path, event: Event, durable: bool
) -> None:
    journal = Kept(tmp_path)
    recorder = Recorder(journal)
    recorder.publish(note(1))
    assert journal.times == 1, "the file itself is new"
    recorder.publish(event)
    assert journal.times == (2 if durable else 1)
    recorder.close()
