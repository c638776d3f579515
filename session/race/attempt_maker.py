"""Makes the attempts of a session's races: each has a connection, a memory and files of its own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from session.base.events import TurnStarted
from session.project.edit_thread import EditThread
from session.project.workspace import Workspace
from session.race.attempt import Attempt, AttemptPreparation, SharedPreparation
from session.race.attempt_files import AttemptFiles, EditedProject
from session.race.plan import RacePlan
from session.setup.opening import Opening
from session.tools.toolbox import Toolbox
from session.turn.turn import Turn
from session.turn.turn_memory import TurnMemory
from session.wire.link.connection import Connection


class AttemptMaker:
    """Makes the attempts of one race."""

    def __init__(
        self,
        plan: RacePlan,
        prompt: str,
        opening: Opening,
        *,
        session: str,
        connection: Connection,
        memory: TurnMemory,
        workspace: Workspace,
        thread: EditThread,
        toolbox: Toolbox,
        attended: bool,
    ) -> None:
        """``connection`` is the session's: attempts talk to the same server with the same key."""
        self._plan = plan
        self._prompt = prompt
        self._opening = opening
        self._session = session
        self._connection = connection
        self._memory = memory
        self._workspace = workspace
        self._thread = thread
        self._attended = attended
        self._toolbox = toolbox
        self._shared = {id(each.preparation): SharedPreparation(each.preparation) for each in plan.variations}
        self.first = self._shared[id(plan.variations[0].preparation)]

    def files(self, name: str) -> AttemptFiles:
        """The project's files as they are now, for hunks that are not written."""
        landing = self._workspace.rehearsal()
        return AttemptFiles(name, landing, self._workspace.root, attended=self._attended)

    def make(self, number: int, turn: Turn, started: Callable[[TurnStarted], None]) -> Attempt:
        """The attempt of that number."""
        variation = self._plan.variations[number - 1]
        name = f"{turn.name}.a{number}"
        files = self.files(name)
        base = variation.preparation
        project = EditedProject(base.project, files)
        return Attempt(
            number,
            name,
            self._prompt,
            variation,
            session=self._session,
            connection=Connection(
                replace(self._connection.endpoint, headers=variation.headers),
                variation.profile,
                service=replace(self._opening.service, spare=False),
                login=self._opening.login,
            ),
            preparation=AttemptPreparation(self._shared[id(base)], variation.hint, base.within(project)),
            memory=self._memory.copied(),
            files=files,
            thread=self._thread,
            # An attempt sees the project; only its own edits may change anything, and they stay its own.
            toolbox=self._toolbox.only_reading(project),
            started=started,
        )
