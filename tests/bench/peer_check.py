"""Runs sessions against other people's servers: ``python3 -m tests.bench.peer_check --keep DIR``.

The servers are installed into ``DIR`` the first time (npm and pip; minutes, 1 GB). aimock answers from
fixtures; Portkey's gateway and LiteLLM's proxy stand in front of the partner. Each is asked for a
conversation, an edit, a tool call and a model that does not exist, and is interrupted and redirected in the
middle of an answer. (Portkey's 1.15 answers every stream with 500, so it is asked only where ``--only``
names it.) Seven MCP servers are started as spark starts them; a tool of each is called, rightly and
with wrong arguments. Prints a line for each, and leaves with 1 where something did not hold.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import secrets
import socket
import subprocess
import sys
import tempfile
import venv
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from session.base.events import Event, TextDelta, ToolCalled
from session.partner.load_script import parse
from session.partner.server.server import Partner
from session.session import Session
from session.setup.config import Flags
from session.setup.opening import open_project
from session.tools.mcp.link import McpLink, McpLinkError
from session.tools.mcp.settings import McpServer, ServerFolders
from tests.bench.litellm_check import installed, proxy
from tests.session.talking import COLOURS, RED, Listening, environment

MODEL, UNKNOWN = "practice", "no-such-model"
SCRIPT = f"""
models = ["{MODEL}"]
refuse_models = ["{UNKNOWN}"]
[[scenario]]
match = ["repaint"]
{RED}[[scenario.step]]
say = "I change red.\\n"
[[scenario.step]]
patch = ["red"]
[[scenario]]
match = ["look inside"]
[[scenario.step]]
call = [{{tool = "read", arguments = {{path = "colours.py"}}}}]
[[scenario.step]]
say = "I have read it.\\n"
[[scenario]]
match = ["long story"]
[[scenario.step]]
say = "{"Once upon a time. " * 2_000}"
[[scenario]]
match = ["*"]
[[scenario.step]]
say = "A word of the server.\\n"
"""
BLOCK = """I change red.

