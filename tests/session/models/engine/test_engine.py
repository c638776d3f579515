"""The embedded engine: real inference by llama.cpp on a tiny model, in a process that ends with spark."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from session.base.events import ConnectionChanged, Event, TurnEnded, Usage
from session.models.catalogue import load_catalogue
from session.models.engine.model import LocalModel, find_model
from session.models.engine.process import Engine
from session.models.engine.settings import LocalSettings
from session.session import Session
from session.setup.config import Flags
from session.setup.opening import open_project
from session.wire.link.connection import Connection, Endpoint, LinkError, RequestProfile, Service
from session.wire.link.state import LinkState
from session.wire.protocol import events as wire
from session.wire.protocol.items import user_message
from session.wire.transport.service import Route, Transport
from tests.checkout import ROOT
from tests.session.models.engine.tiny_model import write_tiny_model

pytest.importorskip(
    "xllamacpp", reason="the extra 'local' (llama.cpp) is not installed: pip install '.[dev]'"
)
pytest.importorskip("gguf", reason="the package gguf, which writes the tests' model, is not installed")

CHAT = Service(routes=(Route(Transport.SSE, "chat"),))
RESPONSES = Service(routes=(Route(Transport.SSE, "responses"),))
SPARK = (sys.executable, "-c", "from tui.cli.main import main; main()")


@pytest.fixture(scope="module")
def endless(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_model(tmp_path_factory.mktemp("models") / "endless.gguf", endless=True)


def planned(file: Path) -> LocalModel:
    # One thread: on a busy machine llama.cpp's threads wait for each other, spinning.
    return find_model(str(file), LocalSettings(threads=1), {})


def profile(tokens: int | None = 40) -> RequestProfile:
    return RequestProfile(model="tiny", instructions="Talk nonsense.", max_output_tokens=tokens)


def is_alive(pid: int) -> bool:
    """Whether the process runs; one that has ended and waits to be collected does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text("ascii", "replace").rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        if Path("/proc/self").exists():
            return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


async def answer(connection: Connection, *texts: str) -> tuple[str, wire.Finished]:
    said, finished = "", None
    async for event in connection.respond([user_message(text) for text in texts]):
        if isinstance(event, wire.TextDelta):
            said += event.text
        elif isinstance(event, wire.Finished):
            finished = event
    assert finished is not None
    return said, finished


@pytest.mark.parametrize("service", [CHAT, RESPONSES], ids=["chat", "responses"])
async def test_the_engine_answers_in_both_its_dialects_and_remembers_the_beginning(
    endless: Path, service: Service
) -> None:
    engine = Engine(planned(endless))
    connection = Connection(Endpoint("http://127.0.0.1"), profile(), service=service, host=engine)
    try:
        said, finished = await answer(connection, "A first question, " * 10)
        assert said and finished.usage is not None
        assert finished.usage.output_tokens == 40
        assert finished.output[0]["content"][0]["text"] == said
        _, again = await answer(connection, "A first question, " * 10, "and a second one")
        assert again.usage is not None
        # All of the first prompt but its last words was read before.
        assert again.usage.cached_tokens >= finished.usage.input_tokens - 20
        assert again.usage.input_tokens > finished.usage.input_tokens
        assert connection.garbled == 0
        assert engine.starts == 1
        if service is CHAT:  # the engine says so where it is asked to
            connection.request = replace(profile(), chat_extra=load_catalogue().providers["local"].chat_body)
            events = connection.respond([user_message("Something else. " * 60)])
            read = [event async for event in events if isinstance(event, wire.PromptRead)]
            assert read and read[-1].tokens == read[-1].total > 60
        assert connection.endpoint.is_loopback and connection.endpoint.api_key
    finally:
        await connection.close()
    assert engine.pid is None


