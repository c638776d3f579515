"""The embedded engine: real inference by llama.cpp on a tiny model, in a process that ends with spark."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import struct
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from session.config import ConfigError, Flags
from session.connection import Connection, Endpoint, LinkError, RequestProfile, Service
from session.engine.header import HeaderError, read_header
from session.engine.model import LocalModel, find_model, plan_context
from session.engine.process import Engine
from session.engine.settings import LocalError, LocalSettings, read_local
from session.events import ConnectionChanged, Event, TurnEnded, Usage
from session.link import LinkState
from session.offers import OfferKind, engine_offers, offers
from session.opening import Opening, open_project
from session.protocol import events as wire
from session.protocol.request import user_message
from session.service import Route, Transport
from session.session import Session
from tests.session.tiny_model import write_tiny_model
from tui.beginning import begin_with

pytest.importorskip(
    "xllamacpp", reason="the extra 'local' (llama.cpp) is not installed: pip install '.[dev]'"
)
pytest.importorskip("gguf", reason="the package gguf, which writes the tests' model, is not installed")

CHAT = Service(routes=(Route(Transport.SSE, "chat"),))
RESPONSES = Service(routes=(Route(Transport.SSE, "responses"),))
SPARK = (sys.executable, "-c", "from tui.cli import main; main()")
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_model(tmp_path_factory.mktemp("models") / "tiny.gguf")


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
                assert change.message and "want of memory" in change.message
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


async def test_an_engine_that_takes_too_long_is_given_up(tiny: Path) -> None:
    engine = Engine(planned(tiny), load_seconds=0.001)
    with pytest.raises(LinkError, match=r"not loaded within 0\.001 s"):
        await engine.serve(lambda _: None)
    assert engine.pid is None


OWNER = """
import asyncio, sys
from session.engine.model import find_model
from session.engine.process import Engine
from session.engine.settings import LocalSettings

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


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str]:
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "a.py").write_text("def add(a, b):\n    return a + b\n", "utf-8")
    (tmp_path / "config" / "spark").mkdir(parents=True)
    (tmp_path / "config" / "spark" / "config.toml").write_text("[local]\nthreads = 1\n", "utf-8")
    return {f"XDG_{kind}_HOME": str(tmp_path / kind.lower()) for kind in ("CONFIG", "STATE", "CACHE")}


def opened(tmp_path: Path, home: dict[str, str], file: Path | str) -> Opening:
    return open_project(tmp_path / "project", Flags(local=str(file)), home)


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
    opening = opened(tmp_path, home, tiny)
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


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (None, "there is no file"),
        (b"", "it is not a GGUF file"),
        (b"PK\x03\x04 a zip", "it is not a GGUF file"),
        (b"GGUF\x63\0\0\0", "version 99"),
        (b"GGUF\x03\0\0\0\x01", "ends in the middle of its head"),
        (b"GGUF\x03\0\0\0" + b"\xff" * 16, "head is damaged"),
        (b"GGUF\x03\0\0\0" + struct.pack("<QQQ", 0, 1, 2**60), "head is damaged"),
        (b"GGUF\x03\0\0\0" + struct.pack("<QQ", 0, 0), "does not say its architecture"),
    ],
)
def test_a_file_that_is_no_model_is_refused_before_anything_starts(
    tmp_path: Path, home: dict[str, str], content: bytes | None, told: str
) -> None:
    file = tmp_path / "wrong.gguf"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(ConfigError, match=told) as refused:
        opened(tmp_path, home, file)
    assert "wrong.gguf" in str(refused.value) and "\n" not in str(refused.value)


def test_a_folder_and_no_name_at_all_are_refused(tmp_path: Path, home: dict[str, str]) -> None:
    with pytest.raises(ConfigError, match="is no file"):
        opened(tmp_path, home, tmp_path)
    with pytest.raises(ConfigError, match=r"give --local FILE\.gguf"):
        open_project(tmp_path / "project", Flags(provider="local"), home)


@pytest.mark.parametrize("other", ["base_url", "provider", "model"])
def test_what_contradicts_the_file_is_refused(
    tmp_path: Path, home: dict[str, str], tiny: Path, other: str
) -> None:
    flags: dict[str, Any] = {other: "http://localhost:1/v1"}
    with pytest.raises(ConfigError, match=f"--local and --{other.replace('_', '-')} exclude each other"):
        open_project(tmp_path / "project", Flags(local=str(tiny), **flags), home)


