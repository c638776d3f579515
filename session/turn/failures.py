"""Says why a turn failed: a line for the user and a code for programs."""

from __future__ import annotations

import re
from typing import NamedTuple

from session.base.tasks import fault_line
from session.base.text.sanitize import clean_line
from session.wire.protocol.events import Finished
from session.wire.transport.errors import LinkError

_NO_TOOLS = re.compile(
    r"(?:not|n't|that) support (?:tool|function)|tools? param(?:eter)? requires", re.IGNORECASE
)
"""Matches the errors of servers whose model cannot call functions (Ollama, llama.cpp, OpenRouter)."""

INTERNAL = "internal"
"""The code of a fault in spark itself."""


class Failure(NamedTuple):
    """Why a turn failed: a line for the user, and a code for programs."""

    message: str
    code: str


class TurnFailedError(Exception):
    """The turn cannot go on; the message is for the user, ``code`` for programs."""

    def __init__(self, message: str, code: str) -> None:
        super().__init__(message)
        self.code = code


def unfinished(finished: Finished) -> Failure:
    """The reason why an answer ended before it was complete."""
    reason = clean_line(finished.reason or "")
    if "max_output_tokens" in reason:
        message = "the model reached its limit of output tokens; ask it to continue"
        return Failure(message, "max_output_tokens")
    if finished.status == "incomplete":
        message = f"the model stopped before the end of its answer ({reason or 'no reason given'})"
        return Failure(message, "incomplete")
    return Failure(reason or "the server reported that the answer failed", "server")


def explain(problem: BaseException) -> Failure:
    """The failure that ``problem`` means for the turn it ended."""
    if isinstance(problem, LinkError):
        message = clean_line(problem.message)
        if _NO_TOOLS.search(message):
            message += ' Set tools = false for it in config.toml, as in [models."NAME"].'
        return Failure(message, problem.kind.value)
    if isinstance(problem, TurnFailedError):
        return Failure(str(problem), problem.code)
    return Failure(fault_line("running the turn", problem), INTERNAL)
