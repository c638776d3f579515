"""A request is as large as its conversation, and its answer may take an hour: it is not kept meanwhile."""

from __future__ import annotations

import contextlib
import gc
from pathlib import Path

from session.link.connection import Connection, Endpoint
from session.partner.server.process import companion
from session.protocol.events import TextDelta
from session.protocol.items import Item, user_message
from tests.session.link.test_connection import PROFILE

LONG = 2_000_000
SCRIPT = f"""
[[scenario]]
id = "long"
match = ["long"]
[[scenario.step]]
say = "{"word " * 3_000}"
"""


def kept_requests() -> int:
    """The texts in memory that are a request with a long conversation."""
    referred = (part for each in gc.get_objects() for part in gc.get_referents(each))
    texts = {id(part): part for part in referred if type(part) in (str, bytes) and len(part) > LONG}
    return sum(text[:1] in ("{", b"{") for text in texts.values())


async def test_what_was_sent_is_not_kept_while_the_answer_streams(tmp_path: Path) -> None:
    (scenarios := tmp_path / "script.toml").write_text(SCRIPT, "utf-8")
    items: list[Item] = [user_message("long " + "x" * LONG)]
    with companion("2000", scenarios) as url:  # its process keeps what it read
        connection = Connection(Endpoint(url, None), PROFILE)
        connection.start()
        try:
            async with contextlib.aclosing(connection.respond(items)) as events:
                async for event in events:
                    if isinstance(event, TextDelta):
                        break
                assert kept_requests() == 0
        finally:
            await connection.close()
