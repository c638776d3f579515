"""The partner as a server: its handshake, its errors, its lanes, its events, through a plain client."""

from __future__ import annotations

import asyncio
import json
import urllib.error
import urllib.request
from typing import Any

import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from session.partner.load_script import ScriptError, load, parse
from session.partner.script_text import count_input_tokens, split_tokens
from session.partner.server import websocket_connection
from session.partner.server.schedule import TokenSchedule, paced
from session.partner.server.server import Partner, parse_rate
from tests.checkout import ROOT

SCRIPT = """
[[scenario]]
id = "greet"
prompt = "Say hello"
match = ["hello"]
[[scenario.step]]
think = "A greeting."
[[scenario.step]]
say = "Hello there."

[[scenario]]
id = "slow"
match = ["slow"]
[[scenario.step]]
say = "Wait."
[[scenario.step]]
stall = 60

[[scenario]]
id = "edit"
match = ["edit"]
[[scenario.step]]
patch = '''
*** Begin Patch
*** Update File: a.py
@@ def f():
-    return 1
+    return 2
*** Add File: b.py
+new = 1
*** End Patch
'''
[[scenario.step]]
say = "Edited."
"""
TOOLS = [{"type": "custom", "name": "apply_patch"}]


async def dial(partner: Partner) -> ClientConnection:
    return await connect(partner.url.replace("http", "ws") + "/responses", proxy=None)


async def create(socket: ClientConnection, words: str | list[Any], **fields: Any) -> None:
    await socket.send(json.dumps({"type": "response.create", "model": "m", "input": words, **fields}))


async def answer(socket: ClientConnection) -> list[dict[str, Any]]:
    events: list[dict[str, Any]] = []
    async with asyncio.timeout(10):
        while not events or events[-1]["type"] not in ("response.completed", "response.failed", "error"):
            events.append(json.loads(await socket.recv()))
    return events


async def ask(socket: ClientConnection, words: str | list[Any], **fields: Any) -> list[dict[str, Any]]:
    await create(socket, words, **fields)
    return await answer(socket)


async def test_the_whole_sequence_of_events() -> None:
    async with Partner(rate=5000, scripts=parse(SCRIPT)) as partner, await dial(partner) as socket:
        events = await ask(socket, "hello")
        kinds = [event["type"].removeprefix("response.") for event in events]
        once = [kind for n, kind in enumerate(kinds) if kind != (kinds[n - 1] if n else "")]
        assert once == [
            "created",
            "in_progress",
            "output_item.added",
            "reasoning_summary_part.added",
            "reasoning_summary_text.delta",
            "reasoning_summary_text.done",
            "reasoning_summary_part.done",
            "output_item.done",
            "output_item.added",
            "content_part.added",
            "output_text.delta",
            "output_text.done",
            "content_part.done",
            "output_item.done",
            "completed",
        ]
        assert [event["sequence_number"] for event in events] == list(range(1, len(events) + 1))
        response = events[-1]["response"]
        assert response["status"] == "completed"
        assert [item["type"] for item in response["output"]] == ["reasoning", "message"]
        assert response["usage"] == {
            "input_tokens": count_input_tokens(
                json.dumps({"type": "message", "role": "user", "content": "hello"})
            ),
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": len(split_tokens("A greeting.")) + len(split_tokens("Hello there.")),
            "output_tokens_details": {"reasoning_tokens": len(split_tokens("A greeting."))},
            "total_tokens": response["usage"]["input_tokens"] + response["usage"]["output_tokens"],
        }


