"""Makes what runs a turn, from the model and the tools that are chosen when it begins."""

from __future__ import annotations

from dataclasses import replace

from session.project.edit_thread import EditThread
from session.record.journal.recorder import Recorder
from session.record.outputs import Outputs
from session.setup.model_choice import ModelChoice
from session.setup.opening import Opening
from session.tools.toolbox import Toolbox
from session.turn.hunk_writer import HunkWriter
from session.turn.lane import Lane
from session.turn.money import MoneyBudget
from session.turn.preparation import Preparations
from session.turn.runner import Runner
from session.turn.tool_calls import Calls
from session.turn.turn import Turn
from session.turn.turn_memory import TurnMemory
from session.turn.turns import RunsTurn
from session.wire.link.connection import Connection


class TurnMaker:
    """Makes the turns of a session. All methods are called on the event loop."""

    def __init__(
        self,
        session: str,
        opening: Opening,
        *,
        connection: Connection | None,
        choice: ModelChoice,
        preparations: Preparations,
        memory: TurnMemory,
        writer: HunkWriter,
        thread: EditThread,
        toolbox: Toolbox,
        recorder: Recorder,
        money: MoneyBudget,
        attended: bool,
    ) -> None:
        """``connection`` is None where the ``opening`` lacks something. ``attended`` says that a user can be
        asked about a hunk or a tool call."""
        self._session = session
        self._opening = opening
        self._connection = connection
        self._choice = choice
        self._preparations = preparations
        self._memory = memory
        self._writer = writer
        self._thread = thread
        self._toolbox = toolbox
        self._recorder = recorder
        self._money = money
        self._attended = attended
        self.outputs = Outputs(opening.workspace.folders.state)
        """The whole outputs of the session's calls and commands."""
        self.review = opening.settings.review
        """Whether every hunk is held until the user accepts it, from the next turn on."""
        self._made_for: tuple[object, ...] = ()
        """The model and the tools that the last runner was made for."""

    def choose(self, text: str, *, redirect: bool) -> None:
        """Choose the model for a prompt, and set up the connection for it."""
        self._choice.begin(text, redirect=redirect, tokens=self._memory.conversation.tokens)
        self.set_up_connection()

    def set_up_connection(self) -> None:
        """Set up the connection for the present choice. No answer is streaming on it."""
        connection, endpoint = self._connection, self._opening.endpoint
        if connection is None or endpoint is None:
            return
        if connection.request != (profile := self._choice.profile()):
            connection.request = profile
        connection.use(replace(endpoint, headers=self._choice.headers()))

    def lane(self, name: str) -> Lane:
        """What lands the hunks of the turn ``name``."""
        return Lane(
            name,
            writer=self._writer,
            thread=self._thread,
            recorder=self._recorder,
            attended=self._attended,
            review=self.review,
        )

    def runner(self, name: str, prompt: str) -> Runner:
        """What runs the turn ``name``."""
        preparation = self._preparations.now()
        # A tool that is added while the turn runs is offered from the next turn on.
        tools = self._toolbox.as_now()
        self._made_for = self._chosen
        return Runner(
            Turn(name),
            prompt,
            session=self._session,
            connection=self._connection,
            offline=self._opening.missing,
            preparation=preparation,
            memory=self._memory,
            lane=self.lane(name),
            calls=Calls(
                name,
                tools,
                preparation.counter,
                self._recorder,
                attended=self._attended,
                outputs=self.outputs,
            ),
            chosen=self._choice.chosen(),
            recorder=self._recorder,
            money=self._money,
            attended=self._attended,
        )

    def as_chosen_now(self, runner: RunsTurn) -> RunsTurn:
        """``runner``, or one made anew where the model or the tools changed while it waited for its turn."""
        if not isinstance(runner, Runner) or self._chosen == self._made_for:
            return runner
        self.set_up_connection()
        return self.runner(runner.turn.name, runner.prompt)

    @property
    def _chosen(self) -> tuple[object, ...]:
        return self._choice.model.name, self._toolbox.definitions()
