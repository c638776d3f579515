"""The user's commands for the window: pin files, remove files, and see what is in it and why."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection
from dataclasses import replace
from types import MappingProxyType

from context.find.completion import complete
from context.project.snapshot import Snapshot
from context.text.encoding import RankFileError
from context.window.packing import removed_by
from context.window.pieces import BudgetTooSmall
from session.base.events import Event
from session.base.text.sanitize import clean_line
from session.project.indexing import ProjectReading
from session.project.pins import Pins, first_target_by_file, pinning, removing, restoring, unpinning
from session.project.typing_pause import Rehearsal
from session.record.journal.recorder import Recorder
from session.turn.past_turns import PastTurns
from session.turn.preparation import Preparation, Preparations
from session.turn.turn_memory import TurnMemory
from session.turn.window_report import WindowReport, left_out_files, reported_pieces


class ContextCommands:
    """``Session.context``: pins, removals, and the explanation of the window.

    Pins change one after the other, in the order of the commands. Targets are looked up in a thread.
    """

    def __init__(
        self,
        pins: Pins,
        memory: TurnMemory,
        reading: ProjectReading,
        preparations: Preparations,
        recorder: Recorder,
    ) -> None:
        self._pins = pins
        self._memory = memory
        self._reading = reading
        self._preparations = preparations
        self._publish = recorder.publish
        self._rehearsal = Rehearsal(self._rehearse)
        self.on_cost: Callable[[float | None], None] = lambda cost: None
        """Called with what the draft costs at least, in dollars, when its window was rehearsed; None where
        that is unknown."""

    @property
    def pinned(self) -> tuple[str, ...]:
        """The pinned targets, oldest first."""
        return self._pins.pinned

    @property
    def removed(self) -> tuple[str, ...]:
        """The removed targets, oldest first."""
        return self._pins.removed

    @property
    def snapshot(self) -> Snapshot:
        """The project as it is known now; for any thread."""
        return self._reading.snapshot

    @property
    def reading(self) -> bool:
        """Whether the project is still being read, so that more of its files may become known."""
        return self._reading.under_way

    def looking_at(self, paths: tuple[str, ...]) -> None:
        """Record which files the user has open; they rank higher in the window."""
        self._preparations.open_files = paths

    def complete(self, prefix: str) -> tuple[tuple[str, str], ...]:
        """The likeliest mentions for what was typed after an ``@``, best first, with the ``@``; for any
        thread.

        Each comes with a detail that tells it from others: the state of a changed file, the file of a
        definition.
        """
        found = complete(prefix, self._reading.snapshot)
        return tuple((clean_line(each.text), clean_line(each.detail)) for each in found)

    def allowed(self, paths: Collection[str]) -> frozenset[str]:
        """Those of ``paths`` that a model may see: files of the project that were not removed. For any
        thread."""
        snapshot = self._reading.snapshot
        known = frozenset(path for path in paths if path in snapshot.paths)
        return known - removed_by(self._pins.removed, snapshot)

    async def pin(self, target: str) -> None:
        """Show ``target`` in every window. This and the other commands raise PinError for a wrong target."""
        await self._change(pinning, target)

    async def unpin(self, target: str) -> None:
        """End the pin of ``target``, or of ``all``."""
        await self._change(unpinning, target)

    async def remove(self, target: str) -> None:
        """Show no more than the names of ``target`` from now on."""
        await self._change(removing, target)

    async def restore(self, target: str) -> None:
        """Show ``target`` again, or ``all`` that was removed."""
        await self._change(restoring, target)

    def sendable(self) -> Snapshot:
        """The project as it is known now, without what was removed. It may look up many files: call it in a
        worker thread."""
        snapshot = self._reading.snapshot
        return snapshot.without(removed_by(self.removed, snapshot)) if self.removed else snapshot

    async def explain(self, draft: str | None) -> WindowReport:
        """The window that ``draft`` would be sent with now, with what the model holds already.

        Without a draft it is the window that was sent last. It is built from what is known of the project
        at this moment; nothing is changed by it.
        """
        await self._pins.settled()
        # The running turn changes the memory on this loop while the thread reads: it reads a copy.
        return await asyncio.to_thread(
            _explain,
            self._preparations.now(),
            self._memory.copied(),
            self._memory.past_turns.past(),
            draft,
            self.pinned,
            self.removed,
        )

    async def rehearse(self) -> None:
        """Build a window that is not sent, once the project is known and no key was pressed for a moment.

        What the first prompt's window needs is in memory then, and its request leaves earlier.
        """
        await self._reading.known.wait()
        await self._reading.pause.wait()
        if not self._reading.pause.over:
            await self.explain("")

    async def _rehearse(self, draft: str) -> None:
        report = await self.explain(draft)
        held = self._memory.conversation.tokens
        standing = self._preparations.now().instruction_tokens if held else 0
        self.on_cost(
            None if report.problem else self._preparations.least_cost(report.tokens, held + standing)
        )

    def drafted(self, text: str) -> None:
        """Record what the user has typed of a prompt so far."""
        self._rehearsal.typed(text)

    async def rehearse_drafts(self) -> None:
        """Build the window of a draft whenever the user pauses, once the project is known."""
        await self._reading.known.wait()
        await self._rehearsal.run()

    def read_all(self) -> str:
        """Read a folder that is not one project, such as the home folder; returns what to tell."""
        return "reading this folder" if self._reading.read_anyway() else "this folder is read already"

    async def _change(self, change: Callable[[str, Pins, Snapshot], list[Event]], target: str) -> None:
        async with self._pins.changing:
            for event in await asyncio.to_thread(change, target, self._pins, self._reading.snapshot):
                self._publish(event)


def _explain(
    preparation: Preparation,
    memory: TurnMemory,
    past: PastTurns,
    draft: str | None,
    pinned: tuple[str, ...],
    removed: tuple[str, ...],
) -> WindowReport:
    try:
        preparation.counter.load()  # returns at once if it is loaded; an upper bound would mislead
    except RankFileError as problem:
        return WindowReport(budget=preparation.budget, problem=str(problem))
    snapshot = preparation.project.snapshot
    known, total = preparation.project.progress
    pins, removals = first_target_by_file(pinned, snapshot), first_target_by_file(removed, snapshot)
    frame = WindowReport(
        budget=preparation.budget,
        pins=MappingProxyType(pins),
        removals=MappingProxyType({path: by for path, by in removals.items() if path not in pins}),
        known=known,
        total=total,
        complete=snapshot.complete,
    )
    held = preparation.instruction_tokens + memory.conversation.tokens
    if draft is None:
        last = memory.sent_windows.last
        if last is None:
            return replace(
                frame, problem="nothing has been sent yet since the conversation was started afresh"
            )
        parts, tokens, left_out = memory.sent_windows.parts(), held, last.left_out
    else:
        try:
            prepared = preparation.prepare_now(draft, memory, past)
        except BudgetTooSmall as problem:
            return replace(frame, problem=str(problem))
        earlier = () if prepared.afresh else reported_pieces(memory.sent_windows.pieces, earlier=True)
        parts = (*earlier, *reported_pieces(prepared.window.pieces, earlier=False))
        tokens = prepared.tokens + (preparation.instruction_tokens if prepared.afresh else held)
        left_out = prepared.window.left_out
    talk = max(0, tokens - sum(part.tokens for part in parts))
    return replace(frame, tokens=tokens, parts=parts, talk=talk, left_out=left_out_files(left_out))
