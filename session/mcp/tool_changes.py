"""Hearing that a server's tools are others than before.

Until the protocol of 2026-07-28 a server says so unasked (``notifications/tools/list_changed``); since then
it does to whom listens (``subscriptions/listen``).
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mcp import Client

_AGAIN = 5.0
"""Seconds after which a lost stream of changes is asked for anew."""


def hearing(changed: Callable[[], None]) -> Callable[[Any], Awaitable[None]]:
    """What to give the client as its message handler."""
    kind = import_module("mcp.types").ToolListChangedNotification

    async def hear(message: Any) -> None:
        if isinstance(message, kind):
            changed()

    return hear


async def listen(client: Client, changed: Callable[[], None]) -> None:
    """Listen until the server has no more to say, or cannot be listened to."""
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
            # What was said meanwhile is not said again.
            await asyncio.sleep(_AGAIN)
            changed()
