"""The life of one hunk in a turn, as a state machine without I/O, and its events: the question to the user,
and how it ended.

A hunk is typed, then it is whole and waits for its turn, then it lands. The user may be asked about
it on the way: early, while it is still typed, or when a guard or review mode holds it back.

Rules, which the table holds:

1. A hunk ends exactly once: landed, refused, declined or dropped. A signal that comes later changes
   nothing.
2. Only a hunk with an open question can be agreed to. Any hunk can be declined until it lands, also
   while it is typed or waits its turn. Declined is an end: nothing that happens afterwards can land
   the hunk.
3. Nothing is written while a question is open. A hunk that was asked about early is checked (placed
   without writing) when its turn comes, and is asked about with all reasons, or lands. One that the
   user agreed to during its check waits again where a hunk before it in the same file has not ended.
4. A stop does not drop a hunk that is being written: its write finishes and the result counts. One
   whose write had not begun, because landing was paused, is dropped.
5. A question ends with its hunk, so no question outlives the hunk it is about.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from edits.hunk import Guard, Hunk, Landed, Refused
from edits.report import NotReceived, UndoneByUser
from session.base.events import HunkDropped, HunkHeld, HunkLanded, HunkRedone, HunkRefused, HunkUndone
from session.base.text.sanitize import clean, clean_line
from session.tools.tool import Consent
from session.turn.turn import IllegalSignalError

HunkOutcome = Landed | Refused | NotReceived
"""The end of a hunk within its turn."""
MODEL_THOUGHT = "it stood in your thinking, so it was taken back"
"""What the model is told of a hunk that landed before its answer showed that it was a draft."""


class State(StrEnum):
    """The states of a hunk. In those named ``… asked``, and in ``held``, its question is open."""

    OPEN = "open"
    OPEN_ASKED = "open, asked"
    WAITING = "waiting"
    WAITING_ASKED = "waiting, asked"
    CHECKING = "checking"
    CHECKING_ASKED = "checking, asked"
    HELD = "held"
    LANDING = "landing"
    LANDED = "landed"
    REFUSED = "refused"
    DECLINED = "declined"
    DROPPED = "dropped"


class Signal(StrEnum):
    """The events in the life of a hunk."""

    ASK = "ask"
    AGREE = "agree"
    DECLINE = "decline"
    COMPLETE = "complete"
    CHECK = "check"
    WAIT = "wait"
    LAND = "land"
    LANDED = "landed"
    REFUSE = "refuse"
    DROP = "drop"


_STOPS = {Signal.DROP: State.DROPPED}
_ENDS = {Signal.REFUSE: State.REFUSED, **_STOPS}

TABLE: dict[State, dict[Signal, State]] = {
    State.OPEN: {
        Signal.ASK: State.OPEN_ASKED,
        Signal.DECLINE: State.DECLINED,
        Signal.COMPLETE: State.WAITING,
        **_ENDS,
    },
    State.OPEN_ASKED: {
        Signal.AGREE: State.OPEN,
        Signal.DECLINE: State.DECLINED,
        Signal.COMPLETE: State.WAITING_ASKED,
        **_ENDS,
    },
    State.WAITING: {
        Signal.ASK: State.WAITING_ASKED,
        Signal.DECLINE: State.DECLINED,
        Signal.CHECK: State.CHECKING,
        Signal.LAND: State.LANDING,
        **_STOPS,
    },
    State.WAITING_ASKED: {
        Signal.AGREE: State.WAITING,
        Signal.DECLINE: State.DECLINED,
        Signal.CHECK: State.CHECKING_ASKED,
        **_STOPS,
    },
    State.CHECKING: {
        Signal.ASK: State.HELD,
        Signal.DECLINE: State.DECLINED,
        Signal.LAND: State.LANDING,
        Signal.WAIT: State.WAITING,
        **_ENDS,
    },
    State.CHECKING_ASKED: {
        Signal.WAIT: State.WAITING_ASKED,
        Signal.AGREE: State.CHECKING,
        Signal.DECLINE: State.DECLINED,
        Signal.ASK: State.HELD,
        Signal.LAND: State.LANDING,
        **_ENDS,
    },
    State.HELD: {Signal.AGREE: State.WAITING, Signal.DECLINE: State.DECLINED, **_STOPS},
    State.LANDING: {Signal.ASK: State.HELD, Signal.LANDED: State.LANDED, **_ENDS},
    State.LANDED: {},
    State.REFUSED: {},
    State.DECLINED: {},
    State.DROPPED: {},
}

ASKED = frozenset({State.OPEN_ASKED, State.WAITING_ASKED, State.CHECKING_ASKED, State.HELD})
"""The states in which the user can answer."""
DECLINABLE = frozenset(state for state, row in TABLE.items() if Signal.DECLINE in row)
"""The states in which the user can decline."""
TYPED = frozenset({State.OPEN, State.OPEN_ASKED})
"""The states in which the model may still send more of the hunk."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question to the user: may this hunk land?

    ``path`` is the hunk's file. ``guard`` names the first reason to ask, one of ``edits.hunk.Guard`` or
    ``review``; ``message`` gives all reasons in words. A yes allows the hunk to pass ``guards``.
    """

    path: str
    guard: str
    message: str
    guards: frozenset[Guard] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The user's answer to what is held, a hunk or a tool call: may it land, or run?

    With ``rest`` it also answers all that this turn will still hold. For hunks alone, ``why`` goes to the
    model with a no, and ``new`` are the lines that land in place of the hunk's own. For calls alone,
    ``scope`` says for how long a yes holds.
    """

    land: bool
    rest: bool = False
    why: str = ""
    new: Sequence[str] | None = None
    scope: Consent = Consent.ONCE


