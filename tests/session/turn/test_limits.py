"""Turns at their limits: a full window, a server that gives up, garbage, no server at all."""

from __future__ import annotations

import asyncio
import subprocess
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from context.project.project import Project
from context.text.tokens import Counter
from context.window.limits import afresh_limit, fill_comfort, map_limit
from context.window.pieces import BudgetTooSmall, Kind
from session.base.events import (
    ConnectionChanged,
    DialogueCompacted,
    HunkLanded,
    HunkRefused,
    Notice,
    TextDelta,
    TurnEnded,
    TurnStarted,
    Usage,
)
from session.project.pins import Pins
from session.turn.preparation import Preparation
from session.turn.turn_memory import TurnMemory
from session.wire.instructions import TAKE_UP
from tests.session.talking import COLOURS, PLAIN, REPAINT, configure, talking

SMALL = '[models."small"]\nprovider = "partner"\nwindow = 9000\noutput_reserve = 1000\nedit_format = "v4a"\n'
REPAINTED = COLOURS.replace("1", "10").replace("2", "20").replace("3", "30")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "colours.py").write_text(COLOURS)
    return folder


async def test_a_full_window_is_started_afresh_and_never_goes_over_the_budget(root: Path) -> None:
    configure(root, SMALL)
    for number in range(20):
        functions = "".join(f"def function_{number}_{n}(one, two):\n    return {n}\n\n" for n in range(20))
        (root / f"part{number}.py").write_text(functions)
    script = PLAIN.replace("Just words.", "Words upon words. " * 60)
    async with talking(root, script, model="small") as talk:
        for turn in range(1, 9):
            talk.session.submit(f"question {turn} about @part{turn}.py")
            assert (await talk.ended(f"t{turn}")).status == "completed"
        sizes = [event.input_tokens for event in talk.all(TurnStarted)]
        notices = [event for event in talk.all(Notice) if "afresh" in event.text]
        starts = len(notices) + len(talk.all(DialogueCompacted))
        assert max(sizes) <= 8000
        assert 0 < starts < 6, "a fresh start is for a full window, not for every turn"
        asked = [
            request.body
            for request in talk.partner.requests
            if request.generate and request.offers_patch_tool
        ]
        fresh = [body for body in asked if "question 1" in str(body["input"])][1:]
        assert len(fresh) == starts, "history is lost"


async def test_words_that_fit_by_exact_counts_only_are_sent_before_the_counter_is_loaded(
    root: Path,
) -> None:
    project = Project(root)
    project.scan()
    counter = Counter()
    known = asyncio.Event()
    known.set()
    instructions = "Write plain words and short sentences in all that you say. " * 40
    preparation = Preparation(project, counter, known, instructions, "", 900, root, (), Pins())
    assert counter.count(instructions) > 900
    prepared = await preparation.prepare("hello", TurnMemory())
    assert counter.ready and prepared.window.tokens <= 900
    with pytest.raises(BudgetTooSmall):
        await preparation.prepare("hello " * 900, TurnMemory())


async def test_a_project_with_many_changes_does_not_start_a_window_afresh_on_each_turn(root: Path) -> None:
    for number in range(60):
        functions = "".join(f"def function_{number}_{n}(one, two):\n    return {n}\n\n" for n in range(20))
        (root / f"part{number}.py").write_text(functions)
    run = partial(subprocess.run, cwd=root, check=True, capture_output=True)
    run(["git", "init", "-q"])
    run(["git", "add", "-A"])
    run(["git", "-c", "user.name=A", "-c", "user.email=a@example.org", "commit", "-q", "-m", "first"])
    for file in root.glob("part*.py"):
        file.write_text(file.read_text().replace("return 7", "return 77"))
    project, counter, known = Project(root), Counter(), asyncio.Event()
    project.scan()
    counter.load()
    known.set()
    preparation = Preparation(project, counter, known, "Be brief.\n", "", 10_000, root, (), Pins())
    memory = TurnMemory()
    starts = 0
    for turn in range(6):
        prepared = await preparation.prepare(f"question {turn}", memory)
        assert prepared.window.tokens <= 10_000
        assert turn or any(piece.kind is Kind.CHANGED for piece in prepared.window.pieces)
        prepared.commit(memory)
        starts += prepared.afresh
        (root / "part1.py").write_text(f"saved = {turn}\n")
        project.update(["part1.py"])
    assert starts == 0


