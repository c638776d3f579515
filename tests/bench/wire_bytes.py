"""Prints the bytes of a session's requests by dialect: ``python3 -m tests.bench.wire_bytes``.

Real sessions in an empty project, with spark's own tools, against the partner. In brackets is what is left
with permessage-deflate, the window kept from request to request, or over HTTP with gzip.
"""

from __future__ import annotations

import asyncio
import gzip
import tempfile
import zlib
from collections.abc import Sequence
from pathlib import Path

from session.events import TextDelta
from session.link.state import LinkState
from session.partner.script.load import parse
from session.partner.server.requests import Request
from session.partner.server.server import Partner
from session.protocol.framing.frames import write_body
from session.session import Session
from session.setup.config import Flags
from session.setup.opening import open_project
from tests.session.talking import Listening, environment

MODELS = ("spark-practice", "gpt-6-sol")
SCRIPT = f"""
models = ["{MODELS[0]}", "{MODELS[1]}"]
[[scenario]]
match = ["story"]
[[scenario.step]]
think = "{"hm " * 300}"
[[scenario.step]]
say = "{"Once upon a time. " * 200}"
[[scenario]]
match = ["*"]
[[scenario.step]]
say = "Just words."
"""
WAYS = {
    "WebSocket, tools as an item": ("websocket = true\ntools_as_item = true\nsteer = true", MODELS[1]),
    "WebSocket, tools as a field": ("websocket = true\nspare = true", MODELS[1]),
    "Responses": ('dialects = ["responses"]', MODELS[1]),
    "Chat": ('dialects = ["chat"]', MODELS[1]),
    "Messages": ('dialects = ["messages"]', MODELS[1]),
}
"""The row of a provider, and the model."""


def packed(requests: Sequence[Request], *, stream: bool) -> list[int]:
    """The sizes of ``requests`` on the wire: compressed one after the other, or each by itself."""
    deflate = zlib.compressobj(wbits=-15)
    sizes = []
    for request in requests:
        body = write_body(request.body).encode()
        whole = deflate.compress(body) + deflate.flush(zlib.Z_SYNC_FLUSH)
        sizes.append(len(whole) - 4 if stream else len(gzip.compress(body, 6)))
    return sizes


async def measure(name: str, row: str, model: str) -> None:
    """Print a line of the table."""
    with tempfile.TemporaryDirectory() as scratch:
        root, environ = Path(scratch) / "project", environment(Path(scratch) / "xdg")
        root.mkdir()
        async with Partner(rate=1_000, scripts=parse(SCRIPT)) as partner:
            config = Path(environ["XDG_CONFIG_HOME"]) / "spark"
            config.mkdir(parents=True)
            (config / "config.toml").write_text(
                f'[providers.own]\nbase_url = "{partner.url}"\n{row}\n', "utf-8"
            )
            session = Session(open_project(root, Flags(model=model, provider="own"), environ))
            talk = Listening(session, partner, root)
            following = asyncio.create_task(talk.follow())
            await session.open()
            assert session.connection is not None
            async for change in session.connection.states():
                if change.state is LinkState.READY:
                    break
            cells: dict[str, int] = {}
            kept: list[Request] = [request for request in partner.requests if not request.generate][:1]
            cells |= {"warm-up": kept[0].size} if kept else {}
            turns = {"first": "Say something.", "following": "And now something else.", "story": "A story."}
            for number, (cell, prompt) in enumerate(turns.items(), 1):
                session.submit(prompt)
                if cell == "story":
                    await talk.until(TextDelta, lambda event: event.turn == "t3")
                    break
                await talk.ended(f"t{number}")
                kept.append(partner.requests[-1])
                cells[cell] = kept[-1].size
            session.submit("Something else, and shorter.")
            await talk.ended("t4")
            kept.append([request for request in partner.requests if request.generate][-1])
            cells["redirect"] = kept[-1].size
            sizes = packed(kept, stream="WebSocket" in name)
            told = (
                f"{cell} {size:,} ({small:,})"
                for (cell, size), small in zip(cells.items(), sizes, strict=True)
            )
            print(f"{name:28} | " + " | ".join(told), flush=True)
            await session.close()
            await following


async def run() -> None:
    """Print the table."""
    for name, (row, model) in WAYS.items():
        await measure(name, row, model)


if __name__ == "__main__":
    asyncio.run(run())
