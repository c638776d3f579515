"""Runs the agent until its client closes the streams, or a signal ends it.

The lines of JSON-RPC on standard input and output.

Format: https://agentclientprotocol.com/protocol/transports, one JSON object on each line.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import signal
import sys
from types import TracebackType
from typing import Any, BinaryIO

from acp import AgentSideConnection

from session.base.text.masking import mask
from session.base.text.sanitize import clean_line
from session.setup.config import Flags
from tui.line.acp.agent import SparkAgent

LONGEST_LINE = 64 * 1024 * 1024
"""Bytes of the longest message that is read: a prompt may hold whole files."""
_PARSE_ERROR = -32700
_INVALID_REQUEST = -32600


class StdioTransport:
    """Reads and writes the messages of one client. It is what ``acp`` calls a transport.

    A line that is no message is answered with an error and read no further: a client in development must
    not end the session by it.
    """

    def __init__(self, reader: asyncio.StreamReader, output: BinaryIO) -> None:
        """``output`` is written to in a thread, since the client may read slowly."""
        self._reader = reader
        self._output = output
        self._writing = asyncio.Lock()

    async def send(self, message: dict[str, Any]) -> None:
        """Write one message. Raises OSError when the client is gone."""
        line = (
            json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace") + b"\n"
        )
        async with self._writing:
            await asyncio.to_thread(self._write, line)

    async def receive(self) -> dict[str, Any] | None:
        """The next message; None when the client has closed its side."""
        while line := await self._line():
            if not line.strip():
                continue
            try:
                message = json.loads(line)
            except (ValueError, RecursionError):
                await self._refuse(_PARSE_ERROR, "Parse error: the line is not JSON")
                continue
            if isinstance(message, dict):
                return message
            await self._refuse(_INVALID_REQUEST, "Invalid request: the line is not a JSON object")
        return None

    async def close(self) -> None:
        """Nothing to do: the streams belong to the process."""

    async def _line(self) -> bytes:
        """The next line, or what is left at the end; lines that are too long are refused and skipped."""
        while True:
            try:
                return await self._reader.readuntil(b"\n")
            except asyncio.IncompleteReadError as end:
                return end.partial
            except asyncio.LimitOverrunError:
                await self._skip_line()
                await self._refuse(
                    _INVALID_REQUEST, f"Invalid request: a message of over {LONGEST_LINE >> 20} MB"
                )

    async def _skip_line(self) -> None:
        while True:
            try:
                await self._reader.readuntil(b"\n")
                return
            except asyncio.IncompleteReadError:
                return
            except asyncio.LimitOverrunError as long:
                await self._reader.readexactly(long.consumed)

    async def _refuse(self, code: int, message: str) -> None:
        await self.send({"jsonrpc": "2.0", "id": None, "error": {"code": code, "message": message}})

    def _write(self, line: bytes) -> None:
        self._output.write(line)
        self._output.flush()


async def standard_streams() -> StdioTransport:
    """The transport on this process's standard streams.

    What else writes to standard output from now on goes to standard error: one stray line would end the
    conversation with the client.
    """
    output = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    reader = asyncio.StreamReader(limit=LONGEST_LINE)
    await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), sys.stdin
    )
    return StdioTransport(reader, output)


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
