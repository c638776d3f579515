"""MCP servers: one made with the official package, over standard streams and HTTP, and one by hand."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import socket
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from session.base.events import Notice, ToolEnded, ToolHeld
from session.base.storage.folders import state_folder
from session.base.tasks import BackgroundTasks
from session.base.text.tables import TableError
from session.tools.mcp.link import McpLink, McpLinkError
from session.tools.mcp.servers import McpServers, spark_tools
from session.tools.mcp.settings import Asking, McpServer, ServerFolders, read_servers
from session.tools.tool import CallContext
from tests.session.calling import allow, calling
from tests.session.talking import PLAIN, talking

HERE = Path(__file__).parent
SERVER = str(HERE / "mcp_server.py")
REAL = (sys.executable, SERVER)
"""A server made with the official package, which takes seconds to start."""
COMMAND = (sys.executable, str(HERE / "light_server.py"))
"""One with the same tools that starts at once."""


def folders() -> ServerFolders:
    """The folders that servers of the tests can start in."""
    return ServerFolders(Path.home() / "project", state_folder())


@contextlib.asynccontextmanager
async def linked(server: McpServer, **environ: str) -> AsyncIterator[McpLink]:
    link = McpLink(server, environ, folders())
    try:
        yield link
    finally:
        await link.close()


def around(room: int = 2_000) -> CallContext:
    return CallContext(room, lambda text: len(text) // 4 + 1)


def unfenced(text: str) -> str:
    """The content of the one fence in an answer, or ``text`` itself if there is none."""
    found = re.fullmatch(r"(?:[^\n`]*\n)?(`{3,})\n(.*)\n\1\n", text, re.DOTALL)
    return found[2] if found else text


async def answer(link: McpLink, name: str, /, **arguments: Any) -> tuple[bool, str]:
    made, _ = spark_tools(link, await link.tools(), attended=True)
    tool = next(tool for tool in made if tool.spec.name == f"{link.server.name}__{name}")
    result = await tool.call(arguments, around())
    return result.ok, unfenced(result.text)


async def test_the_tools_of_a_program_are_listed_and_called() -> None:
    async with linked(McpServer("practice", REAL)) as link:
        made, left_out = spark_tools(link, await link.tools(), attended=True)
        assert {tool.spec.name for tool in made} >= {"practice__add", "practice__lines"}
        assert not left_out
        add = next(tool for tool in made if tool.spec.name == "practice__add")
        assert add.spec.description == "Adds two numbers."
        assert set(add.spec.parameters["properties"]) == {"one", "two"}
        result = await add.call({"one": 2, "two": 40}, around())
        assert (result.ok, result.text) == (True, "```\n42\n```\n")
        assert add.label({"one": 2}) == 'practice: add {"one": 2}'
        ok, text = await answer(link, "refuse")
        assert not ok and "not today" in text
        ok, text = await answer(link, "add", one="many", two=1)
        assert not ok and "one" in text
        _, process = await answer(link, "process")
        os.kill(int(process), 0)
    with pytest.raises(ProcessLookupError):
        os.kill(int(process), 0)


async def test_the_tools_of_an_address_are_called_with_its_headers() -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    process = await asyncio.create_subprocess_exec(
        *REAL, str(port), stderr=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.DEVNULL
    )
    try:
        async with asyncio.timeout(20):
            while True:
                with contextlib.suppress(OSError):
                    _, writer = await asyncio.open_connection("127.0.0.1", port)
                    writer.close()
                    break
                await asyncio.sleep(0.05)
        server = McpServer("far", url=f"http://127.0.0.1:{port}/mcp", headers_from={"authorization": "TOKEN"})
        async with linked(server, TOKEN="Bearer x") as link:
            assert await answer(link, "add", one=1, two=1) == (True, "2")
    finally:
        process.terminate()
        await process.wait()


async def test_a_program_gets_the_variables_that_were_named_and_no_keys(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    server = McpServer("practice", COMMAND, env={"PLAIN": "given"}, env_from=("TAKEN",))
    async with linked(server, TAKEN="taken", OPENAI_API_KEY="sk-secret") as link:
        assert await answer(link, "environment", name="PLAIN") == (True, "given")
        assert await answer(link, "environment", name="TAKEN") == (True, "taken")
        assert await answer(link, "environment", name="OPENAI_API_KEY") == (True, "not set")
    assert "given" not in repr(server)


async def test_a_program_gets_no_other_credentials_of_the_users() -> None:
    own = {"GITHUB_TOKEN": "ghp-1", "AWS_SECRET_ACCESS_KEY": "two", "LC_ALL": "C.UTF-8"}
    async with linked(McpServer("practice", COMMAND), **own) as link:
        assert await answer(link, "environment", name="LC_ALL") == (True, "C.UTF-8")
        assert await answer(link, "environment", name="GITHUB_TOKEN") == (True, "not set")
        assert await answer(link, "environment", name="AWS_SECRET_ACCESS_KEY") == (True, "not set")


async def test_a_program_is_given_no_folders_of_code_unless_they_are_named() -> None:
    own = {"PYTHONPATH": "/project/src", "NODE_PATH": "/project/node_modules"}
    async with linked(McpServer("practice", COMMAND), **own) as link:
        for name in ("PYTHONPATH", "NODE_PATH"):
            assert "/project" not in (await answer(link, "environment", name=name))[1]
    named = McpServer("practice", COMMAND, env_from=("NODE_PATH",))
    async with linked(named, **own) as link:
        assert "/project" in (await answer(link, "environment", name="NODE_PATH"))[1]


async def test_a_server_does_not_run_the_projects_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "project"
    root.mkdir()
    for name in ("light_server.py", "json.py"):
        (root / name).write_text("import pathlib\npathlib.Path(__file__).with_name('ran').touch()\n")
    monkeypatch.chdir(root)
    command = json.dumps([sys.executable, "-m", "light_server"])
    variables = f"{{ PYTHONPATH = {json.dumps(str(HERE))} }}"
    allow(tmp_path, f"[mcp.practice]\ncommand = {command}\nenv = {variables}\n")
    async with talking(root, calling(("read", {"path": "json.py"}))) as talk:
        notice = await talk.until(Notice, lambda event: "MCP server practice" in event.text)
    assert notice.text == "MCP server practice: 8 tools"
    assert not (root / "ran").exists()


@pytest.mark.parametrize("cwd", ["", "project", "absolute"])
async def test_a_server_starts_where_the_users_configuration_says(cwd: str, own_folders: Path) -> None:
    other = own_folders / "elsewhere"
    for folder in (own_folders / "project", other):
        folder.mkdir()
    says_where = (sys.executable, "-c", "import os; raise SystemExit('started in ' + os.getcwd())")
    (server,) = read_servers(
        {"where": {"command": list(says_where), "cwd": str(other) if cwd == "absolute" else cwd}}
    )
    async with linked(server) as link:
        with pytest.raises(McpLinkError) as caught:
            await link.open()
    own = state_folder() / "mcp" / "where"
    expected = {"": own, "project": own_folders / "project", "absolute": other}[cwd]
    assert f"started in {expected})" in str(caught.value)
    assert cwd or own.stat().st_mode & 0o777 == 0o700


async def test_a_long_answer_is_cut_to_its_room_and_cleaned() -> None:
    async with linked(McpServer("practice", COMMAND)) as link:
        made, _ = spark_tools(link, await link.tools(), attended=True)
        lines = next(tool for tool in made if tool.spec.name.endswith("__lines"))
        result = await lines.call({"count": 5_000}, around(400))
        assert len(result.text) < 400 * 5 and "more lines of the answer have no room" in result.text
        assert "\x1b" not in result.text


async def test_a_tool_that_fails_says_why() -> None:
    async with linked(McpServer("practice", COMMAND)) as link:
        ok, text = await answer(link, "refuse")
        assert not ok and "not today" in text


async def test_a_call_has_a_time_limit_and_can_be_stopped() -> None:
    async with linked(McpServer("practice", COMMAND, seconds=0.3)) as link:
        ok, text = await answer(link, "wait", seconds=60)
        assert not ok and "no answer in 0.3 s" in text
    async with linked(McpServer("practice", COMMAND)) as link:
        await link.open()
        call = asyncio.create_task(link.call("wait", {"seconds": 60}))
        await asyncio.sleep(0)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert await answer(link, "add", one=1, two=2) == (True, "3"), "the server is still there"


async def test_a_server_that_ends_is_told_of_and_opened_again() -> None:
    async with linked(McpServer("practice", COMMAND)) as link:
        ok, text = await answer(link, "crash")
        assert not ok and "something broke inside" in text and "\n" not in text
        assert await answer(link, "add", one=1, two=2) == (True, "3")


async def test_closing_ends_the_program() -> None:
    async with linked(McpServer("practice", COMMAND)) as link:
        _, process = await answer(link, "process")
        os.kill(int(process), 0)
    with pytest.raises(ProcessLookupError):
        os.kill(int(process), 0)


@pytest.mark.parametrize(
    ("server", "why"),
    [
        (McpServer("x", ("no-such-program-anywhere",)), "No such file"),
        (McpServer("x", (sys.executable, "-c", "raise SystemExit('no licence')")), "no licence"),
        (
            McpServer("x", (sys.executable, "-c", "print('hello'); input(); input()"), start_seconds=0.3),
            "no answer in 0.3 s",
        ),
        (McpServer("x", url="http://127.0.0.1:9/mcp"), "onnect"),
    ],
    ids=["missing", "ends", "not a server", "nothing listens"],
)
async def test_a_server_that_cannot_be_had_is_one_line(server: McpServer, why: str) -> None:
    async with linked(server) as link:
        with pytest.raises(McpLinkError) as caught:
            await link.tools()
    assert why in str(caught.value) and "\n" not in str(caught.value)
    assert str(caught.value).startswith("MCP server x: ")


NOISE = r"""
import json, sys
out = sys.stdout.buffer
out.write(b"hello\n\xff\xfe\n{}\n[]\n" + b"x" * 1_000_000 + b"\n")
for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    if asked["method"] == "initialize":
        version = asked["params"]["protocolVersion"]
        info = {"name": "noise", "version": "1"}
        result = {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info}
    elif asked["method"] == "tools/list":
        tool = {"name": "say", "inputSchema": {"type": "object"}}
        result = {"tools": [tool] * 20, "nextCursor": "again"}
    else:
        result = {"content": [{"type": "text", "text": "a" * 1_000_000 + "end"}]}
    answer = json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result})
    out.write(b"noise \xff\n" + answer.encode() + b"\n")
    out.flush()
