"""The project's checks, run and followed while a session is open."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from edits.files.text import FileError
from session.base.events import CheckEnded, CheckStarted, Event, HunkRefused, Notice, TurnEnded, TurnJudged
from session.base.storage.private_files import StoreError
from session.base.tasks import BackgroundTasks
from session.base.text.sanitize import clean_line
from session.checks.red import AutoFix, RedNow, Round, RoundsOver
from session.commands.hunk_commands import HunkCommands
from session.project.indexing import ProjectReading
from session.record.journal.recorder import Recorder
from session.setup.opening import Opening
from session.turn.turns import Turns

if TYPE_CHECKING:
    from session.checks.check import Check
    from session.checks.finding import LandedHunk, Verdict
    from session.checks.known_checks import KnownChecks
    from session.checks.runner import CheckRunner, RunsChecks
    from session.checks.sandbox.sandbox import Sandboxes
    from session.race.cluster.runner import Cluster

NO_CHECKS = "This project has no checks: add [[checks]] to config.toml (docs/checks.md)."


class CheckError(Exception):
    """A check cannot be run or followed; the message says why and what to do."""


class CheckCommands:
    """``Session.checks``. Nothing of the checks is loaded before the first command."""

    def __init__(
        self,
        opening: Opening,
        recorder: Recorder,
        tasks: BackgroundTasks,
        reading: ProjectReading,
        hunks: HunkCommands,
        turns: Turns,
        past: Iterable[Event] = (),
    ) -> None:
        """``past`` are the events of a resumed session, whose verdicts still stand."""
        self._opening = opening
        self._recorder = recorder
        self._tasks = tasks
        self._reading = reading
        self._hunks = hunks
        self._turns = turns
        self._shown: dict[str, Check] = {}
        """The checks as they were last listed, by name: what the user can agree to."""
        self._following: list[asyncio.Task[None]] = []
        self._take: list[Callable[[Event], None]] = []
        self._auto: AutoFix | None = None
        self._ends: dict[str, dict[str, CheckEnded]] = {}
        """What the checks of the project said after each turn."""
        self._cluster: Cluster | None = None
        self._red = RedNow(past)
        recorder.subscribe(self._note)

    @property
    def following(self) -> bool:
        """Whether hunks are judged as they land."""
        return bool(self._following)

    async def listed(self) -> list[tuple[Check, bool]]:
        """The checks of the project, each with whether it is agreed to. Raises CheckError."""
        known = await asyncio.to_thread(self._known)
        agreed = await asyncio.to_thread(self._read_agreed, known)
        self._shown = {check.name: check for check in known.all()}
        return [(check, check in agreed) for check in self._shown.values()]

    async def agree(self, name: str) -> Check:
        """Agree to the check ``name`` for this project, as it was listed, and return it.

        Raises CheckError where it was not listed: nobody can agree to a command that was not shown.
        """
        check = self._shown.get(name)
        if check is None:
            raise CheckError(f"/check list shows what each check runs; then: /check agree {name}")
        known = await asyncio.to_thread(self._known)
        try:
            await asyncio.to_thread(known.agree, [check])
        except StoreError as problem:
            raise CheckError(str(problem)) from problem
        return check

    async def run(self) -> str:
        """Run every agreed check once, in the background; events tell what comes of it. Returns which.

        Raises CheckError where there is none.
        """
        checks = await self.agreed()
        self._tasks.start(self._run(checks), "running the checks", consequence="run them with: spark check")
        return f"running {_listed(checks)}"

    async def follow(self, checks: Sequence[Check] | None = None, rounds: int | None = None) -> str:
        """Judge hunks from now on as they land, and turns as they end, by ``checks``, which are to become
        green, or else by those that the user agreed to; ``rounds`` is the most of auto-fix, by default that
        of the settings. Returns with which checks. Raises CheckError."""
        from session.checks.hunk_checks import HunkChecks
        from session.checks.turn_checks import TurnChecks

        goals = checks is not None
        checks = list(checks) if checks is not None else await self.agreed()
        self.stop_following()
        root, run, publish = self._opening.workspace.root, self.runner().run, self._recorder.publish
        hunks = HunkChecks(root, checks, run, self._places, publish)
        hunks.look_ahead()
        turns = TurnChecks(
            root,
            checks,
            run,
            self.reaching,
            self._look_back,
            publish,
            hunks.settled,
            self._judged,
            goals=goals,
        )
        rounds = self._opening.settings.auto_fix if rounds is None else rounds
        self._auto = auto = AutoFix(rounds)
        self._ends = {}

        def take(event: Event) -> None:
            told = auto.take(event)
            if told and isinstance(event, TurnEnded):
                self._warn(told)
                self._end_rounds(event.turn, auto.given_up())

        self._take = [hunks.take, turns.take, take]
        lost = "hunks are no longer judged; /check on judges them again"
        self._following = [
            self._tasks.start(hunks.judge_hunks(), "judging hunks", consequence=lost),
            self._tasks.start(turns.judge_turns(), "judging turns", consequence=lost),
        ]
        fixes = f"; what is red goes back by itself, {_times(rounds)}" if rounds else ""
        return f"hunks are judged as they land, by {_listed(checks)}{fixes}"

    def stop_following(self) -> None:
        """Judge hunks no more."""
        self._take = []
        self._auto = None
        for task in self._following:
            task.cancel()
        self._following = []

    def interrupt(self) -> None:
        """Send nothing by itself until the user's next prompt."""
        if self._auto is not None:
            self._auto.stop()

    def request(self) -> str:
        """What asks the model to mend what is red; empty where nothing is."""
        return self._red.request()

    async def _run(self, checks: list[Check]) -> None:
        from session.checks.turn_checks import ended_event

        runner = self.runner()
        for check in checks:
            self._recorder.publish(CheckStarted(check.name))
            self._recorder.publish(ended_event(await runner.run(check)))

    async def agreed(self) -> list[Check]:
        """The checks that the user agreed to. Raises CheckError where there is none."""
        known = await asyncio.to_thread(self._known)
        agreed = await asyncio.to_thread(self._read_agreed, known)
        if agreed:
            return agreed
        if not known.all():
            raise CheckError(NO_CHECKS)
        raise CheckError(
            "No check of this project is agreed to. /check list shows what they run, "
            "/check agree NAME allows one."
        )

    @staticmethod
    def _read_agreed(known: KnownChecks) -> list[Check]:
        try:
            return known.agreed()
        except StoreError as problem:
            raise CheckError(str(problem)) from problem

    def _known(self) -> KnownChecks:
        from session.checks.known_checks import KnownChecks

        workspace = self._opening.workspace
        return KnownChecks(workspace.root, workspace.folders.state, self._opening.settings.checks)

    def runner(self) -> CheckRunner:
        """What runs checks on the project as it is."""
        return self._runner(self._sandboxes())

    def attempts_runner(self) -> RunsChecks:
        """What runs the checks of one race: the cluster of the settings, or else this machine."""
        sandboxes = self._sandboxes()
        here = self._runner(sandboxes)
        settings = self._opening.settings.attempts.cluster
        if settings is None:
            return here
        from session.race.cluster.runner import Cluster, ClusterRunner

        if self._cluster is None:
            self._cluster = Cluster(settings, self._opening.workspace.root)
            self._tasks.start(self._cluster.hold(), "holding the link to the cluster")
        return ClusterRunner(
            self._cluster, here, sandboxes, self._opening.command_environ, self._warn, slots_here()
        )

    def _sandboxes(self) -> Sandboxes:
        from session.checks.known_checks import Agreements
        from session.checks.sandbox.sandbox import Sandboxes

        workspace = self._opening.workspace
        agreements = Agreements(workspace.folders.state)
        return Sandboxes(workspace.root, self._opening.command_environ, agreements.without_walls)

    def _runner(self, sandboxes: Sandboxes) -> CheckRunner:
        from session.checks.runner import CheckRunner

        root, environ = self._opening.workspace.root, self._opening.command_environ
        return CheckRunner(root, sandboxes, environ, lambda: self._reading.snapshot.paths)

    def _warn(self, text: str) -> None:
        self._recorder.publish(Notice(level="warning", text=clean_line(text)))

    def _judged(self, turn: str) -> None:
        """All of a turn is judged: send back what is red, if the user wants that."""
        if self._auto is None:
            return
        self._ends[turn] = dict(self._red.ended)
        decided = self._auto.judged(turn, self.request(), self._red.count)
        again = isinstance(decided, Round) and not self._turns.busy
        if isinstance(decided, Round) and again:
            self._recorder.publish(Notice(level="info", text=decided.told))
            self._recorder.publish(TurnJudged(turn, self._red.count, again))
            self._turns.submit(decided.request, typed="")
            return
        end = decided if isinstance(decided, RoundsOver) else RoundsOver()
        if end.told:
            self._warn(end.told)
        self._end_rounds(turn, end)

    def _end_rounds(self, turn: str, end: RoundsOver) -> None:
        """Say how the rounds ended with ``turn``, once what the best one left is there again."""

        async def go_back() -> None:
            await self._go_back(end)
            self._recorder.publish(TurnJudged(turn, self._red.count))

        if end.undo and not self._turns.busy:
            self._tasks.start(go_back(), "going back to the best round")
        else:
            self._recorder.publish(TurnJudged(turn, self._red.count))

    async def _go_back(self, end: RoundsOver) -> None:
        """Undo the rounds after the best one, so that what it left is there again, with its verdicts."""
        undone = [await self._hunks.undo_turn(turn) for turn in end.undo]
        kept = [each for turn in undone for each in turn if isinstance(each, HunkRefused)]
        if kept:
            self._warn(
                f"not all of the later rounds could be undone ({kept[0].message}); /check runs the checks"
            )
            return
        for ended in self._ends.get(end.best, {}).values():
            self._recorder.publish(ended)
        self._warn(
            f"auto-fix went back {_rounds(len(end.undo))}, to what left the least red: {self._red.count} left"
        )

    async def _look_back(self, check: Check, hunks: Sequence[str]) -> Verdict:
        """What ``check`` says of the project as it was before ``hunks`` landed."""
        from session.checks.finding import Status, Verdict

        try:
            texts = await self._hunks.texts_before(hunks)
        except FileError as problem:
            return Verdict(check, Status.UNCLEAR, 0.0, why=problem.message, ran=False)
        return await self.runner().run(check, edits=texts)

    async def _places(self, hunks: Collection[str]) -> Mapping[str, LandedHunk]:
        from session.checks.finding import LandedHunk

        places = await self._hunks.places(hunks)
        return {each.hunk: LandedHunk(each.hunk, each.path, each.start, each.end) for each in places}

    async def reaching(self, check: Check, changed: Sequence[str]) -> Sequence[str]:
        """The tests of ``check`` that reach the files ``changed``; none where all are to run."""
        from session.checks.reaching import reaching

        return await asyncio.to_thread(reaching, check, changed, self._reading.snapshot)

    def _note(self, event: Event) -> None:
        """Keep what is red, and hand the event to what judges hunks and turns."""
        self._red.take(event)
        for take in self._take:
            take(event)


def slots_here() -> int:
    """The most checks that run on this machine at a time unless the settings say otherwise."""
    return max(1, (os.cpu_count() or 2) // 2)


def _times(rounds: int) -> str:
    return "once" if rounds == 1 else f"up to {rounds} times in a row"


def _rounds(count: int) -> str:
    return "a round" if count == 1 else f"{count} rounds"


def _listed(checks: list[Check]) -> str:
    return ", ".join(check.name for check in checks)
