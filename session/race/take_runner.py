"""Takes an attempt of a race that is over, as a turn: its edits land in place of the winner's.

Lands an attempt's edits in the project: all of them fit, or none is written.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from edits.hunk import Hunk, Landed, Refused
from session.base.events import Event, HunkRefused, HunkUndone, PhaseChanged, TextDelta, TurnEnded
from session.base.tasks import log_fault
from session.base.text.sanitize import clean
from session.models.chosen import ChosenModel
from session.project.edit_thread import EditThread
from session.race.attempt_files import AttemptFiles
from session.race.attempt_life import Result
from session.turn.failures import INTERNAL, Failure, TurnFailedError, explain
from session.turn.hunk_life import Answer
from session.turn.lane import Lane
from session.turn.turn import Signal, Turn
from session.turn.turn_memory import TurnMemory

CHANGED = "changed"
"""The code of a turn that failed because the project changed under its attempts."""


def rehearse(edits: Sequence[Hunk], files: AttemptFiles) -> Result:
    """Place ``edits`` in ``files``, which are the project as it is now, and return what they do to it.
    Called in the edit thread.

    Raises TurnFailedError if one of them does not fit.
    """
    for edit in edits:
        placed = files.write(files.next_id(), "", edit, frozenset())
        if isinstance(placed, Refused):
            # The message may end in lines of the file.
            why = f"the project has changed, and the attempt no longer fits: {placed.message}"
            raise TurnFailedError(f"nothing was landed: {why}", CHANGED)
    return files.now().result()


async def land(edits: Sequence[Hunk], lane: Lane, landed: Callable[[], None]) -> None:
    """Land ``edits`` as hunks of the lane's turn, and wait until each has ended. ``landed`` is called at the
    end where any has landed."""
    try:
        for edit in edits:
            lane.land(edit)
        await lane.settled()
    finally:
        if any(isinstance(outcome, Landed) for outcome in lane.outcomes):
            landed()


MOST_DIFF = 20_000
"""Characters of a diff that the model is told."""
TAKEN = "I took another answer to that prompt in place of the last one. It is in the files now:\n"


@dataclass(frozen=True, slots=True)
class Takable:
    """An attempt that can be taken: its edits, which are ``diff`` as text; what its answer ``said``; the
    model that is named for the turn, and the input tokens. ``remember`` makes its conversation the session's;
    None where that has gone on since."""

    number: int
    prompt: str
    edits: Sequence[Hunk]
    diff: str
    said: str
    chosen: ChosenModel
    tokens: int
    remember: Callable[[TurnMemory], None] | None = None


class TakeRunner:
    """Undoes the winner's hunks, and lands those of ``attempt``."""

    def __init__(
        self,
        turn: Turn,
        prompt: str,
        lane: Lane,
        attempt: Takable,
        *,
        session: str,
        undo: Callable[[], Awaitable[list[HunkUndone | HunkRefused]]],
        files: Callable[[str], AttemptFiles],
        memory: TurnMemory,
        thread: EditThread,
        publish: Callable[[Event], None],
        landing: Callable[[str, int], None],
        keep: Callable[[], Awaitable[None]],
    ) -> None:
        """``undo`` takes back the winner's hunks. ``landing`` is called with the turn and the attempt once
        hunks of it have landed, and with none of either once the winner is undone; ``keep`` at the end."""
        self._keep = keep
        self.turn = turn
        self.prompt = prompt
        self._lane = lane
        self._attempt = attempt
        self._session = session
        self._undo = undo
        self._files = files
        self._memory = memory
        self._thread = thread
        self._publish = publish
        self._landing = landing
        self._failure: Failure | None = None

    async def run(self) -> None:
        """Do it, and tell how it ended."""
        for step in (self._take, self._lane.close, self._keep):
            try:
                await step()
            except Exception as problem:  # noqa: BLE001 - the turn must end, whatever of ours is at fault
                self._fail(problem)
        message, code = self._failure or (None, None)
        status = self.turn.phase.value if self._failure is None else "failed"
        self._publish(TurnEnded(turn=self.turn.name, status=status, message=message, code=code))

    def interrupt(self, *, redirected: bool = False) -> None:
        """Land nothing more."""
        if not self.turn.over:
            self._lane.stop()
            self._signal(Signal.INTERRUPT)

    def answer(self, held: str, answer: Answer) -> bool:
        """Allow or decline a held hunk (see ``Lane.answer``)."""
        return not self.turn.over and self._lane.answer(held, answer)

    async def _take(self) -> None:
        if self.turn.over:
            return
        taken, edits = self._attempt, self._attempt.edits
        self._publish(taken.chosen.turn_started(self._session, self.turn.name, taken.tokens))
        for signal in (Signal.SENT, Signal.ANSWERED):
            self._signal(signal)
        kept = [each for each in await self._undo() if isinstance(each, HunkRefused)]
        if kept:
            raise TurnFailedError(
                f"{len(kept)} hunks of the winner cannot be undone ({kept[0].message}): nothing was landed",
                CHANGED,
            )
        self._landing("", 0)
        files = self._files(f"{self.turn.name}.w")
        await self._thread.run(lambda: rehearse(edits, files))
        if self._stopped():
            return
        if taken.remember is not None:
            taken.remember(self._memory)
            if self._attempt.prompt in self._memory.unsent:
                self._memory.unsent.remove(self._attempt.prompt)
        else:
            self._memory.unsent.append(TAKEN + self._attempt.diff[:MOST_DIFF])
        self._publish(TextDelta(turn=self.turn.name, text=clean(self._attempt.said)))
        try:
            await land(edits, self._lane, lambda: self._landing(self.turn.name, taken.number))
        finally:
            self._memory.unreported += self._lane.outcomes
        self._signal(Signal.SETTLED)

    def _stopped(self) -> bool:
        """Whether the turn is over; a call, for that may have come while something was waited for."""
        return self.turn.over

    def _fail(self, problem: Exception) -> None:
        failure = explain(problem)
        if failure.code == INTERNAL:
            log_fault(f"taking an attempt in {self.turn.name}", problem)
        elif self.turn.over:
            return
        self._failure = self._failure or failure
        self._signal(Signal.FAIL)

    def _signal(self, signal: Signal) -> None:
        if self.turn.advance(signal):
            self._publish(PhaseChanged(turn=self.turn.name, phase=self.turn.phase.value))
