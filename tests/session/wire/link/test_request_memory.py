"""A request is as large as its conversation, and its answer may take an hour: it is not kept meanwhile."""

from __future__ import annotations

import contextlib
import gc
import secrets
from pathlib import Path

from session.partner.server.server import companion
from session.wire.link.connection import Connection, Endpoint
from session.wire.protocol.events import TextDelta
from session.wire.protocol.items import Item, user_message
from tests.session.wire.link.test_connection import PROFILE

LONG = 2_000_000
SCRIPT = f"""
[[scenario]]
id = "long"
match = ["long"]
[[scenario.step]]
say = "{"word " * 3_000}"
"""


def kept_requests(mark: str) -> int:
    """The texts in memory that are a request whose long conversation has ``mark`` in it."""
    referred = (part for each in gc.get_objects() for part in gc.get_referents(each))
    texts = {id(part): part for part in referred if type(part) in (str, bytes) and len(part) > LONG}
    requests = [text for text in texts.values() if text[:1] in ("{", b"{")]
    return sum(mark in text if isinstance(text, str) else mark.encode() in text for text in requests)


async def test_what_was_sent_is_not_kept_while_the_answer_streams(tmp_path: Path) -> None:
    (scenarios := tmp_path / "script.toml").write_text(SCRIPT, "utf-8")
    mark = secrets.token_hex(8)  # other tests of this process may have left large texts
    items: list[Item] = [user_message(f"long {mark} " + "x" * LONG)]
    with companion("2000", scenarios) as url:  # its process keeps what it read
        connection = Connection(Endpoint(url, None), PROFILE)
        connection.start()
        try:
            async with contextlib.aclosing(connection.respond(items)) as events:
                async for event in events:
                    if isinstance(event, TextDelta):
                        break
                assert kept_requests(mark) == 0
        finally:
            await connection.close()
