"""The real ``spark`` on a pseudo-terminal, for benches: what it writes and when, and keys typed into it."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import re
import selectors
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
from codecs import getincrementaldecoder
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

from session.partner.demo import make_sample
from session.partner.server.server import companion
from tests.emulator import Emulator

ROOT = Path(__file__).resolve().parents[2]
START = "from tui.cli.main import main; main()"
BYTECODE = Path(tempfile.gettempdir()) / "spark-bench-bytecode"
"""Where the started programs keep the bytecode of spark and its libraries, from run to run."""
_CONTROL = re.compile(
    r"\x1b(?:\[[0-9;:?<>=$ ]*[a-zA-Z@`~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[=>()].?)|[\x00-\x1f]"
)


class Started(Protocol):
    """A program that was started, in a session of its own."""

    @property
    def pid(self) -> int:
        """Its process id."""

    def wait(self, timeout: float | None = None) -> int:
        """Wait for its end. Raises TimeoutExpired."""

    def kill(self) -> None:
        """Kill it."""


Launch = Callable[[list[str], Path, dict[str, str], Sequence[int]], Started]
"""Starts a command in a folder, with an environment and three streams."""


def in_a_process(
    command: list[str], folder: Path, environ: dict[str, str], streams: Sequence[int]
) -> subprocess.Popen[bytes]:
    """Start a command as a shell does."""
    stdin, stdout, stderr = streams
    return subprocess.Popen(
        command,
        stdin=stdin,
        stdout=stdout,
        stderr=stderr,
        cwd=folder,
        env=environ,
        start_new_session=True,
    )


class Pty:
    """One program on a terminal of ``columns`` × ``rows``; times are seconds since it was started."""

    def __init__(
        self,
        command: list[str],
        folder: Path,
        environ: dict[str, str],
        columns: int = 120,
        rows: int = 36,
        launch: Launch = in_a_process,
    ) -> None:
        self._main, terminal = pty.openpty()
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.found = termios.tcgetattr(terminal)
        """The terminal's attributes before the program was started."""
        self.began = time.monotonic()
        self._process = launch(command, folder, environ, [terminal] * 3)
        os.close(terminal)
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._main, selectors.EVENT_READ)
        self._decoder = getincrementaldecoder("utf-8")("replace")
        self.raw = ""
        """Everything it wrote since :meth:`forget`, with control sequences."""
        self._emulator = Emulator(columns, rows)
        self._unfed: list[str] = []
        self._forgotten = [""] * rows
        self.first: float | None = None
        """Seconds from the start to its first byte."""

    @property
    def process(self) -> int:
        """Return the program's process id."""
        return self._process.pid

    @property
    def now(self) -> float:
        """Return the seconds since the start."""
        return time.monotonic() - self.began

    @property
    def cpu(self) -> float:
        """Return the CPU seconds of all its threads so far, without children."""
        spent = 0
        with contextlib.suppress(OSError):
            for thread in Path(f"/proc/{self._process.pid}/task").iterdir():
                spent += int((thread / "schedstat").read_text().split()[0])
        return spent / 1e9

    @property
    def written(self) -> str:
        """Return what it wrote since :meth:`forget`, without control sequences."""
        return _CONTROL.sub("", self.raw)

    @property
    def text(self) -> str:
        """Return :attr:`written`, and the rows of the screen that changed since :meth:`forget`: of those only
        what changed in them is written."""
        rows = self._rows()
        changed = [row for at, row in enumerate(rows) if self._forgotten[at : at + 1] != [row]]
        return "\n".join([self.written, *changed])

    def _rows(self) -> list[str]:
        self._emulator.feed("".join(self._unfed))
        self._unfed.clear()
        return self._emulator.rows

    @property
    def attributes(self) -> list[Any]:
        """Return the terminal's attributes now."""
        return termios.tcgetattr(self._main)

    @property
    def pid(self) -> int:
        """Return the number of its process."""
        return self._process.pid

    def forget(self) -> None:
        """Empty :attr:`raw` and :attr:`text`."""
        self.raw = ""
        self._forgotten = self._rows()

    def type(self, keys: str) -> None:
        """Press keys."""
        self.write(keys.encode())

    def write(self, data: bytes) -> None:
        """Write bytes as the terminal would."""
        os.write(self._main, data)

    def resize(self, columns: int, rows: int) -> None:
        """Give the terminal another size."""
        self._rows()
        self._emulator.resize(columns, rows)
        fcntl.ioctl(self._main, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        os.killpg(self._process.pid, signal.SIGWINCH)

    def read(self, seconds: float, most: int = 65536) -> bool:
        """Read ``most`` bytes of what it writes within ``seconds``; return whether it wrote. Raises EOFError
        at its end."""
        if not self._selector.select(max(0.0, seconds)):
            return False
        try:
            data = os.read(self._main, most)
        except OSError:
            raise EOFError(f"spark ended:\n{self.written[-2000:]}") from None
        if self.first is None:
            self.first = self.now
        text = self._decoder.decode(data)
        self.raw += text
        self._unfed.append(text)
        return True

    def until(self, shows: str | Callable[[str], object], patience: float = 30.0) -> float:
        """Read until what it wrote since :meth:`forget` holds a text or fits; return the time."""
        fits = (lambda text: shows in text) if isinstance(shows, str) else shows
        while not fits(self.text):
            if self.now > patience or not self.read(patience - self.now):
                raise TimeoutError(f"not within {patience:.0f} s: {shows!r}\n{self.text[-2000:]}")
        return self.now

    def end(self) -> None:
        """End it as closing the terminal does."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGTERM)
        try:
            self._process.wait(5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._selector.close()
        os.close(self._main)


class Stage:
    """A project, the partner that answers, and a private home folder. Made by :func:`stage`."""

    def __init__(self, folder: Path, url: str, launch: Launch = in_a_process) -> None:
        self.folder, self.url, self.launch = folder, url, launch
        self.project = folder / "project"
        places = {f"XDG_{name}_HOME": str(folder / name.lower()) for name in ("CONFIG", "STATE", "CACHE")}
        self.environ = {
            **os.environ,
            **places,
            "HOME": str(folder),
            "PYTHONPATH": str(ROOT),
            "TERM": "xterm-256color",
            "COLORTERM": "truecolor",
            "PYTHONPYCACHEPREFIX": str(BYTECODE),
        }
        # An installed spark has its bytecode: compiling all of it would be a third of the start. The size is
        # the terminal's, and not that of the one the tests run in.
        for name in ("PYTHONDONTWRITEBYTECODE", "COLUMNS", "LINES"):
            self.environ.pop(name, None)

    def command(self, start: str = START) -> list[str]:
        """Return the command that starts ``spark`` by the Python text ``start``."""
        asks = ["--provider", "partner", "--model", "spark-practice", "--base-url", self.url]
        return [sys.executable, "-P", "-c", start, *asks]

    @contextlib.contextmanager
    def spark(self, start: str = START, columns: int = 120, rows: int = 36) -> Iterator[Pty]:
        """Start the app on a new session without a draft."""
        for draft in (self.folder / "state").rglob("draft.txt"):
            draft.unlink()
        pane = Pty(self.command(start), self.project, self.environ, columns, rows, self.launch)
        try:
            yield pane
        finally:
            pane.end()


@contextlib.contextmanager
def stage(
    rate: str = "1000",
    project: Path | None = None,
    script: str | None = None,
    url: str | None = None,
    launch: Launch = in_a_process,
) -> Iterator[Stage]:
    """Make a stage on the sample project or a copy of ``project``, for as long as the block lasts. The
    partner plays ``script`` (TOML), or its own; with a ``url`` another server answers. Tests let ``launch``
    fork spark and the partner off a process that has imported them."""
    with tempfile.TemporaryDirectory(prefix="spark-bench-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        if project is None:
            (folder / "project").mkdir()
            make_sample(folder / "project")
        else:
            subprocess.run(["git", "clone", "-q", str(project), str(folder / "project")], check=True)
        scenarios = None
        if script is not None:
            scenarios = folder / "script.toml"
            scenarios.write_text(script, "utf-8")
        with contextlib.nullcontext(url) if url else _partner(rate, scenarios, launch) as server:
            yield Stage(folder, server, launch)


@contextlib.contextmanager
def _partner(rate: str, script: Path | None, launch: Launch) -> Iterator[str]:
    """A partner for as long as the block lasts, by its address."""
    if launch is in_a_process:
        with companion(rate, script) as url:
            yield url
        return
    command = [sys.executable, "-P", "-m", "session.partner", rate, *([str(script)] if script else [])]
    theirs, alive = os.pipe()
    told, said = os.pipe()
    process = launch(command, ROOT, dict(os.environ), [theirs, said, 2])
    os.close(theirs)
    os.close(said)
    with os.fdopen(told) as answer:
        url = answer.readline().strip()
    try:
        yield url
    finally:
        os.close(alive)  # it ends with its parent
        process.wait()
