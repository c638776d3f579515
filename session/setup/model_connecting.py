"""The connection to the server of the chosen model, and its states as events."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from session.base.events import ConnectionChanged, Event
from session.base.text.sanitize import clean_line
from session.setup.model_choice import ModelChoice
from session.setup.opening import Opening
from session.wire.link.connection import Connection
from session.wire.protocol.request import RequestProfile


def open_connection(opening: Opening, choice: ModelChoice, profile: RequestProfile) -> Connection | None:
    """A connection for requests with ``profile``, not yet dialled; None if the server's address or key is
    missing."""
    if opening.endpoint is None:
        return None
    return Connection(
        replace(opening.endpoint, headers=choice.headers()),
        profile,
        service=opening.service,
        login=opening.login,
        host=opening.engine(),
    )


async def tell_states(connection: Connection, publish: Callable[[Event], None]) -> None:
    """Publish each state of the connection, until it is closed."""
    async for change in connection.states():
        message = clean_line(change.message) if change.message else None
        publish(ConnectionChanged(state=change.state.value, message=message, seconds=change.seconds))