async def test_ids_chain_on_one_connection_and_are_forgotten_by_the_next() -> None:
    async with Partner(rate=5000, scripts=parse(SCRIPT)) as partner:
        async with await dial(partner) as socket:
            warm = (await ask(socket, [], generate=False, instructions="x" * 400))[-1]["response"]
            assert (warm["output"], warm["usage"]["output_tokens"]) == ([], 0)
            fields = {"previous_response_id": warm["id"], "instructions": "x" * 400}
            first = (await ask(socket, "edit", tools=TOOLS, **fields))[-1]["response"]
            assert first["usage"]["input_tokens_details"]["cached_tokens"] >= 100
            call = first["output"][0]
            assert call["input"].startswith(
                "*** Begin Patch\n*** Update File: a.py\n@@ def f():\n-    return 1"
            )
            result = {"type": "custom_tool_call_output", "call_id": call["call_id"], "output": "Done!"}
            fields["previous_response_id"] = first["id"]
            second = (await ask(socket, [result], tools=TOOLS, **fields))[-1]["response"]
            assert second["output"][0]["content"][0]["text"] == "Edited."
        async with await dial(partner) as socket:
            (error,) = await ask(socket, "hello", previous_response_id=second["id"])
            assert error["error"]["code"] == "previous_response_not_found"


async def test_without_the_tool_patches_are_written_as_blocks() -> None:
    async with Partner(rate=5000, scripts=parse(SCRIPT)) as partner, await dial(partner) as socket:
        text = (await ask(socket, "edit"))[-1]["response"]["output"][0]["content"][0]["text"]
        assert (
            "a.py\n```\n<<<<<<< SEARCH\n    return 1\n=======\n    return 2\n>>>>>>> REPLACE\n```\n" in text
        )
        assert "b.py\n```\n<<<<<<< SEARCH\n=======\nnew = 1\n>>>>>>> REPLACE\n```\n" in text
        assert text.endswith("Edited.")


async def test_lanes_run_beside_each_other_and_one_response_each() -> None:
    async with Partner(rate=5000, scripts=parse(SCRIPT)) as partner, await dial(partner) as socket:
        await create(socket, "slow", stream_id="a")
        events = await ask(socket, "hello", stream_id="b")
        mine = [event for event in events if event["stream_id"] == "b"]
        assert mine[-1]["type"] == "response.completed"
        assert (await ask(socket, "hello"))[-1]["type"] == "response.completed"
        await create(socket, "slow")
        events = await ask(socket, "hello")
        (error,) = [event for event in events if event["type"] == "error"]
        assert error["error"]["code"] == "response_in_progress", "the lane without a name takes no second"
    assert partner.cut == 2


async def test_requests_on_one_named_lane_are_answered_in_their_order() -> None:
    async with Partner(rate=float("inf"), scripts=parse(SCRIPT)) as partner, await dial(partner) as socket:
        for number in range(4):
            await create(socket, "hello", stream_id="a", metadata={"number": str(number)})
        ended: list[str] = []
        order: list[str] = []
        while len(ended) < 4:
            event = json.loads(await socket.recv())
            if event["type"] == "response.created":
                assert len(ended) == len(order), "one at a time"
                order.append(event["response"]["id"])
            elif event["type"] == "response.completed":
                ended.append(event["response"]["id"])
        assert ended == order
        numbers = [request.body["metadata"]["number"] for request in partner.requests]
        assert numbers == ["0", "1", "2", "3"]


async def test_the_tools_of_the_conversations_items_are_offered() -> None:
    offer = {"type": "additional_tools", "role": "developer"}
    patch = {"type": "custom", "name": "apply_patch"}
    space = {"type": "namespace", "name": "more", "tools": [{"type": "function", "name": "read"}]}
    told = {"type": "message", "role": "developer", "content": "Be brief."}
    async with Partner(rate=float("inf"), scripts=parse(SCRIPT)) as partner, await dial(partner) as socket:
        await create(socket, [{**offer, "tools": [patch, space]}, told], generate=False)
        while (event := json.loads(await socket.recv()))["type"] != "response.completed":
            pass
        await ask(socket, "hello", previous_response_id=event["response"]["id"])
        request = partner.requests[-1]
        assert request.offers_patch_tool and request.offers_functions
        assert request.instructions == "Be brief."