colours.py
```python
<<<<<<< SEARCH
def red():
    return 1
=======
def red():
    return 10
>>>>>>> REPLACE
```
"""
FIXTURES: list[dict[str, Any]] = [
    {"match": {"model": UNKNOWN}, "response": {"error": {"message": f"The model '{UNKNOWN}' does not exist",
     "type": "invalid_request_error", "code": "model_not_found"}, "status": 404}},
    {"match": {"toolCallId": "call_look"}, "response": {"content": "I have read it."}},
    {"match": {"userMessage": "repaint"}, "response": {"content": BLOCK}},
    {"match": {"userMessage": "look inside"}, "response": {"toolCalls": [
        {"id": "call_look", "name": "read", "arguments": {"path": "colours.py"}}]}},
    {"match": {"userMessage": "long story"}, "response": {"content": "Once upon a time. " * 2_000}},
    {"match": {"userMessage": "something"}, "response": {"content": "A word of the server."}},
]  # fmt: skip
CELLS = ("conversation", "edit", "tool call", "error", "interrupt", "redirect")
PIP = ("mcp-server-git", "mcp-server-fetch", "mcp-server-time")
NPM = (
    "@copilotkit/aimock",
    "@portkey-ai/gateway",
    "@modelcontextprotocol/server-everything",
    "@modelcontextprotocol/server-filesystem",
    "@modelcontextprotocol/server-memory",
    "@modelcontextprotocol/server-sequential-thinking",
)


@dataclass(frozen=True, slots=True)
class Call:
    """An MCP server, its command below the folder, and a tool of it with arguments that it takes."""

    name: str
    command: tuple[str, ...]
    tool: str
    arguments: Mapping[str, Any]
    says: str
    """What its answer holds."""


def servers(project: Path) -> list[Call]:
    """The MCP servers; ``project`` is a repository."""
    thought = {"thought": "Hm.", "nextThoughtNeeded": False, "thoughtNumber": 1, "totalThoughts": 1}
    modules = "node_modules/.bin/mcp-server-"
    return [
        Call("everything", (modules + "everything",), "echo", {"message": "hello"}, "hello"),
        Call(
            "filesystem",
            (modules + "filesystem", str(project)),
            "read_text_file",
            {"path": str(project / "colours.py")},
            "def red",
        ),
        Call("memory", (modules + "memory",), "read_graph", {}, "entities"),
        Call("thinking", (modules + "sequential-thinking",), "sequentialthinking", thought, "thoughtNumber"),
        Call("git", ("venv/bin/mcp-server-git",), "git_status", {"repo_path": str(project)}, "branch"),
        Call("time", ("venv/bin/mcp-server-time",), "get_current_time", {"timezone": "UTC"}, "datetime"),
        Call("fetch", ("venv/bin/mcp-server-fetch",), "fetch", {"url": "http://127.0.0.1:9/"}, "robots.txt"),
    ]


async def call_one(call: Call, folder: Path, scratch: Path) -> dict[str, str]:
    """Start a server, call its tool rightly and wrongly, and give the call up in the middle."""
    first, *rest = call.command
    server = McpServer(call.name, (str(folder / first), *rest), start_seconds=120.0)
    link = McpLink(server, dict(os.environ), ServerFolders(scratch, scratch))
    held: dict[str, str] = {}
    try:
        tools = [tool.name for tool in await link.tools()]
        held["tools"] = str(len(tools)) if call.tool in tools else f"no {call.tool}"
        told = str(await link.call(call.tool, call.arguments))
        held["tool call"] = "ok" if call.says in told else f"it said {told[:200]}"
        try:
            wrong = await link.call("no_such_tool", {"nothing": 1})
            held["error"] = "ok" if wrong.is_error else "not told"
        except McpLinkError:
            held["error"] = "ok"
        asking = asyncio.create_task(link.call(call.tool, call.arguments))
        await asyncio.sleep(0)
        asking.cancel()
        await asyncio.wait({asking})
        told = str(await link.call(call.tool, call.arguments))
        held["interrupt"] = "ok" if call.says in told else "no answer after it"
    except McpLinkError as problem:
        held["start"] = str(problem)
    finally:
        await link.close()
    return held


class Talk:
    """Sessions with one server."""

    def __init__(self, row: str, url: str, partner: Partner, scratch: Path) -> None:
        self._url, self._partner = url, partner
        self._root = scratch / "project"
        self._environ = {**environment(scratch / "xdg"), "PEER_KEY": "sk-peer"}
        config = Path(self._environ["XDG_CONFIG_HOME"]) / "spark"
        config.mkdir(parents=True)
        (config / "config.toml").write_text(f'[providers.peer]\nbase_url = "{url}"\n{row}', "utf-8")

    @contextlib.asynccontextmanager
    async def session(self, model: str = MODEL) -> AsyncIterator[Listening]:
        """A session in a project of its own."""
        self._root.mkdir(exist_ok=True)
        (self._root / "colours.py").write_text(COLOURS)
        opening = open_project(self._root, Flags(model=model, provider="peer"), self._environ)
        session = Session(opening)
        listening = Listening(session, self._partner, self._root)
        following = asyncio.create_task(listening.follow())
        await session.open()
        try:
            yield listening
        finally:
            await session.close()
            await following

    async def asked(self, prompt: str, model: str = MODEL) -> tuple[str, list[Event], str]:
        """How a turn ended and what was said, its events, and the file after it."""
        async with self.session(model) as talk:
            talk.session.submit(prompt)
            ended = await talk.ended("t1")
            words = "".join(event.text for event in talk.all(TextDelta))
            return f"{ended.status} {ended.message or ''} {words}", talk.events, talk.text("colours.py")

    async def check(self) -> dict[str, str]:
        """Ask for everything; what is missing in the answer was not reached."""
        held: dict[str, str] = {}
        with contextlib.suppress(TimeoutError):
            await self._check(held)
        return {**dict.fromkeys(CELLS, "timed out"), **held}

    async def _check(self, held: dict[str, str]) -> None:
        told, _, _ = await self.asked("say something")
        held["conversation"] = "ok" if "A word of the server" in told else told[:200]
        told, _, text = await self.asked("repaint it")
        held["edit"] = "ok" if text == COLOURS.replace("return 1\n", "return 10\n") else told[:200]
        told, events, _ = await self.asked("look inside")
        called = any(isinstance(event, ToolCalled) for event in events)
        held["tool call"] = "ok" if called and "I have read it" in told else told[:200]
        told, _, _ = await self.asked("say something", UNKNOWN)
        held["error"] = "ok" if told.startswith("failed") and UNKNOWN in told else told[:200]
        async with self.session() as talk:
            talk.session.submit("tell a long story")
            await talk.until(TextDelta)
            talk.session.interrupt()
            held["interrupt"] = (await talk.ended("t1")).status.replace("interrupted", "ok")
            talk.session.submit("tell another long story")
            await talk.until(TextDelta, lambda event: event.turn == "t2")
            talk.session.submit("say something")
            told = (await talk.ended("t3")).status
            words = "".join(event.text for event in talk.all(TextDelta) if event.turn == "t3")
            held["redirect"] = "ok" if "A word of the server" in words else f"{told}: {words[:100]}"


def free_port() -> int:
    """A port that nobody has."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        return int(free.getsockname()[1])