async def test_nobody_without_the_key_is_served(tiny: Path) -> None:
    engine = Engine(planned(tiny))
    try:
        endpoint = await engine.serve(lambda _: None)
        stranger = Connection(Endpoint(endpoint.base_url, "guessed"), profile(), service=CHAT)
        with pytest.raises(LinkError) as refused:
            await answer(stranger, "hello")
        assert refused.value.kind == "unauthorized"
        await stranger.close()
        key = str(endpoint.api_key)
        cmdline = Path(f"/proc/{engine.pid}/cmdline")
        if cmdline.exists():
            assert key not in cmdline.read_text("utf-8", "replace")
    finally:
        await engine.close()


async def test_loading_is_told_before_ready(tiny: Path) -> None:
    connection = Connection(Endpoint("http://127.0.0.1"), profile(), service=CHAT, host=Engine(planned(tiny)))
    changes = connection.states()
    connection.start()
    seen = []
    async for change in changes:
        seen.append((change.state, change.message))
        if change.state is LinkState.READY:
            break
    await connection.close()
    told = [message for state, message in seen if state is LinkState.CONNECTING and message]
    assert told[0].startswith("loading tiny (") and told[0].endswith("kB)")


async def test_an_interrupt_frees_the_engine_for_the_next_prompt(endless: Path) -> None:
    engine = Engine(planned(endless))
    connection = Connection(Endpoint("http://127.0.0.1"), profile(None), service=CHAT, host=engine)
    try:
        pieces = 0
        async for event in connection.respond([user_message("on and on")]):
            if isinstance(event, wire.TextDelta):
                pieces += 1
                if pieces == 20:
                    connection.drop()
        assert pieces == 20
        connection.request = profile(5)
        async with asyncio.timeout(20):
            _, finished = await answer(connection, "and now shortly")
        assert finished.usage is not None and finished.usage.output_tokens == 5
        assert engine.starts == 1
    finally:
        await connection.close()


async def test_a_crash_in_the_middle_is_told_and_the_next_prompt_starts_the_engine_again(
    endless: Path,
) -> None:
    engine = Engine(planned(endless))
    connection = Connection(Endpoint("http://127.0.0.1"), profile(None), service=CHAT, host=engine)
    changes = connection.states()
    try:
        killed = False
        with pytest.raises(LinkError) as crash:
            async for event in connection.respond([user_message("on and on")]):
                if isinstance(event, wire.TextDelta) and not killed:
                    killed = True
                    assert engine.pid is not None
                    os.kill(engine.pid, signal.SIGSEGV)
        assert crash.value.code == "engine"
        assert "SIGSEGV" in crash.value.message and "next prompt starts it again" in crash.value.message
        async for change in changes:
            if change.state is LinkState.FAILED:
                assert change.message == crash.value.message
                break
        connection.request = profile(5)
        _, finished = await answer(connection, "hello again")
        assert finished.usage is not None
        assert engine.starts == 2
    finally:
        await connection.close()


async def test_a_crash_between_turns_is_told_when_it_happens(endless: Path) -> None:
    engine = Engine(planned(endless))
    connection = Connection(Endpoint("http://127.0.0.1"), profile(), service=CHAT, host=engine)
    changes = connection.states()
    try:
        await answer(connection, "hello")
        assert engine.pid is not None
        os.kill(engine.pid, signal.SIGKILL)
        async for change in changes:
            if change.state is LinkState.FAILED:
                assert change.message and "lack of memory" in change.message
                break
        said, _ = await answer(connection, "hello again")
        assert said and engine.starts == 2
    finally:
        await connection.close()


async def test_a_file_that_only_begins_like_a_model_is_told_by_the_engine(tiny: Path, tmp_path: Path) -> None:
    cut = tmp_path / "cut.gguf"
    cut.write_bytes(tiny.read_bytes()[:300_000])
    connection = Connection(Endpoint("http://127.0.0.1"), profile(), service=CHAT, host=Engine(planned(cut)))
    with pytest.raises(LinkError) as refused:
        await answer(connection, "hello")
    await connection.close()
    assert refused.value.message.startswith("The engine could not load cut: ")
    assert "not within the file bounds" in refused.value.message


