"""From a prompt to the items of its request: the window, the report the model is owed, the words.

Building costs milliseconds of CPU and some disk, so it runs in a thread; nothing else changes a
session's memory while it does.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from context.pieces import Kind, Window, WindowRequest
from context.project import Project
from context.source import Source
from context.tokens import Counter
from context.window import build
from edits.files import read_text
from edits.text import FileError
from session.conversation import developer_message
from session.memory import Memory
from session.protocol.request import Item, user_message

MAP_SHARE = 0.4
"""Share of the budget that the project's map may take: what it leaves is room for the conversation."""
PATIENCE = 1.5
"""Seconds that a first prompt waits for the project to be read."""
FULL = 0.75
"""Share of the budget at which the window is started afresh, with the past as plain history."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """What a turn will add to the conversation, and its tokens. Nothing is changed by making it:
    an interrupted preparation leaves no trace. ``notes`` are lines for the person."""

    items: tuple[Item, ...]
    tokens: int
    window: Window
    notes: tuple[str, ...]
    afresh: bool
    """The conversation so far is left behind, and stands in the window as history."""
    reported: int
    files: Mapping[str, str | None]
    unsent: int

    def commit(self, memory: Memory) -> None:
        """The request goes out: ``memory`` now holds what it tells the model."""
        if self.afresh:
            memory.conversation.clear()
            memory.seen = memory.seen.restart()
        memory.seen = memory.seen.after(self.window)
        memory.knowledge.told(self.files)
        memory.reported(self.reported)
        del memory.unsent[: self.unsent]
        memory.conversation.extend(self.items, self.tokens)


@dataclass(frozen=True, slots=True)
class Preparation:
    """Prepares turns for one project and one model. ``budget`` is in tokens, instructions included."""

    project: Project
    counter: Counter
    ready: asyncio.Event
    """Set once the project has been read whole for the first time."""
    instructions: str
    tools: str
    """The tools' definitions as text: they take their share of the budget."""
    model: str
    budget: int
    root: Path
    open_files: Callable[[], tuple[str, ...]]

    @property
    def instruction_tokens(self) -> int:
        """Tokens of what is sent with every request: the instructions and the tools."""
        return self.count(self.instructions) + self.count(self.tools)

    def count(self, text: str) -> int:
        """Tokens of ``text``; an upper bound until the ranks are loaded."""
        return self.counter.count(text)

    async def prepare(self, prompt: str, memory: Memory, share: float = 1.0) -> Prepared:
        """The items for ``prompt``, which ``memory`` knows of once they are committed.

        With a ``share`` below 1 the window is started afresh in that part of the budget: the server
        found the last one too long. Raises context.pieces.BudgetTooSmall when the words alone do not fit.
        """
        # A large project is still being read: the window is built from what is known, and says so.
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(PATIENCE):
                await self.ready.wait()
        return await asyncio.to_thread(self._prepare, prompt, memory, share)

    def _prepare(self, prompt: str, memory: Memory, share: float) -> Prepared:
        files = {path: read_or_none(self.root / path) for path in memory.knowledge.paths}
        reported, unsent = len(memory.unreported), tuple(memory.unsent)
        report = memory.report() + memory.knowledge.changes(files)
        extra = sum(self.count(text) for text in (report, *unsent) if text)
        notes = []
        afresh = share < 1 or memory.conversation.tokens + extra > FULL * self.budget
        if afresh:
            why = "too long for the server" if share < 1 else "full"
            notes.append(f"The window was {why}: it was started afresh, with the conversation as history.")
        budget = int(self.budget * share) - self.count(self.tools) - extra
        window = self._build(prompt, memory, budget, fresh=afresh or not memory.conversation.items)
        pieces = [piece for piece in window.pieces if piece.kind is not Kind.INSTRUCTIONS]
        context = "".join(piece.text for piece in pieces if piece.kind is not Kind.REQUEST)
        items = [developer_message(text) for text in (context, report) if text]
        items += [user_message(text) for text in unsent]
        items += [user_message(piece.text) for piece in pieces if piece.kind is Kind.REQUEST]
        return Prepared(
            items=tuple(items),
            tokens=sum(piece.tokens for piece in pieces) + extra,
            window=window,
            notes=tuple(notes),
            afresh=afresh,
            reported=reported,
            files=files,
            unsent=len(unsent),
        )

    def _build(self, prompt: str, memory: Memory, budget: int, *, fresh: bool) -> Window:
        request = WindowRequest(
            text=prompt,
            instructions=self.instructions,
            budget=budget,
            model=self.model,
            history=memory.exchanges.texts()[:-1] if fresh else (),
            open_files=self.open_files(),
            map_limit=int(MAP_SHARE * budget),
            used=0 if fresh else self.count(self.instructions) + memory.conversation.tokens,
        )
        snapshot = self.project.snapshot
        if fresh:
            return build(request, snapshot, self.counter, memory.seen.restart())
        # The model wrote these edits itself, and the report tells what the user did to them since.
        sources = (snapshot.read(path) for path in memory.knowledge.paths)
        seen = memory.seen.knowing(source for source in sources if isinstance(source, Source))
        return build(request, snapshot, self.counter, seen)


def read_or_none(file: Path) -> str | None:
    """The text of ``file``, or None where there is none to be had."""
    try:
        return read_text(file).text
    except FileError:
        return None
