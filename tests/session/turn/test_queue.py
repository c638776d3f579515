"""The queue of prompts: what front ends are told of it is right in every order of commands."""

from __future__ import annotations

import asyncio
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st

from session.base.events import Event, PromptQueued, PromptSubmitted, PromptsUnqueued
from tests.session.talking import Listening, talking
from tests.thorough import share

SCRIPT = """
models = ["spark-practice", "spark-practice-text"]
[[scenario]]
match = ["short"]
[[scenario.step]]
say = "Short.\\n"

[[scenario]]
match = ["long"]
[[scenario.step]]
say = "A long answer that goes on and on until somebody stops it or its last word is there.\\n"

[[scenario]]
match = ["broken"]
[[scenario.step]]
fail = { code = "invalid_prompt", message = "broken on purpose" }
"""

COMMANDS = st.sampled_from(["submit", "queue", "interrupt", "unqueue", "wait"])
PROMPTS = st.sampled_from(["short", "long", "broken"])


def told(events: list[Event]) -> int:
    """The number of waiting prompts, as a front end knows it from the events alone."""
    waiting = 0
    for event in events:
        if isinstance(event, PromptQueued | PromptSubmitted):
            waiting = event.waiting
        elif isinstance(event, PromptsUnqueued):
            waiting = 0
    return waiting


def still_queued(events: list[Event]) -> list[str]:
    """The prompts that were queued, less those submitted or taken back, by their texts."""
    waiting: list[str] = []
    for event in events:
        if isinstance(event, PromptQueued):
            waiting.append(event.text)
        elif isinstance(event, PromptSubmitted) and event.text in waiting:
            waiting.remove(event.text)
        elif isinstance(event, PromptsUnqueued):
            assert list(event.texts) == waiting
            waiting.clear()
    return waiting


async def give(talk: Listening, command: str, text: str) -> None:
    session = talk.session
    match command:
        case "submit":
            session.submit(text)
        case "queue":
            session.queue(text)
        case "interrupt":
            session.interrupt()
        case "unqueue":
            session.unqueue()
        case _:
            await asyncio.sleep(0.01)
    await asyncio.sleep(0)


async def follow(folder: Path, orders: list[tuple[str, str]]) -> None:
    root = folder / "project"
    root.mkdir()
    given_texts = []
    async with talking(root, SCRIPT, rate=300) as talk:
        for number, (command, prompt) in enumerate(orders):
            text = f"{prompt} {number}"
            if command in ("submit", "queue"):
                given_texts.append(text)
            await give(talk, command, text)
            assert told(talk.events) == len(still_queued(talk.events))
        async with asyncio.timeout(60):
            while talk.session.running or still_queued(talk.events):
                await talk.news()
        assert told(talk.events) == 0
        submitted = [event.text for event in talk.all(PromptSubmitted)]
        taken_back = [text for event in talk.all(PromptsUnqueued) for text in event.texts]
        assert sorted([*submitted, *taken_back]) == sorted(given_texts), "a prompt was lost or sent twice"
        queued = [event.text for event in talk.all(PromptQueued) if event.text in submitted]
        assert [text for text in submitted if text in queued] == queued, "the queue lost its order"


@settings(max_examples=share(25, 8), deadline=None)
@given(st.lists(st.tuples(COMMANDS, PROMPTS), min_size=1, max_size=9))
def test_the_number_of_waiting_prompts_is_right_in_every_order(orders: list[tuple[str, str]]) -> None:
    with TemporaryDirectory() as folder:
        asyncio.run(follow(Path(folder), orders))


async def test_a_redirect_leaves_the_queue_as_it_is(tmp_path: Path) -> None:
    root = tmp_path / "project"
    root.mkdir()
    async with talking(root, SCRIPT, rate=100) as talk:
        talk.session.submit("long 1")
        talk.session.queue("short 2")
        talk.session.submit("short 3")
        redirected = await talk.until(PromptSubmitted, lambda event: event.text == "short 3")
        assert redirected.waiting == 1
        await talk.ended("t3")
        assert told(talk.events) == 0
        assert [event.text for event in talk.all(PromptSubmitted)] == ["long 1", "short 3", "short 2"]


async def test_a_prompt_queued_right_after_an_interrupt_waits_behind_those_before_it(tmp_path: Path) -> None:
    root = tmp_path / "project"
    root.mkdir()
    async with talking(root, SCRIPT, rate=100) as talk:
        talk.session.submit("long 1")
        talk.session.queue("short 2")
        talk.session.interrupt()
        talk.session.queue("short 3")
        await talk.ended("t3")
        assert [event.text for event in talk.all(PromptSubmitted)] == ["long 1", "short 2", "short 3"]


async def test_waiting_prompts_are_taken_back_by_their_number_or_all_at_once(tmp_path: Path) -> None:
    root = tmp_path / "project"
    root.mkdir()
    rows: list[tuple[int | None, list[str], list[str]]] = [
        (5, [], ["short a", "short b", "short a", "short c"]),
        (0, [], ["short a", "short b", "short a", "short c"]),
        (-1, [], ["short a", "short b", "short a", "short c"]),
        (3, ["short a"], ["short a", "short b", "short c"]),
        (1, ["short a"], ["short b", "short c"]),
        (2, ["short c"], ["short b"]),
        (2, [], ["short b"]),
        (None, ["short b"], []),
        (None, [], []),
    ]
    async with talking(root, SCRIPT) as talk:
        for text in ("long", "short a", "short b", "short a", "short c"):
            talk.session.queue(text)
        for number, texts, left in rows:
            assert talk.session.unqueue(number) == texts
            assert list(talk.session._turns.queued) == left
        await talk.ended("t1")
        told = [PromptsUnqueued(tuple(texts), len(left), number) for number, texts, left in rows if texts]
        assert talk.all(PromptsUnqueued) == told, "nothing is told where nothing was taken back"
        assert [event.text for event in talk.all(PromptSubmitted)] == ["long"]
