"""The connection to the server of the chosen model."""

from __future__ import annotations

from dataclasses import replace

from session.link.connection import Connection
from session.model_choice.choice import ModelChoice
from session.protocol.request import RequestProfile
from session.setup.opening import Opening


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
