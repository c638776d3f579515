"""The hunks of one turn on their way to disk: which lands next, what the user is asked, how each ends.

The queue does no I/O. Each method takes one thing that happened and returns the effects that follow
from it, in order; the lane carries them out and reports the results of ``Check`` and ``Land`` back.
Hunks are checked and land one at a time, in the order in which they became whole. A hunk with an open
question holds up the ones behind it, but those that the user has agreed to and that are in other files.
Every open question can be answered at any time, and a hunk can be declined until it lands; review mode
asks about each hunk as soon as it is whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from posixpath import normpath

from edits.files.diff import rewritten
from edits.hunk import Format, Guard, Held, Hunk, Landed, RefusalCode, Refused, RefusedBy, Status
from edits.report import DECLINED, NotReceived, Outcome, UndoneByUser
from session.turn.hunk_life import (
    DECLINABLE,
    MODEL_THOUGHT,
    Answer,
    HunkLife,
    HunkOutcome,
    Question,
    Signal,
    State,
)

REVIEW = "review"
REVIEW_MESSAGE = "review mode holds every edit until you answer"
ABOUT_TEXT = frozenset({Guard.DEPENDENCY, Guard.RUNS, Guard.SECRET})
"""The guards at whose questions it matters who wrote the new text."""


@dataclass(frozen=True, slots=True)
class Ask:
    """Put a question to the user. A later one about the same hunk replaces it.

    ``edit`` is the hunk, where it is whole and the question is about what it says. With ``again`` the same
    question was put before the hunk was whole."""

    hunk: str
    question: Question
    edit: Hunk | None = None
    again: bool = False


@dataclass(frozen=True, slots=True)
class Locate:
    """Show the user the lines that a held hunk would replace."""

    hunk: str
    edit: Hunk


@dataclass(frozen=True, slots=True)
class Divide:
    """Divide the whole file into its hunks, and give them to ``LandingQueue.divided``."""

    hunk: str
    edit: Hunk


@dataclass(frozen=True, slots=True)
class Check:
    """Place the hunk without writing, and report the result to ``LandingQueue.checked``."""

    hunk: str
    edit: Hunk


@dataclass(frozen=True, slots=True)
class Land:
    """Land the hunk, and report the result to ``LandingQueue.landed``."""

    hunk: str
    edit: Hunk
    allow: frozenset[Guard]


@dataclass(frozen=True, slots=True)
class End:
    """Report the end of a hunk. Each hunk has exactly one; it also closes the hunk's question."""

    hunk: str
    outcome: HunkOutcome


Effect = Ask | Locate | Divide | Check | Land | End


_AT_WORK = frozenset({State.CHECKING, State.CHECKING_ASKED, State.LANDING})
"""The states in which the edit thread has a job for a hunk."""


