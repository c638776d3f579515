"""Prints the bytes of a session's requests by dialect: ``python3 -m tests.bench.wire_bytes``.

Real sessions in an empty project, with spark's own tools, against the partner. In brackets is what is left
with permessage-deflate, the window kept from request to request on one connection, or over HTTP with gzip.
"Typed" is a redirect of a long conversation after a key: what went ahead to the spare connection, and what
went out with the prompt.
"""

from __future__ import annotations

import asyncio
import gzip
import tempfile
import zlib
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from session.base.events import TextDelta
from session.partner.load_script import parse
from session.partner.server.requests import Request
from session.partner.server.server import Partner
from session.session import Session
from session.setup.config import Flags
from session.setup.opening import open_project
from session.wire.link.state import LinkState
from session.wire.protocol.frames import write_body
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
_ITEM, _FIELD = "websocket = true\nspare = true\ntools_as_item = true\n", "websocket = true\nspare = true\n"
WAYS = {
    "WebSocket, tools as an item, steered": (f"{_ITEM}steer = true", MODELS[1]),
    "WebSocket, tools as an item": (_ITEM, MODELS[1]),
    "WebSocket, tools as a field": (_FIELD, MODELS[1]),
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


@asynccontextmanager
async def session_on(row: str, model: str) -> AsyncIterator[tuple[Listening, Partner]]:
    """A session that is ready, and the partner that it talks to."""
    with tempfile.TemporaryDirectory() as scratch:
        root, environ = Path(scratch) / "project", environment(Path(scratch) / "xdg")
        root.mkdir()
        async with Partner(rate=3_000, scripts=parse(SCRIPT)) as partner:
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
            while "spare" in row and not session.connection.has_spare:
                await asyncio.sleep(0.01)
            yield talk, partner
            await session.close()
            await following


def asked(partner: Partner) -> list[Request]:
    """The requests for an answer so far."""
    return [request for request in partner.requests if request.generate]


async def measure(name: str, row: str, model: str) -> None:
    """Print a line of the table."""
    over_socket = "WebSocket" in name
    cells: list[str] = []
    async with session_on(row, model) as (talk, partner):
        warm_ups = [request for request in partner.requests if not request.generate][:1]
        kept = list(warm_ups)
        for number, prompt in enumerate(("Say something.", "And now something else."), 1):
            talk.session.submit(prompt)
            await talk.ended(f"t{number}")
            kept.append(asked(partner)[-1])
        names = ["warm-up"] * len(warm_ups) + ["first", "following"]
        sizes = zip(names, kept, packed(kept, stream=over_socket), strict=True)
        cells += [f"{cell} {request.size:,} ({small:,})" for cell, request, small in sizes]
        talk.session.submit("A story.")
        await talk.until(TextDelta, lambda event: event.turn == "t3")
        talk.session.submit("Something else, and shorter.")
        await talk.ended("t4")
        redirect = asked(partner)[-1]
        # A steer goes out on the connection of the answer, everything else on the spare one.
        before = [*kept, asked(partner)[-2]] if redirect.body.get("type") == "response.steer" else warm_ups
        cells.append(f"redirect {redirect.size:,} ({packed([*before, redirect], stream=over_socket)[-1]:,})")
    if over_socket and "steer" not in row:
        cells.append(await typed(row, model))
    print(f"{name:36} | " + " | ".join(cells), flush=True)


async def typed(row: str, model: str) -> str:
    """A redirect of a conversation with a file in it, with a key typed before it."""
    async with session_on(row, model) as (talk, partner):
        warm_ups = [request for request in partner.requests if not request.generate][:1]
        file = Path(__file__).with_name("wire_bench.py").read_text("utf-8")
        talk.session.submit(f"A story of this:\n{file}")
        await talk.until(TextDelta, lambda event: event.turn == "t1")
        seen = len(partner.requests)
        talk.session.wake()
        while len(partner.requests) == seen:
            await asyncio.sleep(0.01)
        ahead = partner.requests[-1]
        talk.session.submit("Something else, and shorter.")
        await talk.ended("t2")
        kept = [ahead, asked(partner)[-1]]
        sizes = zip(kept, packed([*warm_ups, *kept], stream=True)[-2:], strict=True)
        return "typed " + " then ".join(f"{request.size:,} ({small:,})" for request, small in sizes)


async def run() -> None:
    """Print the table."""
    for name, (row, model) in WAYS.items():
        await measure(name, row, model)


if __name__ == "__main__":
    asyncio.run(run())
