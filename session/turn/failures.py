"""Why a turn failed, as a line for the person and a code for programs."""

from __future__ import annotations

import re

from session.protocol.events import Finished
from session.text.sanitize import clean_line
from session.transport.errors import LinkError

_NO_TOOLS = re.compile(
    r"(?:not|n't|that) support (?:tool|function)|tools? param(?:eter)? requires", re.IGNORECASE
)
"""How servers say that a model cannot call functions (Ollama, llama.cpp, OpenRouter)."""


class TurnFailedError(Exception):
    """The turn cannot go on; the message is for the person, ``code`` for programs."""

    def __init__(self, message: str, code: str) -> None:
        super().__init__(message)
        self.code = code


def unfinished(finished: Finished) -> tuple[str, str]:
    """Why an answer that was not completed ended: message and code."""
    reason = clean_line(finished.reason or "")
    if "max_output_tokens" in reason:
        return "the model reached its limit of output tokens; ask it to continue", "max_output_tokens"
    if finished.status == "incomplete":
        return f"the model stopped before the end of its answer ({reason or 'no reason given'})", "incomplete"
    return reason or "the server reported that the answer failed", "server"


def explain(problem: BaseException) -> tuple[str, str]:
    """What ended a turn: message and code."""
    if isinstance(problem, LinkError):
        message = clean_line(problem.message)
        if _NO_TOOLS.search(message):
            message += ' Set tools = false for it in config.toml, as in [models."NAME"].'
        return message, problem.kind.value
    if isinstance(problem, TurnFailedError):
        return str(problem), problem.code
    return f"spark itself failed ({type(problem).__name__}: {clean_line(str(problem))})", "internal"
