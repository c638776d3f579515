"""Runs the agent until its client closes the streams, or a signal ends it."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
from types import TracebackType

from acp import AgentSideConnection

from session.base.text.masking import mask
from session.base.text.sanitize import clean_line
from session.setup.config import Flags
from tui.line.acp.agent import SparkAgent
from tui.line.acp.stdio import standard_streams

_ENDING = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)
_Fault = tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]


class _OneLine(logging.Formatter):
    """What the library logs, without tracebacks and keys: clients show standard error to their users."""

    def format(self, record: logging.LogRecord) -> str:
        """See :meth:`logging.Formatter.format`."""
        return mask(clean_line(super().format(record)))

    def formatException(self, ei: _Fault) -> str:
        """See :meth:`logging.Formatter.formatException`."""
        return f"{ei[0].__name__ if ei[0] else 'error'}: {ei[1]}"


def run_agent(flags: Flags) -> None:
    """Serve one client on the standard streams."""
    handler = logging.StreamHandler()
    handler.setFormatter(_OneLine("spark acp: %(message)s"))
    logging.getLogger().addHandler(handler)
    raise SystemExit(asyncio.run(_serve(flags)))


async def _serve(flags: Flags) -> int:
    """Serve the client; the exit code is 128 and the number of the signal that ended it, else 0."""
    code = 0

    def end(number: int) -> None:
        nonlocal code
        code = 128 + number
        listening.cancel()

    agent = SparkAgent(flags)
    transport = await standard_streams()
    connection = AgentSideConnection(agent, transport, listening=False, use_unstable_protocol=True)
    listening = asyncio.create_task(connection.listen(), name="listening to the client")
    loop = asyncio.get_running_loop()
    for number in _ENDING:
        loop.add_signal_handler(number, end, number)
    try:
        with contextlib.suppress(asyncio.CancelledError):
            await listening
    finally:
        await agent.close()
        await connection.close()
    return code
