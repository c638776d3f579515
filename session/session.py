"""A session: one conversation in one project folder, kept on disk, driven by commands, told in events.

Front ends call the commands (:meth:`Session.submit`, :meth:`~Session.interrupt`, :meth:`~Session.undo` …)
and read :meth:`Session.listen`; they keep no state that the journal could not give them again.
All methods are called on the one event loop; what is slow runs in threads behind them.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

from context.find.completion import complete
from session.commands.compaction_commands import Dialogue, DialogueParts, after
from session.commands.hunk_commands import HandlingParts, HunkHandling
from session.commands.model_commands import ModelCommands
from session.commands.window_commands import ContextCommands
from session.events import (
    ConnectionChanged,
    Event,
    Notice,
    PromptQueued,
    PromptSubmitted,
    PromptsUnqueued,
    SessionStarted,
)
from session.journal.interrupted_landings import recover
from session.journal.journals import Journal, new_session_name
from session.journal.recorder import Recording
from session.journal.undoable_hunks import HunkNames
from session.link.connection import Connection
from session.memory.restore import Resumed, resume_session
from session.memory.turn_memory import Memory
from session.model_choice.choice import Choosing
from session.model_choice.served_models import ServedModels
from session.project.indexing import ProjectReading
from session.project.open_files import ProjectFiles
from session.project.pins import Pins
from session.project.prompts import Draft, PromptHistory
from session.setup.mcp_tools import McpOffer
from session.setup.opening import Opening
from session.setup.project_tools import project_toolbox
from session.storage.line_files import StoreError
from session.tasks import BackgroundTasks
from session.text.sanitize import clean_line
from session.turn.lane import LaneTools
from session.turn.preparation import Preparation
from session.turn.runner import Runner, RunnerParts
from session.usage.accounts import Accounts


class Session(HunkHandling, ModelCommands):
    """One session. Make it, ``await open()``, use it, ``await close()``."""

    def __init__(self, opening: Opening, *, resume: Path | None = None, attended: bool = True) -> None:
        """``resume`` is an earlier session's journal; ``attended`` says that somebody can be asked."""
        self._opening = opening
        self._workspace = opening.workspace
        self.folders = opening.workspace.folders
        self.root = opening.workspace.root
        self.provider = opening.settings.provider
        # What a killed process left open is settled first: a resumed session tells it.
        self._recovered = recover(self._workspace.ledger)
        self._resumed: Resumed | None = resume_session(resume, self._workspace.ledger) if resume else None
        self.name = resume.stem if resume else new_session_name()
        self._recording = Recording(Journal(self._workspace.folders.sessions, self.name))
        self._publish = self._recording.publish
        self._tasks = BackgroundTasks(self._publish)
        self._draft = Draft(self._workspace.folders.state)
        self._prompts = PromptHistory(self._workspace.folders.state)
        self._memory = self._resumed.memory if self._resumed else Memory()
        self._turns = self._resumed.turns if self._resumed else 0
        self._pins = Pins(self._resumed.events if self._resumed else ())
        self.context = ContextCommands(
            self._pins, self._memory, lambda: self._reading.snapshot, self._preparation, self._publish
        )
        self._runner: Runner | None = None
        self._finishing: asyncio.Task[Any] | None = None
        self._queued: deque[str] = deque()
        self._edit_thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="edits")
        self._reading = ProjectReading(self.root, self.folders.cache, self._publish)
        self.typing = self._reading.pause.typed
        """A key was pressed: what would hold the next ones up can wait for a pause."""
        self._open_files: tuple[str, ...] = ()
        self._workspace.files = lambda: self._reading.snapshot.paths
        ledger = self._workspace.ledger
        self.files = ProjectFiles(
            self.root, ledger, self._edit_thread, lambda: self._reading.snapshot.paths, self._publish
        )
        self.toolbox = project_toolbox(opening, self._reading.project, attended=attended)
        choice = Choosing(opening, self.name, self.toolbox)
        ModelCommands.__init__(self, choice, ServedModels(opening, self._tasks), self._publish, self._chosen)
        self._mcp = McpOffer(
            opening, self.toolbox, self._publish, self._chosen, self._tasks, attended=attended
        )
        self.usage = Accounts(
            self.folders.usage,
            project=str(self.root),
            session=self.name,
            provider=self.provider,
            past=self.past(),
        )
        self._recording.also(self._memory.exchanges.take)
        self._recording.also(self._choice.take)
        self._recording.also(self.usage.take, "usage is not added up by the day")
        self._recording.also(self._pins.take)
        self.hunks = HunkNames(self.past())
        self._recording.also(self.hunks.take)
        self.connection: Connection | None = None
        if opening.endpoint is not None:
            endpoint = replace(opening.endpoint, headers=self._choice.headers())
            self.connection = Connection(
                endpoint,
                self._choice.profile(),
                service=opening.service,
                login=opening.login,
                host=opening.engine(),
            )
        self._lane_tools = LaneTools(
            landing=self._workspace.landing,
            ledger=self._workspace.ledger,
            thread=self._edit_thread,
            knowledge=self._memory.knowledge,
            send=self._publish,
            ask=attended,
            review=opening.settings.review,
        )
        asks = attended and opening.settings.compact_with_model
        self.dialogue = Dialogue(self._dialogue_parts(asks=asks))
        HunkHandling.__init__(
            self,
            HandlingParts(
                workspace=self._workspace,
                session=self.name,
                memory=self._memory,
                thread=self._edit_thread,
                guards=opening.settings.guards,
                attended=attended,
                ignored=self._reading.is_ignored,
                send=self._publish,
            ),
        )

    @property
    def running(self) -> bool:
        """True while a turn runs."""
        return self._runner is not None and not self._runner.turn.over

    async def open(self) -> None:
        """Begin to read the project, and dial: both go on in the background."""
        self._publish(
            SessionStarted(
                session=self.name,
                root=str(self.root),
                model=self.model,
                provider=self.provider,
                resumed=self._resumed is not None,
                instructions=self._choice.instructions.version,
            )
        )
        for event in self._resumed.ending if self._resumed else ():
            self._publish(event)
        for lost in self._recovered:
            self._publish(lost)
        self._tasks.start(
            self._reading.run(), "reading the project", consequence="what has been read so far stays in use"
        )
        self._mcp.start()
        if self.connection is None:
            self._publish(ConnectionChanged(state="failed", message=self._opening.missing))
        else:
            self._tasks.start(self._follow_connection(self.connection), "following the connection's state")
            self.connection.start()

    async def close(self) -> None:
        """Interrupt a running turn, wait for the write in progress, and let go of everything."""
        self._queued.clear()
        self.interrupt()
        if self._finishing is not None:
            await asyncio.wait({self._finishing})
        # Runs all of these even if one raises, beginning with the last.
        async with contextlib.AsyncExitStack() as closing:
            closing.callback(self._recording.close)
            closing.push_async_callback(asyncio.to_thread, self._edit_thread.shutdown)
            if self.connection is not None:
                closing.push_async_callback(self.connection.close)
            closing.push_async_callback(self._tasks.close)
            closing.push_async_callback(self.served.close)
            closing.push_async_callback(self._mcp.close)
            closing.push_async_callback(self._reading.close)

    def listen(self) -> AsyncIterator[Event]:
        """Every event from now on; ends when the session is closed."""
        return self._recording.listen()

    def past(self) -> list[Event]:
        """The events of a resumed session up to its resumption, oldest first."""
        return list(self._resumed.events) if self._resumed else []

    def submit(self, text: str) -> None:
        """A prompt; while a turn runs, a redirect: that turn is interrupted and this one follows it."""
        redirect = self.running
        self.interrupt()
        self._reading.pause.needed()
        self._turns += 1
        name = f"t{self._turns}"
        self._keep_prompt(text)
        kind = "redirect" if redirect else "prompt"
        self._publish(PromptSubmitted(turn=name, text=text, kind=kind, waiting=len(self._queued)))
        self._choice.begin(text, redirect=redirect, tokens=self._memory.conversation.tokens)
        self._prepare_connection()
        runner = Runner(self._runner_parts(), self.name, name, text)
        before, self._runner = self._finishing, runner
        self._finishing = self._tasks.start(self._run(runner, before), f"running turn {name}")

    def queue(self, text: str) -> None:
        """Submit a prompt after the running turn and those queued before it; at once when there are none."""
        if not self.running and not self._queued:
            self.submit(text)
            return
        self._queued.append(text)
        self._publish(PromptQueued(text=text, waiting=len(self._queued)))

    def unqueue(self) -> list[str]:
        """Take back the prompts that wait for the running turn, first to last: they are not sent."""
        texts = list(self._queued)
        self._queued.clear()
        if texts:
            self._publish(PromptsUnqueued(texts=tuple(texts)))
        return texts

    def interrupt(self) -> None:
        """Stop the running turn: when this returns nothing more of it lands. No-op without one."""
        if self._runner is not None:
            self._runner.interrupt()

    def answer(self, held: str, *, land: bool, rest: bool = False) -> bool:
        """Land a held hunk after all or let a held call be done, or decline it; with ``rest`` all that this
        turn will hold.

        False when that is not held (any more).
        """
        return self._runner is not None and self._runner.answer(held, land=land, rest=rest)

    def _chosen(self) -> None:
        """The requests to come are others than before; a running turn keeps to its own."""
        if not self.running:
            self._prepare_connection()

    def _prepare_connection(self) -> None:
        """Have the connection ask as was chosen. No answer runs on it."""
        if self.connection is None or self._opening.endpoint is None:
            return
        if self.connection.request != (profile := self._choice.profile()):
            self.connection.request = profile
        self.connection.use(replace(self._opening.endpoint, headers=self._choice.headers()))

    def looking_at(self, paths: tuple[str, ...]) -> None:
        """The files the user has open, which weigh in the window's ranking."""
        self._open_files = paths

    def complete(self, prefix: str) -> tuple[tuple[str, str], ...]:
        """The likeliest mentions, ``@`` included, for what stands behind an ``@`` so far, best first, each
        with what tells it from others: a changed file's state, a definition's file. For any thread."""
        found = complete(prefix, self._reading.snapshot)
        return tuple((clean_line(each.text), clean_line(each.detail)) for each in found)

    def wake(self) -> None:
        """The user types, or comes back: have a connection and a true picture ready when they are done."""
        self._reading.look_again()
        if self.connection is not None:
            self.connection.wake()

    def draft(self) -> str:
        """The unsent text that was kept."""
        return self._draft.read()

    def save_draft(self, text: str) -> None:
        """Keep the unsent text; raises StoreError when the disk does not take it."""
        self._draft.write(text)

    def prompts(self) -> list[str]:
        """Earlier prompts of this project, oldest first."""
        return self._prompts.read()

    def _dialogue_parts(self, *, asks: bool) -> DialogueParts:
        return DialogueParts(
            memory=self._memory,
            preparation=self._preparation,
            profile=self._choice.profile,
            effort=lambda: next(iter(self._choice.model.efforts), None),
            price=lambda: self._choice.price,
            ask=self.connection.aside if self.connection is not None and asks else None,
            running=lambda: self.running,
            between_turns=self._between_turns,
            send=self._publish,
        )

    def _preparation(self) -> Preparation:
        model = self._choice.model
        return Preparation(
            project=self._reading.project,
            counter=self._reading.counter,
            known=self._reading.known,
            instructions=self._choice.instructions.text,
            tools="".join(map(str, self._choice.tools)),
            model=self.model,
            budget=model.budget,
            root=self.root,
            open_files=lambda: self._open_files,
            pins=self._pins,
        )

    def _runner_parts(self) -> RunnerParts:
        choice = self._choice
        return RunnerParts(
            connection=self.connection,
            offline=self._opening.missing,
            preparation=self._preparation(),
            memory=self._memory,
            lane=self._lane_tools,
            toolbox=self.toolbox.as_now(),
            send=self._publish,
            model=self.model,
            effort=choice.picked.effort,
            effort_why=choice.why,
            fast=choice.fast,
            price=choice.price,
            budget=choice.model.budget,
        )

    async def _run(self, runner: Runner, before: asyncio.Task[Any] | None) -> None:
        """One turn after the one before has wholly ended; then the next queued prompt."""
        if before is not None:
            await asyncio.wait({before})
        await runner.run()
        gc.collect()
        self._tasks.start(self.dialogue.after_turn(), "asking the model for a summary of the conversation")
        if self._queued and self._runner is runner:
            self.submit(self._queued.popleft())

    async def _between_turns(self, work: Callable[[], Awaitable[str]]) -> str:
        """Do ``work`` after the turn before has wholly ended; a turn submitted meanwhile waits for it."""
        doing = asyncio.create_task(after(self._finishing, work), name="between turns")
        self._finishing = doing
        return await asyncio.shield(doing)

    def _keep_prompt(self, text: str) -> None:
        try:
            self._prompts.add(text)
        except StoreError as problem:
            self._publish(Notice(level="warning", text=str(problem)))

    async def _follow_connection(self, connection: Connection) -> None:
        async for change in connection.states():
            message = clean_line(change.message) if change.message else None
            state = change.state.value
            self._publish(ConnectionChanged(state=state, message=message, seconds=change.seconds))
