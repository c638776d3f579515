"""Commands that the model runs with the user's approval: real programs, ended with all their processes."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path

import pytest

from session.base.events import TextDelta, ToolEnded, ToolHeld, ToolOutput
from session.setup.config import Flags
from session.setup.opening import open_project
from session.tools.command.process import can_supervise
from session.tools.command.run import RunTool
from session.tools.settings import Running
from session.tools.tool import CallContext
from tests.session.calling import ROUTES, allow, calling, outputs, over, running
from tests.session.talking import COLOURS, environment, talking


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "colours.py").write_text(COLOURS)
    return folder


async def test_a_command_waits_for_the_user_and_runs_as_it_was_shown(root: Path) -> None:
    command = "echo one\necho two >&2; echo \u2713; exit 3"
    async with talking(root, calling(("run", {"command": command}))) as talk:
        talk.session.submit("go")
        held = await talk.until(ToolHeld)
        assert held.text == f"run {command}"
        assert talk.session.running and not talk.all(ToolOutput)
        assert talk.session.answer(held.call, land=True)
        assert (await talk.ended("t1")).status == "completed"
        assert outputs(talk) == ["exit 3\n```\none\ntwo\n\u2713\n```\n"]
        assert not talk.session.answer(held.call, land=True), "it waits no more"
    (ended,) = talk.all(ToolEnded)
    assert ended.status == "failed" and "· exit 3 ·" in ended.line
    assert "".join(event.text for event in talk.all(ToolOutput)) == "one\ntwo\n\u2713\n"


async def test_a_declined_command_never_runs(root: Path) -> None:
    calls = [("run", {"command": "touch ran"}), ("read", {"path": "colours.py"})]
    async with talking(root, calling(*calls)) as talk:
        talk.session.submit("go")
        held = await talk.until(ToolHeld)
        assert talk.session.answer(held.call, land=False)
        await talk.ended("t1")
        declined, read = outputs(talk)
    assert "declined" in declined and read.startswith("## File: colours.py")
    assert not (root / "ran").exists()
    assert {event.tool: event.status for event in talk.all(ToolEnded)} == {"run": "declined", "read": "done"}


async def test_one_answer_allows_the_rest_of_the_turn(root: Path) -> None:
    commands = [("run", {"command": f"echo {n} >> order; sleep 0.0{3 - n}"}) for n in (1, 2, 3)]
    async with talking(root, calling(*commands)) as talk:
        talk.session.submit("go")
        held = await talk.until(ToolHeld)
        assert talk.session.answer(held.call, land=True, rest=True)
        await talk.ended("t1")
    assert len(talk.all(ToolHeld)) == 1
    assert talk.text("order") == "1\n2\n3\n", "one after the other, in the order of the calls"


async def test_commands_are_offered_only_where_the_user_can_allow_them(root: Path, tmp_path: Path) -> None:
    async with talking(root, calling(("run", {"command": "touch ran"})), attended=False) as talk:
        talk.session.submit("go")
        await talk.ended("t1")
        assert outputs(talk) == ["There is no tool called 'run'; there are read, search, list, outline."]
        tools = talk.partner.requests[-1].tools
        assert [tool["name"] for tool in tools] == ["apply_patch", "read", "search", "list", "outline"]
    assert not (root / "ran").exists()


@pytest.mark.parametrize("trusted", [True, False])
async def test_commands_run_unasked_only_in_a_trusted_folder(
    root: Path, tmp_path: Path, trusted: bool
) -> None:
    folders = json.dumps([str(root)] if trusted else [])
    allow(tmp_path, f'[tools]\nrun = "always"\n[trust]\nfolders = {folders}\n')
    async with talking(root, calling(("run", {"command": "touch ran"})), attended=False) as talk:
        talk.session.submit("go")
        await talk.ended("t1")
    assert (root / "ran").exists() is trusted


def test_keys_are_not_in_a_commands_environment(root: Path, tmp_path: Path) -> None:
    own = environment(tmp_path / "xdg") | {"OPENAI_API_KEY": "sk-one", "LANG": "sk-one", "LC_ALL": "C"}
    environ = open_project(root, Flags(), own).command_environ
    assert environ["LC_ALL"] == "C"
    assert "sk-one" not in environ.values() and "OPENAI_API_KEY" not in environ


CREDENTIALS = {
    "AWS_SECRET_ACCESS_KEY": "hidden-1",
    "GITHUB_TOKEN": "hidden-2",
    "DATABASE_URL": "postgres://me:hidden-3@db/main",
    "MY_COMPANY_LOGIN": "hidden-4",
    "XDG_API_TOKEN": "hidden-5",
    "https_proxy": "http://me:hidden-6@proxy:3128",
}


async def environment_of_a_command(root: Path, own: dict[str, str]) -> dict[str, str]:
    """The variables that a command really gets in a spark with the environment ``own``."""
    tool = RunTool(root, open_project(root, Flags(), own).command_environ, Running.ALWAYS)
    result = await tool.call({"command": "env"}, CallContext(8_000, len))
    return dict(line.split("=", 1) for line in result.text.splitlines()[2:-1])


async def test_a_command_gets_no_credentials_from_the_environment(root: Path, tmp_path: Path) -> None:
    own = environment(tmp_path / "xdg") | {"PATH": os.environ["PATH"], "LC_ALL": "C", "GOPATH": "/go"}
    given = await environment_of_a_command(root, own | CREDENTIALS | {"http_proxy": "http://proxy:3128"})
    assert given["PATH"] == own["PATH"] and given["GOPATH"] == "/go" and given["LC_ALL"] == "C"
    assert given["http_proxy"] == "http://proxy:3128" and given["XDG_STATE_HOME"] == own["XDG_STATE_HOME"]
    assert not CREDENTIALS.keys() & given.keys() and "hidden" not in str(given)


async def test_the_user_can_name_further_variables_for_commands(root: Path, tmp_path: Path) -> None:
    allow(tmp_path, '[tools]\nenvironment = ["GITHUB_TOKEN", "NOT_SET"]\n')
    own = environment(tmp_path / "xdg") | {"PATH": os.environ["PATH"]} | CREDENTIALS
    given = await environment_of_a_command(root, own)
    assert CREDENTIALS.keys() & given.keys() == {"GITHUB_TOKEN"} and given["GITHUB_TOKEN"] == "hidden-2"


STUBBORN = "trap '' TERM; (trap '' TERM; while :; do sleep 0.05; done; : MARK) & echo ready; wait; : MARK"


async def test_an_interrupt_ends_a_command_with_all_its_offspring(root: Path) -> None:
    mark = f"spark-test-{os.getpid()}-interrupt"
    command = STUBBORN.replace("MARK", mark)
    async with talking(root, calling(("run", {"command": command}))) as talk:
        talk.session.submit("go")
        talk.session.answer((await talk.until(ToolHeld)).call, land=True)
        await talk.until(ToolOutput, lambda event: "ready" in event.text)
        assert len(running(mark)) >= 2
        talk.session.interrupt()
        assert (await talk.ended("t1")).status == "interrupted"
        assert running(mark) == []
        talk.session.submit("stop that and say why")
        assert (await talk.ended("t2")).status == "completed"
        assert "Cut off" in talk.sent()
    (ended,) = talk.all(ToolEnded)
    assert ended.status == "stopped"
    after = talk.events[talk.events.index(ended) :]
    assert not any(isinstance(event, ToolOutput) for event in after), "what is stopped says nothing more"


@pytest.mark.parametrize("route", ROUTES)
async def test_a_redirect_while_a_tool_runs_goes_on_at_once(root: Path, tmp_path: Path, route: str) -> None:
    mark = f"spark-test-{os.getpid()}-redirect"
    calls = [("read", {"path": "colours.py"}), ("run", {"command": f"echo ready; sleep 600; : {mark}"})]
    over(tmp_path, route)
    async with talking(root, calling(*calls), model="spark-practice-text") as talk:
        talk.session.submit("go")
        talk.session.answer((await talk.until(ToolHeld)).call, land=True)
        await talk.until(ToolOutput)
        talk.session.submit("stop that and say why")
        assert (await talk.ended("t1")).status == "interrupted"
        assert (await talk.ended("t2")).status == "completed"
        assert running(mark) == []
        read, cut = outputs(talk)
    assert read.startswith("## File: colours.py") and "Cut off" in cut
    assert "".join(event.text for event in talk.all(TextDelta)) == "Because you asked.\n"


async def test_a_command_that_takes_too_long_is_ended_as_a_group(root: Path) -> None:
    mark = f"spark-test-{os.getpid()}-slow"
    command = STUBBORN.replace("MARK", mark)
    call = ("run", {"command": command, "timeout_seconds": 1})
    async with talking(root, calling(call)) as talk:
        talk.session.submit("go")
        talk.session.answer((await talk.until(ToolHeld)).call, land=True)
        await talk.ended("t1")
        (told,) = outputs(talk)
    assert told.startswith("stopped after 1 s") and "ready" in told
    assert running(mark) == []


async def test_processes_that_outlive_a_command_are_ended_too(root: Path) -> None:
    mark = f"spark-test-{os.getpid()}-left"
    command = f"(sleep 600; : {mark}) & echo started"
    async with talking(root, calling(("run", {"command": command}))) as talk:
        talk.session.submit("go")
        talk.session.answer((await talk.until(ToolHeld)).call, land=True)
        await talk.ended("t1")
        assert outputs(talk) == ["exit 0\n```\nstarted\n```\n"]
    assert running(mark) == []


async def test_a_commands_output_is_bounded_and_keeps_both_ends(root: Path) -> None:
    command = "echo first; seq 200000; printf '\\033[31mred\\033[0m\\n'; echo sk-ant-api03-" + "x" * 95
    async with talking(root, calling(("run", {"command": command}))) as talk:
        talk.session.submit("go")
        talk.session.answer((await talk.until(ToolHeld)).call, land=True)
        await talk.ended("t1")
        (told,) = outputs(talk)
        shown = "".join(event.text for event in talk.all(ToolOutput))
    assert len(told) < 20_000
    assert "first" in told and "200000\n" in told and "lines not shown" in told
    assert "\033" not in told + shown and "\nred\n" in told
    assert "x" * 95 not in told + shown


async def test_a_session_that_closes_takes_its_command_with_it(root: Path) -> None:
    mark = f"spark-test-{os.getpid()}-close"
    command = f"echo ready; sleep 600; : {mark}"
    async with talking(root, calling(("run", {"command": command}))) as talk:
        talk.session.submit("go")
        talk.session.answer((await talk.until(ToolHeld)).call, land=True)
        await talk.until(ToolOutput)
        assert running(mark)
    assert running(mark) == []


SESSIONS = (
    'setsid -f sh -c \'trap "" TERM HUP; (setsid sleep 600; : MARK) & '
    "while :; do sleep 0.05; done; : MARK'; "
    "(setsid sh -c 'sleep 600; : MARK' &) ; echo ready"
)
"""A program that starts sessions of its own, and outlives its parent."""
on_linux = pytest.mark.skipif(not can_supervise(), reason="a reaper of all offspring is Linux's")


@on_linux
@pytest.mark.parametrize("then", ["", "; wait; sleep 600", "; exit 3", "; kill -9 $$"])
async def test_a_process_in_a_session_of_its_own_is_ended_too(root: Path, then: str) -> None:
    mark = f"spark-test-{os.getpid()}-session"
    command = SESSIONS.replace("MARK", mark) + then
    async with talking(root, calling(("run", {"command": command}))) as talk:
        talk.session.submit("go")
        talk.session.answer((await talk.until(ToolHeld)).call, land=True)
        await talk.until(ToolOutput, lambda event: "ready" in event.text)
        if "600" in then:
            assert len(running(mark)) >= 3
            talk.session.interrupt()
        assert (await talk.ended("t1")).status == ("interrupted" if "600" in then else "completed")
        assert running(mark) == []
        how = {"": "exit 0", "; exit 3": "exit 3", "; kill -9 $$": "ended by signal 9"}.get(then)
        assert how is None or outputs(talk) == [f"{how}\n```\nready\n```\n"]


@on_linux
async def test_a_command_does_not_outlive_a_spark_that_is_killed(tmp_path: Path) -> None:
    mark = f"spark-test-{os.getpid()}-killed"
    command = SESSIONS.replace("MARK", mark) + "; sleep 600"
    script = (
        "import asyncio, os, pathlib\n"
        "from session.tools.command.process import run_group\n"
        "def take(piece):\n"
        "    print(piece.decode(), flush=True)\n"
        "    return True\n"
        f"command = ['/bin/sh', '-c', {command!r}]\n"
        "asyncio.run(run_group(command, folder=pathlib.Path('.'), environ=os.environ, seconds=600,\n"
        "    take=take, supervised=True))\n"
    )
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", script, stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None and await process.stdout.readline() == b"ready\n"
    process.kill()
    await process.wait()
    async with asyncio.timeout(20):
        while running(mark):
            await asyncio.sleep(0.02)


@on_linux
async def test_a_command_that_ends_its_own_group_ends_no_supervisor(root: Path) -> None:
    command = "trap 'exit 4' TERM; (sleep 600 &) ; kill -TERM 0; sleep 600"
    async with talking(root, calling(("run", {"command": command}))) as talk:
        talk.session.submit("go")
        talk.session.answer((await talk.until(ToolHeld)).call, land=True)
        await talk.ended("t1")
        assert outputs(talk) == ["exit 4, without output\n"]
