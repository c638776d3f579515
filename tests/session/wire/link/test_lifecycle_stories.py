"""The link's lifecycle, story by story: each row is a time, what happens then, and the effects of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from session.wire.link.lifecycle import Lifecycle
from session.wire.link.retries import Backoff
from session.wire.link.state import Announce, Close, Cut, Dial, Effect, LinkChange, LinkState, Refuse, Supply
from session.wire.transport.errors import LinkError, LinkProblem
from session.wire.transport.links import HOST_ENDED
from session.wire.transport.network import Standing
from session.wire.transport.service import Service

PASSING = LinkError(LinkProblem.UNREACHABLE, "nothing listens")
LASTING = LinkError(LinkProblem.UNAUTHORIZED, "wrong key")
ENDED = LinkError(LinkProblem.REFUSED, "the engine has ended", code=HOST_ENDED)

PLAIN = Service(lifetime_seconds=4000.0, idle_seconds=4000.0)
SPARE = Service(spare=True, lifetime_seconds=4000.0, idle_seconds=4000.0)
AGES = Service(spare=True, lifetime_seconds=100.0)
AGES_ALONE = Service(lifetime_seconds=100.0)
RESTS = Service(spare=True, idle_seconds=100.0)

Event = Callable[[Lifecycle, float], object]
Row = tuple[float, Event, list[Effect]]


def told(state: LinkState, message: str | None = None) -> Announce:
    return Announce(LinkChange(state, message))


CONNECTING, WARMING, READY = told(LinkState.CONNECTING), told(LinkState.WARMING), told(LinkState.READY)
OFFLINE, IDLE = told(LinkState.OFFLINE), told(LinkState.IDLE)
LOST = told(LinkState.OFFLINE, "nothing listens")
REFUSED = told(LinkState.FAILED, "wrong key")


def start(life: Lifecycle, now: float) -> None:
    life.start(now)


def wake(life: Lifecycle, now: float) -> None:
    life.wake(now)


def want(life: Lifecycle, now: float) -> None:
    life.want(now)


def tick(life: Lifecycle, now: float) -> None:
    life.tick(now)


def asks(life: Lifecycle, now: float) -> None:
    life.answer_begins(now)


def has_its_answer(life: Lifecycle, now: float) -> None:
    life.answer_ends(now)


def sleeps(life: Lifecycle, now: float) -> None:
    life.slept(now)


def try_again(life: Lifecycle, now: float) -> None:
    life.try_again(now)


def closes(life: Lifecycle, now: float) -> None:
    life.close()


def warms(life: Lifecycle, now: float) -> None:
    life.opened()


def connects(number: int) -> Event:
    return lambda life, now: life.connected(number, now)


def fails(problem: LinkError = PASSING) -> Event:
    return lambda life, now: life.attempt_failed(problem, now)


def ends(number: int) -> Event:
    """The server closes a connection."""
    return lambda life, now: life.closed(number, "it closed", now)


def cuts(number: int) -> Event:
    return lambda life, now: life.cut(number, now)


def answered(number: int) -> Event:
    return lambda life, now: life.answered(number)


def stands(number: int, standing: Standing) -> Event:
    return lambda life, now: life.stands(number, standing, now)


def redials(note: str | None = None) -> Event:
    return lambda life, now: life.redial(now, note)


def host_ends(life: Lifecycle, now: float) -> None:
    life.host_ended("the engine has ended", now)


def is_used(active: int | None, spare: int | None = None) -> Event:
    """No event, but what is open now."""

    def look(life: Lifecycle, now: float) -> None:
        assert (life.active, life.spare) == (active, spare)

    return look


def due_in(seconds: float | None) -> Event:
    """No event, but when the next look is due."""

    def look(life: Lifecycle, now: float) -> None:
        assert life.due(now) == (None if seconds is None else pytest.approx(seconds))

    return look


UP: list[Row] = [(0.0, start, [CONNECTING, Dial()]), (1.0, connects(1), [READY])]
"""One connection, where no second one is allowed."""
BOTH: list[Row] = [
    (0.0, start, [CONNECTING, Dial()]),
    (1.0, connects(1), [READY, Dial()]),
    (2.0, connects(2), []),
]
"""Two connections: the second is the spare."""

STORIES: dict[str, tuple[Service, list[Row]]] = {
    "nothing is dialled before the start, and the start is one": (
        PLAIN,
        [
            (0.0, due_in(None), []),
            (0.0, tick, []),
            (0.0, start, [CONNECTING, Dial()]),
            (1.0, start, []),
            (1.0, due_in(None), []),
        ],
    ),
    "the connection warms up, and is ready": (
        SPARE,
        [
            (0.0, start, [CONNECTING, Dial()]),
            (0.5, warms, [WARMING]),
            (1.0, connects(1), [READY, Dial()]),
            (1.5, warms, []),
            (2.0, connects(2), []),
            (2.0, is_used(1, 2), []),
        ],
    ),
    "a failed attempt is repeated after longer and longer waits": (
        PLAIN,
        [
            (0.0, start, [CONNECTING, Dial()]),
            (1.0, fails(), [LOST]),
            (1.0, due_in(0.2), []),
            (1.1, tick, []),
            (1.2, tick, [CONNECTING, Dial()]),
            (2.0, fails(), [LOST]),
            (2.0, due_in(0.4), []),
            (2.5, tick, [CONNECTING, Dial()]),
            (3.0, connects(1), [READY]),
            (3.0, due_in(10.0), []),
        ],
    ),
    "an attempt that is refused for good is repeated on request alone": (
        PLAIN,
        [
            (0.0, start, [CONNECTING, Dial()]),
            (1.0, fails(LASTING), [REFUSED]),
            (1.0, due_in(None), []),
            (900.0, tick, []),
            (900.0, wake, []),
            (901.0, try_again, [CONNECTING, Dial()]),
            (902.0, fails(LASTING), [REFUSED]),
            (903.0, want, [CONNECTING, Dial()]),
            (904.0, fails(LASTING), [REFUSED, Refuse(LASTING)]),
            (905.0, tick, []),
        ],
    ),
    "a request that waits is given the next connection, and is told of a failure once": (
        PLAIN,
        [
            (0.0, want, []),
            (0.0, start, [CONNECTING, Dial()]),
            (1.0, fails(), [LOST, Refuse(PASSING)]),
            (1.0, want, [CONNECTING, Dial()]),
            (2.0, connects(1), [READY, Supply(1)]),
            (3.0, want, [Supply(1)]),
            (3.0, tick, []),
        ],
    ),
    "a request that was given up is neither supplied nor told, and the backoff holds again": (
        PLAIN,
        [
            (0.0, start, [CONNECTING, Dial()]),
            (0.0, want, []),
            (0.0, lambda life, now: life.unwant(), []),
            (1.0, fails(), [LOST]),
            (1.1, tick, []),
        ],
    ),
    "the spare takes the place of the active connection in the same step": (
        SPARE,
        [
            *BOTH,
            (3.0, cuts(1), [Cut(1), Dial()]),
            (3.0, is_used(2), []),
            (3.0, lambda life, now: _equal(life.promotions, 1), []),
            (4.0, connects(3), []),
            (4.0, is_used(2, 3), []),
            (5.0, ends(2), [Dial()]),
            (5.0, is_used(3), []),
            (5.0, lambda life, now: _equal(life.promotions, 2), []),
        ],
    ),
    "the loss of the spare is not announced, and another one is dialled": (
        SPARE,
        [*BOTH, (3.0, ends(2), [Dial()]), (3.0, is_used(1), []), (3.0, ends(2), []), (3.0, cuts(2), [])],
    ),
    "a sleep cuts the spare first: it must not be promoted": (
        SPARE,
        [
            *BOTH,
            (3.0, sleeps, [Cut(2), Cut(1), OFFLINE, CONNECTING, Dial()]),
            (3.0, is_used(None), []),
            (3.0, lambda life, now: _equal(life.promotions, 0), []),
        ],
    ),
    "a connection that the server closes young counts as a failed attempt": (
        PLAIN,
        [
            *UP,
            (2.0, ends(1), [told(LinkState.OFFLINE, "it closed")]),
            (2.0, due_in(0.2), []),
            (3.0, tick, [CONNECTING, Dial()]),
            (4.0, connects(2), [READY]),
            (5.0, ends(2), [told(LinkState.OFFLINE, "it closed")]),
            (5.0, due_in(0.4), []),
        ],
    ),
    "one that lived for ten seconds, or has answered, or was cut here, does not": (
        PLAIN,
        [
            *UP,
            (11.5, ends(1), [told(LinkState.OFFLINE, "it closed"), CONNECTING, Dial()]),
            (12.0, connects(2), [READY]),
            (12.5, answered(2), []),
            (12.5, answered(9), []),
            (13.0, ends(2), [told(LinkState.OFFLINE, "it closed"), CONNECTING, Dial()]),
            (14.0, connects(3), [READY]),
            (14.5, cuts(3), [Cut(3), OFFLINE, CONNECTING, Dial()]),
        ],
    ),
    "one that lived for ten seconds to the moment does": (
        PLAIN,
        [*UP, (11.0, ends(1), [told(LinkState.OFFLINE, "it closed")]), (11.0, due_in(0.2), [])],
    ),
    "a spare that cannot be had is tried again after five seconds, then ten, and nobody is told": (
        SPARE,
        [
            (0.0, start, [CONNECTING, Dial()]),
            (1.0, connects(1), [READY, Dial()]),
            (2.0, fails(), []),
            (2.0, due_in(5.0), []),
            (6.9, tick, []),
            (7.0, tick, [Dial()]),
            (8.0, fails(), []),
            (8.0, due_in(10.0), []),
            (18.0, tick, [Dial()]),
            (19.0, connects(2), []),
            (20.0, ends(2), [Dial()]),
            (21.0, fails(), []),
            (21.0, due_in(5.0), []),
        ],
    ),
    "a spare that is refused for good is not dialled again": (
        SPARE,
        [
            (0.0, start, [CONNECTING, Dial()]),
            (1.0, connects(1), [READY, Dial()]),
            (2.0, fails(LASTING), []),
            (900.0, tick, []),
            (900.0, due_in(10.0), []),
        ],
    ),
    "an attempt for a spare serves for the active connection that is lost meanwhile": (
        SPARE,
        [
            (0.0, start, [CONNECTING, Dial()]),
            (1.0, connects(1), [READY, Dial()]),
            (2.0, ends(1), [told(LinkState.OFFLINE, "it closed"), CONNECTING]),
            (3.0, connects(2), [READY, Dial()]),
            (3.0, is_used(2), []),
        ],
    ),
    "a connection beyond the two is closed": (
        SPARE,
        [*BOTH, (3.0, connects(3), [Close(3)]), (3.0, is_used(1, 2), [])],
    ),
    "an old connection is replaced once nobody has used it for five seconds": (
        AGES_ALONE,
        [
            *UP,
            (88.0, asks, []),
            (91.5, tick, []),
            (92.0, has_its_answer, []),
            (96.9, tick, []),
            (97.0, tick, [Dial()]),
            (98.0, connects(2), [Close(1)]),
            (98.0, is_used(2), []),
            (150.0, tick, []),
        ],
    ),
    "an old connection whose replacement comes during an answer stays": (
        AGES_ALONE,
        [
            *UP,
            (90.9, tick, []),
            (91.0, tick, [Dial()]),
            (91.5, asks, []),
            (92.0, connects(2), [Close(2)]),
            (92.0, is_used(1), []),
        ],
    ),
    "an old spare is closed, and another one dialled": (
        AGES,
        [
            *BOTH,
            (85.0, asks, []),
            (91.9, tick, []),
            (92.0, tick, [Close(2), Dial()]),
            (92.0, is_used(1), []),
        ],
    ),
    "a link that nobody uses rests, and wakes when somebody types": (
        RESTS,
        [
            *BOTH,
            (89.9, tick, []),
            (90.0, tick, [Close(1), Close(2), IDLE]),
            (90.0, is_used(None), []),
            (90.0, due_in(None), []),
            (500.0, tick, []),
            (501.0, wake, [CONNECTING, Dial()]),
            (502.0, connects(3), [READY, Dial()]),
        ],
    ),
    "a link that rests connects for a request": (
        RESTS,
        [*BOTH, (90.0, tick, [Close(1), Close(2), IDLE]), (99.0, want, [CONNECTING, Dial()])],
    ),
    "keys, prompts and answers keep it awake": (
        RESTS,
        [
            *BOTH,
            (80.0, wake, []),
            (169.0, tick, []),
            (169.0, asks, []),
            (169.0, lambda life, now: _equal(life.used, 169.0), []),
            (500.0, tick, []),
            (500.0, has_its_answer, []),
            (589.0, tick, []),
            (590.0, tick, [Close(1), Close(2), IDLE]),
        ],
    ),
    "nothing rests while an attempt runs": (
        RESTS,
        [
            (0.0, start, [CONNECTING, Dial()]),
            (1.0, connects(1), [READY, Dial()]),
            (95.0, tick, []),
            (96.0, fails(), [Close(1), IDLE]),
        ],
    ),
    "a connection that moved to another network is cut, but for its answer": (
        SPARE,
        [
            *BOTH,
            (3.0, stands(1, Standing.SAME), []),
            (3.0, stands(2, Standing.SAME), []),
            (4.0, asks, []),
            (5.0, stands(1, Standing.MOVED), []),
            (5.0, stands(2, Standing.MOVED), [Cut(2), Dial()]),
            (6.0, has_its_answer, []),
            (7.0, stands(1, Standing.MOVED), [Cut(1), OFFLINE, CONNECTING]),
            (7.0, stands(9, Standing.GONE), []),
        ],
    ),
    "one whose address is gone is cut during its answer too": (
        PLAIN,
        [
            *UP,
            (2.0, stands(1, Standing.SAME), []),
            (3.0, asks, []),
            (4.0, stands(1, Standing.GONE), [Cut(1), OFFLINE, CONNECTING, Dial()]),
        ],
    ),
    "what looked so from the beginning says nothing": (
        PLAIN,
        [
            *UP,
            (2.0, stands(1, Standing.MOVED), []),
            (3.0, stands(1, Standing.MOVED), []),
            (4.0, stands(1, Standing.SAME), []),
            (5.0, stands(1, Standing.GONE), [Cut(1), OFFLINE, CONNECTING, Dial()]),
        ],
    ),
    "another address is dialled at once, and the note is said with success, once": (
        SPARE,
        [
            *BOTH,
            (3.0, redials("another route"), [Cut(2), Cut(1), OFFLINE, CONNECTING, Dial()]),
            (3.5, redials(), []),
            (4.0, connects(3), [Close(3), Dial()]),
            (5.0, connects(4), [told(LinkState.READY, "another route"), Dial()]),
            (6.0, cuts(4), [Cut(4), OFFLINE, CONNECTING]),
            (7.0, connects(5), [READY, Dial()]),
        ],
    ),
    "another address forgets the failures, and what an older attempt finds": (
        PLAIN,
        [
            (0.0, start, [CONNECTING, Dial()]),
            (1.0, fails(), [LOST]),
            (1.2, tick, [CONNECTING, Dial()]),
            (1.3, redials(), []),
            (1.4, warms, []),
            (1.5, fails(), [Dial()]),
            (2.0, fails(), [LOST]),
            (2.0, due_in(0.2), []),
        ],
    ),
    "the end of spark's own server is told once, and a request starts it again": (
        SPARE,
        [
            *BOTH,
            (3.0, host_ends, [Cut(2), Cut(1), OFFLINE, told(LinkState.FAILED, "the engine has ended")]),
            (3.5, host_ends, []),
            (900.0, tick, []),
            (901.0, want, [CONNECTING, Dial()]),
            (902.0, fails(ENDED), [told(LinkState.FAILED, "the engine has ended"), Refuse(ENDED)]),
        ],
    ),
    "an attempt that fails because spark's own server ended tells it not again": (
        PLAIN,
        [
            (0.0, start, [CONNECTING, Dial()]),
            (1.0, host_ends, [told(LinkState.FAILED, "the engine has ended")]),
            (1.5, fails(ENDED), []),
        ],
    ),
    "after the close nothing has an effect": (
        SPARE,
        [
            *BOTH,
            (3.0, closes, [Close(2), Close(1), OFFLINE]),
            (3.0, closes, []),
            (3.0, is_used(None), []),
            (4.0, want, []),
            (4.0, wake, []),
            (4.0, due_in(None), []),
            (4.0, fails(), []),
            (5.0, connects(3), [Close(3)]),
            (5.0, is_used(None), []),
        ],
    ),
}


def _equal(found: object, wanted: object) -> None:
    assert found == wanted


def play(service: Service, rows: Sequence[Row]) -> Lifecycle:
    life = Lifecycle(service, Backoff(), lambda: 0.5)
    for number, (now, event, effects) in enumerate(rows, 1):
        event(life, now)
        assert life.take() == effects, f"row {number}, at {now}"
    return life


@pytest.mark.parametrize("story", STORIES)
def test_the_link(story: str) -> None:
    play(*STORIES[story])


@pytest.mark.parametrize(
    ("service", "seconds"),
    [
        (Service(lifetime_seconds=3600.0, idle_seconds=600.0), 10.0),
        (Service(lifetime_seconds=100.0, idle_seconds=600.0), 5.0),
        (Service(lifetime_seconds=3600.0, idle_seconds=60.0), 3.0),
        (Service(lifetime_seconds=0.5, idle_seconds=60.0), 0.05),
    ],
)
def test_the_clocks_are_looked_at_in_time_for_the_shortest_limit(service: Service, seconds: float) -> None:
    assert play(service, UP).due(1.0) == pytest.approx(seconds)