def test_the_settings_choose_the_model_and_how_it_runs(
    tmp_path: Path, home: dict[str, str], tiny: Path
) -> None:
    config = Path(home["XDG_CONFIG_HOME"]) / "spark"
    shelf = Path(home["XDG_CACHE_HOME"]) / "spark" / "models"
    shelf.mkdir(parents=True)
    (shelf / "small.gguf").write_bytes(tiny.read_bytes())
    text = 'provider = "local"\n[local]\nmodel = "small"\ncontext = 2048\nthreads = 1\n'
    (config / "config.toml").write_text(text, "utf-8")
    opening = open_project(tmp_path / "project", Flags(), home)
    assert opening.local is not None
    assert (opening.local.file, opening.local.threads) == (shelf / "small.gguf", 1)
    assert (opening.model.name, opening.model.window) == ("small", 2048)
    with pytest.raises(ConfigError, match="nor a pulled model of that name; pulled are small"):
        opened(tmp_path, home, "smaller")
    (config / "config.toml").write_text("[local]\ncontext = 65536\n", "utf-8")
    with pytest.raises(ConfigError, match="was trained for 32,768 tokens"):
        opened(tmp_path, home, "small")


@pytest.mark.parametrize(
    "table", [3, {"context": 3}, {"context": True}, {"threads": "all"}, {"model": 1}, {"x": 1}]
)
def test_settings_that_cannot_be_are_refused(table: Any) -> None:
    with pytest.raises(LocalError, match=r"\[local\]"):
        read_local(table)


def test_the_head_of_a_file_is_read_as_it_was_written(tiny: Path) -> None:
    header = read_header(tiny)
    assert (header.architecture, header.name, header.context) == ("llama", "tiny", 32_768)
    assert header.cache_bytes == 2 * 2 * 64 * 2  # layers, keys and values, width, bytes of a half float
    assert header.size == tiny.stat().st_size


def test_every_cut_of_a_head_is_told_and_none_is_believed(tiny: Path, tmp_path: Path) -> None:
    whole, cut = tiny.read_bytes(), tmp_path / "cut.gguf"
    vocabulary = whole.index(b"tokenizer.ggml.model")
    for length in range(0, vocabulary, 7):
        cut.write_bytes(whole[:length])
        with pytest.raises(HeaderError):
            read_header(cut)


def test_the_context_is_bounded_by_training_memory_and_patience() -> None:
    giga = 2**30
    assert plan_context(8_192, 57_344, 4 * giga, 64 * giga) == 8_192
    assert plan_context(131_072, 57_344, 4 * giga, 64 * giga) == 32_768
    assert plan_context(131_072, 57_344, 4 * giga, 6 * giga) == 18_688
    assert plan_context(131_072, 57_344, 4 * giga, 3 * giga) == 4_096
    assert plan_context(131_072, 57_344, 4 * giga, None) == 32_768


def test_the_engine_is_offered_with_what_it_could_run(home: dict[str, str], tiny: Path) -> None:
    (pull,) = engine_offers(home)
    assert (pull.kind, pull.title) == (OfferKind.PULL, "Pull qwen2.5-coder-0.5b")
    shelf = Path(home["XDG_CACHE_HOME"]) / "spark" / "models"
    shelf.mkdir(parents=True)
    (shelf / "small.gguf").write_bytes(tiny.read_bytes())
    (shelf / "half.gguf.part").write_bytes(b"GGUF")
    (run,) = engine_offers(home)
    assert (run.kind, run.model) == (OfferKind.LOCAL, "small") and run.detail.startswith("runs here, ")
    listed = offers((), "openai", (run,))
    assert [offer.kind for offer in listed] == [OfferKind.LOCAL, OfferKind.LOGIN, OfferKind.PRACTISE]


def test_taking_the_offer_opens_with_the_engine(
    tmp_path: Path, home: dict[str, str], tiny: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in home.items():
        monkeypatch.setenv(name, value)
    shelf = Path(home["XDG_CACHE_HOME"]) / "spark" / "models"
    shelf.mkdir(parents=True)
    (shelf / "small.gguf").write_bytes(tiny.read_bytes())
    (run,) = engine_offers(home)
    given = {"base_url": None, "provider": "openai", "model": None}
    opening, remark = begin_with(run, tmp_path / "project", None, given)
    assert opening.local is not None and opening.model.name == "small"
    assert remark is not None and 'provider = "local"' in remark
