"""Starts an MCP server's program, and carries messages over its standard streams, one JSON text a line.

Protocol: https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#stdio. The transport of
the ``mcp`` package keeps a line of any length, copies it with each piece that comes, and leaves a program
running that hangs when spark ends. This one reads no line above a limit, and ends the program's group.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, TextIO

from session.tools.command.process import RUNNING, signal_group

LONGEST_MESSAGE = 16_000_000
"""Bytes of one line: a picture fits, and reading it does not hold up the screen for long."""
_ENDS_BY_ITSELF = 2.0
"""Seconds that a program has to end once its input is closed."""
_GRACE = 1.0
"""Seconds from SIGTERM to SIGKILL."""
_FLUSH = 0.5
_LOOK = 0.01


@contextlib.asynccontextmanager
async def streams(
    command: Sequence[str],
    environ: Mapping[str, str],
    folder: Path,
    errors: TextIO,
    refuse: Callable[[str], None],
) -> AsyncIterator[tuple[Any, Any]]:
    """The messages from and to a new process of ``command``, as streams for a client of the ``mcp`` package.

    ``refuse`` is told why the program is listened to no more. Raises OSError where it cannot be started, and
    ValueError for a command that no system takes.
    """
    anyio = import_module("anyio")
    output = asyncio.StreamReader(limit=LONGEST_MESSAGE)
    ours, theirs = os.pipe()
    try:
        # A pipe of our own: a process that left the group may hold it open, and it is closed all the same.
        pipe, _ = await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(output), os.fdopen(ours, "rb", 0)
        )
        try:
            process = await asyncio.create_subprocess_exec(
                *command,
                cwd=folder,
                env=dict(environ),
                stdin=PIPE,
                stdout=theirs,
                stderr=errors,
                start_new_session=True,
            )
        except BaseException:  # a cancelled start, too, leaves no pipe open
            pipe.close()
            raise
    finally:
        os.close(theirs)
    RUNNING.add(process.pid)
    received, reading = anyio.create_memory_object_stream(0)
    writing, sent = anyio.create_memory_object_stream(0)
    reader = asyncio.create_task(_read(output, received, refuse), name="read from an MCP server")
    writer = asyncio.create_task(_write(process, sent, received), name="write to an MCP server")
    try:
        yield reading, writing
    finally:
        # It is shielded: a program is ended also where the task is cancelled for good.
        await asyncio.shield(asyncio.create_task(_close(process, pipe, reader, writer, [reading, writing])))


async def _read(output: asyncio.StreamReader, received: Any, refuse: Callable[[str], None]) -> None:
    """Hand on each line as a message, or as the error that it is none, until the output ends."""
    types, session_message = import_module("mcp.types"), import_module("mcp.shared.message").SessionMessage
    parse = types.jsonrpc_message_adapter.validate_json
    async with received:
        while True:
            try:
                line = await output.readuntil(b"\n")
            except asyncio.IncompleteReadError:
                return
            except asyncio.LimitOverrunError:
                refuse(f"it sent a message of more than {LONGEST_MESSAGE // 1_000_000} MB")
                return
            try:
                message = session_message(parse(line.decode("utf-8", "replace"), by_name=False))
            except ValueError as problem:
                message = problem
            try:
                await received.send(message)
            except _ended():
                return


async def _write(process: Process, sent: Any, received: Any) -> None:
    """Write each message as a line. Where the program takes no more, end what is received too: a call would
    wait for its answer for nothing."""
    assert process.stdin is not None
    try:
        async with sent:
            async for message in sent:
                line = message.message.model_dump_json(by_alias=True, exclude_unset=True)
                process.stdin.write(line.encode("utf-8", "replace") + b"\n")
                await process.stdin.drain()
    except _ended():
        await received.aclose()


async def _close(
    process: Process,
    pipe: asyncio.BaseTransport,
    reader: asyncio.Task[None],
    writer: asyncio.Task[None],
    ends: Sequence[Any],
) -> None:
    """Close the streams and end the program, with every process of its group."""
    assert process.stdin is not None
    for end in ends:
        end.close()
    await asyncio.wait({writer}, timeout=_FLUSH)
    reader.cancel()
    writer.cancel()
    process.stdin.close()
    if not await _gone(process, _ENDS_BY_ITSELF):
        signal_group(process.pid, signal.SIGTERM)
        await _gone(process, _GRACE)
    signal_group(process.pid, signal.SIGKILL)
    RUNNING.discard(process.pid)
    await _gone(process, _GRACE)
    pipe.close()


async def _gone(process: Process, seconds: float) -> bool:
    """Whether the program ends within so many seconds. ``Process.wait`` would also wait for pipes that its
    children hold."""
    for _ in range(round(seconds / _LOOK)):
        if process.returncode is not None:
            return True
        await asyncio.sleep(_LOOK)
    return False


def _ended() -> tuple[type[Exception], ...]:
    """The errors of a stream or a pipe whose other end is closed."""
    anyio = import_module("anyio")
    return anyio.ClosedResourceError, anyio.BrokenResourceError, OSError
