"""Runs a command in front of the user: its output is shown as it comes, and its two ends are kept."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import sys
from collections.abc import Iterator, Sequence

from session.record.kept_output import KeptOutput

KEPT = 400_000
"""Bytes of output that are kept from the beginning, and as many from the end."""
_PIECE = 65_536
_LOOK = 0.02
"""Seconds between two looks at whether a command that prints nothing has ended."""
_AFTER = 16 * _PIECE
"""Bytes that are still read once the command has ended: more than a pipe holds."""


def run_live(command: Sequence[str]) -> tuple[int, str]:
    """Run ``command`` with this terminal, or with pipes where there is none. Returns its exit code (128 plus
    the number of the signal that ended it) and its output.

    Raises OSError if it cannot be started.
    """
    kept = KeptOutput(KEPT, KEPT)
    code = (
        _in_terminal(command, kept) if sys.stdin.isatty() and sys.stdout.isatty() else _piped(command, kept)
    )
    return code, kept.text()


def _in_terminal(command: Sequence[str], kept: KeptOutput) -> int:
    """Run it on a terminal of its own, so that it prints as it would by itself."""
    size = os.get_terminal_size()
    environ = {"COLUMNS": str(size.columns), "LINES": str(size.lines)}

    def read(descriptor: int) -> bytes:
        piece = os.read(descriptor, _PIECE)
        kept.take(piece)
        return piece

    started = ["/usr/bin/env", *(f"{name}={value}" for name, value in environ.items()), *command]
    code = os.waitstatus_to_exitcode(pty.spawn(started, read))
    return code if code >= 0 else 128 - code


def _piped(command: Sequence[str], kept: KeptOutput) -> int:
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as running:
        assert running.stdout is not None
        for piece in _pieces(running, running.stdout.fileno()):
            kept.take(piece)
            sys.stdout.buffer.write(piece)
            sys.stdout.buffer.flush()
    code = running.returncode
    return code if code >= 0 else 128 - code


def _pieces(running: subprocess.Popen[bytes], output: int) -> Iterator[bytes]:
    """What the command prints, until it has ended. What it left running may hold its output open, and print,
    for ever."""
    after = _AFTER
    while after > 0:
        ended = running.poll() is not None
        if select.select([output], [], [], 0.0 if ended else _LOOK)[0]:
            piece = os.read(output, _PIECE)
            if not piece:
                return
            after -= len(piece) if ended else 0
            yield piece
        elif ended:
            return
