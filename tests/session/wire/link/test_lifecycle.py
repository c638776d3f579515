"""Tests the link's lifecycle without a socket: its table, and events in every order."""

from __future__ import annotations

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from session.wire.link.lifecycle import Lifecycle
from session.wire.link.retries import Backoff
from session.wire.link.state import TABLE, Announce, Close, Cut, Dial, LinkSignal, LinkState, Refuse, Supply
from session.wire.transport.errors import LinkError, LinkProblem
from session.wire.transport.links import HOST_ENDED
from session.wire.transport.network import Standing
from session.wire.transport.service import Service
from tests.thorough import share

PASSING = LinkError(LinkProblem.UNREACHABLE, "nothing listens")
LASTING = LinkError(LinkProblem.UNAUTHORIZED, "wrong key")
ENDED = LinkError(LinkProblem.REFUSED, "the engine has ended", code=HOST_ENDED)
UP = (LinkState.CONNECTING, LinkState.WARMING)


def test_every_state_handles_every_signal() -> None:
    assert set(TABLE) == set(LinkState) - {LinkState.WAITING}
    assert all(set(moves) == set(LinkSignal) for moves in TABLE.values())


def test_every_path_to_ready_passes_through_connecting() -> None:
    for before, moves in TABLE.items():
        for signal, after in moves.items():
            if after is LinkState.READY and before is not after:
                assert before in UP and signal is LinkSignal.WARM
            if after is LinkState.WARMING and before is not after:
                assert before is LinkState.CONNECTING


def test_an_end_that_is_reported_while_the_link_rests_is_a_failure_and_no_error() -> None:
    life = Lifecycle(Service(idle_seconds=10.0), Backoff(), lambda: 0.5)
    life.start(0.0)
    life.connected(1, 1.0)
    life.tick(30.0)
    assert life.state is LinkState.IDLE
    life.host_ended("The engine has ended.", 31.0)
    assert LinkState(life.state) is LinkState.FAILED
    life.want(32.0)
    assert Dial() in life.take()


def test_a_replacement_that_fails_is_not_dialled_in_a_loop() -> None:
    life = Lifecycle(Service(lifetime_seconds=100.0), Backoff(), lambda: 0.5)
    life.start(0.0)
    life.connected(1, 0.0)
    life.take()
    life.tick(95.0)
    assert Dial() in life.take(), "it is due"
    life.attempt_failed(PASSING, 96.0)
    assert Dial() not in life.take()
    assert (life.active, life.state) == (1, LinkState.READY)


