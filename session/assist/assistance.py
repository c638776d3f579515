"""The parts of a session that help in the editor; nothing of one is loaded before it is first used."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING

from session.assist.side_requests import SideRequests
from session.base.events import Event, HunkLanded, HunkUndone, PromptSubmitted, TurnEnded
from session.base.tasks import BackgroundTasks, imported
from session.commands.check_commands import CheckCommands
from session.commands.context_commands import ContextCommands
from session.commands.hunk_commands import HunkCommands
from session.project.open_files import ProjectFiles
from session.record.journal.recorder import Recorder
from session.setup.opening import Opening

if TYPE_CHECKING:
    from session.assist.next_edit.next_edits import NextEdits
    from session.assist.refactor import Refactors
    from session.assist.review.on_save import SaveReview


class Assistance:
    """``Session.assist``."""

    def __init__(
        self,
        opening: Opening,
        side: SideRequests,
        recorder: Recorder,
        tasks: BackgroundTasks,
        hunks: HunkCommands,
        checks: CheckCommands,
        files: ProjectFiles,
        context: ContextCommands,
    ) -> None:
        self._opening = opening
        self._side = side
        self._recorder = recorder
        self._tasks = tasks
        self._hunks = hunks
        self._checks = checks
        self._context = context
        self._busy = False
        """Whether a turn runs."""
        self._landed: dict[str, str] = {}
        """The first hunk in each file before reviews were made."""
        recorder.subscribe(self._take, PromptSubmitted, TurnEnded, HunkLanded, HunkUndone)
        files.on_saved = self._saved

    @cached_property
    def review(self) -> SaveReview:
        """Reviews on save, and the findings that are open."""
        from session.assist.review.change import Baselines
        from session.assist.review.on_save import Mode, SaveReview
        from session.assist.review.open_findings import Dismissals
        from session.assist.review.schedule import SaveChecks

        workspace = self._opening.workspace
        made = SaveReview(
            Mode(self._opening.settings.side.review),
            side=self._side,
            recorder=self._recorder,
            tasks=self._tasks,
            baselines=Baselines(workspace.root),
            dismissals=Dismissals(workspace.folders.state),
            checks=SaveChecks(self._checks),
            hunks=self._hunks,
            allowed=self._context.allowed,
            busy=self._busy,
        )
        for path, hunk in self._landed.items():
            made.landed(path, hunk)
        self._landed.clear()
        return made

    @cached_property
    def refactors(self) -> Refactors:
        """Refactors in place."""
        from session.assist.refactor import Refactors

        return Refactors(
            self._hunks.session,
            self._opening.workspace,
            side=self._side,
            recorder=self._recorder,
            tasks=self._tasks,
            thread=self._hunks.thread,
            allowed=self._context.allowed,
            busy=lambda: self._busy,
        )

    @cached_property
    def next_edits(self) -> NextEdits:
        """Next edits, and the place that is offered."""
        from session.assist.next_edit.next_edits import NextEdits

        return NextEdits(
            hunks=self._hunks,
            recorder=self._recorder,
            tasks=self._tasks,
            snapshot=self._context.sendable,
            side=self._side,
            busy=self._busy,
        )

    async def load(self) -> None:
        """Import in a thread what the first hunk that lands and the first save need, so that they are not
        waited for then."""
        for name in ("session.assist.next_edit.next_edits", "session.assist.review.outside"):
            await imported(name)

    def watch_saves(self, alone: Callable[[], bool]) -> None:
        """From now on review what other programs save, too, where no other spark has the project open
        (``alone``, for any thread): for front ends that show findings."""
        from session.assist.review.outside import OutsideSaves

        outside = OutsideSaves(
            self._opening.workspace.root,
            alone,
            lambda: self.review.mode != "off" if "review" in self.__dict__ else self._reviews,
            lambda: self.review,
            self._tasks,
        )
        self._recorder.subscribe(outside.take, *outside.KINDS)

    def interrupt(self) -> None:
        """Stop the refactor that runs, and offer no next edit: when this returns nothing more lands."""
        if "refactors" in self.__dict__:
            self.refactors.stop()
        if "next_edits" in self.__dict__:
            self.next_edits.end()

    def _take(self, event: Event) -> None:
        match event:
            case PromptSubmitted() | TurnEnded():
                self._busy = isinstance(event, PromptSubmitted)
            case HunkLanded(path=path, hunk=hunk) | HunkUndone(path=path, hunk=hunk):
                path = event.moved_to or path
                if "review" in self.__dict__:
                    self.review.landed(path, hunk)
                elif self._reviews:
                    self._landed.setdefault(path, hunk)
                if isinstance(event, HunkLanded):
                    self.next_edits.landed(path, hunk, event.turn)
            case _:
                pass

    def _saved(self, path: str, before: tuple[str, ...]) -> None:
        if self._reviews or "review" in self.__dict__:
            self.review.saved(path, before)
        self.next_edits.saved(path, before)

    @property
    def _reviews(self) -> bool:
        """Whether the settings want reviews on save."""
        return self._opening.settings.side.review != "off"
