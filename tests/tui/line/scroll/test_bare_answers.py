"""In line mode y and n answer what needs the user's OK, and are no prompts."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from session.base.events import HunkHeld, PromptSubmitted, TurnEnded
from tests.session.talking import Listening, talking
from tests.tui.app.test_held_hunks import TWO_LOCKED
from tui.line import line
from tui.line.answer import Answer


@asynccontextmanager
async def asked(folder: Path) -> AsyncIterator[tuple[Listening, Answer]]:
    """A turn that waits for the user's OK to its first hunk, as line mode shows it."""
    root = folder / "project"
    root.mkdir()
    for name, text in (("one.txt", "first\n"), ("two.txt", "second\n")):
        (root / name).write_text(text)
    async with talking(root, TWO_LOCKED) as it:
        for name in ("one.txt", "two.txt"):
            await it.session.locks.lock(name)
        it.session.submit("add them")
        await it.until(HunkHeld)
        answer = Answer()
        await follow(it, answer, 1)
        yield it, answer


async def follow(it: Listening, answer: Answer, held: int) -> None:
    """Show all that has come, until so many hunks were held."""
    async with asyncio.timeout(10):
        while len(it.all(HunkHeld)) < held:
            await asyncio.sleep(0.01)
    for event in it.events:
        answer.show(event)
        answer.held.take(event)
    answer.ask()


async def test_y_and_n_answer_one_hunk_after_the_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(line, "ASKED_SECONDS", 0.0)
    async with asked(tmp_path) as (it, answer):
        await line._run_command(it.session, answer, "y")
        await follow(it, answer, 2)
        await line._run_command(it.session, answer, "N")
        ended = await it.until(TurnEnded)
        assert ended.status == "completed" and len(it.all(PromptSubmitted)) == 1
        assert (it.root / "one.txt").read_text() == "first\nleft\n"
        assert (it.root / "two.txt").read_text() == "second\n"


async def test_an_answer_that_was_typed_before_the_question_is_asked_for_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with asked(tmp_path) as (it, answer):
        await line._run_command(it.session, answer, "y")
        assert "answer again" in capsys.readouterr().out
        assert answer.held.oldest is not None and it.session.running
        assert len(it.all(PromptSubmitted)) == 1 and (it.root / "one.txt").read_text() == "first\n"
        it.session.interrupt()


async def test_where_nothing_is_asked_it_is_a_prompt(tmp_path: Path) -> None:
    root = tmp_path / "project"
    root.mkdir()
    async with talking(root, TWO_LOCKED) as it:
        await line._run_command(it.session, Answer(), "n")
        assert (await it.until(PromptSubmitted)).text == "n"