class LandingQueue:
    """The hunks of one turn. ``attended`` says that a user can be asked; ``review`` holds every hunk."""

    def __init__(self, *, attended: bool, review: bool) -> None:
        self._attended = attended
        self._review = review
        self._hunks: dict[str, HunkLife] = {}
        self._whole: list[HunkLife] = []
        """The live hunks that are whole, in the order in which they land."""
        self._rest: bool | None = None
        """The user's answer to all questions that are still to come; None until they give one."""
        self._last_questions = False
        self.stopped = False

    @property
    def outcomes(self) -> list[Outcome]:
        """The ends of the hunks that have ended, in the order of the answer."""
        return [life.outcome for life in self._hunks.values() if life.outcome is not None]

    @property
    def idle(self) -> bool:
        """Whether no whole hunk waits or lands."""
        return not self._whole

    def state(self, hunk: str) -> State:
        """The state of ``hunk``."""
        return self._hunks[hunk].state

    def asks(self, hunk: str, question: Question) -> bool:
        """Whether this question about ``hunk`` is open."""
        life = self._hunks[hunk]
        return life.asked and life.question == question

    def opened(self, hunk: str, path: str) -> None:
        """The model began a hunk. A stopped queue takes no more of them."""
        if hunk not in self._hunks and not self.stopped:
            self._hunks[hunk] = HunkLife(hunk, path)

    def typing(self, hunk: str) -> bool:
        """Whether the model is still typing ``hunk``, so that its text is to be shown."""
        return hunk in self._hunks and self._hunks[hunk].typed

    def foreseen(self, hunk: str, held: Held) -> list[Effect]:
        """The path of ``hunk`` alone trips a guard: ask before it is whole.

        Once the hunk is being placed, its own result tells more, and nothing is asked here.
        """
        life = self._hunks.get(hunk)
        if life is None or life.state not in (State.OPEN, State.WAITING):
            return []
        if self._rest is True or self._last_questions or not self._attended:
            return []
        return [*self._ask(life, _question(held)), *self._next()]

    def completed(self, hunk: str, edit: Hunk) -> list[Effect]:
        """``hunk`` is whole and may land when its turn comes."""
        self.opened(hunk, edit.path)
        life = self._hunks.get(hunk)
        if life is None or not life.advance(Signal.COMPLETE):
            return []
        life.edit = edit
        self._whole.append(life)
        asked = [_ask(life, again=True)] if life.asked else []
        return [*(each for each in asked if each.edit), *self._next()]

    def divided(self, hunk: str, parts: Sequence[tuple[str, Hunk]]) -> list[Effect]:
        """Take the hunks that a whole file consists of, the first under the name of the file's own."""
        whole = self._hunks[hunk]
        if whole.over:
            return []
        at = self._whole.index(whole)
        for place, (name, edit) in enumerate(parts):
            life = self._hunks.setdefault(name, HunkLife(name, edit.path))
            life.edit, life.path, life.divided = edit, edit.path, True
            if life is not whole:
                life.advance(Signal.COMPLETE)
                self._whole.insert(at + place, life)
        whole.advance(Signal.WAIT)
        return self._next()

    def broken(self, refused: Refused) -> list[Effect]:
        """A hunk is malformed and cannot land; an open question about it is withdrawn."""
        self.opened(refused.hunk, refused.path)
        life = self._hunks.get(refused.hunk)
        return self._end(life, Signal.REFUSE, refused) if life is not None else []

    def cut(self, hunk: str, path: str) -> list[Effect]:
        """The stream of ``hunk`` was lost before its end: the model may send it again."""
        self.opened(hunk, path)
        life = self._hunks.get(hunk)
        return self._drop(life) if life is not None else []

    def answer(self, hunk: str, answer: Answer) -> list[Effect] | None:
        """Take the user's answer about ``hunk``. None when it has no open question, or is not whole yet and
        cannot be edited. One that was not asked about can be declined until it lands."""
        life = self._hunks.get(hunk)
        if life is None or (answer.new is not None and life.edit is None):
            return None
        if not life.asked and (answer.land or answer.rest or life.state not in DECLINABLE):
            return None
        if answer.new is not None and life.edit is not None:
            life.edit, life.edited = rewritten(life.edit, answer.new), True
        answered = [life]
        if answer.rest:
            self._rest = answer.land
            answered = [each for each in self._hunks.values() if each.asked]
        effects = [
            effect for each in answered for effect in self._answered(each, land=answer.land, why=answer.why)
        ]
        return [*effects, *self._next()]

    def checked(self, hunk: str, result: Landed | Refused) -> list[Effect]:
        """Take the result of a ``Check``. It is ignored if the hunk has ended meanwhile."""
        life = self._hunks[hunk]
        if life.over:
            return []
        behind = self._is_behind(life)
        if life.agreed or self._rest is True:
            if not behind:
                return self._land(life)
            life.advance(Signal.WAIT)
            return self._next()
        if isinstance(result, Held):
            return [*self._ask(life, _question(result, review=self._review)), *self._next()]
        # What a hunk before it changes in the file may be what this one did not find.
        if isinstance(result, Refused) and not behind:
            return [*self._end(life, Signal.REFUSE, result), *self._next()]
        there = isinstance(result, Landed) and result.status is Status.ALREADY_APPLIED
        if behind or (self._review and not there):
            return [*self._ask(life, Question(life.path, REVIEW, REVIEW_MESSAGE)), *self._next()]
        # The file was unlocked meanwhile, or the hunk is on disk already.
        return self._land(life)

    def landed(self, hunk: str, result: Landed | Refused) -> list[Effect]:
        """Take the result of a ``Land``: landed, refused, or held by guards that the user has not allowed."""
        life = self._hunks[hunk]
        if isinstance(result, Landed):
            if life.edited and life.edit is not None:
                result = replace(result, edited=life.edit.new)
            return [*self._end(life, Signal.LANDED, result), *self._next()]
        # A guard that holds the hunk although the user allowed it must not ask for ever.
        if not isinstance(result, Held) or not self._attended or set(result.guards) <= life.landing_with:
            return [*self._end(life, Signal.REFUSE, result), *self._next()]
        if self.stopped:
            return self._drop(life)
        return [*self._ask(life, _question(result)), *self._next()]

    def not_begun(self, hunk: str) -> list[Effect]:
        """A ``Land`` whose write had not begun when the turn was stopped: nothing of it is on disk."""
        return self._drop(self._hunks[hunk])

    def last_questions(self) -> list[Effect]:
        """No more questions can be answered: land whole hunks up to the first question, and drop the rest."""
        self._last_questions = True
        return self._next()

    def drop_drafts(self) -> tuple[list[Effect], list[str]]:
        """All hunks so far were drafts: drop those that are not being written, and name those that are or
        have landed, newest first. They are to be taken back."""
        dropped = [
            effect
            for life in self._hunks.values()
            if not life.over and life.state is not State.LANDING
            for effect in self._drop(life)
        ]
        written = [
            life.name
            for life in self._hunks.values()
            if life.state is State.LANDING
            or (isinstance(life.outcome, Landed) and life.outcome.status is not Status.ALREADY_APPLIED)
        ]
        return [*dropped, *self._next()], written[::-1]

    def taken_back(self, result: Landed) -> None:
        """A hunk that had landed was undone, since it was a draft."""
        self._hunks[result.hunk].outcome = UndoneByUser(result.hunk, result.path, MODEL_THOUGHT)

    def stop(self) -> list[Effect]:
        """Drop every hunk but the one that is landing, and accept no more."""
        self.stopped = True
        live = [life for life in self._hunks.values() if not life.over and life.state is not State.LANDING]
        return [effect for life in live for effect in self._drop(life)]

    def _next(self) -> list[Effect]:
        """Begin what can begin, unless a hunk is being checked or lands."""
        if self._whole and self._whole[0].state is State.HELD and self._last_questions:
            return self.stop()
        if any(life.state in _AT_WORK for life in self._whole):
            return []
        for life in self._whole:
            first = life is self._whole[0]
            if not life.divided and _whole(life).format is Format.WHOLE:
                if first and life.state in (State.WAITING, State.WAITING_ASKED):
                    life.advance(Signal.CHECK)
                    return [Divide(life.name, _whole(life))]
                continue
            if life.state is State.WAITING and self._may_land(life, first=first):
                return self._land(life)
            if life.state in (State.WAITING, State.WAITING_ASKED) and (first or self._asks(life)):
                life.advance(Signal.CHECK)
                return [Check(life.name, _whole(life))]
        return []

    def _may_land(self, life: HunkLife, *, first: bool) -> bool:
        if life.agreed or self._rest is True:
            return not self._is_behind(life)
        return first and not self._review

    def _asks(self, life: HunkLife) -> bool:
        """Whether the user is asked about a hunk before its turn to land comes."""
        return self._review and not life.agreed and self._rest is None

    def _is_behind(self, life: HunkLife) -> bool:
        """Whether a hunk before this one, which has not ended, is in the same file."""
        before = self._whole[: self._whole.index(life)]
        return any(_files(life) & _files(each) for each in before)

    def _land(self, life: HunkLife) -> list[Effect]:
        life.advance(Signal.LAND)
        life.landing_with = frozenset(Guard) if self._rest is True else life.allowed
        return [Land(life.name, _whole(life), life.landing_with)]

    def _ask(self, life: HunkLife, question: Question) -> list[Effect]:
        """Open a question, or answer it at once where that can be done without the user."""
        if not self._attended:
            message = f"{question.message}; nobody can be asked here"
            refused = Refused(life.name, question.path, RefusalCode.LOCKED, message)
            return self._end(life, Signal.REFUSE, refused)
        before = life.question if life.asked else None
        life.advance(Signal.ASK)
        life.question = question
        if self._last_questions:
            return []
        if self._rest is not None:
            return self._answered(life, land=self._rest)
        said: list[Effect] = []
        if before is None or before.message != question.message:
            said.append(_ask(life))
        if life.state is State.HELD:
            said.append(Locate(life.name, _whole(life)))
        return said

    def _answered(self, life: HunkLife, *, land: bool, why: str = "") -> list[Effect]:
        question = life.question
        if land:
            assert question is not None, "an asked hunk has a question"
            life.advance(Signal.AGREE)
            life.agreed = True
            life.allowed |= question.guards
            return []
        told = f" ({question.message})" if question is not None else ""
        message = f"{DECLINED}: {why}" if why else f"{DECLINED}{told}"
        path = question.path if question is not None else life.path
        refused = Refused(life.name, path, RefusalCode.LOCKED, message, by=RefusedBy.USER, why=why)
        return self._end(life, Signal.DECLINE, refused)

    def _drop(self, life: HunkLife) -> list[Effect]:
        return self._end(life, Signal.DROP, NotReceived(life.name, life.path))

    def _end(self, life: HunkLife, signal: Signal, outcome: HunkOutcome) -> list[Effect]:
        if not life.advance(signal):
            return []
        life.outcome = outcome
        if life in self._whole:
            self._whole.remove(life)
        return [End(life.name, outcome)]


def _ask(life: HunkLife, *, again: bool = False) -> Ask:
    assert life.question is not None, "an asked hunk has a question"
    about_text = life.question.guards & ABOUT_TEXT
    return Ask(life.name, life.question, life.edit if about_text else None, again)


def _question(held: Held, *, review: bool = False) -> Question:
    guard, message = held.guards[0].value, held.message
    if review:
        guard, message = REVIEW, f"{message}; {REVIEW_MESSAGE}"
    return Question(held.path, guard, message, frozenset(held.guards))


def _files(life: HunkLife) -> set[str]:
    edit = _whole(life)
    return {normpath(path) for path in (edit.path, edit.move_to) if path}


def _whole(life: HunkLife) -> Hunk:
    assert life.edit is not None, "a hunk past its typing is whole"
    return life.edit