async def test_a_large_first_window_is_filled_and_the_next_turns_go_on_in_it(root: Path) -> None:
    budget = 112_000
    for number in range(450):
        part = "wheel" if number < 80 else "engine"
        functions = "".join(
            f"def turn_{number}_{n}({part}, axle):\n"
            f"    {part}.speed += axle.length * {n}\n"
            f"    return {part}\n\n"
            for n in range(45)
        )
        if number >= 330:
            functions = functions.replace("return engine", "return oil(rusty, crank, shaft, bearing)", 9)
        (root / f"part{number}.py").write_text(functions)
    project, counter, known = Project(root), Counter(), asyncio.Event()
    project.scan()
    counter.load()
    known.set()
    preparation = Preparation(project, counter, known, "Be brief.\n", "", budget, root, (), Pins())
    memory = TurnMemory()
    first = await preparation.prepare("How is the speed of the wheel changed?", memory)
    likely = sum(piece.tokens for piece in first.window.pieces if piece.kind is Kind.MENTIONED)
    comfort = fill_comfort(budget, 10, 0)
    assert 0.95 * comfort < first.window.tokens <= comfort, "wheels are everywhere: no part surely matters"
    assert 0.65 * comfort < likely, "the map leaves most of the room for texts"
    whole = await preparation.prepare("Where does turn oil the rusty crank shaft bearing?", TurnMemory())
    assert 1.4 * comfort < whole.window.tokens <= 0.75 * budget, "what surely matters fills more"
    greeted = await preparation.prepare("hello", TurnMemory())
    assert not [piece for piece in greeted.window.pieces if piece.kind is Kind.MENTIONED]
    assert greeted.window.tokens < 0.32 * comfort, "a map, and not a library"
    first.commit(memory)
    for number in (7, 130):
        following = await preparation.prepare(f"What does turn_{number}_29 return?", memory)
        assert not following.afresh, "the first window leaves room for a conversation"
        following.commit(memory)
    memory.conversation.extend((), int(0.86 * budget) - memory.conversation.tokens)
    again = await preparation.prepare("How is the speed of the wheel changed?", memory)
    assert again.afresh
    likely = sum(piece.tokens for piece in again.window.pieces if piece.kind is Kind.MENTIONED)
    assert 0.28 * budget < likely <= afresh_limit(budget), "it shows what the request is about, too"
    project.close()


CLOSED = "close = {once = true}"
FAILED = 'fail = {code = "server_error", status = 500, once = true}'


@pytest.mark.parametrize(
    ("model", "step", "tokens"),
    [
        ("spark-practice", CLOSED, 4),
        ("spark-practice", FAILED, 30),
        ("spark-practice-text", CLOSED, 30),
        ("spark-practice-text", FAILED, 4),
    ],
)
async def test_an_answer_lost_midway_is_resumed_from_what_landed(
    root: Path, model: str, step: str, tokens: int
) -> None:
    cut = f'patch = ["red", "green"]\ntokens = {tokens}\n\n[[scenario.step]]\n{step}\n\n[[scenario.step]]\n'
    script = REPAINT.replace('patch = ["red", "green"]', f'{cut}patch = ["red", "green"]', 1)
    async with talking(root, script, model=model) as talk:
        talk.session.submit("repaint it")
        ended = await talk.ended("t1")
        assert ended.status == "completed", ended
        assert talk.text("colours.py") == REPAINTED
        landed = [event for event in talk.all(HunkLanded) if event.status != "already_applied"]
        assert sorted(event.start for event in landed) == [2, 6, 10], "each hunk landed once"
        assert len(talk.all(HunkLanded)) == 3, "nothing that landed was asked for again"
        assert not talk.all(HunkRefused), "a hunk that comes again is not refused"
        assert len(talk.all(TurnStarted)) == 1 and TAKE_UP in talk.sent(1).replace("\\n", "\n")
        assert talk.all(Usage)[-1].estimated, "what the lost answer cost is not known"
        (said,) = [notice for notice in talk.all(Notice) if "Resuming the answer" in notice.text]
        assert said.level == "warning"


