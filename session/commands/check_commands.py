"""The project's checks, run and followed while a session is open."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from session.events import CheckEnded, Event, HunkChecked, HunkUndone
from session.journal.recorder import Recorder
from session.setup.opening import Opening
from session.storage.line_files import StoreError
from session.tasks import BackgroundTasks

if TYPE_CHECKING:
    from session.checks.check import Check
    from session.checks.known_checks import KnownChecks
    from session.checks.runner import CheckRunner

NO_CHECKS = "This project has no checks: add [[checks]] to config.toml (docs/checks.md)."
MOST_SENT = 20
"""The findings that are sent to the model at once."""


class CheckError(Exception):
    """A check cannot be run or followed; the message says why and what to do."""


class CheckCommands:
    """``Session.checks``. Nothing of the checks is loaded before the first command."""

    def __init__(
        self,
        opening: Opening,
        recorder: Recorder,
        tasks: BackgroundTasks,
        files: Callable[[], tuple[str, ...]],
    ) -> None:
        """``files`` gives the project's files as they are known now."""
        self._opening = opening
        self._recorder = recorder
        self._tasks = tasks
        self._files = files
        self._shown: dict[str, Check] = {}
        """The checks as they were last listed, by name: what the user can agree to."""
        self._following: list[asyncio.Task[None]] = []
        self._take: Callable[[Event], None] | None = None
        self._red: dict[tuple[str, str], str] = {}
        """What is red now, by hunk or check: a line for the model."""
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

    async def follow(self) -> str:
        """Judge hunks from now on as they land. Returns with which checks. Raises CheckError."""
        from session.checks.hunk_checks import HunkChecks

        checks = await self.agreed()
        self.stop_following()
        judging = HunkChecks(self._opening.workspace.root, checks, self.runner().run, self._recorder.publish)
        self._take = judging.take
        lost = "hunks are judged no more; /check on begins again"
        self._following = [
            self._tasks.start(judging.judge_hunks(), "judging hunks", consequence=lost),
            self._tasks.start(judging.judge_turns(), "judging turns", consequence=lost),
        ]
        return f"hunks are judged as they land, by {_listed(checks)}"

    def stop_following(self) -> None:
        """Judge hunks no more."""
        self._take = None
        for task in self._following:
            task.cancel()
        self._following = []

    def request(self) -> str:
        """What asks the model to mend what is red; empty where nothing is."""
        if not self._red:
            return ""
        lines = list(dict.fromkeys(self._red.values()))
        more = f"\n… and {len(lines) - MOST_SENT} more" if len(lines) > MOST_SENT else ""
        return "These checks fail. Mend what they found:\n" + "\n".join(lines[:MOST_SENT]) + more

    async def _run(self, checks: list[Check]) -> None:
        from session.checks.hunk_checks import publish_verdict

        runner = self.runner()
        for check in checks:
            publish_verdict(await runner.run(check), self._recorder.publish)

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
        from session.checks.runner import CheckRunner
        from session.sandbox.sandbox import Sandboxes

        root, environ = self._opening.workspace.root, self._opening.command_environ
        return CheckRunner(root, Sandboxes(root, environ), environ, self._files)

    def _note(self, event: Event) -> None:
        """Keep what is red, and hand the event to what judges hunks."""
        match event:
            case HunkChecked(hunk=hunk, check=check, status=status):
                self._red.pop((hunk, check), None)
                if status == "red":
                    place = f"{event.path}:{event.line}" if event.line else event.path
                    self._red[hunk, check] = f"- {place}: {event.message} ({check})"
            case HunkUndone(hunk=hunk):
                self._red = {key: line for key, line in self._red.items() if key[0] != hunk}
            case CheckEnded(check=check, status=status):
                self._red = {key: line for key, line in self._red.items() if key[1] != check}
                if status == "red":
                    for number, finding in enumerate(event.findings or (event.why,)):
                        self._red[str(number), check] = f"- {finding} ({check})"
            case _:
                pass
        if self._take is not None:
            self._take(event)


def _listed(checks: list[Check]) -> str:
    return ", ".join(check.name for check in checks)
