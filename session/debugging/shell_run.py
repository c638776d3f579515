"""Runs a line of the user's in a shell, with the time limit of the model's commands, and keeps its output."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from context.text.secrets import redact
from session.checks.output import without_escapes
from session.debugging.live_run import Kept
from session.text.sanitize import clean
from session.tools.command.process import run_group

SHELL = "/bin/sh"
SECONDS = 600.0
"""The time limit: the longest that the model can ask for."""
MOST_OUTPUT = 200_000_000
"""Bytes of output after which a command is ended."""
_SAY_EVERY = 0.1
"""Least seconds between two pieces of output that are shown."""
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
    ended = await run_group(
        [SHELL, "-c", line],
        folder=root,
        environ={**environ, **_PLAIN},
        seconds=seconds,
        take=output.take,
        supervised=True,
    )
    output.flush()
    code = ended.code if ended.code >= 0 else 128 - ended.code
    why = f"stopped after {seconds:g} s, with all it had started" if ended.timed_out else ""
    if ended.cut:
        why = f"stopped: it printed more than {MOST_OUTPUT // 1_000_000} MB"
    return Ran(code or int(bool(why)), time.monotonic() - began, output.kept.text(), why)


def printable(text: str) -> str:
    """Output that is safe to show: without control sequences and keys. A line that was overwritten, as
    progress bars are, keeps only its last state."""
    lines = [line.rstrip("\r").rpartition("\r")[2] for line in without_escapes(text).split("\n")]
    return redact(clean("\n".join(lines))).text


class _Output:
    """Keeps both ends of the output, and shows the newest part at a bounded rate, in whole lines."""

    def __init__(self, say: Callable[[str], None], keep: Callable[[bytes], None]) -> None:
        self._say = say
        self._keep = keep
        self.kept = Kept()
        self._total = 0
        self._unsaid = bytearray()
        self._said_at = 0.0

    def take(self, piece: bytes) -> bool:
        """Take the next piece, and say whether more is wanted."""
        self.kept.take(piece)
        self._keep(piece)
        self._total += len(piece)
        self._unsaid += piece
        del self._unsaid[: max(0, len(self._unsaid) - _SAY_MOST)]
        if time.monotonic() - self._said_at >= _SAY_EVERY:
            self._show(self._unsaid.rfind(b"\n") + 1)
        return self._total <= MOST_OUTPUT

    def flush(self) -> None:
        """Show what was not shown yet."""
        self._show(len(self._unsaid))

    def _show(self, end: int) -> None:
        if end:
            self._said_at = time.monotonic()
            self._say(printable(self._unsaid[:end].decode("utf-8", "replace")))
            del self._unsaid[:end]