def test_the_cause_is_told_also_where_it_comes_in_after_who_gave_up(tiny: Path) -> None:
    engine = Engine(planned(tiny))
    engine._said.extend(
        [
            "Failed to init server, please check the input params.",
            "0.00.007.096 E llama_model_load: error loading model: the tensors are incomplete",
            "0.00.008.205 E srv init: exiting due to model loading error",
        ]
    )
    assert engine._why(1, 0) == "the tensors are incomplete (exit code 1)"


async def test_an_engine_that_takes_too_long_is_given_up(tiny: Path) -> None:
    engine = Engine(planned(tiny), load_seconds=0.001)
    with pytest.raises(LinkError, match=r"not loaded within 0\.001 s"):
        await engine.serve(lambda _: None)
    assert engine.pid is None


OWNER = """
import asyncio, sys
from session.models.engine.model import find_model
from session.models.engine.process import Engine
from session.models.engine.settings import LocalSettings

async def main():
    engine = Engine(find_model(sys.argv[1], LocalSettings(), {}))
    await engine.serve(lambda _: None)
    print(engine.pid, flush=True)
    await asyncio.Event().wait()

asyncio.run(main())
"""


def test_the_engine_ends_with_a_parent_that_is_killed(tiny: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", OWNER, str(tiny)], cwd=ROOT, stdout=subprocess.PIPE, text=True
    ) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        assert is_alive(child)
        parent.kill()
    deadline = time.monotonic() + 20
    while is_alive(child) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not is_alive(child)


# -- a session on it -------------------------------------------------------------------------------


async def events_of_turn(session: Session, prompt: str) -> list[Event]:
    events = session.listen()
    session.submit(prompt)
    seen: list[Event] = []
    async for event in events:
        seen.append(event)
        if isinstance(event, TurnEnded):
            return seen
    raise AssertionError("the session ended before the turn did")


async def test_a_session_talks_to_it_as_to_any_server(
    tmp_path: Path, home: dict[str, str], tiny: Path
) -> None:
    opening = open_project(tmp_path / "project", Flags(local=str(tiny)), home)
    assert (opening.model.name, opening.model.provider) == ("tiny", "local")
    assert opening.model.edit_format == "search-replace"
    assert opening.model.window == 32_768 and opening.model.budget == 24_576
    session = Session(opening)
    states: AsyncIterator[Event] = session.listen()
    await session.open()
    first = await events_of_turn(session, "what does add do?")
    second = await events_of_turn(session, "and why?")
    await session.close()
    assert [event.status for event in (first[-1], second[-1]) if isinstance(event, TurnEnded)] == [
        "completed",
        "completed",
    ]
    usage = [event for event in second if isinstance(event, Usage)][-1]
    assert not usage.estimated and usage.output_tokens and usage.cached_tokens > 0.8 * usage.input_tokens
    links = [event async for event in states if isinstance(event, ConnectionChanged)]
    assert any(event.message and event.message.startswith("loading tiny") for event in links)


def test_exec_runs_one_turn_on_a_file(tmp_path: Path, home: dict[str, str], tiny: Path) -> None:
    run = subprocess.run(
        [*SPARK, "exec", "--json", "--local", str(tiny), "-C", str(tmp_path / "project"), "hello"],
        cwd=ROOT, env={**os.environ, **home}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    rows = [json.loads(line) for line in run.stdout.splitlines()]
    assert run.returncode == 0, run.stderr
    assert rows[0]["type"] == "turn.started" and rows[0]["model"] == "tiny"
    assert rows[-1]["type"] == "turn.ended" and rows[-1]["status"] == "completed"
    usage = next(row for row in rows if row["type"] == "usage")
    assert usage["output_tokens"] and not usage["estimated"]
