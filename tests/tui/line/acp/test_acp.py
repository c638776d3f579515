"""``spark acp`` as a real process, driven by the protocol library's own client."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from acp import RequestError
from acp.schema import (
    EmbeddedResourceContentBlock,
    FileEditToolCallContent,
    HttpMcpServer,
    ImageContentBlock,
    ReadTextFileResponse,
    ResourceContentBlock,
    SseMcpServer,
    TextResourceContents,
)

from session.partner.load_script import parse
from session.partner.server.server import Partner
from tests.session.talking import COLOURS, REPAINT
from tests.tui.line.acp.editor import PATIENCE, Editor, agent, text


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "colours.py").write_text(COLOURS)
    return folder


@pytest.fixture
async def partner() -> AsyncIterator[Partner]:
    async with Partner(rate=float("inf"), scripts=parse(REPAINT)) as running:
        yield running


def server(partner: Partner) -> list[str]:
    return ["--base-url", partner.url, "--model", "spark-practice", "--provider", "partner"]


async def test_a_turn_streams_text_and_lands_hunks_as_diffs(
    spark_path: Path, root: Path, partner: Partner
) -> None:
    editor = Editor()
    async with agent(spark_path, editor, *server(partner)) as (client, _):
        session = await client.new_session(cwd=str(root))
        ended = await client.prompt(session_id=session.session_id, prompt=text("repaint"))
    assert ended.stop_reason == "end_turn"
    assert "Red and green first." in editor.said and "All three are done." in editor.said
    diffs = editor.diffs()
    assert [each.path for each in diffs] == [str(root / "colours.py")] * 3
    assert [(each.old_text, each.new_text) for each in diffs] == [
        (f"    return {number}\n", f"    return {number}0\n") for number in (1, 2, 3)
    ]
    begun = {update.tool_call_id for update in editor.all("tool_call") if update.kind == "edit"}
    done = {update.tool_call_id for update in editor.all("tool_call_update") if update.status == "completed"}
    assert len(begun) == 3 and begun == done
    kinds = [update.session_update for update in editor.updates]
    assert kinds.index("tool_call_update") < len(kinds) - 1 - kinds[::-1].index("agent_message_chunk"), (
        "hunks land while the answer streams"
    )
    assert {"available_commands_update", "usage_update", "session_info_update"} <= set(kinds)
    assert (root / "colours.py").read_text().count("0\n") == 3


@pytest.mark.parametrize(
    ("answers", "landed"),
    [
        (["allow", "allow", "allow"], ["10", "20", "30"]),
        (["allow", "reject", "allow"], ["10", "2", "30"]),
        (["allow-rest"], ["10", "20", "30"]),
        (["cancelled", "cancelled", "cancelled"], ["1", "2", "3"]),
    ],
)
async def test_in_the_mode_that_asks_each_hunk_waits_for_an_answer(
    quick_spark: Path, root: Path, partner: Partner, answers: list[str], landed: list[str]
) -> None:
    editor = Editor(answers=answers)
    async with agent(quick_spark, editor, *server(partner)) as (client, _):
        session = await client.new_session(cwd=str(root))
        assert session.modes is not None and session.modes.current_mode_id == "land"
        await client.set_session_mode(session_id=session.session_id, mode_id="ask")
        await client.prompt(session_id=session.session_id, prompt=text("repaint"))
    numbers = [
        line.split()[-1] for line in (root / "colours.py").read_text().splitlines() if "return" in line
    ]
    assert numbers == landed
    assert not answers and all(each.tool_call_id for each in editor.asked)
    for asked in editor.asked:
        (diff,) = [each for each in asked.content or () if isinstance(each, FileEditToolCallContent)]
        assert diff.path == str(root / "colours.py")
        assert "return" in (diff.old_text or "") and "return" in diff.new_text != diff.old_text
        held = [each for each in editor.all("tool_call_update") if each.tool_call_id == asked.tool_call_id]
        assert diff in (held[0].content or ()), "the call shows it too"


async def test_cancelling_stops_the_turn_and_an_open_question(
    quick_spark: Path, root: Path, partner: Partner
) -> None:
    editor = Editor()
    async with agent(quick_spark, editor, *server(partner), "--review") as (client, _):
        session = await client.new_session(cwd=str(root))
        prompt = asyncio.create_task(client.prompt(session_id=session.session_id, prompt=text("repaint")))
        await editor.until(lambda: bool(editor.asked))
        await client.cancel(session_id=session.session_id)
        assert (await prompt).stop_reason == "cancelled"
        editor.answers.append("allow")  # comes too late
        await client.set_session_mode(session_id=session.session_id, mode_id="land")
    assert (root / "colours.py").read_text() == COLOURS


async def test_a_prompt_while_a_turn_runs_redirects_it(quick_spark: Path, root: Path) -> None:
    editor = Editor()
    async with (
        Partner(rate=60, scripts=parse(REPAINT)) as slow,
        agent(quick_spark, editor, *server(slow)) as (client, _),
    ):
        session = await client.new_session(cwd=str(root))
        first = asyncio.create_task(client.prompt(session_id=session.session_id, prompt=text("repaint")))
        await editor.until(lambda: bool(editor.diffs()))
        second = asyncio.create_task(client.prompt(session_id=session.session_id, prompt=text("go on")))
        assert (await first).stop_reason == "cancelled"
        await client.cancel(session_id=session.session_id)
        assert (await second).stop_reason == "cancelled"
    assert "return 10" in (root / "colours.py").read_text()


async def test_a_session_is_listed_and_loaded_with_all_that_was_said(
    quick_spark: Path, root: Path, partner: Partner
) -> None:
    before, after = Editor(), Editor()
    async with agent(quick_spark, before, *server(partner)) as (client, _):
        session = await client.new_session(cwd=str(root))
        await client.prompt(session_id=session.session_id, prompt=text("repaint"))
    async with agent(quick_spark, after, *server(partner)) as (client, _):
        rows = (await client.list_sessions(cwd=str(root))).sessions
        assert [(row.session_id, row.title) for row in rows] == [(session.session_id, "repaint")]
        for cursor in ("9" * 5_000, "-1", "\u0663", "\x1b[2J"):
            assert (await client.list_sessions(cwd=str(root), cursor=cursor)).next_cursor is None
        await client.load_session(cwd=str(root), session_id=session.session_id)
        replayed = list(after.updates)
        undone = await client.prompt(session_id=session.session_id, prompt=text("/undo"))
        assert undone.stop_reason == "end_turn"
    assert [update.content.text for update in replayed if update.session_update == "user_message_chunk"] == [
        "repaint"
    ]
    assert "All three are done." in after.said and after.diffs() == before.diffs()
    assert (root / "colours.py").read_text().endswith("return 3\n")


async def test_a_load_that_cannot_be_does_not_close_what_is_open(
    quick_spark: Path, root: Path, partner: Partner
) -> None:
    async with agent(quick_spark, Editor(), *server(partner)) as (client, _):
        session = await client.new_session(cwd=str(root))
        for folder in ("relative", str(root / "gone"), str(root / "colours.py")):
            with pytest.raises(RequestError):
                await client.load_session(cwd=folder, session_id=session.session_id)
        answer = await client.prompt(session_id=session.session_id, prompt=text("repaint"))
        assert answer.stop_reason == "end_turn"


@pytest.mark.parametrize("again", ["load_session", "resume_session"])
async def test_an_open_session_in_which_nothing_happened_can_be_opened_again(
    quick_spark: Path, root: Path, partner: Partner, again: str
) -> None:
    async with agent(quick_spark, Editor(), *server(partner)) as (client, _):
        session = (await client.new_session(cwd=str(root))).session_id
        await getattr(client, again)(cwd=str(root), session_id=session)
        answer = await client.prompt(session_id=session, prompt=text("repaint"))
        assert answer.stop_reason == "end_turn" and "return 10" in (root / "colours.py").read_text()


@pytest.mark.parametrize(("typed", "told"), [("/repiant it", "/repiant"), ("/theme dark", "own screen")])
async def test_what_looks_like_a_command_is_no_prompt(
    quick_spark: Path, root: Path, partner: Partner, typed: str, told: str
) -> None:
    editor = Editor()
    async with agent(quick_spark, editor, *server(partner)) as (client, _):
        session = (await client.new_session(cwd=str(root))).session_id
        answer = await client.prompt(session_id=session, prompt=text(typed))
        assert answer.stop_reason == "end_turn" and told in editor.said
    assert not [request for request in partner.requests if typed in str(request.body)]


async def test_an_unknown_price_is_no_price(quick_spark: Path, root: Path, partner: Partner) -> None:
    editor = Editor()
    async with agent(quick_spark, editor, *server(partner)) as (client, _):
        session = (await client.new_session(cwd=str(root))).session_id
        await client.prompt(session_id=session, prompt=text("repaint"))
        await editor.until(lambda: bool(editor.all("usage_update")))
    assert {each.cost for each in editor.all("usage_update")} == {None}


async def test_options_are_set_and_wrong_ones_refused(
    quick_spark: Path, root: Path, partner: Partner
) -> None:
    editor = Editor()
    async with agent(quick_spark, editor, *server(partner)) as (client, _):
        session = await client.new_session(cwd=str(root))
        known = {option.id: option for option in session.config_options or ()}
        assert known["model"].current_value == "spark-practice" and known["mode"].current_value == "land"
        answer = await client.set_config_option(config_id="mode", session_id=session.session_id, value="ask")
        assert answer is not None
        assert {each.id: each.current_value for each in answer.config_options}["mode"] == "ask"
        answer = await client.set_config_option(
            config_id="model", session_id=session.session_id, value="spark-practice-text"
        )
        assert answer is not None
        assert {each.id: each.current_value for each in answer.config_options}[
            "model"
        ] == "spark-practice-text"
        for option, value, told in (
            ("colour", "red", "there is no option 'colour'"),
            ("mode", "dance", "mode is one of: land, ask"),
            ("mode", True, "as a string"),
            ("model", "spark-practise", "did you mean spark-practice"),
        ):
            with pytest.raises(RequestError, match=told):
                await client.set_config_option(config_id=option, session_id=session.session_id, value=value)
        with pytest.raises(RequestError, match="mode is one of"):
            await client.set_session_mode(session_id=session.session_id, mode_id="dance")


async def test_links_and_embedded_texts_become_part_of_the_prompt(
    quick_spark: Path, root: Path, partner: Partner
) -> None:
    link = ResourceContentBlock(type="resource_link", name="colours.py", uri=f"file://{root}/colours.py#L1:2")
    outside = ResourceContentBlock(type="resource_link", name="passwd", uri="file:///etc/passwd")
    embedded = EmbeddedResourceContentBlock(
        type="resource",
        resource=TextResourceContents(uri=f"file://{root}/new.py", text="unsaved = True\n```\n"),
    )
    editor = Editor()
    async with agent(quick_spark, editor, *server(partner)) as (client, _):
        session = await client.new_session(cwd=str(root))
        await client.prompt(
            session_id=session.session_id,
            prompt=[*text("repaint "), link, *text(" and not "), outside, *text(" but "), embedded],
        )
        with pytest.raises(RequestError, match="an image: spark takes text alone"):
            await client.prompt(
                session_id=session.session_id,
                prompt=[ImageContentBlock(type="image", data="", mime_type="image/png")],
            )
        with pytest.raises(RequestError, match="the prompt is empty"):
            await client.prompt(session_id=session.session_id, prompt=text(" \n"))
    sent = str(next(request.body["input"] for request in partner.requests if request.generate))
    assert "@colours.py:1-2 and not passwd (file:///etc/passwd) but @new.py" in sent
    assert "unsaved = True" in sent and "````" in sent and "root:" not in sent


@pytest.mark.parametrize(
    ("folder", "told"), [("relative", "absolute path"), ("/no/such/folder", "there is no folder")]
)
async def test_a_session_that_cannot_be_opened_says_why(
    quick_spark: Path, root: Path, partner: Partner, folder: str, told: str
) -> None:
    async with agent(quick_spark, Editor(), *server(partner)) as (client, _):
        with pytest.raises(RequestError, match=told):
            await client.new_session(cwd=folder)
        with pytest.raises(RequestError, match="has no sessions yet"):
            await client.load_session(cwd=str(root), session_id="20200101-000000-abcd")
        with pytest.raises(RequestError, match="is open: load it first"):
            await client.prompt(session_id="x", prompt=text("hello"))


async def test_a_server_that_cannot_be_used_costs_itself_alone(
    quick_spark: Path, root: Path, partner: Partner
) -> None:
    editor = Editor()
    sse = SseMcpServer(type="sse", name="old", url="http://127.0.0.1:1/sse", headers=[])
    file = HttpMcpServer(type="http", name="file", url="file:///etc/passwd", headers=[])
    nameless = HttpMcpServer(type="http", name="…", url="http://127.0.0.1:1", headers=[])
    async with agent(quick_spark, editor, *server(partner)) as (client, _):
        session = await client.new_session(cwd=str(root), mcp_servers=[sse, file, nameless])
        answer = await client.prompt(session_id=session.session_id, prompt=text("repaint"))
        assert answer.stop_reason == "end_turn"
        for told in ("'old' speaks SSE alone", "'file' is neither a program nor", "'…' is not a name"):
            assert told in editor.said, told


async def test_a_session_that_there_is_not_is_told_by_the_code_for_it(
    quick_spark: Path, root: Path, partner: Partner
) -> None:
    async with agent(quick_spark, Editor(), *server(partner)) as (client, _):
        session = (await client.new_session(cwd=str(root))).session_id
        await client.prompt(session_id=session, prompt=text("repaint"))
        asked = (
            client.load_session(cwd=str(root), session_id="20200101-000000-abcd"),
            client.load_session(cwd=str(root), session_id=session[:8]),
            client.resume_session(cwd=str(root), session_id=""),
            client.prompt(session_id="gone", prompt=text("hello")),
            client.set_session_mode(session_id="gone", mode_id="ask"),
        )
        for request in asked:
            with pytest.raises(RequestError) as refused:
                await request
            assert refused.value.code == -32002


async def test_without_a_key_the_answer_says_what_to_do(quick_spark: Path, root: Path) -> None:
    async with agent(quick_spark, Editor(), "--provider", "openai") as (client, _):
        with pytest.raises(RequestError, match="spark login openai") as refused:
            await client.new_session(cwd=str(root))
        assert refused.value.code == -32000


async def test_a_turn_that_fails_answers_with_the_reason(quick_spark: Path, root: Path) -> None:
    editor = Editor()
    async with Partner(scripts=parse(REPAINT)) as gone:
        options = server(gone)
    async with agent(quick_spark, editor, *options) as (client, _):
        session = await client.new_session(cwd=str(root))
        with pytest.raises(RequestError, match="Nothing listens"):
            await client.prompt(session_id=session.session_id, prompt=text("repaint"))


async def test_a_hunk_lands_in_unsaved_text_and_is_shown_in_the_editor(
    quick_spark: Path, root: Path, partner: Partner
) -> None:
    file = root / "colours.py"
    editor = Editor(buffers={str(file): "# mine, unsaved\n" + COLOURS})
    async with agent(quick_spark, editor, *server(partner), files=True) as (client, _):
        session = await client.new_session(cwd=str(root))
        await client.prompt(session_id=session.session_id, prompt=text("repaint"))
        landed = file.read_text()
        await client.prompt(session_id=session.session_id, prompt=text("/undo"))
    assert landed == "# mine, unsaved\n" + COLOURS.replace("1\n", "10\n").replace("2\n", "20\n").replace(
        "3\n", "30\n"
    )
    assert file.read_text() == landed.replace("30\n", "3\n")


async def test_what_is_typed_while_a_hunk_lands_stays(
    quick_spark: Path, root: Path, partner: Partner
) -> None:
    file = root / "colours.py"
    editor = Editor()

    def type_on(path: str) -> None:
        """A line is typed once the first hunk is on disk, and before the editor is told of it."""
        if Path(path).read_text() != COLOURS:
            editor.buffers[path] = COLOURS + "typed = True\n"
            editor.on_read = lambda path: None

    editor.on_read = type_on
    async with agent(quick_spark, editor, *server(partner), files=True) as (client, _):
        session = await client.new_session(cwd=str(root))
        await client.prompt(session_id=session.session_id, prompt=text("repaint"))
    assert file.read_text().endswith("return 30\ntyped = True\n") and "return 10" in file.read_text()


async def test_a_client_that_never_answers_for_a_file_holds_up_no_turn(
    quick_spark: Path, root: Path, partner: Partner
) -> None:
    class Silent(Editor):
        async def read_text_file(self, session_id: str, path: str, **_: Any) -> ReadTextFileResponse:
            await asyncio.Event().wait()
            raise AssertionError

    async with agent(quick_spark, Silent(), *server(partner), files=True) as (client, _):
        session = await client.new_session(cwd=str(root))
        ended = await client.prompt(session_id=session.session_id, prompt=text("repaint"))
    assert ended.stop_reason == "end_turn" and "return 30" in (root / "colours.py").read_text()


async def raw(spark: Path, lines: bytes, *options: str) -> tuple[list[dict[str, Any]], str, int]:
    """What ``spark acp`` answers to lines that end in ``INITIALIZE``: all of it must be JSON."""
    process = await asyncio.create_subprocess_exec(
        spark, "acp", *options, stdin=-1, stdout=-1, stderr=-1, env=dict(os.environ)
    )
    assert process.stdin is not None and process.stdout is not None
    process.stdin.write(lines)
    answers: list[dict[str, Any]] = []
    async with asyncio.timeout(PATIENCE):
        while not any(answer["id"] == 1 for answer in answers):
            answers.append(json.loads(await process.stdout.readline()))
        process.stdin.close()
        out, err = await process.communicate()
    answers += [json.loads(line) for line in out.splitlines()]
    return answers, err.decode(), process.returncode or 0


INITIALIZE = b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}\n'


@pytest.mark.parametrize(
    "line",
    [
        b"this is not JSON\n",
        b"[1, 2]\n5\nnull\n",
        b'{"jsonrpc":"2.0","id":7,"method":"no/such"}\n',
        b'{"jsonrpc":"2.0","id":7,"method":"session/prompt","params":{"sessionId":5,"prompt":"x"}}\n',
        b'{"jsonrpc":"2.0","id":99,"result":{}}\n',
        b"[" * 200_000 + b"\n",
        b"\xff\xfe\n\n\n",
        b'{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"gone"}}\n',
    ],
    ids=["text", "values", "method", "types", "answer", "deep", "bytes", "cancel"],
)
async def test_lines_that_are_no_requests_do_not_end_the_agent(quick_spark: Path, line: bytes) -> None:
    answers, problems, code = await raw(quick_spark, line + INITIALIZE)
    assert [answer for answer in answers if answer["id"] == 1 and "result" in answer]
    assert all("error" in answer for answer in answers if answer["id"] != 1)
    assert code == 0 and "Traceback" not in problems


async def test_a_later_version_is_answered_with_ours(quick_spark: Path) -> None:
    answers, _, _ = await raw(quick_spark, INITIALIZE.replace(b":1}}", b":9}}"))
    result = answers[0]["result"]
    assert result["protocolVersion"] == 1
    assert result["agentInfo"]["name"] == "spark"


@pytest.mark.parametrize("how", ["closed", "SIGTERM", "SIGKILL of the client's pipes"])
async def test_a_client_that_goes_away_leaves_landed_hunks_and_a_whole_journal(
    quick_spark: Path, root: Path, how: str
) -> None:
    editor = Editor()
    async with Partner(rate=60, scripts=parse(REPAINT)) as slow:
        async with agent(quick_spark, editor, *server(slow)) as (client, process):
            session = await client.new_session(cwd=str(root))
            prompt = asyncio.create_task(client.prompt(session_id=session.session_id, prompt=text("repaint")))
            await editor.until(lambda: bool(editor.diffs()))
            assert process.stdin is not None
            if how == "SIGTERM":
                process.send_signal(signal.SIGTERM)
            elif how == "closed":
                process.stdin.close()
            else:
                await client.close()
                process.stdin.transport.abort()
            async with asyncio.timeout(PATIENCE):
                code = await process.wait()
            await asyncio.wait({prompt})
            assert prompt.cancelled() or prompt.exception() or prompt.result().stop_reason == "cancelled"
        assert code == (128 + signal.SIGTERM if how == "SIGTERM" else 0)
        assert "return 10" in (root / "colours.py").read_text()
        again = Editor()
        async with agent(quick_spark, again, *server(slow)) as (client, _):
            await client.load_session(cwd=str(root), session_id=session.session_id)
        assert "return 10" in "".join(each.new_text for each in again.diffs())
