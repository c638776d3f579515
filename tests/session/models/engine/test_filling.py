"""Filling a gap in a text by llama.cpp's own server, in both dialects that spark asks it in."""

from __future__ import annotations

from pathlib import Path

import pytest

from session.models.engine.model import find_model
from session.models.engine.process import Engine
from session.models.engine.settings import LocalSettings
from session.wire.link.connection import Connection, Endpoint, LinkError, RequestProfile, Service
from session.wire.protocol import events as wire
from session.wire.protocol.items import user_message
from session.wire.transport.service import Route, Transport
from tests.session.models.engine.tiny_model import write_tiny_model

pytest.importorskip(
    "xllamacpp", reason="the extra 'local' (llama.cpp) is not installed: pip install '.[dev]'"
)
pytest.importorskip("gguf", reason="the package gguf, which writes the tests' model, is not installed")

CHAT = Service(routes=(Route(Transport.SSE, "chat"),))
PROFILE = RequestProfile(model="tiny", instructions="never sent", max_output_tokens=12)
BEFORE = "def area(width, height):\n    return width * height\n" * 8 + "def area("
BEHIND = "\n    return 1\n"


async def filled(connection: Connection, dialect: str, before: str) -> tuple[str, wire.Finished]:
    said, finished = "", None
    asked = connection.ask_in_parallel(
        PROFILE, (user_message(before), user_message(BEHIND)), route=Route(Transport.SSE, dialect)
    )
    async for event in asked:
        if isinstance(event, wire.TextDelta):
            said += event.text
        elif isinstance(event, wire.Finished):
            finished = event
    assert finished is not None
    return said, finished


@pytest.mark.parametrize("fills", [True, False])
async def test_a_gap_is_filled_and_a_model_that_was_not_made_for_it_refuses(
    tmp_path: Path, fills: bool
) -> None:
    file = write_tiny_model(tmp_path / "tiny.gguf", endless=True, fills=fills)
    engine = Engine(find_model(str(file), LocalSettings(threads=1), {}))
    connection = Connection(Endpoint("http://127.0.0.1"), PROFILE, service=CHAT, host=engine)
    try:
        if not fills:
            with pytest.raises(LinkError):
                await filled(connection, "infill", BEFORE)
            return
        said, finished = await filled(connection, "infill", BEFORE)
        assert said and finished.usage is not None and finished.usage.output_tokens == 12
        _, again = await filled(connection, "infill", f"{BEFORE}w")
        assert again.usage is not None
        assert again.usage.cached_tokens > len(BEFORE) // 2, "what was sent before is read from the cache"
        assert connection.garbled == 0 and engine.starts == 1
    finally:
        await connection.close()