class World(RuleBasedStateMachine):
    """A shell without sockets: it applies the effects and reports any event that a network can cause."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 100.0
        self.open: set[int] = set()
        self.numbers = 0
        self.dialling = 0
        self.outdated = False
        self.waiting = False
        self.shown = LinkState.OFFLINE
        self.closed = False
        self.service = Service()
        self.life = Lifecycle(self.service, Backoff(), lambda: 0.5)

    @initialize(
        spare=st.booleans(),
        lifetime=st.sampled_from([None, 60.0]),
        idle=st.sampled_from([None, 40.0]),
        connected=st.integers(0, 2),
    )
    def begin(self, spare: bool, lifetime: float | None, idle: float | None, connected: int) -> None:
        self.service = Service(spare=spare, lifetime_seconds=lifetime, idle_seconds=idle)
        self.life = Lifecycle(self.service, Backoff(), lambda: 0.5)
        self.life.start(self.now)
        self.do()
        for _ in range(connected):
            if self.dialling:
                self.succeed()

    def succeed(self) -> None:
        self.numbers += 1
        self.open.add(self.numbers)
        self.dialling -= 1
        outdated, self.outdated = self.outdated, False
        self.life.connected(self.numbers, self.now)
        assert not outdated or self.life.active != self.numbers, "it was opened with the old key or address"
        self.do()

    def do(self) -> None:
        for effect in self.life.take():
            match effect:
                case Dial():
                    self.dialling += 1
                    assert self.dialling == 1, "one attempt at a time"
                    assert not self.closed
                case Cut(number=number) | Close(number=number):
                    self.open.remove(number)
                case Announce(change=change):
                    assert not self.closed or change.state is LinkState.OFFLINE
                    if change.state is LinkState.READY and self.shown is not LinkState.READY:
                        assert self.shown in UP
                    self.shown = change.state
                case Supply(number=number):
                    assert self.waiting and number in self.open
                    self.waiting = False
                case Refuse():
                    assert self.waiting
                    self.waiting = False

    @precondition(lambda self: self.dialling)
    @rule(warm=st.booleans())
    def dial_succeeds(self, warm: bool) -> None:
        if warm:
            self.life.opened()
            self.do()
        self.succeed()

    @precondition(lambda self: self.dialling)
    @rule(problem=st.sampled_from([None, PASSING, PASSING, LASTING, ENDED]))
    def warm_up_begins(self, problem: LinkError | None) -> None:
        self.life.opened()
        self.do()
        if problem is not None:
            self.fail(problem)

    @precondition(lambda self: self.dialling)
    @rule(problem=st.sampled_from([PASSING, PASSING, LASTING, ENDED]))
    def dial_fails(self, problem: LinkError) -> None:
        self.fail(problem)

    def fail(self, problem: LinkError) -> None:
        self.dialling -= 1
        self.outdated = False
        self.life.attempt_failed(problem, self.now)
        self.do()

    @rule()
    def ask(self) -> None:
        self.life.answer_begins(self.now)
        if self.life.active is None and not self.closed:
            self.waiting = True
            self.life.want(self.now)
        self.do()

    @rule(whole=st.booleans())
    def answer_ends(self, whole: bool) -> None:
        if whole and self.life.active is not None:
            self.life.answered(self.life.active)
        self.life.answer_ends(self.now)
        self.do()

    @rule()
    def interrupt(self) -> None:
        self.life.answer_ends(self.now)
        self.do()
        if self.life.active is not None:
            spare = self.life.spare
            self.life.cut(self.life.active, self.now)
            assert self.life.active == spare, "the spare takes its place in the same step"
        self.waiting = False
        self.life.unwant()
        self.do()

    @precondition(lambda self: self.open)
    @rule(data=st.data())
    def server_closes(self, data: st.DataObject) -> None:
        number = data.draw(st.sampled_from(sorted(self.open)))
        self.open.remove(number)
        self.life.closed(number, "closed", self.now)
        self.do()

    @precondition(lambda self: self.open)
    @rule(data=st.data(), standing=st.sampled_from(list(Standing)))
    def network_changes(self, data: st.DataObject, standing: Standing) -> None:
        self.life.stands(data.draw(st.sampled_from(sorted(self.open))), standing, self.now)
        self.do()

    @rule()
    def user_types(self) -> None:
        self.life.wake(self.now)
        self.do()

    @rule(seconds=st.sampled_from([0.1, 3.0, 20.0, 70.0, 400.0]))
    def time_passes(self, seconds: float) -> None:
        self.now += seconds
        self.life.tick(self.now)
        self.do()

    @rule(what=st.sampled_from(["sleep", "key", "route", "settings", "own server ends"]))
    def something_ends_them_all(self, what: str) -> None:
        if what == "sleep":
            self.life.slept(self.now)
        elif what == "settings":
            self.life.try_again(self.now)
        elif what == "own server ends":
            self.life.host_ended("the engine has ended", self.now)
        else:
            self.outdated = bool(self.dialling)
            self.life.redial(self.now, "another route" if what == "route" else None)
        assert what == "settings" or (self.life.active is None and self.life.spare is None)
        self.do()

    @rule(really=st.integers(0, 9))
    def close(self, really: int) -> None:
        if really == 9:
            self.life.close()
            self.do()
            self.closed = True
            self.waiting = False

    @invariant()
    def what_it_knows_is_open(self) -> None:
        known = {number for number in (self.life.active, self.life.spare) if number is not None}
        assert known == self.open
        assert self.life.spare is None or self.service.spare
        assert self.life.active is not None or self.life.spare is None

    @invariant()
    def the_state_says_what_is(self) -> None:
        assert self.life.state is self.shown
        assert (self.life.state is LinkState.READY) == (self.life.active is not None)
        assert self.life.state not in UP or self.dialling
        if self.dialling and self.life.active is None and not self.closed:
            assert self.life.state in (*UP, LinkState.FAILED)

    @invariant()
    def it_never_stops_trying(self) -> None:
        """A waiting request is answered or refused, and a passing failure is retried."""
        if self.closed:
            return
        assert not self.waiting or self.dialling
        due = self.life.due(self.now)
        if self.life.state is LinkState.OFFLINE:
            assert self.dialling or due is not None
        assert due is None or due >= 0


TestEveryOrder = World.TestCase
TestEveryOrder.settings = settings(max_examples=share(300, 50), stateful_step_count=40, deadline=None)
