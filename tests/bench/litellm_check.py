"""Checks spark's connection against an independent server: LiteLLM's proxy, in front of ``spark partner``.

    python3 -m tests.bench.litellm_check [--keep FOLDER]

It makes a virtual environment with ``litellm[proxy]`` (a minute or more; FOLDER keeps it for the next
time), starts the partner and the proxy on loopback, and asks through each dialect and transport. It
prints a line for each case and leaves with 1 where one failed. Too heavy for every test run.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import secrets
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
import venv
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from session.partner.load_script import parse
from session.partner.server.server import Partner
from session.wire.input_items import answer_items
from session.wire.link.connection import Connection, Endpoint, LinkError, RequestProfile
from session.wire.protocol.events import Finished, ReasoningDelta, TextDelta, ToolInputDelta
from session.wire.protocol.items import Item, user_message
from session.wire.transport.service import (
    RESPONSES_OVER_SSE,
    RESPONSES_OVER_WEBSOCKET,
    Route,
    Service,
    Transport,
)

PACKAGE = "litellm[proxy]>=1.90"
START_SECONDS = 180.0
ANSWER_SECONDS = 30.0
SCRIPT = """
models = ["practice"]
[[scenario]]
id = "greet"
match = ["greet"]
[[scenario.step]]
think = "They want a greeting, so greet."
[[scenario.step]]
say = "Hello, wörld: 日本 🎉, said in one breath and to the end."
[[scenario]]
id = "again"
match = ["again"]
[[scenario.step]]
say = "And hello again."
[[scenario]]
id = "long"
match = ["long"]
[[scenario.step]]
say = '''%s'''
[[scenario]]
id = "refuse"
match = ["refuse"]
[[scenario.step]]
fail = {code = "invalid_prompt", message = "not this one", status = 400}
""" % ("word " * 4_000)
GREETING = "Hello, wörld: 日本 🎉, said in one breath and to the end."

ROUTES = {
    "Responses over WebSocket": (RESPONSES_OVER_WEBSOCKET, "practice"),
    "Responses over WebSocket, Chat behind": (RESPONSES_OVER_WEBSOCKET, "practice-chat"),
    "Responses over SSE": (RESPONSES_OVER_SSE, "practice"),
    "Responses over SSE, Chat behind": (RESPONSES_OVER_SSE, "practice-chat"),
    "Chat": (Route(Transport.SSE, "chat"), "practice-chat"),
    "Messages": (Route(Transport.SSE, "messages"), "practice"),
}


class Wrong(Exception):
    """A case did not end as expected; the message says how."""


@dataclass(slots=True)
class Heard:
    """One whole answer."""

    text: str = ""
    thought: str = ""
    tool_input: str = ""
    finished: Finished | None = None


async def ask(connection: Connection, items: list[Item]) -> Heard:
    """Return the whole answer to ``items``."""
    heard = Heard()
    async with asyncio.timeout(ANSWER_SECONDS):
        async for event in connection.respond(items):
            match event:
                case TextDelta(text=text):
                    heard.text += text
                case ReasoningDelta(text=text):
                    heard.thought += text
                case ToolInputDelta(text=text):
                    heard.tool_input += text
                case Finished():
                    heard.finished = event
                case _:
                    pass
    return heard


def must(holds: bool, what: str) -> None:
    """Raise Wrong with ``what`` unless ``holds`` is true."""
    if not holds:
        raise Wrong(what)


async def whole(connection: Connection) -> str:
    """Check that an answer arrives in full, with the tokens it took."""
    heard = await ask(connection, [user_message("please greet")])
    must(heard.text == GREETING, f"the text was {heard.text!r}")
    must(heard.finished is not None and heard.finished.status == "completed", "it did not complete")
    assert heard.finished is not None
    usage = heard.finished.usage
    must(usage is not None and usage.output_tokens > 0 and usage.input_tokens > 0, f"usage was {usage}")
    must(connection.garbled == 0, f"{connection.garbled} garbled frames")
    return f"{usage.input_tokens} in, {usage.output_tokens} out" if usage else ""


async def following(connection: Connection) -> str:
    """Check that a second turn continues the first."""
    first = user_message("please greet")
    heard = await ask(connection, [first])
    assert heard.finished is not None
    output = answer_items(heard.finished.output)
    must(bool(output), "the first answer has no items")
    whole_bytes = connection.last_request_bytes
    again = await ask(connection, [first, *output, user_message("once more, again")])
    must(again.text == "And hello again.", f"the text was {again.text!r}")
    return f"{whole_bytes} bytes, then {connection.last_request_bytes}"


async def interrupted(connection: Connection) -> str:
    """Check that an interrupt ends the answer at once and does not disturb the next."""
    said = 0
    async with asyncio.timeout(ANSWER_SECONDS):
        async for event in connection.respond([user_message("a long one")]):
            if isinstance(event, TextDelta):
                said += 1
                if said == 5:
                    connection.drop()
    must(said == 5, f"{said} pieces came")
    heard = await ask(connection, [user_message("please greet")])
    must(heard.text == GREETING, f"the next text was {heard.text!r}")
    return "next answer whole"


async def refused(connection: Connection) -> str:
    """Check that an unknown model is reported in one line, and soon."""
    profile = connection.request
    connection.request = RequestProfile(model="no-such-model", instructions=profile.instructions)
    try:
        await ask(connection, [user_message("please greet")])
    except LinkError as problem:
        must(problem.kind == "model", f"it was taken for {problem.kind}: {problem.message}")
        must("This key can use practice" in problem.message, f"no models were named: {problem.message}")
        return problem.message[-60:]
    raise Wrong("no error came")


CASES: dict[str, Callable[[Connection], Awaitable[str]]] = {
    "answer": whole,
    "following turn": following,
    "interrupt": interrupted,
    "unknown model": refused,
}


async def check(url: str, key: str) -> bool:
    """Run every case over every route, and print the table."""
    well = True
    for name, (route, model) in ROUTES.items():
        for case, run in CASES.items():
            profile = RequestProfile(model=model, instructions="You greet.")
            connection = Connection(Endpoint(url, key), profile, service=Service(routes=(route,)))
            began = time.perf_counter()
            try:
                told = f"ok    {await run(connection)}"
            except (Wrong, LinkError, TimeoutError) as problem:
                well = False
                told = f"FAIL  {type(problem).__name__}: {problem}"
            finally:
                await connection.close()
            took = (time.perf_counter() - began) * 1000
            print(f"{name:<38} {case:<15} {took:>7.0f} ms  {told}", flush=True)
    return well


def installed(folder: Path) -> Path:
    """Return the proxy's command; install it below ``folder`` where it is missing."""
    command = folder / "bin" / "litellm"
    if not command.exists():
        print(f"installing {PACKAGE} into {folder} …", file=sys.stderr)
        venv.create(folder, with_pip=True)
        pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", PACKAGE]
        subprocess.run(pip, check=True, stdout=sys.stderr)
    return command