@contextlib.contextmanager
def running(command: list[str], port: int, environ: Mapping[str, str] | None = None) -> Iterator[None]:
    """A server that listens on ``port``. Raises SystemExit where it does not come up."""
    child = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={**os.environ, **(environ or {})}
    )
    try:
        for _ in range(600):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                break
            if child.poll() is not None:
                raise SystemExit(f"{command[0]} ended with {child.returncode}")
            subprocess.run(["sleep", "0.1"], check=True)
        else:
            raise SystemExit(f"{command[0]} did not come up")
        yield
    finally:
        child.terminate()
        child.wait()


def show(name: str, held: Mapping[str, str]) -> bool:
    """Print a line of the table, and return whether all of it held."""
    print(f"{name:34} | " + " | ".join(f"{what}: {how}" for what, how in held.items()), flush=True)
    return all(how == "ok" or what == "tools" for what, how in held.items())


async def check_models(folder: Path, wanted: set[str]) -> bool:
    """Whole sessions against each model server."""
    well = True
    modules = folder / "node_modules/.bin"

    async def talk(name: str, row: str, url: str, partner: Partner) -> None:
        nonlocal well
        with tempfile.TemporaryDirectory() as scratch:
            held = await Talk(row, url, partner, Path(scratch)).check()
            well = show(name, held) and well

    async with Partner(rate=2_000, scripts=parse(SCRIPT)) as partner:
        if "aimock" in wanted:
            with tempfile.TemporaryDirectory() as scratch:
                fixtures, port = Path(scratch) / "fixtures.json", free_port()
                fixtures.write_text(json.dumps({"fixtures": FIXTURES}))
                command = [
                    str(modules / "llmock"),
                    "-p",
                    str(port),
                    "-f",
                    str(fixtures),
                    "-l",
                    "2",
                    "--strict",
                ]
                with running(command, port):
                    for dialect in ("chat", "responses", "messages"):
                        row = f'key_variable = "PEER_KEY"\ndialects = ["{dialect}"]\nfreeform_tools = false\n'
                        await talk(f"aimock, {dialect}", row, f"http://127.0.0.1:{port}/v1", partner)
        if "portkey" in wanted:
            port = free_port()
            with running([str(modules / "gateway"), f"--port={port}", "--headless"], port):
                for dialect in ("chat", "responses"):
                    heads = f'x-portkey-provider = "openai", x-portkey-custom-host = "{partner.url}"'
                    row = f'key_variable = "PEER_KEY"\ndialects = ["{dialect}"]\nheaders = {{ {heads} }}\n'
                    row += "freeform_tools = false\nunlisted = true\n"
                    await talk(f"Portkey, {dialect}", row, f"http://127.0.0.1:{port}/v1", partner)
        if "litellm" in wanted:
            program = await asyncio.to_thread(installed, folder / "litellm")
            key = f"sk-{secrets.token_hex(24)}"
            with tempfile.TemporaryDirectory() as scratch:
                entered = proxy(program, Path(scratch), partner.url, key)
                url = await asyncio.to_thread(entered.__enter__)
                try:
                    row = f'headers = {{ Authorization = "Bearer {key}" }}\nspare = true\n'
                    await talk("LiteLLM, WebSocket", f"{row}websocket = true\n", url, partner)
                finally:
                    await asyncio.to_thread(entered.__exit__, None, None, None)
    return well


async def check_tools(folder: Path) -> bool:
    """A tool of each MCP server."""
    well = True
    with tempfile.TemporaryDirectory() as name:
        project = Path(name) / "project"
        project.mkdir()
        (project / "colours.py").write_text(COLOURS)
        subprocess.run(["git", "init", "-q"], cwd=project, check=True)
        for call in servers(project):
            well = show(f"MCP {call.name}", await call_one(call, folder, Path(name))) and well
    return well


def main() -> int:
    """Install what is missing, run all, print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--keep", type=Path, required=True, help="the folder for the servers")
    parser.add_argument("--only", nargs="*", default=["aimock", "litellm", "mcp"])
    given = parser.parse_args()
    folder: Path = given.keep.expanduser().resolve()
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / "node_modules/.bin/gateway").exists():
        subprocess.run(
            ["npm", "install", "--no-audit", "--no-fund", "--prefix", str(folder), *NPM], check=True
        )
    if not (folder / "venv/bin/mcp-server-git").exists():
        venv.create(folder / "venv", with_pip=True)
        subprocess.run([str(folder / "venv/bin/python"), "-m", "pip", "install", "-q", *PIP], check=True)
    well = asyncio.run(check_models(folder, set(given.only)))
    if "mcp" in given.only:
        well = asyncio.run(check_tools(folder)) and well
    return 0 if well else 1


if __name__ == "__main__":
    sys.exit(main())
