"""The documented exit codes, and leaving a command with one of them."""

from __future__ import annotations

from typing import NoReturn

from tui.front.printing import say

DONE = 0
FAILED = 1
USAGE = 2
CONFIGURATION = 3
UNREACHABLE = 4
"""The server could not be reached, refused, or cut its answer short."""
NO_REVIEW = 5
"""The model's answer to a review was not understood, or was not whole; or nobody agreed to its size."""
INTERRUPTED = 130
OUTPUT_CLOSED = 141
"""128 and the number of SIGPIPE, as of other programs whose reader goes away."""
OUTPUT_FULL = 74
"""Standard output takes no more: the disk is full. The number is EX_IOERR of sysexits.h."""

_BY_CODE = {
    "credentials": CONFIGURATION,
    "unauthorized": CONFIGURATION,
    "unreachable": UNREACHABLE,
    "refused": UNREACHABLE,
    "no_websocket": UNREACHABLE,
    "model": UNREACHABLE,
    "closed": UNREACHABLE,
    "incomplete": UNREACHABLE,
    "plan": UNREACHABLE,
}


def leave(message: str, code: int) -> NoReturn:
    """Print ``message`` on standard error and exit with ``code``."""
    say(f"spark: {message}", err=True)
    raise SystemExit(code)


def exit_code(status: str, code: str | None, *, refused: bool) -> int:
    """The exit code for a turn that ended with ``status`` and the failure ``code``."""
    if status == "interrupted":
        return INTERRUPTED
    if status == "failed":
        return _BY_CODE.get(code or "", FAILED)
    return FAILED if refused else DONE