"""


async def test_noise_between_the_lines_is_passed_over(capfd: pytest.CaptureFixture[str]) -> None:
    async with linked(McpServer("noise", (sys.executable, "-c", NOISE))) as link:
        listed = await link.tools()
        assert len(listed) == 40, "the same page is not asked for over and over"
        (tool,), left_out = spark_tools(link, listed, attended=True)
        assert left_out[-1] == "31 more are left out"
        result = await tool.call({}, around(500))
        assert result.ok and result.text.startswith("```\naaa") and result.text.endswith("end\n```\n")
        assert "characters not shown" in result.text and len(result.text) < 500 * 4
        assert "half of a surrogate pair" in tool.refusal({"text": "\ud800"})
        assert tool.refusal({"number": float("nan")}) and not tool.refusal({"text": "a"})
    assert capfd.readouterr().err == "", "nothing of it is written over the screen"


async def test_a_server_that_never_stops_writing_is_given_up() -> None:
    flood = "while True: print('rubbish ' * 100)"
    async with linked(McpServer("flood", (sys.executable, "-c", flood), start_seconds=0.5)) as link:
        with pytest.raises(McpLinkError, match=r"no answer in 0\.5 s"):
            await link.open()


async def test_who_is_asked_about_and_what_is_left_out() -> None:
    async with linked(
        McpServer("practice", COMMAND, ask=Asking.WRITES, tools=("add", "lines", "gone"))
    ) as link:
        listed = await link.tools()
        made, left_out = spark_tools(link, listed, attended=True)
        assert {tool.spec.name: tool.spec.asks for tool in made} == {
            "practice__add": False,
            "practice__lines": True,
        }
        assert left_out == ["gone: the server has no such tool"]
        made, _ = spark_tools(link, listed, attended=False)
        assert [tool.spec.name for tool in made] == ["practice__add"], "nobody can be asked"
        listed[0].input_schema["properties"]["one"]["description"] = "x" * 10_000
        made, left_out = spark_tools(link, listed, attended=True)
        assert len(made) == 1 and "its schema is over" in left_out[0]


async def test_servers_open_behind_a_turn_and_say_what_they_came_to() -> None:
    told: list[tuple[str, str]] = []
    heard = asyncio.Event()

    async def found() -> None:
        heard.set()

    servers = McpServers(
        [McpServer("practice", COMMAND), McpServer("broken", ("no-such-program-anywhere",))],
        {},
        folders(),
        lambda level, line: told.append((level, line)),
        found,
        BackgroundTasks(print),
        attended=True,
    )
    assert await servers.tools() == [], "nobody waits for them"
    await servers.opened()
    assert heard.is_set()
    names = {tool.spec.name for tool in await servers.tools()}
    assert "practice__add" in names
    await servers.opened()
    await servers.close()
    assert ("info", "MCP server practice: 8 tools") in told
    assert [line for level, line in told if level == "warning"] == [
        "MCP server broken: no-such-program-anywhere: No such file or directory outside of the project"
    ], "said once"


def test_the_settings_of_a_server() -> None:
    (server,) = read_servers({"github": {"command": ["npx", "-y", "it"], "ask": "writes", "seconds": 5}})
    assert (server.command, server.ask, server.seconds) == (("npx", "-y", "it"), Asking.WRITES, 5.0)


@pytest.mark.parametrize(
    ("table", "why"),
    [
        ({"a b": {"url": "http://x"}}, "letters"),
        ({"x": {}}, "either command"),
        ({"x": {"command": ["a"], "url": "http://x"}}, "either command"),
        ({"x": {"command": "a b"}}, "list of strings"),
        ({"x": {"url": "file:///etc"}}, "http"),
        ({"x": {"url": "http://x", "ask": "maybe"}}, "ask"),
        ({"x": {"url": "http://x", "seconds": -1}}, "seconds"),
        ({"x": {"url": "http://x", "headers": {"a": 1}}}, "headers"),
        ({"x": {"url": "http://x", "what": 1}}, "what"),
        ({"x": {"command": ["a"], "cwd": "here"}}, 'cwd must be "project" or an absolute path'),
        ({"x": "http://x"}, "table"),
        ("http://x", "one table"),
    ],
)
def test_a_wrong_setting_is_named(table: Any, why: str) -> None:
    with pytest.raises(TableError, match=why):
        read_servers(table)


async def test_a_model_calls_a_servers_tool_in_a_turn(tmp_path: Path) -> None:
    root = tmp_path / "project"
    root.mkdir()
    command = json.dumps(list(COMMAND))
    allow(tmp_path, f'[mcp.practice]\ncommand = {command}\nask = "writes"\n')
    script = calling(("practice__add", {"one": 40, "two": 2}), ("practice__lines", {"count": 2}))
    async with talking(root, script) as talk:
        await talk.until(Notice, lambda event: event.text == "MCP server practice: 8 tools")
        talk.session.submit("go")
        held = await talk.until(ToolHeld)
        assert held.text == 'practice: lines {"count": 2}'
        talk.session.answer(held.call, land=False)
        assert (await talk.ended("t1")).status == "completed"
        request = talk.sent(-1)
    assert repr("```\n42\n```\n") in request
    assert [event.status for event in talk.all(ToolEnded)] == ["done", "declined"]


async def test_the_first_turn_waits_for_the_tools_and_says_so(tmp_path: Path) -> None:
    root = tmp_path / "project"
    root.mkdir()
    allow(tmp_path, f'[mcp.practice]\ncommand = {json.dumps(list(COMMAND))}\nask = "writes"\n')
    async with talking(root, calling(("practice__add", {"one": 40, "two": 2}))) as talk:
        talk.session.submit("go")  # at once, as `spark exec` does: no server can be up yet
        assert (await talk.ended("t1")).status == "completed"
        request = talk.partner.requests[-1]
    assert [event.status for event in talk.all(ToolEnded)] == ["done"]
    assert "practice__add" in [tool.get("name") for tool in request.tools]
    assert any("waiting for the tools" in event.text for event in talk.all(Notice))


async def test_a_server_that_never_starts_holds_up_nobody_who_interrupts(tmp_path: Path) -> None:
    root = tmp_path / "project"
    root.mkdir()
    silent = json.dumps([sys.executable, "-c", "import time; time.sleep(600)"])
    allow(tmp_path, f"[mcp.silent]\ncommand = {silent}\nstart_seconds = 500\n")
    async with talking(root, PLAIN) as talk:
        talk.session.submit("go")
        await talk.until(Notice, lambda event: "waiting for the tools" in event.text)
        talk.session.interrupt()
        assert (await talk.ended("t1")).status == "interrupted"
        talk.session.submit("go on without")
        assert (await talk.ended("t2")).status == "completed"
