"""Runs a line of the user's in a shell, with the time limit of the model's commands, and keeps its output.

Runs a command in front of the user: its output is shown as it comes, and its two ends are kept.
"""

from __future__ import annotations

import os
import pty
import select
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from session.record.outputs import KeptOutput, plain
from session.tools.command.live_output import LiveOutput
from session.tools.command.process import run_group

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


SHELL = "/bin/sh"
SECONDS = 600.0
"""The time limit: the longest that the model can ask for."""
MOST_OUTPUT = 200_000_000
"""Bytes of output after which a command is ended."""
_SAY_MOST = 4_000
"""Most bytes of one piece of output that is shown."""
_PLAIN = {
    "TERM": "dumb", "PAGER": "cat", "GIT_PAGER": "cat", "GIT_TERMINAL_PROMPT": "0", "PYTHONUNBUFFERED": "1",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Ran:
    """How a command ended: its exit code, 128 plus the number for a signal, and what of its output was
    kept. ``why`` is the limit that ended it, if one did."""

    code: int
    seconds: float
    output: str
    why: str = ""

    @property
    def how(self) -> str:
        """How it ended, in words."""
        ended = f"exit {self.code}" if self.code <= 128 else f"ended by signal {self.code - 128}"
        return f"{self.why or ended} · {self.seconds:.1f} s"


async def run_shell(
    line: str,
    root: Path,
    environ: Mapping[str, str],
    say: Callable[[str], None] = lambda text: None,
    seconds: float = SECONDS,
    keep: Callable[[bytes], None] = lambda piece: None,
) -> Ran:
    """Run ``line`` in ``root`` without input or a terminal. ``say`` shows pieces of its output, ``keep`` gets
    all of it.

    Nothing that it started is left when this returns or is cancelled. Raises OSError where no shell starts.
    """
    output, began = _Output(say, keep), time.monotonic()
    try:
        ended = await run_group(
            [SHELL, "-c", line],
            folder=root,
            environ={**environ, **_PLAIN},
            seconds=seconds,
            take=output.take,
            supervised=True,
        )
    finally:
        output.live.flush()
    code = ended.code if ended.code >= 0 else 128 - ended.code
    why = f"stopped after {seconds:g} s, with all it had started" if ended.timed_out else ""
    if ended.cut:
        why = f"stopped: it printed more than {MOST_OUTPUT // 1_000_000} MB"
    return Ran(code or int(bool(why)), time.monotonic() - began, output.kept.text(), why)


class _Output:
    """Keeps both ends of the output, and shows the newest part."""

    def __init__(self, say: Callable[[str], None], keep: Callable[[bytes], None]) -> None:
        self._keep = keep
        self.kept = KeptOutput(KEPT, KEPT)
        self.live = LiveOutput(say, plain, _SAY_MOST)

    def take(self, piece: bytes) -> bool:
        """Take the next piece, and say whether more is wanted."""
        self.kept.take(piece)
        self._keep(piece)
        self.live.take(piece)
        return self.kept.total <= MOST_OUTPUT
