"""The user's commands for races: start one, look at its attempts, take another one than the winner.

``/try``: the words after it, and what they ask of the session.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from session.base.events import HunkRefused, HunkUndone, Notice
from session.base.storage.private_files import StoreError
from session.commands.check_commands import CheckCommands, CheckError, slots_here
from session.commands.hunk_commands import HunkCommands
from session.project.edit_thread import EditThread
from session.record.journal.recorder import Recorder
from session.setup.model_choice import ChoiceError, ModelChoice
from session.setup.opening import Opening
from session.setup.user_tables import MOST_ATTEMPTS
from session.tools.toolbox import Toolbox
from session.turn.money import MoneyBudget
from session.turn.preparation import Preparations
from session.turn.turn_memory import TurnMemory
from session.turn.turns import Turns
from session.wire.link.connection import Connection

if TYPE_CHECKING:
    from session.checks.check import Check
    from session.race.attempt import Attempt
    from session.race.attempt_files import AttemptFiles
    from session.race.kept_race import KeptAttempt, KeptRace
    from session.race.plan import RacePlan
    from session.race.race_runner import RaceRunner
    from session.race.take_runner import Takable, TakeRunner
    from session.turn.lane import Lane

NO_RACE = "there was no race yet in this project; /try 5 PROMPT begins one"


class RaceError(Exception):
    """A race cannot be started, or an attempt not taken; the message says why and what to do."""


class RaceCommands:
    """``Session.race``. Nothing of races is loaded before the first one."""

    def __init__(
        self,
        opening: Opening,
        session: str,
        *,
        connection: Connection | None,
        choice: ModelChoice,
        preparations: Preparations,
        memory: TurnMemory,
        thread: EditThread,
        toolbox: Toolbox,
        recorder: Recorder,
        turns: Turns,
        lane: Callable[[str], Lane],
        checks: CheckCommands,
        hunks: HunkCommands,
        money: MoneyBudget,
        attended: bool,
    ) -> None:
        self._opening = opening
        self._session = session
        self._connection = connection
        self._choice = choice
        self._preparations = preparations
        self._memory = memory
        self._thread = thread
        self._toolbox = toolbox
        self._publish = recorder.publish
        self._turns = turns
        self._lane = lane
        self._checks = checks
        self._hunks = hunks
        self._money = money
        self._attended = attended
        self._stops = 0
        """How often the user stopped what runs."""
        self._last: RaceRunner | None = None
        self._landed = ""
        """The turn whose hunks are those of the attempt that is in the project now."""
        self._taken = 0
        self._conversation = (0, 0)
        """The conversation when the last race began: how often it was cleared, and its length."""

    async def start(
        self,
        prompt: str,
        attempts: int,
        checks: Sequence[Check] | None = None,
        *,
        judge_all: bool = False,
        rounds: int | None = None,
        typed: str | None = None,
    ) -> str:
        """Begin a turn in which ``attempts`` attempts race, judged by ``checks`` or else by those that the
        user agreed to. ``rounds`` is how often a red attempt answers again, by default as the settings say;
        ``typed`` is the command that asked for it. Returns what judges them, in one line.
        Raises RaceError.
        """
        connection = self._connection
        if not 1 <= attempts <= MOST_ATTEMPTS:
            raise RaceError(f"a race has from 1 to {MOST_ATTEMPTS} attempts, not {attempts}")
        if connection is None:
            raise RaceError(self._opening.missing)
        if self._opening.local is not None:
            raise RaceError("the embedded engine answers one request at a time, so attempts cannot race")
        stops = self._stops
        try:
            judges = list(checks) if checks is not None else await self._checks.agreed()
        except CheckError as problem:
            raise RaceError(str(problem)) from problem
        await asyncio.to_thread(_load)
        if self._stops != stops:
            raise RaceError("the race was stopped before it began")
        if not judges:
            raise RaceError("a race needs a check that says which attempt is right")

        def make(name: str, text: str) -> RaceRunner:
            return self._make(name, self._lane(name), text, plan(), connection)

        def plan() -> RacePlan:
            return self._plan(
                prompt, attempts, judges, judge_all=judge_all, rounds=rounds, goals=checks is not None
            )

        try:
            plan()
        except ChoiceError as problem:
            raise RaceError(f"[attempts] in config.toml: {problem}") from problem
        self._turns.submit(prompt, make, typed=typed)
        return f"{attempts} attempts, judged by {', '.join(check.name for check in judges)}"

    def interrupt(self) -> None:
        """The user stops what runs: a race that is about to begin does not."""
        self._stops += 1

    def take(self, number: int) -> None:
        """Land attempt ``number`` of the last race, in place of the one that landed. Raises RaceError."""
        from session.race.take_runner import TakeRunner

        race = self._last
        if self._turns.running or (race is not None and not race.turn.over):
            raise RaceError("wait until the turn that runs has ended, or stop it")
        if number == self._taken and race is not None:
            raise RaceError(f"attempt {number} has landed already")
        taken, replaced, winner = self._takable(number)
        instead = f" in place of attempt {winner}" if winner else ""

        def make(name: str, text: str) -> TakeRunner:
            from session.turn.turn import Turn

            return TakeRunner(
                Turn(name),
                text,
                self._lane(name),
                taken,
                session=self._session,
                undo=lambda: self._hunks.undo_turn(*replaced) if replaced[0] else _nothing(),
                files=self._files,
                memory=self._memory,
                thread=self._thread,
                publish=self._publish,
                landing=self._lands,
                keep=self._keep,
            )

        self._turns.submit(f"Take attempt {number}{instead}: {taken.prompt}", make, typed="")

    def _takable(self, number: int) -> tuple[Takable, tuple[str, str], int]:
        """An attempt of the last race, of this session or else of the project; the turn and the session whose
        hunks it replaces, and the attempt that these are of. Raises RaceError."""
        from session.race.take_runner import Takable

        if self._last is None:
            return self._kept_takable(number)
        attempt = self._attempt(number)
        change = attempt.change
        if not change.edits:
            why = attempt.meter.refusals
            raise RaceError(f"attempt {number} changed nothing{why and '; '}{why}")
        conversation = self._memory.conversation
        follows = not self._landed and self._conversation == (conversation.starts, len(conversation.items))
        standing = attempt.variation.preparation.instruction_tokens + conversation.tokens
        taken = Takable(
            number,
            attempt.prompt,
            change.edits,
            change.diff(),
            attempt.said,
            attempt.variation.chosen,
            attempt.meter.input_tokens if follows else standing,
            attempt.remember if follows else None,
        )
        return taken, (self._landed, self._session), self._taken

    def _kept_takable(self, number: int) -> tuple[Takable, tuple[str, str], int]:
        from session.race.take_runner import Takable

        race, attempt = self._kept_attempt(number)
        if number == race.taken:
            raise RaceError(f"attempt {number} has landed already")
        if not (edits := attempt.edits()):
            raise RaceError(f"attempt {number} changed nothing")
        tokens = self._memory.conversation.tokens
        chosen = self._choice.chosen()
        taken = Takable(number, race.prompt, edits, attempt.diff, attempt.said, chosen, tokens)
        return taken, (race.turn, race.session), race.taken

    def _files(self, name: str) -> AttemptFiles:
        """The project's files as they are now, to place an attempt's edits in."""
        from session.race.attempt_files import AttemptFiles

        workspace = self._opening.workspace
        return AttemptFiles(name, workspace.rehearsal(), workspace.root, attended=self._attended)

    async def _keep(self) -> None:
        """Keep the attempts of the last race on disk, with the one that is in the project."""
        try:
            await asyncio.to_thread(self._write)
        except StoreError as problem:
            self._publish(Notice(level="warning", text=str(problem)))

    def _write(self) -> None:
        from session.race.kept_race import keep, read_race
        from session.race.race_events import kept_race

        folder, race = self._opening.workspace.folders.state, self._last
        if race is not None:
            kept = kept_race(race.prompt, self._session, self._landed, self._taken, race.race, race.attempts)
            keep(folder, kept)
        elif (before := read_race(folder)) is not None:
            keep(folder, replace(before, session=self._session, turn=self._landed, taken=self._taken))

    @property
    def green(self) -> frozenset[int]:
        """The attempts of the last race with which every check is green."""
        if self._last is None:
            return frozenset()
        race = self._last.race
        return frozenset(number for number, life in race.lives.items() if race.all_green(life))

    def diff(self, number: int) -> str:
        """What attempt ``number`` of the last race changes, as a unified diff. It may read the disk. Raises
        RaceError."""
        if self._last is None:
            return self._kept_attempt(number)[1].diff
        return self._attempt(number).change.diff()

    def kept(self) -> KeptRace:
        """The last race of the project, from disk. Raises RaceError."""
        from session.race.kept_race import read_race

        try:
            race = read_race(self._opening.workspace.folders.state)
        except StoreError as problem:
            raise RaceError(str(problem)) from problem
        if race is None:
            raise RaceError(NO_RACE)
        return race

    def _kept_attempt(self, number: int) -> tuple[KeptRace, KeptAttempt]:
        race = self.kept()
        attempt = next((each for each in race.attempts if each.number == number), None)
        if attempt is None:
            raise RaceError(f"the last race has no attempt {number}; it has 1 to {len(race.attempts)}")
        return race, attempt

    def _attempt(self, number: int) -> Attempt:
        if self._last is None:
            raise RaceError(NO_RACE)
        attempt = self._last.attempts.get(number)
        if attempt is None:
            raise RaceError(f"the last race has no attempt {number}; it has 1 to {len(self._last.attempts)}")
        return attempt

    def _make(
        self,
        name: str,
        lane: Lane,
        prompt: str,
        plan: RacePlan,
        connection: Connection,
    ) -> RaceRunner:
        from session.race.attempt_maker import AttemptMaker
        from session.race.judge import Judge
        from session.race.race_runner import RaceRunner
        from session.turn.turn import Turn

        maker = AttemptMaker(
            plan,
            prompt,
            self._opening,
            session=self._session,
            connection=connection,
            memory=self._memory,
            workspace=self._opening.workspace,
            thread=self._thread,
            toolbox=self._toolbox.as_now(),
            attended=self._attended,
        )
        conversation = self._memory.conversation
        self._conversation = (conversation.starts, len(conversation.items))
        self._landed, self._taken = "", 0
        self._last = RaceRunner(
            Turn(name),
            prompt,
            lane,
            session=self._session,
            plan=plan,
            maker=maker,
            judge=Judge(self._checks.attempts_runner(), plan.checks, self._checks.reaching),
            memory=self._memory,
            thread=self._thread,
            publish=self._publish,
            landing=self._lands,
            keep=self._keep,
            money=self._money,
            attended=self._attended,
        )
        return self._last

    def _lands(self, turn: str, attempt: int) -> None:
        self._landed, self._taken = turn, attempt

    def _plan(
        self,
        prompt: str,
        attempts: int,
        checks: Sequence[Check],
        *,
        judge_all: bool,
        rounds: int | None,
        goals: bool,
    ) -> RacePlan:
        from session.checks.check import by_cost
        from session.race.plan import RaceLimits, RacePlan
        from session.race.variations import vary

        settings = self._opening.settings.attempts
        return RacePlan(
            vary(
                attempts,
                prompt,
                self._opening,
                session=self._session,
                toolbox=self._toolbox,
                choice=self._choice,
                preparations=self._preparations,
            ),
            by_cost(checks),
            RaceLimits(
                settings.tokens,
                settings.cost,
                settings.minutes * 60 if settings.minutes else None,
            ),
            settings.checks_at_once or (MOST_ATTEMPTS if settings.cluster else slots_here()),
            judge_all,
            settings.rounds if rounds is None else rounds,
            goals,
        )


def _load() -> None:
    """Load what a race needs, away from the event loop."""
    import session.race.attempt_files
    import session.race.attempt_maker
    import session.race.plan  # noqa: F401 (loaded for later)


async def _nothing() -> list[HunkUndone | HunkRefused]:
    return []


ATTEMPTS = 5
"""The attempts of a race whose number is not given."""
_WORDS = re.compile(r"(?:(?P<all>all)\s+)?(?:(?P<count>\d{1,4})(?:\s+|$))?(?P<prompt>.*)", re.DOTALL)
_TAKE = re.compile(r"take\s+(\d{1,4})")


@dataclass(frozen=True, slots=True)
class Try:
    """What ``/try`` asks for: a race, or with ``take`` an attempt of the last one."""

    prompt: str = ""
    attempts: int = ATTEMPTS
    judge_all: bool = False
    take: int = 0


def read_try(argument: str) -> Try:
    """The words after ``/try``."""
    taken = _TAKE.fullmatch(argument.strip())
    if taken is not None:
        return Try(take=int(taken[1]))
    words = _WORDS.fullmatch(argument.strip())
    assert words is not None, "the pattern takes any text"
    count = words["count"]
    return Try(words["prompt"], ATTEMPTS if count is None else int(count), words["all"] is not None)


async def run_try(race: RaceCommands, argument: str) -> str:
    """Begin a race, or take an attempt; returns a line for the user. Raises RaceError."""
    asked = read_try(argument)
    if asked.take:
        race.take(asked.take)
        return ""
    if not asked.prompt.strip():
        raise RaceError("say what the attempts are to do, as in: /try 5 make the failing test pass")
    typed = f"/try {argument.strip()}"
    return await race.start(asked.prompt, asked.attempts, judge_all=asked.judge_all, typed=typed)