@pytest.mark.parametrize(
    ("frame", "code"),
    [
        ("{", "invalid_json"),
        (b"\x00\xff", "invalid_json"),
        ('{"type":"response.cancel"}', "unknown_event"),
        ('{"type":"response.create"}', "missing_required_parameter"),
        ('{"type":"response.create","model":"m","input":7}', "invalid_value"),
        ('{"type":"response.create","model":"m","stream_id":"a b"}', "invalid_value"),
        ('{"type":"response.create","model":"m","previous_response_id":7}', "invalid_value"),
        ('{"type":"response.create","model":"gone"}', "model_not_found"),
    ],
)
async def test_what_cannot_be_answered_is_an_error_and_no_more(frame: str | bytes, code: str) -> None:
    script = parse('refuse_models = ["gone"]\n' + SCRIPT)
    async with Partner(rate=5000, scripts=script) as partner, await dial(partner) as socket:
        await socket.send(frame)
        (error,) = await answer(socket)
        assert error["error"]["code"] == code and error["error"]["message"]
        assert (await ask(socket, "hello"))[-1]["type"] == "response.completed"


async def test_what_no_script_covers_gets_the_honest_answer() -> None:
    async with Partner(rate=50_000) as partner, await dial(partner) as socket:
        events = await ask(socket, "write a compiler for me")
        text = events[-1]["response"]["output"][0]["content"][0]["text"]
        for part in ("practice partner", "OPENAI_API_KEY", "--base-url", "--model", "after removing a task"):
            assert part in text


async def test_plain_http_and_the_key() -> None:
    def get(path: str, key: str | None) -> tuple[int, Any]:
        request = urllib.request.Request(partner.url + path)
        if key is not None:
            request.add_header("Authorization", f"Bearer {key}")
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(request) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            return error.code, json.load(error)

    async with Partner(scripts=parse(SCRIPT), key="right") as partner:
        status, body = await asyncio.to_thread(get, "/models", "right")
        assert (status, [model["id"] for model in body["data"]]) == (
            200,
            ["spark-practice", "spark-practice-text"],
        )
        for key in (None, "wrong"):
            status, body = await asyncio.to_thread(get, "/models", key)
            assert (status, body["error"]["code"]) == (401, "invalid_api_key")
        assert (await asyncio.to_thread(get, "/responses", "right"))[0] == 426
        assert (await asyncio.to_thread(get, "/elsewhere", "right"))[0] == 404
        with pytest.raises(InvalidStatus) as caught:
            await dial(partner)
        assert caught.value.response.status_code == 401


