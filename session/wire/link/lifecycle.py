"""The life of the link, without I/O: what happened goes in with the time, what to do comes out as effects.

There are at most two connections, known here by number. The *active* one carries the answers. The *spare*
stands behind it, where the provider allows a second connection, and takes its place in the same step in
which the active one is lost. One attempt to connect runs at a time; where it leads is decided when it ends.
:class:`~session.wire.link.keeper.Keeper` does what the effects say.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import dataclass

from session.wire.link.retries import Backoff
from session.wire.link.state import (
    TABLE,
    Announce,
    Close,
    Cut,
    Dial,
    Effect,
    LinkChange,
    LinkSignal,
    LinkState,
    Refuse,
    Supply,
)
from session.wire.transport.errors import LinkError
from session.wire.transport.links import HOST_ENDED
from session.wire.transport.network import Standing
from session.wire.transport.service import Service

LIFETIME_USED = 0.9
"""The share of a connection's lifetime after which it is replaced; the rest is for a running answer."""
IDLE_USED = 0.9
"""The share of the idle limit after which an unused link is closed."""
QUIET_SECONDS = 5.0
"""Seconds after an answer before its connection may be replaced: a tool call's result follows at once."""
LOOK_SECONDS = 10.0
"""Longest time between two checks of the clocks and the network, in seconds."""
SETTLED_SECONDS = 10.0
"""Losing a connection that lived for this many seconds does not count as a failed attempt."""
_BEHIND_BACKOFF = Backoff(first=5.0, longest=300.0)
"""The waits between attempts to open a spare, while the active connection works."""


@dataclass(slots=True)
class _Facts:
    """What is known of an open connection."""

    opened: float
    answered: bool = False
    stood: Standing | None = None
    """Its standing in the network when that was first checked."""