class HunkLife:
    """One hunk: its state and what is known of it so far. Only ``advance`` changes the state."""

    __slots__ = (
        *("agreed", "allowed", "divided", "edit", "edited", "landing_with"),
        *("name", "outcome", "path", "question", "state"),
    )

    def __init__(self, name: str, path: str) -> None:
        self.name = name
        self.path = path
        self.state = State.OPEN
        self.edit: Hunk | None = None
        """The hunk itself, once it is whole and until it has ended: a long answer has hundreds."""
        self.divided = False
        """Whether a whole file was divided into its hunks, of which this is one."""
        self.edited = False
        """Whether the user has changed what lands."""
        self.question: Question | None = None
        """The last question about the hunk."""
        self.agreed = False
        """Whether the user has agreed to a question about this hunk."""
        self.allowed: frozenset[Guard] = frozenset()
        """The guards that the user agreed to."""
        self.landing_with: frozenset[Guard] = frozenset()
        """The guards that its last try to land was told to allow."""
        self.outcome: HunkOutcome | UndoneByUser | None = None
        """The hunk's end, once it has ended; for one that was taken back, that."""

    @property
    def over(self) -> bool:
        """Whether the hunk has ended."""
        return not TABLE[self.state]

    @property
    def asked(self) -> bool:
        """Whether its question is open."""
        return self.state in ASKED

    @property
    def typed(self) -> bool:
        """Whether the model may still send more of it."""
        return self.state in TYPED

    def advance(self, signal: Signal) -> bool:
        """Change the state as ``signal`` demands; false if the hunk had ended before, which changes nothing.

        Raises IllegalSignalError for a signal that is not allowed in this state.
        """
        if self.over:
            return False
        try:
            self.state = TABLE[self.state][signal]
        except KeyError:
            raise IllegalSignalError(f"{signal} while {self.state} in hunk {self.name}") from None
        if not TABLE[self.state]:
            self.edit = None
        return True


def held_event(hunk: str, question: Question, turn: str) -> HunkHeld:
    """The event that puts a question about a hunk to the user."""
    path, message = clean_line(question.path), clean(question.message)
    return HunkHeld(turn=turn, hunk=hunk, path=path, guard=question.guard, message=message)


def outcome_event(outcome: HunkOutcome, turn: str) -> HunkLanded | HunkRefused | HunkDropped:
    """The event for the end of a hunk."""
    if isinstance(outcome, NotReceived):
        return HunkDropped(turn=turn, hunk=outcome.hunk, path=clean_line(outcome.path))
    return landed_event(outcome, turn)


def landed_event(result: Landed | Refused, turn: str) -> HunkLanded | HunkRefused:
    """The event for the result of a landing."""
    if isinstance(result, Refused):
        return refused_event(result, turn)
    path, moved_to = _paths(result)
    return HunkLanded(
        turn=turn,
        hunk=result.hunk,
        path=path,
        status=result.status.value,
        tier=int(result.rung),
        start=result.start,
        end=result.end,
        action=result.action.value,
        moved_to=moved_to,
        added=result.extent.added,
        removed=result.extent.removed,
        sample=clean_line(result.extent.sample),
    )


def undone_event(result: Landed, why: str = "") -> HunkUndone:
    """The event for a hunk that was undone; ``why`` is the user's word on it."""
    path, moved_to = _paths(result)
    return HunkUndone(
        hunk=result.hunk, path=path, start=result.start, end=result.end, moved_to=moved_to, why=why
    )


def redone_event(result: Landed) -> HunkRedone:
    """The event for a hunk that landed again."""
    path, moved_to = _paths(result)
    return HunkRedone(hunk=result.hunk, path=path, start=result.start, end=result.end, moved_to=moved_to)


def _paths(result: Landed) -> tuple[str, str | None]:
    return clean_line(result.path), clean_line(result.moved_to) if result.moved_to else None


def refused_event(result: Refused, turn: str) -> HunkRefused:
    """The event that says why a hunk was not landed."""
    return HunkRefused(
        turn=turn,
        hunk=result.hunk,
        path=clean_line(result.path),
        code=result.code.value,
        message=clean(result.message),
        by=result.by.value,
        why=clean(result.why),
    )