async def test_the_wait_before_an_answer_is_resumed_can_be_interrupted(root: Path) -> None:
    script = REPAINT.replace('[[scenario.step]]\npatch = ["blue"]', "[[scenario.step]]\nclose = {}", 1)
    async with talking(root, script) as talk:
        talk.session.submit("repaint it")
        await talk.until(ConnectionChanged, lambda event: event.state == "waiting")
        talk.session.interrupt()
        assert (await talk.ended("t1")).status == "interrupted"
        asked = len(talk.requests())
        talk.session.submit("go on")
        await talk.ended("t2")
        assert "interrupted by the developer" in talk.sent(asked)


async def test_garbage_on_the_socket_is_ignored(root: Path) -> None:
    garbage = '[[scenario.step]]\ngarbage = ["not json", "[1,2]", "{}", "hex:00ff", \'{"type":"x"}\']\n'
    script = REPAINT.replace("[[scenario.step]]\n", garbage + "\n[[scenario.step]]\n", 1)
    async with talking(root, script) as talk:
        talk.session.submit("repaint it")
        assert (await talk.ended("t1")).status == "completed"
    assert "return 30" in talk.text("colours.py")


async def test_text_is_stripped_of_control_sequences_before_any_front_end(root: Path) -> None:
    script = PLAIN.replace("Just words.", "clear \\u001b[2J and title \\u001b]0;x\\u0007 here")
    async with talking(root, script) as talk:
        talk.session.submit("hello")
        await talk.ended("t1")
    said = "".join(event.text for event in talk.all(TextDelta))
    assert "\x1b" not in said and "\x07" not in said and "clear" in said


async def test_without_a_connection_the_turn_fails_with_what_to_do(tmp_path: Path) -> None:
    from session.session import Session
    from session.setup.config import Flags
    from session.setup.opening import open_project
    from tests.session.talking import environment

    session = Session(open_project(tmp_path, Flags(), environment(tmp_path / "xdg")))
    events = session.listen()
    await session.open()
    session.submit("hello")
    seen = []
    async for event in events:
        seen.append(event)
        if event.type == "turn.ended":
            break
    await session.close()
    changed = next(event for event in seen if isinstance(event, ConnectionChanged))
    assert changed.state == "failed" and "OPENAI_API_KEY" in (changed.message or "")
    ended = seen[-1]
    assert isinstance(ended, TurnEnded)
    assert ended.status == "failed" and "OPENAI_API_KEY" in (ended.message or "")


async def test_a_window_too_long_for_the_server_is_built_again_once(root: Path) -> None:
    fail = 'fail = {code = "context_length_exceeded", message = "Too many tokens."}'
    script = f"""
models = ["spark-practice"]
[[scenario]]
match = ["*"]
times = 1
[[scenario.step]]
{fail}

[[scenario]]
match = ["*"]
[[scenario.step]]
say = "It fits now.\\n"
"""
    async with talking(root, script) as talk:
        talk.session.submit("hello")
        ended = await talk.ended("t1")
    assert ended.status == "completed", ended
    assert "It fits now." in "".join(event.text for event in talk.all(TextDelta))
    assert any("too long for the server" in event.text for event in talk.all(Notice))
    assert len(talk.requests()) == 2


@given(st.integers(1_000, 400_000), st.integers(1, 50_000))
def test_the_shares_of_map_and_likely_parts_leave_room_and_never_shrink(budget: int, more: int) -> None:
    assert map_limit(budget) + afresh_limit(budget) <= 0.5 * budget
    assert map_limit(budget) <= map_limit(budget + more)
    assert afresh_limit(budget) <= afresh_limit(budget + more)