@contextlib.contextmanager
def proxy(command: Path, folder: Path, upstream: str, key: str) -> Iterator[str]:
    """Run the proxy in front of ``upstream`` and give its base URL."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    config = folder / "litellm.yaml"
    config.write_text(
        "model_list:\n"
        "  - model_name: practice\n"
        f"    litellm_params: {{model: hosted_vllm/practice, api_base: '{upstream}', api_key: none}}\n"
        "  - model_name: practice-chat\n"
        f"    litellm_params: {{model: deepseek/practice, api_base: '{upstream}', api_key: none}}\n"
        f"general_settings: {{master_key: {key}}}\n",
        "utf-8",
    )
    environ = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    environ |= {"LITELLM_LOCAL_MODEL_COST_MAP": "True"}
    arguments = [str(command), "--config", str(config), "--host", "127.0.0.1", "--port", str(port)]
    log = folder / "litellm.log"
    with log.open("wb") as out:
        child = subprocess.Popen(arguments, stdout=out, stderr=subprocess.STDOUT, env=environ, cwd=folder)
    try:
        wait_until_up(f"http://127.0.0.1:{port}/health/liveliness", child, log)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        child.terminate()
        try:
            child.wait(10)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()


def wait_until_up(url: str, child: subprocess.Popen[bytes], log: Path) -> None:
    """Return when ``url`` answers. Raises SystemExit when the proxy ends or takes too long."""
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and child.poll() is None:
        with contextlib.suppress(urllib.error.URLError, OSError), urllib.request.urlopen(url, timeout=2):
            return
        time.sleep(0.5)
    raise SystemExit(f"the proxy did not come up:\n{log.read_text('utf-8', 'replace')[-2000:]}")


@contextlib.asynccontextmanager
async def partner_beside() -> AsyncIterator[str]:
    """Run the partner on loopback and give its base URL."""
    async with Partner(rate=2000, scripts=parse(SCRIPT, "litellm check")) as partner:
        yield partner.url


async def run(keep: Path | None) -> bool:
    """Run everything; return whether every case went well."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        command = await asyncio.to_thread(installed, keep or folder / "venv")
        async with partner_beside() as upstream:
            key = f"sk-{secrets.token_hex(24)}"
            running = proxy(command, folder, upstream, key)
            url = await asyncio.to_thread(running.__enter__)
            try:
                return await check(url, key)
            finally:
                await asyncio.to_thread(running.__exit__, None, None, None)


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(description="spark against LiteLLM's proxy")
    parser.add_argument("--keep", type=Path, help="the folder of the virtual environment, to use again")
    return 0 if asyncio.run(run(parser.parse_args().keep)) else 1


if __name__ == "__main__":
    sys.exit(main())
