from __future__ import annotations

import asyncio

from session.project.typing_pause import Rehearsal, TypingPause


async def turns(count: int = 20) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


async def test_there_is_no_wait_if_nobody_has_typed() -> None:
    waiting = asyncio.ensure_future(TypingPause(quiet=3600).wait())
    await turns()
    assert waiting.done()


async def test_it_waits_during_typing_and_ends_when_the_work_is_needed() -> None:
    pause = TypingPause(quiet=3600)
    pause.typed()
    waiting = asyncio.ensure_future(pause.wait())
    await turns()
    assert not waiting.done()
    pause.typed()
    await turns()
    assert not waiting.done()
    pause.needed()
    await waiting


async def test_there_is_no_wait_if_the_work_is_needed_already() -> None:
    pause = TypingPause(quiet=3600)
    pause.typed()
    pause.needed()
    waiting = asyncio.ensure_future(pause.wait())
    await turns()
    assert waiting.done()


async def test_the_wait_ends_after_a_pause() -> None:
    pause = TypingPause(quiet=0.01)
    pause.typed()
    await pause.wait()


class Windows:
    """Takes the drafts whose windows are built; a build lasts until it is let go."""

    def __init__(self) -> None:
        self.drafts: list[str] = []
        self.go = asyncio.Semaphore(0)
        self.begun = asyncio.Semaphore(0)

    async def build(self, draft: str) -> None:
        self.drafts.append(draft)
        self.begun.release()
        await self.go.acquire()


async def test_the_draft_at_a_pause_is_rehearsed_and_not_those_before_it() -> None:
    windows = Windows()
    rehearsal = Rehearsal(windows.build, quiet=0.01)
    running = asyncio.ensure_future(rehearsal.run())
    for end in range(13, 31):
        rehearsal.typed("why does the loop wait so long?"[:end])
    rehearsal.typed("why does the loop wait so long?")
    await windows.begun.acquire()
    assert windows.drafts == ["why does the loop wait so long?"]
    # What is typed meanwhile waits for its turn, and only its last state counts.
    rehearsal.typed("why does the loop end?")
    rehearsal.typed("why does the loop end too late?")
    await turns()
    assert len(windows.drafts) == 1
    windows.go.release()
    await windows.begun.acquire()
    assert windows.drafts[1:] == ["why does the loop end too late?"]
    running.cancel()


async def test_commands_short_drafts_and_the_same_draft_are_not_rehearsed() -> None:
    windows = Windows()
    windows.go = asyncio.Semaphore(99)
    rehearsal = Rehearsal(windows.build, quiet=0)
    running = asyncio.ensure_future(rehearsal.run())
    for draft in ("", "too short", "/context explain", "!python -m pytest", "explain the parser"):
        rehearsal.typed(draft)
        await turns()
    rehearsal.typed("explain the parser ")
    await turns()
    assert windows.drafts == ["explain the parser"]
    running.cancel()
