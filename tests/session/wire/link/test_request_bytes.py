"""What the requests of one session weigh, with a real session and a real partner."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

from session.base.events import Notice
from session.session import Session
from session.wire.link.state import LinkState
from tests.session.calling import allow
from tests.session.talking import PLAIN, Listening, talking

FIRST, SECOND = "Say something.", "And now something else."
FOLLOWING = 400
"""Most bytes of a following turn's request, beside its prompt."""
MANY_TOOLS = """\
from mcp.server import MCPServer

server = MCPServer("many")
for number in range(51):
    def tool(path: str, count: int = 1) -> str:
        return path
    server.add_tool(tool, name=f"tool_{number}", description="One of many tools, with a text.")
server.run("stdio")
"""


async def ready(session: Session) -> None:
    assert session.connection is not None
    async for change in session.connection.states():
        if change.state is LinkState.READY:
            return


async def following_body(at: Listening) -> tuple[dict[str, Any], int]:
    """The body of a session's second turn, and its size."""
    await ready(at.session)
    at.session.submit(FIRST)
    assert (await at.ended("t1")).status == "completed"
    at.session.submit(SECOND)
    assert (await at.ended("t2")).status == "completed"
    request = at.partner.requests[-1]
    assert request.generate
    return request.body, request.size


async def test_a_following_turn_sends_little_more_than_its_prompt(tmp_path: Path) -> None:
    (tmp_path / "p").mkdir()
    async with talking(tmp_path / "p", PLAIN) as at:
        await ready(at.session)
        at.session.models.choose(effort="high")
        body, size = await following_body(at)
        assert size <= FOLLOWING + len(SECOND), json.dumps(body)
        assert "tools" not in body and "instructions" not in body
        warm_up = at.partner.requests[0]
        first = next(request for request in at.partner.requests if request.generate)
        assert not warm_up.generate and warm_up.size > 5_000
        assert first.previous_response_id and first.size < 2_000 + len(FIRST), "it continues the warm-up"
        efforts = [request.body["reasoning"]["effort"] for request in (warm_up, first)]
        assert len(set(efforts)) == 2, "with another effort than the warm-up's"


async def test_fifty_one_tools_of_an_mcp_server_weigh_nothing_in_a_following_turn(tmp_path: Path) -> None:
    (tmp_path / "p").mkdir()
    script = tmp_path / "many.py"
    script.write_text(MANY_TOOLS, "utf-8")
    command = json.dumps([sys.executable, str(script)])
    allow(tmp_path, f"[mcp.many]\nstart_seconds = 90\ncommand = {command}\n")
    async with talking(tmp_path / "p", PLAIN) as at:
        async with asyncio.timeout(90):  # the server imports a large package
            while not any("51 tools" in notice.text for notice in at.all(Notice)):
                await at.news()
        body, size = await following_body(at)
        assert size <= FOLLOWING + len(SECOND), json.dumps(body)
        offered = [item for request in at.partner.requests for item in request.items]
        assert any(len(item.get("tools", ())) > 51 for item in offered), "they are offered all the same"
