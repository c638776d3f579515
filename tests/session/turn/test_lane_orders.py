"""Random orders of events, by hypothesis, on the real lane with the real landing on real files."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from session.base.events import Event, HunkHeld, HunkLanded, HunkRefused
from session.turn.failures import TurnFailedError
from session.turn.hunk_life import Answer
from tests.session.turn.lane_rig import LaneRig
from tests.thorough import share

FILES = ("a.py", "b.py")
MOST_HUNKS = 8
TEXT = "".join(f"line {number}\n" for number in range(1, MOST_HUNKS + 1))
BOOM = "a fault for this test"


class LanePlay(RuleBasedStateMachine):
    """Each hunk has a call of its own and changes the line of its number in one of two files."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.loop = asyncio.Runner()
        self.files: dict[str, str] = {}
        """The file of each hunk, by the hunk's name."""
        self.streams: dict[str, int] = {}
        """The number of each hunk that is still typed, by its name."""
        self.numbers: dict[str, int] = {}
        self.completed: list[str] = []
        self.declined: set[str] = set()
        self.fault_at = ""
        self.stopped_after: int | None = None

    @initialize(review=st.sampled_from([False, False, False, True]))
    def begin(self, review: bool) -> None:
        async def make() -> LaneRig:
            return LaneRig(Path(self.folder.name), files=FILES, review=review, text=TEXT, step=self.step)

        self.spark = self.loop.run(make())
        self.spark.lock(*FILES)

    def step(self, done: str) -> None:
        if done == self.fault_at:
            self.fault_at = ""
            raise RuntimeError(BOOM)

    def play(self, rounds: int = 0) -> None:
        self.loop.run(self.spark.breathe(rounds))

    @precondition(lambda self: len(self.numbers) < MOST_HUNKS and self.stopped_after is None)
    @rule(name=st.sampled_from(FILES), rounds=st.integers(0, 4))
    def open(self, name: str, rounds: int) -> None:
        number = len(self.numbers) + 1

        async def feed() -> str:
            return self.spark.begin(name, f"call {number}", f"line {number}")

        before = len(self.spark.all(HunkHeld))
        hunk = self.loop.run(feed())
        assert len(self.spark.all(HunkHeld)) == before
        self.files[hunk], self.numbers[hunk], self.streams[hunk] = name, number, number
        self.play(rounds)

    @precondition(lambda self: self.streams)
    @rule(data=st.data(), whole=st.sampled_from([True, True, True, False]), rounds=st.integers(0, 4))
    def close_stream(self, data: st.DataObject, whole: bool, rounds: int) -> None:
        hunk = data.draw(st.sampled_from(sorted(self.streams)))
        number = self.streams.pop(hunk)

        async def feed() -> None:
            if whole:
                self.spark.complete(f"call {number}", f"new {number}")
            else:
                self.spark.spoil(f"call {number}")

        if whole:
            self.completed.append(hunk)
        self.loop.run(feed())
        self.play(rounds)

    @rule(names=st.sampled_from([(), FILES, FILES[:1]]))
    def lock(self, names: tuple[str, ...]) -> None:
        self.spark.lock(*names)

    @rule(jobs=st.integers(1, 3), rounds=st.integers(0, 6))
    def edit_thread(self, jobs: int, rounds: int) -> None:
        for _ in range(jobs):
            self.spark.thread.step()
            self.play(rounds)

    @precondition(lambda self: self.numbers)
    @rule(
        data=st.data(),
        land=st.booleans(),
        rest=st.sampled_from([False, False, True]),
        rounds=st.integers(0, 3),
    )
    def answer(self, data: st.DataObject, land: bool, rest: bool, rounds: int) -> None:
        hunk = data.draw(st.sampled_from(self.spark.held() or sorted(self.numbers)))
        shown = self.spark.held()

        async def say() -> bool:
            return self.spark.lane.answer(hunk, Answer(land=land, rest=rest))

        if self.loop.run(say()):
            assert hunk in shown or not (land or rest), "only what was asked can be agreed to"
            if not land:
                self.declined.add(hunk)
        self.play(rounds)

    @precondition(lambda self: len(self.numbers) > 3 and self.stopped_after is None)
    @rule(how=st.sampled_from(["stop", "lose", "intent", "settled"]))
    def go_wrong(self, how: str) -> None:
        async def act() -> None:
            if how == "stop":
                self.spark.lane.stop()
            else:
                self.spark.lane.lose()

        if how in ("intent", "settled"):
            self.fault_at = how
            return
        self.loop.run(act())
        self.streams.clear()
        if how == "stop":
            self.stopped_after = len(self.spark.events)

    @invariant()
    def every_hunk_ends_at_most_once_and_is_asked_about_only_before(self) -> None:
        ended: set[str] = set()
        for event in self.spark.events if self.numbers else ():
            hunk = getattr(event, "hunk", "")
            if isinstance(event, HunkHeld):
                assert hunk not in ended
            if hunk in self.numbers and event in self.spark.ends(hunk):
                assert hunk not in ended
                ended.add(hunk)

    @invariant()
    def a_stop_is_followed_by_no_question(self) -> None:
        if self.stopped_after is not None:
            after = self.spark.events[self.stopped_after :]
            assert not any(isinstance(event, HunkHeld) for event in after)

    def teardown(self) -> None:
        """The streams end, the user lands what is still held, and the turn is over."""
        try:
            if hasattr(self, "spark"):
                self.loop.run(self.finish())
                self.check()
        finally:
            self.loop.close()
            self.folder.cleanup()

    async def finish(self) -> None:
        spark = self.spark
        spark.lane.lose()
        settled = asyncio.ensure_future(spark.lane.settled())
        await spark.work()
        while not settled.done():
            held = spark.held()
            assert held, "nothing is asked, and yet something is waited for"
            before = len(held)
            assert any(spark.lane.answer(hunk, Answer(land=True)) for hunk in reversed(held))
            await spark.work()
            assert len(spark.held()) <= before
        if (fault := settled.exception()) is not None:
            assert isinstance(fault, TurnFailedError) and BOOM in str(fault)
        await spark.end()

    def check(self) -> None:
        """Each hunk has one end, which is what the files say; the declined have not landed."""
        lines = {name: self.spark.text(name).splitlines() for name in FILES}
        ends: dict[str, Event] = {}
        for hunk, number in self.numbers.items():
            (ends[hunk],) = self.spark.ends(hunk)
            new = lines[self.files[hunk]][number - 1] == f"new {number}"
            assert new is isinstance(ends[hunk], HunkLanded)
        for hunk in self.declined:
            end = ends[hunk]
            assert isinstance(end, HunkRefused) and end.message.startswith("the developer declined it")
        landed = [event.hunk for event in self.spark.all(HunkLanded)]
        for file in FILES:
            own = [hunk for hunk in landed if self.files[hunk] == file]
            assert own == [hunk for hunk in self.completed if hunk in own], "in the order of the answer"
        assert [outcome.hunk for outcome in self.spark.lane.outcomes] == list(self.numbers)
        assert not self.spark.held()


def test_every_order_of_events_on_real_files() -> None:
    run_state_machine_as_test(
        LanePlay, settings=settings(max_examples=share(70, 20), stateful_step_count=30, deadline=None)
    )