class Lifecycle:
    """Decides when to connect, replace, rest and give up. Every method but the properties is an event.

    Times are in seconds of one clock. No order of events raises; after :meth:`close` nothing has an effect.
    """

    def __init__(self, service: Service, backoff: Backoff, dice: Callable[[], float] = random.random) -> None:
        self.change = LinkChange(LinkState.OFFLINE)
        self.active: int | None = None
        self.spare: int | None = None
        self.busy = False
        """Whether an answer runs: its connection is left alone then."""
        self.wanted = False
        """Whether an answer waits for a connection."""
        self.dialling = False
        self.promotions = 0
        self.used = 0.0
        """Time of the last prompt, key or answer."""
        self._service = service
        self._backoff = backoff
        self._dice = dice
        self._facts: dict[int, _Facts] = {}
        self._started = False
        self._closed = False
        self._outdated = False
        """The attempt that runs began before the address or the route changed."""
        self._failures = 0
        self._not_before = 0.0
        """When the next attempt may be made while there is no active connection."""
        self._behind_failures = 0
        self._behind_not_before = 0.0
        """The same while there is one."""
        self._note: str | None = None
        self._effects: list[Effect] = []

    @property
    def state(self) -> LinkState:
        """Where the link is."""
        return self.change.state

    def take(self) -> list[Effect]:
        """The effects of the events since the last call, in order."""
        effects, self._effects = self._effects, []
        return effects

    def due(self, now: float) -> float | None:
        """Seconds until :meth:`tick` is wanted; None where only another event can change anything."""
        if not self._started or self._closed:
            return None
        times = []
        if self.active is not None:
            life = self._service.lifetime_seconds or LOOK_SECONDS
            idle = self._service.idle_seconds or LOOK_SECONDS
            times.append(now + max(0.05, min(LOOK_SECONDS, life / 20, idle / 20)))
        if not self.dialling and self.active is None and self.state is not LinkState.IDLE:
            times.append(self._not_before)
        if not self.dialling and self._lacks_spare():
            times.append(self._behind_not_before)
        soonest = min(times, default=math.inf)
        return None if math.isinf(soonest) else max(0.0, soonest - now)

    # -- what the user and the answers do ------------------------------------------------------

    def start(self, now: float) -> None:
        """Begin to connect."""
        if not self._started:
            self._started = True
            self.used = now
            self._go_on(now)

    def wake(self, now: float) -> None:
        """A request is likely soon."""
        self.used = now
        if self.state is LinkState.IDLE and not self.dialling:
            self._dial()
        self._go_on(now)

    def want(self, now: float) -> None:
        """An answer waits for a connection: connect now, whatever the backoff says."""
        self.wanted = True
        self._supply()
        self._go_on(now)

    def unwant(self) -> None:
        """No answer waits any more."""
        self.wanted = False

    def answer_begins(self, now: float) -> None:
        """An answer runs from now on."""
        self.busy = True
        self.used = now

    def answer_ends(self, now: float) -> None:
        """No answer runs any more."""
        self.busy = False
        self.used = now
        self._go_on(now)

    def answered(self, number: int) -> None:
        """The connection has carried a whole answer."""
        if number in self._facts:
            self._facts[number].answered = True

    # -- what attempts come to -----------------------------------------------------------------

    def opened(self) -> None:
        """The attempt has an open connection, and warms it up."""
        if self.active is None and not self._outdated:
            self._signal_dial()
            self._signal(LinkSignal.OPENED)

    def connected(self, number: int, now: float) -> None:
        """The attempt has succeeded: ``number`` is open, and as warm as it gets."""
        outdated, self.dialling, self._outdated = self._outdated, False, False
        if outdated or self._closed:
            self._effects.append(Close(number))
            self._go_on(now)
            return
        self._behind_failures, self._behind_not_before = 0, 0.0
        if self.active is None:
            self._facts[number] = _Facts(now)
            self.active = number
            self._signal_dial()
            self._signal(LinkSignal.WARM, self._note)
            self._note = None
            self._supply()
        elif self._is_due(now):
            self._release(self.active)
            self._facts[number] = _Facts(now)
            self.active = number
        elif self._lacks_spare():
            self._facts[number] = _Facts(now)
            self.spare = number
        else:
            self._effects.append(Close(number))
        self._go_on(now)

    def attempt_failed(self, problem: LinkError, now: float) -> None:
        """The attempt has failed."""
        outdated, self.dialling, self._outdated = self._outdated, False, False
        told_already = problem.code == HOST_ENDED and self.state is LinkState.FAILED
        if outdated or self._closed or told_already:
            pass
        elif self.active is not None:  # nobody misses what it was for yet
            self._behind_failures += 1
            wait = _BEHIND_BACKOFF.wait(self._behind_failures, self._dice)
            self._behind_not_before = math.inf if problem.lasting else now + wait
        else:
            self._failures += 1
            wait = self._backoff.wait(self._failures, self._dice)
            self._not_before = math.inf if problem.lasting else now + wait
            signal = LinkSignal.REFUSED if problem.lasting else LinkSignal.LOST
            self._signal(signal, problem.message)
            if self.wanted:
                self.wanted = False
                self._effects.append(Refuse(problem))
        self._go_on(now)

    # -- what becomes of open connections ------------------------------------------------------

    def closed(self, number: int, message: str, now: float) -> None:
        """The server has closed a connection; ``message`` says so."""
        self._lose(number, message, now)
        self._go_on(now)

    def cut(self, number: int, now: float) -> None:
        """End a connection: its answer is not wanted, or it is of no more use."""
        self._cut(number, now)
        self._go_on(now)

    def slept(self, now: float) -> None:
        """The machine has slept, so every socket is dead."""
        self._cut_all(now)
        self._go_on(now)

    def stands(self, number: int, standing: Standing, now: float) -> None:
        """How a connection stands in the network now.

        What already looked so when the connection was new says nothing: rules that route each protocol
        its own way have that effect. One that may still live is left to its answer.
        """
        facts = self._facts.get(number)
        if facts is None:
            return
        if facts.stood is None:
            facts.stood = standing
        in_use = self.busy and number == self.active
        gone = standing is Standing.GONE or (standing is Standing.MOVED and not in_use)
        if standing is not facts.stood and gone:
            self._cut(number, now)
            self._go_on(now)

    # -- what changes about the server ---------------------------------------------------------

    def redial(self, now: float, note: str | None = None) -> None:
        """Address, key or route have changed: connect anew. ``note`` is said when that has succeeded."""
        self._cut_all(now)
        self._outdated = self.dialling
        self._note = note or self._note
        self._failures = 0
        self.try_again(now)

    def try_again(self, now: float) -> None:
        """Make the next attempt now."""
        self._not_before = 0.0
        self._go_on(now)

    def host_ended(self, why: str, now: float) -> None:
        """A server that spark runs itself has ended: it is started again when somebody asks."""
        self._cut_all(now)
        self._not_before = math.inf
        if self.state is not LinkState.FAILED:
            self._signal(LinkSignal.REFUSED, why)
        self._go_on(now)

    def tick(self, now: float) -> None:
        """Time has passed."""
        self._go_on(now)

    def close(self) -> None:
        """End everything."""
        if self._closed:
            return
        for number in (self.spare, self.active):
            if number is not None:
                self._release(number)
        self.active = self.spare = None
        self._signal(LinkSignal.CLOSE)
        self._closed = True

    # -- decisions -----------------------------------------------------------------------------

    def _go_on(self, now: float) -> None:
        """Close connections that are too old or unused, and dial where one is missing."""
        if not self._started or self._closed:
            return
        if self.spare is not None and self._is_old(self.spare, now):
            self._release(self.spare)
            self.spare = None
        if self._is_idle(now):
            self._rest()
        if self.dialling:
            # An attempt that was made for a spare serves for the active connection that is missing now.
            if self.active is None and self.state is LinkState.OFFLINE:
                self._signal(LinkSignal.DIAL)
        elif self._should_dial(now):
            self._dial()

    def _dial(self) -> None:
        self.dialling = True
        if self.active is None:
            self._signal(LinkSignal.DIAL)
        self._effects.append(Dial())

    def _should_dial(self, now: float) -> bool:
        if self.active is None:
            resting = self.state is LinkState.IDLE
            return self.wanted or (not resting and now >= self._not_before)
        return now >= self._behind_not_before and (self._is_due(now) or self._lacks_spare())

    def _lacks_spare(self) -> bool:
        return self._service.spare and self.active is not None and self.spare is None

    def _is_old(self, number: int, now: float) -> bool:
        life = self._service.lifetime_seconds
        return life is not None and now - self._facts[number].opened >= life * LIFETIME_USED

    def _is_due(self, now: float) -> bool:
        """Whether the active connection is to be replaced now."""
        free = not self.busy and now - self.used >= QUIET_SECONDS
        return self.active is not None and free and self._is_old(self.active, now)

    def _is_idle(self, now: float) -> bool:
        limit = self._service.idle_seconds
        if limit is None or self.active is None or self.busy or self.wanted or self.dialling:
            return False
        return now - self.used >= limit * IDLE_USED

    def _rest(self) -> None:
        for number in (self.active, self.spare):
            if number is not None:
                self._release(number)
        self.active = self.spare = None
        self._signal(LinkSignal.REST)

    # -- connections ---------------------------------------------------------------------------

    def _cut_all(self, now: float) -> None:
        for number in (self.spare, self.active):  # the spare first, lest it be promoted
            if number is not None:
                self._cut(number, now)

    def _cut(self, number: int, now: float) -> None:
        if number in self._facts:
            self._effects.append(Cut(number))
            self._lose(number, None, now)

    def _release(self, number: int) -> None:
        self._facts.pop(number, None)
        self._effects.append(Close(number))

    def _lose(self, number: int, message: str | None, now: float) -> None:
        """A connection is gone. ``message`` is None where this side ended it."""
        facts = self._facts.pop(number, None)
        if facts is None:
            return
        if self.spare == number:
            self.spare = None
            return
        settled = message is None or facts.answered or now - facts.opened > SETTLED_SECONDS
        self._failures = 0 if settled else self._failures + 1
        self._not_before = now + self._backoff.wait(self._failures, self._dice)
        self.active, self.spare = self.spare, None
        if self.active is None:
            self._signal(LinkSignal.LOST, message)
        else:
            self.promotions += 1
            self._supply()

    def _supply(self) -> None:
        if self.wanted and self.active is not None:
            self.wanted = False
            self._effects.append(Supply(self.active))

    def _signal_dial(self) -> None:
        """Bring the state in line with an attempt that is ahead of it, after a reported loss."""
        if self.state not in (LinkState.CONNECTING, LinkState.WARMING):
            self._signal(LinkSignal.DIAL)

    def _signal(self, signal: LinkSignal, message: str | None = None) -> None:
        """Change the state by the table, and announce it if it changed."""
        change = LinkChange(TABLE[self.state][signal], message)
        if change != self.change and not self._closed:
            self.change = change
            self._effects.append(Announce(change))
