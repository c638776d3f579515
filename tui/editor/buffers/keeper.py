"""Keeps unsaved texts on disk while they are typed, so that no end of the process loses them; and runs jobs
that wait for the disk in the order in which they were asked for.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeVar

from session.base.storage.private_files import StoreError
from tui.editor.buffers.buffer import Buffer

if TYPE_CHECKING:
    from session.project.unsaved_texts import UnsavedTexts


T = TypeVar("T")

Start = Callable[[Coroutine[Any, Any, None], str], None]
"""Starts a background task with a name, and tells of its failure."""
DELAY = 0.25
"""Seconds after a key in which further keys are waited for."""


class InOrder:
    """One job at a time, on the event loop. A job that raises does not keep the others from running."""

    def __init__(self, start: Start, name: str) -> None:
        """``name`` says what the jobs do, for the line that tells of a failure."""
        self._start = start
        self._name = name
        self._jobs: deque[Callable[[], Awaitable[None]]] = deque()
        self._running = False

    @property
    def idle(self) -> bool:
        """Whether no job is running or waiting."""
        return not self._running

    def add(self, job: Callable[[], Awaitable[None]]) -> None:
        """Run ``job`` after those that were added before."""
        self._jobs.append(job)
        self._go_on()

    async def run(self, job: Callable[[], Awaitable[T]]) -> T:
        """Run ``job`` in its turn, and return its result."""
        done: asyncio.Future[T] = asyncio.get_running_loop().create_future()

        async def told() -> None:
            try:
                result = await job()
            except BaseException as problem:  # whoever waits for the result must hear of its end
                if not done.cancelled():
                    done.set_exception(problem)
                if not isinstance(problem, Exception):
                    raise
            else:
                if not done.cancelled():
                    done.set_result(result)

        self.add(told)
        return await done

    async def settled(self) -> None:
        """Wait until all jobs that were added so far are done."""
        await self.run(_nothing)

    def _go_on(self) -> None:
        if self._jobs and not self._running:
            self._running = True
            self._start(self._run(), self._name)

    async def _run(self) -> None:
        try:
            while self._jobs:
                await self._jobs.popleft()()
        except Exception:  # raised again below: the jobs after it go on
            self._running = False
            self._go_on()
            raise
        self._running = False


async def _nothing() -> None:
    return None


@dataclass(frozen=True, slots=True)
class _Text:
    """What is to be kept of a file; ``lines`` None: nothing."""

    number: int
    path: str
    lines: tuple[str, ...] | None
    base: str


class UnsavedKeeper:
    """Writes the unsaved texts a moment after they were typed, in a worker thread."""

    def __init__(self, store: UnsavedTexts, start: Start, say: Callable[[str, str], None]) -> None:
        self._store = store
        self._start = start
        self._say = say
        self._changed: dict[str, Buffer] = {}
        self._running = False
        self._being_written: list[_Text] = []
        self._count = 0
        self._written: dict[str, int] = {}
        """The number of the newest text of each file that was written."""
        self._lock = Lock()

    def changed(self, buffer: Buffer) -> None:
        """The text of ``buffer`` changed, or was saved, or the file was closed."""
        self._changed[buffer.path] = buffer
        if not self._running:
            self._running = True
            self._start(self._run(), "keeping unsaved text")

    def drop(self, buffer: Buffer) -> None:
        """The text of ``buffer`` is not wanted any more."""
        self._changed.pop(buffer.path, None)
        self._count += 1
        self._write([_Text(self._count, buffer.path, None, "")])

    def flush(self) -> None:
        """Write what is not written yet, before this returns. Raises StoreError."""
        self._write([*self._being_written, *self._take()])

    async def _run(self) -> None:
        try:
            while self._changed:
                await asyncio.sleep(DELAY)
                self._being_written = self._take()
                await asyncio.to_thread(self._write, self._being_written)
        except StoreError as problem:
            self._say(str(problem), "error")
        finally:
            self._running = False

    def _take(self) -> list[_Text]:
        taken = []
        for path, buffer in self._changed.items():
            self._count += 1
            lines = tuple(buffer.lines) if buffer.dirty else None
            taken.append(_Text(self._count, path, lines, buffer.base.text if buffer.base else ""))
        self._changed.clear()
        return taken

    def _write(self, texts: list[_Text]) -> None:
        for text in texts:
            with self._lock:
                if self._written.get(text.path, 0) >= text.number:
                    continue  # this one or a newer one was written while it waited
                if text.lines is not None:
                    self._store.keep(text.path, "\n".join(text.lines), text.base)
                elif text.path in self._written:
                    self._store.drop(text.path)
                self._written[text.path] = text.number
