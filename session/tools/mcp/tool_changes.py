"""Notices when a server's tools change.

Before the protocol version 2026-07-28 a server reports it unasked (``notifications/tools/list_changed``);
from that version on it reports it to subscribers (``subscriptions/listen``).
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mcp import Client

_AGAIN = 5.0
"""Seconds to wait before a lost subscription is renewed."""


def hearing(changed: Callable[[], None]) -> Callable[[Any], Awaitable[None]]:
    """The message handler for a client, which calls ``changed``."""
    kind = import_module("mcp.types").ToolListChangedNotification

    async def hear(message: Any) -> None:
        if isinstance(message, kind):
            changed()

    return hear


async def listen(client: Client, changed: Callable[[], None]) -> None:
    """Listen until the server ends the subscription or refuses it."""
    subscriptions = import_module("mcp.client.subscriptions")
    refused = (subscriptions.ListenNotSupportedError, import_module("mcp").MCPError, TimeoutError)
    while True:
        try:
            async with client.listen(tools_list_changed=True) as changes:
                async for _ in changes:
                    changed()
            return
        except refused:
            return
        except subscriptions.SubscriptionLost:
            # Changes in between are not reported again.
            await asyncio.sleep(_AGAIN)
            changed()
