"""Tells which files the hunks of a turn left with a syntax error."""

from __future__ import annotations

from edits.files.tree import Tree
from edits.guards.broken_files import broken_files
from edits.placing.place import Checker
from session.base.events import Event, FileBroken, HunkLanded, TurnEnded
from session.base.tasks import BackgroundTasks
from session.base.text.sanitize import clean, clean_line
from session.project.edit_thread import EditThread
from session.project.workspace import Workspace
from session.record.journal.recorder import Recorder


class SyntaxVerdicts:
    """Judges the files of each turn once it has ended, however it ended: their last hunks are in."""

    def __init__(
        self,
        session: str,
        workspace: Workspace,
        thread: EditThread,
        recorder: Recorder,
        tasks: BackgroundTasks,
    ) -> None:
        self._session = session
        self._workspace = workspace
        self._thread = thread
        self._publish = recorder.publish
        self._tasks = tasks
        self._landed: set[str] = set()
        """The turns in which a hunk has landed."""
        recorder.subscribe(self.take, HunkLanded, TurnEnded)

    def take(self, event: Event) -> None:
        """Note what landed, and judge when its turn ends."""
        match event:
            case HunkLanded(turn=turn):
                self._landed.add(turn)
            case TurnEnded(turn=turn) if turn in self._landed:
                self._landed.discard(turn)
                doing = "looking for syntax errors"
                self._tasks.start(self._judge(turn), doing, consequence="the turn's files are not checked")
            case _:
                pass

    async def _judge(self, turn: str) -> None:
        from context.code.parsing import syntax_error

        checker: Checker = syntax_error
        workspace = self._workspace
        found = await self._thread.run(
            lambda: broken_files(Tree(workspace.root), workspace.ledger, self._session, turn, checker)
        )
        for broken in found:
            path, message = clean_line(broken.path), clean(broken.message)
            self._publish(FileBroken(turn=turn, path=path, message=message, hunks=broken.hunks))