async def test_a_fault_of_the_partners_own_ends_the_connection(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def ends_early(*given: Any) -> Any:
        frames = paced(*given)

        async def broken() -> Any:
            async for frame in frames:
                yield frame
                if '"response.output_text.delta"' in str(frame):
                    raise RuntimeError("a fault in the partner")

        return broken()

    monkeypatch.setattr(websocket_connection, "paced", ends_early)
    async with Partner(scripts=parse(SCRIPT, "test")) as partner, await dial(partner) as socket:
        await create(socket, "hello")
        with pytest.raises(ConnectionClosed) as ended:
            await asyncio.wait_for(answer(socket), 10)
        assert ended.value.rcvd is not None and ended.value.rcvd.code == 1011
    assert "the partner failed in an answer" in caplog.text and "a fault in the partner" in caplog.text


async def test_closing_ends_everything_and_the_port_is_free_again() -> None:
    partner = Partner(scripts=parse(SCRIPT))
    await partner.serve()
    port = partner.port
    forever = asyncio.create_task(partner.serve_forever())
    socket = await dial(partner)
    await create(socket, "slow")
    await partner.close()
    await partner.close()
    await forever
    with pytest.raises(ConnectionClosed):
        while True:
            await socket.recv()
    assert not [task for task in asyncio.all_tasks() if task.get_name().startswith("partner-response")]
    again = Partner(scripts=parse(SCRIPT))
    await again.serve(port)
    await again.close()


def test_the_pace_is_kept_against_the_clock() -> None:
    pace = TokenSchedule(1000.0, start=10.0)
    assert pace.wait(1, 10.0006) == 0.0  # within a timer's grain
    assert pace.wait(9, 10.0) == pytest.approx(0.01)
    assert pace.wait(5, 10.5) == 0.0  # late: nothing waits until the schedule is met again
    pace.hold(1.0)
    assert pace.wait(5, 10.5) == pytest.approx(0.52)
    assert TokenSchedule(float("inf"), 0.0).wait(10_000, 0.0) == 0.0


@pytest.mark.parametrize(
    "text", ["", "a", "Hello, world!\n\n    x = foo_bar(1234567)\n", "héé ☃\t\t日本語", "\r\n \n"]
)
def test_pieces_lose_nothing(text: str) -> None:
    assert "".join(split_tokens(text)) == text


def test_rates_from_the_command_line() -> None:
    assert (parse_rate("250.5"), parse_rate("0"), parse_rate("inf")) == (250.5, float("inf"), float("inf"))
    for bad in ("-1", "nan", "fast"):
        with pytest.raises(ValueError, match=f"a positive number of tokens a second, not '{bad}'"):
            parse_rate(bad)
    with pytest.raises(ValueError):
        Partner(rate=0)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x = ", "not TOML"),
        ("scenari = 1", r"has no key 'scenari' \(did you mean 'scenario'"),
        ("[[scenario]]\nid = 7", "id must be a str"),
        ("[[scenario]]\nid = 'a'\n[[scenario.step]]\nshout = 'x'", "scenario a, step 1: a step is one of"),
        ("[[scenario]]\n[[scenario.step]]\npatch = ['nope']", "patch must be"),
        ("[[scenario]]\n[[scenario.step]]\npatch = 'no patch'", "step 1"),
        ("[[scenario]]\n[[scenario.hunk]]\nid = 'h'\npath = 'a'\nlines = '''\nx\n'''", "must begin with"),
        ("[[scenario]]\n[[scenario.hunk]]\npath = 'a'", "an id of its own"),
        ("[[scenario]]\n[scenario.redirect]\ndrop = ['x']", "drop names unknown hunks"),
        ("[[scenario]]\n[[scenario.step]]\ngarbage = ['hex:zz']", "not hexadecimal"),
        ("warm_up = 'maybe'", "warm_up must be one of"),
    ],
)
def test_a_mistake_in_a_script_is_named(text: str, said: str) -> None:
    with pytest.raises(ScriptError, match=said):
        parse(text)


def test_the_example_in_the_documentation_can_be_played() -> None:
    page = (ROOT / "docs" / "partner.md").read_text(encoding="utf-8")
    (told,) = parse(page.split("```toml\n")[1].split("```")[0]).scenarios
    assert told.redirect is not None and told.hunks["helper"].new == ("    new()",)


def test_a_script_that_is_not_there(tmp_path: Any) -> None:
    with pytest.raises(ScriptError, match=r"nowhere\.toml cannot be read: No such file or directory$"):
        load(tmp_path / "nowhere.toml")


async def test_codex_with_a_model_that_it_does_not_know_gets_its_patch_by_the_shell() -> None:
    shell = {"type": "function", "name": "exec_command", "parameters": {"type": "object"}}
    about = "<environment_context>\n<cwd>/p</cwd>\n</environment_context>"
    asked = [{"type": "message", "role": "user", "content": text} for text in (about, "edit")]
    async with Partner(rate=float("inf"), scripts=parse(SCRIPT)) as partner, await dial(partner) as socket:
        response = (await ask(socket, asked, tools=[shell]))[-1]["response"]
        call = next(item for item in response["output"] if item["type"] == "function_call")
        line = json.loads(call["arguments"])["cmd"]
        assert call["name"] == "exec_command"
        assert line.startswith("apply_patch <<'PATCH'\n*** Begin Patch\n")
        assert line.endswith("*** End Patch\nPATCH\n")
        result = {"type": "function_call_output", "call_id": call["call_id"], "output": "Done!"}
        fields = {"previous_response_id": response["id"], "tools": [shell]}
        ended = (await ask(socket, [result], **fields))[-1]["response"]
        assert "Edited." in str(ended["output"])
