"""The life of a hunk, and the queue: the table, then random orders of events by hypothesis."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest
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

from edits.hunk import (
    Action,
    Format,
    Guard,
    Held,
    Hunk,
    Landed,
    RefusalCode,
    Refused,
    RefusedBy,
    Rung,
    Status,
)
from edits.report import NotReceived
from session.turn.hunk_life import ASKED, DECLINABLE, TABLE, Answer, HunkLife, Signal, State
from session.turn.landing_queue import Ask, Check, Effect, End, Land, LandingQueue
from session.turn.turn import IllegalSignalError
from tests.thorough import share

ENDS = (State.LANDED, State.REFUSED, State.DECLINED, State.DROPPED)
LIVE = tuple(state for state in State if state not in ENDS)
GUARDS = st.frozensets(st.sampled_from(Guard), min_size=1)
ENDING = {
    State.LANDED: Landed,
    State.REFUSED: Refused,
    State.DECLINED: Refused,
    State.DROPPED: NotReceived,
}


def life_in(state: State) -> HunkLife:
    life = HunkLife("h1", "a.py")
    life.state, life.edit = state, edit("h1")
    return life


@pytest.mark.parametrize(("state", "signal"), list(itertools.product(LIVE, Signal)))
def test_a_live_hunk_accepts_the_signals_of_its_row_and_no_others(state: State, signal: Signal) -> None:
    life = life_in(state)
    if signal in TABLE[state]:
        assert life.advance(signal) and life.state is TABLE[state][signal]
        assert life.over == (life.edit is None)
    else:
        with pytest.raises(IllegalSignalError, match=f"{signal} while {state} in hunk h1"):
            life.advance(signal)
        assert life.state is state


@pytest.mark.parametrize(("state", "signal"), list(itertools.product(ENDS, Signal)))
def test_a_hunk_that_has_ended_ignores_every_signal(state: State, signal: Signal) -> None:
    life = life_in(state)
    assert life.over and not life.asked and not life.typed
    assert life.advance(signal) is False and life.state is state


def test_the_table_names_every_state() -> None:
    assert set(TABLE) == set(State)
    assert {state for state in State if not TABLE[state]} == set(ENDS)


def test_only_an_asked_hunk_is_agreed_to_and_every_asked_one_can_be() -> None:
    assert {state for state, row in TABLE.items() if Signal.AGREE in row} == ASKED


def test_every_hunk_can_be_declined_until_it_lands() -> None:
    assert {state for state, row in TABLE.items() if Signal.DECLINE in row} == set(LIVE) - {State.LANDING}
    queue = LandingQueue(attended=True, review=False)
    queue.completed("h1", edit("h1"))
    queue.landed("h1", held("h1", frozenset({Guard.DELETES})))
    queue.completed("h2", edit("h2"))
    queue.opened("h3", "h3.py")
    for name in ("h2", "h3"):
        (end,) = queue.answer(name, Answer(land=False, why="no")) or []
        assert isinstance(end, End) and isinstance(end.outcome, Refused) and "no" in end.outcome.message
    assert queue.completed("h3", edit("h3")) == []
    assert queue.answer("h1", Answer(land=True)) == [Land("h1", edit("h1"), frozenset({Guard.DELETES}))]
    assert queue.answer("h1", Answer(land=False)) is None, "it lands"


def test_a_hunk_lands_only_from_landing_and_never_begins_to_land_while_it_is_asked_about() -> None:
    assert [state for state, row in TABLE.items() if Signal.LANDED in row] == [State.LANDING]
    begins = {state for state, row in TABLE.items() if Signal.LAND in row}
    # A check of an asked hunk may find that no guard holds it any more: its question is void.
    assert begins & ASKED == {State.CHECKING_ASKED}


def test_every_live_state_can_be_stopped_but_landing_only_by_its_result() -> None:
    assert all(Signal.DROP in TABLE[state] for state in LIVE)
    queue = LandingQueue(attended=True, review=False)
    queue.completed("h1", edit("h1"))
    assert queue.stop() == [] and queue.state("h1") is State.LANDING


def test_guards_that_hold_what_they_were_told_to_allow_refuse_instead_of_asking_for_ever() -> None:
    queue = LandingQueue(attended=True, review=False)
    (begun,) = queue.completed("h1", edit("h1"))
    assert isinstance(begun, Land)
    queue.landed("h1", held("h1", frozenset({Guard.DELETES})))
    queue.answer("h1", Answer(land=True, rest=True))
    (end,) = queue.landed("h1", held("h1", frozenset({Guard.DELETES})))
    assert isinstance(end, End) and queue.state("h1") is State.REFUSED and queue.idle


def test_land_all_counts_for_the_hunk_that_is_landing_at_that_moment() -> None:
    queue, deletes = LandingQueue(attended=True, review=False), frozenset({Guard.DELETES})
    assert queue.completed("h1", edit("h1")) == [Land("h1", edit("h1"), frozenset())]
    queue.opened("h2", "h2.py")
    queue.foreseen("h2", held("h2", frozenset({Guard.LOCKED})))
    assert queue.answer("h2", Answer(land=True, rest=True)) == []
    assert queue.landed("h1", held("h1", deletes)) == [Land("h1", edit("h1"), frozenset(Guard))]


def test_a_guard_that_trips_after_a_stop_drops_the_hunk_and_asks_nothing() -> None:
    queue = LandingQueue(attended=True, review=False)
    queue.completed("h1", edit("h1"))
    queue.stop()
    assert queue.landed("h1", held("h1", frozenset({Guard.DELETES}))) == [
        End("h1", NotReceived("h1", "h1.py"))
    ]


def test_a_hunk_that_is_agreed_to_while_it_is_checked_lands_without_another_question() -> None:
    queue, lock = LandingQueue(attended=True, review=False), frozenset({Guard.LOCKED})
    queue.opened("h1", "h1.py")
    (asked,) = queue.foreseen("h1", held("h1", lock))
    assert isinstance(asked, Ask)
    assert queue.completed("h1", edit("h1")) == [Check("h1", edit("h1"))]
    assert queue.answer("h1", Answer(land=True)) == []
    assert queue.checked("h1", held("h1", lock | {Guard.DELETES})) == [Land("h1", edit("h1"), lock)]


def test_review_mode_asks_about_every_whole_hunk_and_lands_those_that_are_agreed_to() -> None:
    """The second one would have waited for the answer to the first before it was even asked about."""
    queue = LandingQueue(attended=True, review=True)
    assert queue.completed("h1", edit("h1")) == [Check("h1", edit("h1"))]
    assert queue.completed("h2", edit("h2")) == []
    asked, _, check = queue.checked("h1", landed("h1"))
    assert isinstance(asked, Ask) and check == Check("h2", edit("h2"))
    asked, _ = queue.checked("h2", landed("h2"))
    assert isinstance(asked, Ask) and asked.hunk == "h2"
    assert queue.answer("h2", Answer(land=True)) == [Land("h2", edit("h2"), frozenset())]
    assert queue.landed("h2", landed("h2"))[0] == End("h2", landed("h2"))
    assert queue.state("h1") is State.HELD


def test_a_hunk_waits_for_those_before_it_in_its_file_although_it_is_agreed_to() -> None:
    queue = LandingQueue(attended=True, review=True)
    first, second = edit("h1"), replace(edit("h2"), path="./h1.py")
    queue.completed("h1", first)
    queue.completed("h2", second)
    queue.checked("h1", landed("h1"))
    asked, _ = queue.checked("h2", refused("h2"))
    assert isinstance(asked, Ask), "what it did not find may be what the first one lands"
    assert queue.answer("h2", Answer(land=True)) == []
    assert queue.answer("h1", Answer(land=True)) == [Land("h1", first, frozenset())]
    assert queue.landed("h1", landed("h1")) == [End("h1", landed("h1")), Land("h2", second, frozenset())]


def test_a_hunk_in_another_file_that_is_agreed_to_does_not_wait_for_a_held_one() -> None:
    queue, lock = LandingQueue(attended=True, review=False), frozenset({Guard.LOCKED})
    for name in ("h1", "h3"):
        queue.opened(name, f"{name}.py")
        queue.foreseen(name, held(name, lock))
    queue.completed("h1", edit("h1"))
    queue.checked("h1", held("h1", lock))
    queue.completed("h2", edit("h2"))
    queue.completed("h3", edit("h3"))
    assert queue.answer("h3", Answer(land=True)) == [Land("h3", edit("h3"), lock)]
    queue.landed("h3", landed("h3"))
    assert queue.state("h2") is State.WAITING, "nobody agreed to this one: it waits for the first"


def edit(hunk: str) -> Hunk:
    return Hunk(f"{hunk}.py", Action.UPDATE, Format.V4A)


def held(hunk: str, guards: frozenset[Guard]) -> Held:
    order = tuple(sorted(guards))
    return Held(hunk, f"{hunk}.py", RefusalCode.LOCKED, ", ".join(order), order)


def landed(hunk: str, status: Status = Status.APPLIED) -> Landed:
    return Landed(hunk, f"{hunk}.py", Action.UPDATE, status, Rung.EXACT, 1, 2)


def refused(hunk: str) -> Refused:
    return Refused(hunk, f"{hunk}.py", RefusalCode.NO_MATCH, "it is nowhere")


FILES = ("a.py", "b.py", "c.py")


def file_of(hunk: str) -> str:
    return FILES[int(hunk[1:]) % len(FILES)]


class QueuePlay(RuleBasedStateMachine):
    """Plays the stream, the guards, the user and the edit thread in any order against the pure queue."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []
        self.typed: set[str] = set()
        self.completed: list[str] = []
        self.questions: set[str] = set()
        """The hunks whose question a front end shows."""
        self.declined: set[str] = set()
        self.agreed: set[str] = set()
        self.ended: dict[str, End] = {}
        self.jobs: dict[str, Check | Land] = {}
        self.began: list[str] = []
        self.on_disk: set[str] = set()
        """The hunks that were on disk when they were checked last: landing them writes nothing."""
        self.rest = False

    @initialize(attended=st.booleans(), review=st.booleans())
    def begin(self, attended: bool, review: bool) -> None:
        self.attended, self.review = attended, review
        self.queue = LandingQueue(attended=attended, review=review)

    def carry_out(self, effects: list[Effect]) -> None:
        for effect in effects:
            name = effect.hunk
            assert name not in self.ended, "nothing follows a hunk's end"
            match effect:
                case Ask():
                    assert self.attended and not self.rest and not self.queue.stopped
                    self.questions.add(name)
                case Check() | Land():
                    assert name not in self.jobs and name not in self.declined
                    live = [job for job in self.jobs.values() if job.hunk not in self.ended]
                    assert not live, "one at a time"
                    self.jobs[name] = effect
                    if isinstance(effect, Land):
                        self.began.append(name)
                case End():
                    self.ended[name] = effect
                    self.questions.discard(name)
                case _:
                    assert self.queue.state(name) is State.HELD

    @rule()
    def open(self) -> None:
        name = f"h{len(self.names) + 1}"
        self.names.append(name)
        self.typed.add(name)
        self.queue.opened(name, file_of(name))
        if self.queue.stopped:
            self.names.remove(name)

    @precondition(lambda self: self.names)
    @rule(data=st.data(), guards=GUARDS)
    def foresee(self, data: st.DataObject, guards: frozenset[Guard]) -> None:
        name = data.draw(st.sampled_from(self.names))
        self.carry_out(self.queue.foreseen(name, held(name, guards)))

    @precondition(lambda self: self.typed)
    @rule(data=st.data(), how=st.sampled_from(["whole", "whole", "whole", "broken", "cut"]))
    def close_stream(self, data: st.DataObject, how: str) -> None:
        name = data.draw(st.sampled_from(sorted(self.typed)))
        self.typed.discard(name)
        if how == "whole":
            self.completed.append(name)
            self.carry_out(self.queue.completed(name, replace(edit(name), path=file_of(name))))
        elif how == "broken":
            self.carry_out(self.queue.broken(refused(name)))
        else:
            self.carry_out(self.queue.cut(name, file_of(name)))

    @precondition(lambda self: self.names)
    @rule(data=st.data(), land=st.booleans(), rest=st.sampled_from([False, False, False, True]))
    def answer(self, data: st.DataObject, land: bool, rest: bool) -> None:
        name = data.draw(st.sampled_from(sorted(self.questions) or self.names))
        before = self.queue.state(name)
        asked = before in ASKED
        answered = {each for each in self.names if self.queue.state(each) in ASKED} if rest else {name}
        effects = self.queue.answer(name, Answer(land=land, rest=rest))
        declinable = before in DECLINABLE and not (land or rest)
        assert (effects is not None) is (asked or declinable)
        if effects is None:
            return
        self.rest = self.rest or rest
        self.questions -= answered
        if land:
            self.agreed |= answered
        else:
            self.declined |= answered
        self.carry_out(effects)
        if rest:
            assert not any(self.queue.state(each) in ASKED for each in self.names)

    @precondition(lambda self: self.jobs)
    @rule(
        data=st.data(), kind=st.sampled_from(["landed", "landed", "there", "held", "refused"]), guards=GUARDS
    )
    def finish_job(self, data: st.DataObject, kind: str, guards: frozenset[Guard]) -> None:
        job = self.jobs.pop(data.draw(st.sampled_from(sorted(self.jobs))))
        name = job.hunk
        results: dict[str, Landed | Refused] = {
            "landed": landed(name),
            "there": landed(name, Status.ALREADY_APPLIED),
            "held": held(name, guards),
            "refused": refused(name),
        }
        report = self.queue.checked if isinstance(job, Check) else self.queue.landed
        self.on_disk = self.on_disk | {name} if kind == "there" else self.on_disk - {name}
        self.carry_out(report(name, results[kind]))

    @precondition(lambda self: len(self.names) > 2)
    @rule()
    def stop(self) -> None:
        self.carry_out(self.queue.stop())
        assert all(name in self.ended or self.queue.state(name) is State.LANDING for name in self.names)

    @precondition(lambda self: self.queue.stopped and any(isinstance(j, Land) for j in self.jobs.values()))
    @rule()
    def find_that_the_write_had_not_begun(self) -> None:
        (name,) = (name for name, job in self.jobs.items() if isinstance(job, Land))
        del self.jobs[name]
        self.carry_out(self.queue.not_begun(name))
        assert self.queue.state(name) is State.DROPPED

    @invariant()
    def every_question_is_shown_and_no_other(self) -> None:
        asked = {name for name in self.names if self.queue.state(name) in ASKED}
        assert asked <= self.questions, "a front end can answer each"
        void = self.questions - asked
        # The file was unlocked: such a hunk lands at this moment, or agrees with the user's earlier word.
        assert all(self.queue.state(name) in (State.LANDING, State.WAITING) for name in void)

    @invariant()
    def ends_are_told_once_and_as_they_are(self) -> None:
        for name in self.names:
            state = self.queue.state(name)
            assert (name in self.ended) is (state in ENDS)
            if name in self.ended:
                assert isinstance(self.ended[name].outcome, ENDING[state])
        told = [name for name in self.names if name in self.ended]
        assert [outcome.hunk for outcome in self.queue.outcomes] == told if self.names else True

    @invariant()
    def declined_is_final(self) -> None:
        for name in self.declined:
            assert self.queue.state(name) is State.DECLINED
            outcome = self.ended[name].outcome
            assert isinstance(outcome, Refused) and outcome.by is RefusedBy.USER

    @invariant()
    def hunks_of_a_file_begin_to_land_in_the_order_in_which_they_became_whole(self) -> None:
        for file in FILES:
            firsts = [name for name in dict.fromkeys(self.began) if file_of(name) == file]
            assert firsts == [name for name in self.completed if name in firsts]

    @invariant()
    def nothing_overtakes_a_question_that_nobody_agreed_to(self) -> None:
        whole = [name for name in self.completed if name in self.names]
        asked = [name for name in whole if self.queue.state(name) is State.HELD]
        behind = whole[whole.index(asked[0]) :] if asked else []
        landing = [name for name in behind if self.queue.state(name) is State.LANDING]
        assert set(landing) <= self.agreed | self.on_disk or self.rest

    @invariant()
    def review_asks_about_all_that_is_whole(self) -> None:
        if self.queue.idle or not self.review or not self.attended or self.rest or self.jobs:
            return
        for name in self.completed:
            known = name in self.ended or name in self.agreed or name not in self.names
            assert known or self.queue.state(name) in ASKED

    @invariant()
    def nothing_waits_for_nothing(self) -> None:
        if self.names and not self.queue.idle:
            live = [name for name in self.completed if name not in self.ended]
            assert self.jobs or self.queue.state(live[0]) in ASKED

    def teardown(self) -> None:
        """The stream ends, the thread does its work, nobody answers: every hunk has ended."""
        if not hasattr(self, "queue"):
            return
        for name in sorted(self.typed):
            self.carry_out(self.queue.cut(name, f"{name}.py"))
        self.carry_out(self.queue.last_questions())
        while self.jobs:
            _, job = self.jobs.popitem()
            report = self.queue.checked if isinstance(job, Check) else self.queue.landed
            self.carry_out(report(job.hunk, landed(job.hunk)))
        assert self.queue.idle and set(self.ended) == set(self.names)


def test_every_order_of_events_ends_every_hunk_once() -> None:
    run_state_machine_as_test(
        QueuePlay, settings=settings(max_examples=share(120, 40), stateful_step_count=40, deadline=None)
    )
