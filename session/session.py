"""A session: one conversation in one project folder, kept on disk, driven by commands, told in events.

Front ends give commands to the session and to its parts (:attr:`Session.hunks`, :attr:`~Session.locks`,
:attr:`~Session.models`, :attr:`~Session.context`, :attr:`~Session.checks`, :attr:`~Session.race` and others)
and read :meth:`Session.listen`; they keep no state that the journal could not give them again. All methods
are called on the one event loop; what is slow runs in threads behind them.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from pathlib import Path

from session.assist.assistance import Assistance
from session.assist.side_requests import side_requests
from session.assist.surgery import Surgery
from session.base.closing import Closing
from session.base.events import (
    ConnectionChanged,
    Event,
    Notice,
    PromptSubmitted,
    SessionStarted,
    TurnEnded,
    TurnStarted,
    Usage,
)
from session.base.storage.private_files import CopiedText
from session.base.tasks import BackgroundTasks
from session.base.text.sanitize import clean, clean_line
from session.checks.shell import Shell
from session.commands.check_commands import CheckCommands
from session.commands.compaction_commands import CompactionCommands
from session.commands.context_commands import ContextCommands
from session.commands.hunk_commands import HunkCommands
from session.commands.lock_commands import LockCommands
from session.commands.model_commands import ModelCommands
from session.commands.race_commands import RaceCommands
from session.commands.trust_commands import TrustCommands
from session.project.edit_thread import EditThread, tell_waits
from session.project.indexing import ProjectReading
from session.project.open_files import OuterEditor, OuterTexts, ProjectFiles
from session.project.pins import Pins
from session.project.prompts import Draft, PromptHistory
from session.project.syntax import SyntaxVerdicts
from session.project.unsaved_texts import UnsavedTexts
from session.project.workspace import settle_interrupted
from session.record.journal.journals import Journal, new_session_name
from session.record.journal.recorder import Recorder
from session.record.ratio_meter import RatioMeter
from session.record.sharing.standing import Elsewhere, Standing
from session.record.usage import Accounts
from session.setup.engine_model import EngineModel
from session.setup.model_choice import ModelChoice
from session.setup.opening import Opening
from session.setup.served_models import DefaultModel, ServedModels, open_connection, tell_states
from session.setup.session_tools import CommandOffer, McpOffer, project_tools
from session.tools.tool import Consent
from session.tools.toolbox import Toolbox
from session.turn.hunk_life import Answer
from session.turn.hunk_writer import HunkWriter
from session.turn.money import MoneyBudget
from session.turn.preparation import Preparations
from session.turn.resume import ResumedSession, resume_session
from session.turn.turn_maker import TurnMaker
from session.turn.turn_memory import TurnMemory
from session.turn.turns import AfterHunk, Turns
from session.wire.link.connection import Connection
from session.wire.transport.errors import LinkProblem


class Session:
    """One session: create it, ``await open()``, use it, ``await close()``."""

    def __init__(
        self,
        opening: Opening,
        *,
        resume: Path | None = None,
        attended: bool = True,
        followed: ResumedSession | None = None,
    ) -> None:
        """``resume`` is an earlier session's journal; ``attended`` says that somebody can be asked.
        ``followed`` is the past of a session that another process writes: this one writes nothing of it, and
        asks no model. Raises SessionTakenError if another process has the session, or StoreError."""
        self._opening = opening
        self._attended = attended
        self.notes = opening.settings.notes
        """Lines for the user, told when the session is opened."""
        self.elsewhere: tuple[Elsewhere, ...] = ()
        """The sessions of this project that other processes had when this one was opened."""
        self._workspace = opening.workspace
        self.folders = opening.workspace.folders
        self.root = opening.workspace.root
        self.provider = opening.settings.provider
        self.name = resume.stem if resume else new_session_name()
        self._open_records(resume, followed)
        self._open_texts()
        self._open_conversation()
        self._open_turns()
        self._open_commands()
        self._open_helpers()

    def _open_records(self, resume: Path | None, followed: ResumedSession | None) -> None:
        """What has happened so far, and the journal of what will."""
        self.standing = Standing(self.folders, self.name, followed=followed is not None)
        """Who has this session, and the processes that follow it."""
        # What a killed process left open is settled first: a resumed session tells it.
        self._recovered = settle_interrupted(self._workspace.ledger) if followed is None else []
        self._resumed = followed or (resume_session(resume, self._workspace.ledger) if resume else None)
        self._recorder = Recorder(Journal(self.folders.sessions, self.name) if followed is None else None)
        self.publish = self._recorder.publish
        """Tell that something happened to the session, or in the followed one."""
        self._tasks = BackgroundTasks(self.publish)
        self.closing = Closing()
        """How the end of the session waits for its parts."""
        self._memory = self._resumed.memory if self._resumed else TurnMemory()

    def _open_texts(self) -> None:
        """The texts of the user that outlive this process."""
        self.draft = Draft(self.folders.state)
        """The unsent text."""
        self.copied = CopiedText(self.folders.state)
        """A copied text that no clipboard took."""
        self.prompts = PromptHistory(self.folders.state)
        """Earlier prompts of this project."""
        self.unsaved = UnsavedTexts(self.folders.state / "unsaved")
        """The unsaved texts of the editor, kept through every end."""

    def _open_conversation(self) -> None:
        """The project as the model is shown it, the model, and the connection to it."""
        opening, recorder, past = self._opening, self._recorder, self.past()
        self._reading = ProjectReading(self.root, self.folders.cache, recorder)
        self._pins = Pins(past)
        self.toolbox = Toolbox(project_tools(self._reading.project, read=opening.settings.tools.read))
        self.commands = CommandOffer(opening, self.toolbox, self._tools_changed, attended=self._attended)
        """How the model's commands are run."""
        self._choice = ModelChoice(opening, self.name, self.toolbox)
        self._preparations = Preparations(self.root, self._reading, self._choice, self._pins, opening.trust)
        self.usage = Accounts(
            self.folders.usage, project=str(self.root), session=self.name, provider=self.provider, past=past
        )
        if not self.standing.followed:
            recorder.subscribe(self._reading.pause.take, PromptSubmitted)
            unkept = "the prompt is not in the history of prompts"
            recorder.subscribe(self.prompts.take, PromptSubmitted, lost=unkept)
            recorder.subscribe(self.usage.take, Usage, lost="usage is not added up by the day")
            meter = RatioMeter(self.folders.shared_state, self.provider)
            unmeasured = "the server's count of tokens is not measured"
            recorder.subscribe(meter.take, TurnStarted, Usage, lost=unmeasured)
        recorder.subscribe(self._memory.past_turns.take, *self._memory.past_turns.KINDS)
        for event in past:
            self._memory.typed.take(event)
        recorder.subscribe(self._memory.typed.take, PromptSubmitted)
        recorder.subscribe(self._choice.take, *self._choice.KINDS)
        recorder.subscribe(self._pins.take, *self._pins.KINDS)
        self.connection = open_connection(opening, self._choice, self._choice.profile())

    def _tools_changed(self) -> None:
        self._turns.choice_changed()

    def _open_turns(self) -> None:
        """The turns, and what they land."""
        opening, recorder, tasks, attended = self._opening, self._recorder, self._tasks, self._attended
        self._edit_thread = EditThread()
        self.landing_pause = self._edit_thread.landing_pause
        """Pauses landing while it is undecided whether a key stops the turn; for any thread."""
        self._writer = HunkWriter(
            self.name, self._workspace.landing, self._workspace.ledger, self._memory.edited_files
        )
        self.money = MoneyBudget(opening.settings.budget, self.folders.usage)
        """What the user agreed to spend."""
        self._maker = TurnMaker(
            self.name,
            opening,
            connection=self.connection,
            choice=self._choice,
            preparations=self._preparations,
            memory=self._memory,
            writer=self._writer,
            thread=self._edit_thread,
            toolbox=self.toolbox,
            recorder=recorder,
            money=self.money,
            attended=attended,
        )
        ended = self._resumed.turns if self._resumed else 0
        self._turns = Turns(self._maker, recorder.publish, tasks, ended)
        self.outputs = self._maker.outputs
        self._after_hunk = AfterHunk(self._turns, recorder.publish)
        recorder.subscribe(self._after_hunk.take, *self._after_hunk.KINDS)
        self._default = DefaultModel(opening, self._choice, recorder, self._turns.choice_changed)
        self._engine_model = EngineModel(opening, self._choice, recorder, self._turns.choice_changed)
        recorder.subscribe(self._model_refused, TurnEnded)
        self._mcp = McpOffer(
            opening, self.toolbox, recorder, self._turns.choice_changed, tasks, attended=attended
        )
        if attended and opening.settings.guards.syntax and not self.standing.followed:
            SyntaxVerdicts(self.name, self._workspace, self._edit_thread, recorder, tasks)

    def _open_commands(self) -> None:
        """What the front ends give commands to."""
        opening, recorder, tasks, attended = self._opening, self._recorder, self._tasks, self._attended
        workspace, thread, past = self._workspace, self._edit_thread, self.past()
        files = workspace.files = lambda: self._reading.snapshot.paths
        self.files = ProjectFiles(workspace, thread, recorder)
        self.models = ModelCommands(self._choice, ServedModels(opening, tasks), recorder, self._turns)
        self.hunks = HunkCommands(workspace, self.name, self._memory, thread, recorder, past)
        self.surgery = Surgery(workspace, thread, self.hunks, self._turns)
        self.locks = LockCommands(
            workspace, opening.settings.guards, thread, self._reading, attended=attended
        )
        self.trust = TrustCommands(opening.trust, self._reading, recorder, tasks, attended=attended)
        recorder.subscribe(self.trust.take, *self.trust.KINDS)
        self.context = ContextCommands(self._pins, self._memory, self._reading, self._preparations, recorder)
        self.checks = CheckCommands(opening, recorder, tasks, self._reading, self.hunks, self._turns, past)
        self.shell = Shell(
            self.root, opening.command_environ, recorder, tasks, files, self.outputs.keep, past
        )
        self.race = RaceCommands(
            opening,
            self.name,
            connection=self.connection,
            choice=self._choice,
            preparations=self._preparations,
            memory=self._memory,
            thread=thread,
            toolbox=self.toolbox,
            recorder=recorder,
            turns=self._turns,
            lane=self._maker.lane,
            checks=self.checks,
            hunks=self.hunks,
            money=self.money,
            attended=attended,
        )
        self.compaction = CompactionCommands(
            self._memory,
            self._preparations,
            self._choice,
            self._turns,
            recorder,
            tasks,
            self.connection if attended and opening.settings.compact_with_model else None,
        )

    def _open_helpers(self) -> None:
        """The requests beside the answers, and the processes that follow this one."""
        opening, recorder, tasks = self._opening, self._recorder, self._tasks
        self.side = side_requests(
            opening,
            self.name,
            self._choice,
            None if self.standing.followed else self.connection,
            recorder,
            tasks,
            self.money,
            busy=lambda: self._turns.busy,
        )
        """The requests beside the answers, and their budget."""
        self.assist = Assistance(
            opening, self.side, recorder, tasks, self.hunks, self.checks, self.files, self.context
        )
        """Reviews on save, refactors in place and next edits."""
        self.standing.serve(
            self, recorder, attended=self._attended, busy=lambda: self._turns.busy or self.shell.running
        )

    async def settled(self) -> None:
        """Wait until no turn runs, none waits, and the user's command has ended."""
        await self._turns.settled()
        while self.shell.running:
            await self.shell.settled()
            await self._turns.settled()

    @property
    def running(self) -> bool:
        """True while a turn runs."""
        return self._turns.running

    @property
    def review(self) -> bool:
        """Whether every hunk is held until the user accepts it; a change holds from the next turn on."""
        return self._maker.review

    @review.setter
    def review(self, wanted: bool) -> None:
        self._maker.review = wanted

    def edits_in(self, editor: OuterEditor) -> None:
        """From now on, hunks land in what ``editor`` has of a file, unsaved text included, and are shown in
        it."""
        texts = OuterTexts(editor, self.files)
        self._writer.outer = self.hunks.outer = texts

    def watch(self) -> None:
        """Begin to read the project in the background: all that following another process needs."""
        self._tasks.watch_loop()
        tell_waits(self._workspace.ledger, self._recorder, attended=self._attended)
        self._tasks.start(
            self._reading.run(), "reading the project", consequence="what has been read so far stays in use"
        )

    async def open(self) -> None:
        """Begin to read the project and to connect, both in the background."""
        self.standing.start()
        self._recorder.publish(
            SessionStarted(
                session=self.name,
                root=str(self.root),
                model=self.models.model,
                provider=self.provider,
                resumed=self._resumed is not None,
                instructions=self._choice.instructions.version,
            )
        )
        for note in self.notes:
            self._recorder.publish(Notice(level="warning", text=clean_line(note)))
        for event in (*(self._resumed.ending if self._resumed else ()), *self._recovered):
            self._recorder.publish(event)
        self.watch()
        # A hunk needs an id as soon as it begins, when nobody must wait for the disk.
        reserving = asyncio.to_thread(self._workspace.ledger.reserve_ids)
        self._tasks.start(reserving, "reserving ids", consequence="each hunk counts up the ids by itself")
        self.trust.start()
        self._turns.expect_tools(self._mcp.start())
        if self.connection is None:
            self._recorder.publish(ConnectionChanged(state="failed", message=self._opening.missing))
        else:
            states = tell_states(self.connection, self._recorder.publish)
            self._tasks.start(states, "following the connection's state")
            if self._opening.default_unsettled:
                self._settle_default(self.connection)
            elif self._opening.engine_unsettled:
                self._settle(self.connection, self._engine_model.settle)
            else:
                self.connection.start()

    def _settle_default(self, connection: Connection, refused: str = "") -> None:
        """Choose the default model, then connect; a prompt from now on waits for it."""
        self._settle(connection, lambda: self._default.settle(refused))

    def _settle(self, connection: Connection, settle: Callable[[], Awaitable[str]]) -> None:
        """Let ``settle`` choose a model, then connect; a prompt from now on waits for it."""
        settled = self._turns.between(settle, of_session=False)

        async def connect() -> None:
            await settled
            connection.start()

        self._tasks.start(connect(), "choosing a model")

    def _model_refused(self, event: Event) -> None:
        """Choose another default where the server refuses the one in use; ↑ brings the prompt back."""
        refused = isinstance(event, TurnEnded) and event.code == LinkProblem.MODEL.value
        if refused and self._default.in_use and self.connection is not None:
            self._settle_default(self.connection, self._choice.model.name)

    async def close(self) -> None:
        """Interrupt a running turn, wait for the write in progress, and end everything in the background."""
        await self.closing.run(
            ("the turn", self._turns.close),
            ("a lock", self._workspace.ledger.wait.stop),
            ("reading the project", self._reading.close),
            ("MCP servers", self._mcp.close),
            ("the list of models", self.models.served.close),
            ("background tasks", self._tasks.close),
            ("side requests", self.side.close),
            ("the connection", self.connection.close if self.connection else lambda: None),
            ("the write in progress", self._edit_thread.close),
            ("the ledger's counter", lambda: asyncio.to_thread(self._workspace.ledger.give_ids_back)),
            ("the journal", self._recorder.close),
            ("followers", self.standing.close),
        )

    def listen(self) -> AsyncIterator[Event]:
        """All events from now on, up to the end of the session."""
        return self._recorder.listen()

    def past(self) -> list[Event]:
        """The events of a resumed session up to its resumption, oldest first."""
        return list(self._resumed.events) if self._resumed else []

    def submit(self, text: str, *, typed: str | None = None) -> None:
        """Begin a turn. If another runs, this is a redirect: it interrupts that turn and follows it.
        ``typed`` is what of ``text`` the user typed, where that is not all of it."""
        self._turns.submit(text, typed=typed)

    def queue(self, text: str) -> None:
        """Submit a prompt after the running turn and those queued before it; at once when there are none."""
        self._turns.queue(text)

    def after_hunk(self, text: str) -> None:
        """Redirect with ``text`` once the hunk that is being typed has ended; at once where there is none."""
        self._after_hunk.submit(text)

    def unqueue(self, number: int | None = None) -> list[str]:
        """Take back the queued prompt with this number, from 1 (0: the one that waits for a hunk), or without
        a number all of them, oldest first: they are not sent."""
        texts = [] if number else self._after_hunk.take_back()
        return texts if number == 0 else texts + self._turns.unqueue(number)

    def interrupt(self) -> None:
        """Stop the running turn: when this returns nothing more of it lands. What waits for a lock of another
        process stops waiting, what is red is not sent back by itself, and the user's command ends."""
        self._turns.interrupt()
        self.checks.interrupt()
        self.race.interrupt()
        self.shell.stop()
        self.assist.interrupt()
        self._workspace.ledger.wait.stop()

    def answer(
        self,
        held: str,
        *,
        land: bool,
        rest: bool = False,
        why: str = "",
        new: Sequence[str] | None = None,
        scope: str = "",
    ) -> bool:
        """Allow or decline a held hunk or tool call, as its ``Answer`` says. False when it
        is not held (any more), or is a hunk that is not whole yet and cannot be edited."""
        answer = Answer(land=land, rest=rest, why=clean(why).strip(), new=new, scope=Consent(scope))
        return self._turns.answer(held, answer)

    def request_to_mend(self, *, failed: bool = True) -> str:
        """What asks the model to mend the command that failed, else what checks found; empty where all is
        well. Without ``failed`` also the output of a command that did not fail. It counts as sent."""
        if prompt := self.shell.request():
            self.shell.sent()
            return prompt
        if prompt := self.checks.request():
            return prompt
        prompt = self.shell.request(failed=failed)
        self.shell.sent()
        return prompt

    def typing(self) -> None:
        """Record that a key was pressed: work that would delay the next keys waits for a pause."""
        self._reading.pause.typed()
        self.side.typed()

    def wake(self) -> None:
        """Prepare for a prompt, since the user types or is back: connect, and check for changed files."""
        self._reading.look_again()
        if self.connection is not None and not self.standing.followed:
            self.connection.wake()
