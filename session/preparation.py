"""From a prompt to the items of its request: the window, the report the model is owed, the words.

Building costs milliseconds of CPU and some disk, so it runs in a thread; nothing else changes a
session's memory while it does.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from context.pieces import Kind, Window, WindowRequest
from context.project import Project
from context.seen import Seen
from context.tokens import Counter
from context.window import build
from edits.files import read_text
from edits.text import FileError
from session.conversation import developer_message
from session.memory import Memory
from session.protocol.request import Item, user_message

FULL = 0.75
"""Share of the budget at which the window is started afresh, with the past as plain history."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """What a turn adds to the conversation, and its tokens. ``notes`` are lines for the person."""

    items: tuple[Item, ...]
    tokens: int
    window: Window
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Preparation:
    """Prepares turns for one project and one model. ``budget`` is in tokens, instructions included."""

    project: Project
    counter: Counter
    ready: asyncio.Event
    """Set once the project has been read for the first time."""
    instructions: str
    instruction_tokens: int
    model: str
    budget: int
    root: Path
    open_files: Callable[[], tuple[str, ...]]

    def count(self, text: str) -> int:
        """Tokens of ``text``; an upper bound until the ranks are loaded."""
        return self.counter.count(text)

    async def prepare(self, prompt: str, memory: Memory) -> Prepared:
        """The items for ``prompt``; what they tell the model is then known to ``memory``.

        Raises context.window.BudgetTooSmall when the words alone do not fit.
        """
        await self.ready.wait()
        return await asyncio.to_thread(self._prepare, prompt, memory)

    def _prepare(self, prompt: str, memory: Memory) -> Prepared:
        report = memory.take_report() + memory.knowledge.changes(self._files_now(memory))
        report_tokens = self.count(report) if report else 0
        notes = []
        if memory.conversation.tokens + report_tokens > FULL * self.budget:
            memory.conversation.clear()
            memory.seen = Seen()
            notes.append("The window was full: it was started afresh, with the conversation as history.")
        window = self._build(prompt, memory, report_tokens)
        memory.seen = memory.seen.after(window)
        pieces = [piece for piece in window.pieces if piece.kind is not Kind.INSTRUCTIONS]
        context = "".join(piece.text for piece in pieces if piece.kind is not Kind.REQUEST)
        items = [developer_message(text) for text in (context, report) if text]
        items += [user_message(piece.text) for piece in pieces if piece.kind is Kind.REQUEST]
        tokens = sum(piece.tokens for piece in pieces) + report_tokens
        return Prepared(tuple(items), tokens, window, tuple(notes))

    def _build(self, prompt: str, memory: Memory, report_tokens: int) -> Window:
        fresh = not memory.conversation.items
        request = WindowRequest(
            text=prompt,
            instructions=self.instructions,
            budget=self.budget - report_tokens,
            model=self.model,
            history=memory.exchanges.texts()[:-1] if fresh else (),
            open_files=self.open_files(),
            used=0 if fresh else self.instruction_tokens + memory.conversation.tokens,
        )
        return build(request, self.project.snapshot, self.counter, memory.seen)

    def _files_now(self, memory: Memory) -> dict[str, str | None]:
        return {path: read_or_none(self.root / path) for path in memory.knowledge.paths}


def read_or_none(file: Path) -> str | None:
    """The text of ``file``, or None where there is none to be had."""
    try:
        return read_text(file).text
    except FileError:
        return None
