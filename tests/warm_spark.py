"""Runs ``spark`` in forks of one process that has imported all of it and read its tables.

So a command takes milliseconds. A fork gets the command's words, environment, folder and standard streams,
and runs what the installed script runs, or what ``python -P`` would. That script itself is run by the tests
in ``tests/e2e`` and ``tests/project``.
"""

from __future__ import annotations

import atexit
import contextlib
import fcntl
import gc
import importlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

from tests.project.source import modules

ROOT = Path(__file__).resolve().parents[1]
OF_THE_START = ("PYTHON", "LC_", "LANG", "LD_", "MALLOC", "ESCDELAY", "TERM_PROGRAM", "TEXTUAL")
"""How the names of the variables begin that an interpreter or a library reads at its start alone."""
OF_IMPORTS = ("PYTHONPATH", "PYTHONPYCACHEPREFIX")
"""The variables that say where modules are."""
READ_AT_ONCE = 65536
TABLES = (
    ("context.code.languages", "languages"),
    ("context.code.plain_languages", "plain_languages"),
    ("context.code.scopes", "_tables"),
    ("context.text.encoding", "load_encoding"),
    ("context.text.generated", "_rules"),
    ("context.text.secrets", "_published"),
    ("context.text.secrets", "_rules"),
    ("edits.guards.manifests", "_kinds"),
    ("edits.guards.risky_files", "_rules"),
    ("session.checks.excerpt", "frame_patterns"),
    ("session.checks.output", "_formats"),
    ("session.models.catalogue", "_builtin"),
    ("session.turn.compaction.summary_by_rules", "_rules"),
    ("tui.front.slash.table", "slashes"),
)
"""The functions that read a table of the package once: a third of a short command."""
AS_MODULE = "import runpy; runpy.run_module({name!r}, run_name='__main__')"


def fits(environ: Mapping[str, str], but: Collection[str] = ()) -> bool:
    """Whether a warm process is as one that starts in this environment, in all variables ``but`` some."""

    def of_the_start(variables: Mapping[str, str]) -> dict[str, str]:
        names = (name for name in variables if name.startswith(OF_THE_START) and name not in but)
        return {name: variables[name] for name in names}

    return of_the_start(environ) == of_the_start(os.environ)


class Fork:
    """A command that runs in a fork, in a session of its own."""

    def __init__(self, line: socket.socket) -> None:
        self._line = line
        self._answers = line.makefile("rb")
        self._code: int | None = None
        self.pid = int(self._answers.readline())

    def wait(self, timeout: float | None = None) -> int:
        """Wait for its end; returns its exit code. Raises TimeoutExpired."""
        if self._code is None:
            if not select.select([self._line], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired(f"process {self.pid}", timeout or 0.0)
            self._code = int(self._answers.readline())
            self._answers.close()
            self._line.close()
        return self._code

    def kill(self) -> None:
        """Kill it."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)


class WarmSpark:
    """The process, which begins with the first command and listens at a socket in ``folder``.

    All who are given the folder share it, and it ends with the last of them."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._begun: subprocess.Popen[bytes] | None = None
        self._life: int | None = None

    def run(
        self, words: Sequence[str], folder: Path, environ: Mapping[str, str], given: bytes, patience: float
    ) -> tuple[int, bytes, bytes]:
        """Run a command to its end; returns its exit code and what it wrote to its two streams.

        Raises TimeoutExpired after ``patience`` seconds, when the command has been killed.
        """
        (their_in, our_in), (our_out, their_out), (our_err, their_err) = (os.pipe() for _ in range(3))
        order = {"words": list(words), "folder": str(folder), "environ": dict(environ)}
        with socket.socket(socket.AF_UNIX) as line:
            line.connect(self._address())
            send_order(line, order, [their_in, their_out, their_err])
            for each in (their_in, their_out, their_err):
                os.close(each)
            answers = line.makefile("rb")
            pid = int(answers.readline())
            said = {our_out: b"", our_err: b""}
            readers = [threading.Thread(target=_read, args=(said, each), daemon=True) for each in said]
            for reader in readers:
                reader.start()
            with contextlib.suppress(BrokenPipeError), os.fdopen(our_in, "wb") as stream:
                stream.write(given)
            end = time.monotonic() + patience
            for reader in readers:
                reader.join(max(0.0, end - time.monotonic()))
            late = any(reader.is_alive() for reader in readers)
            if late:
                os.kill(pid, signal.SIGKILL)
            code = int(answers.readline())
        if late:
            raise subprocess.TimeoutExpired(list(words), patience)
        return code, said[our_out], said[our_err]

    def launch(
        self, command: Sequence[str], folder: Path, environ: Mapping[str, str], streams: Sequence[int]
    ) -> Fork:
        """Start on three streams what ``PYTHON -P -c CODE WORD …``, or ``-m`` with a module, starts."""
        if not fits(environ, but=OF_IMPORTS):
            raise ValueError("a variable is set that is read at the start alone: this needs a process")
        _, _, kind, what, *words = command
        code = what if kind == "-c" else AS_MODULE.format(name=what)
        order = {"words": [kind, *words], "folder": str(folder), "environ": dict(environ), "code": code}
        line = socket.socket(socket.AF_UNIX)
        line.connect(self._address())
        send_order(line, order, list(streams))
        return Fork(line)

    def script(self) -> Path:
        """A program that is ``spark`` to those who start it: it hands its streams to a fork, passes on the
        signals that it gets, and ends with the fork's code. Ctrl+Z does not reach the fork."""
        self._address()
        return self._folder / STAND_IN_NAME

    def end(self) -> None:
        """Need it no more. Who began it waits for its end."""
        if self._life is not None:
            os.close(self._life)
        if self._begun is not None:
            self._begun.wait()

    def _address(self) -> str:
        address = self._folder / "line"
        if self._life is None:
            self._folder.mkdir(exist_ok=True)
            with locked(self._folder):
                life = self._folder / "life"
                if address.exists():
                    self._life = os.open(life, os.O_WRONLY)
                else:
                    self._begin(address, life)
        return str(address)

    def _begin(self, address: Path, life: Path) -> None:
        stand_in = self._folder / STAND_IN_NAME
        stand_in.write_text(STAND_IN.format(python=sys.executable, address=str(address)))
        stand_in.chmod(0o755)
        if not life.exists():
            os.mkfifo(life)
        ended = os.open(life, os.O_RDONLY | os.O_NONBLOCK)
        self._life = os.open(life, os.O_WRONLY)
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind(str(address))
            listening.listen()
            self._begun = subprocess.Popen(
                [sys.executable, "-m", "tests.warm_spark", str(listening.fileno()), str(self._folder)],
                cwd=ROOT,
                pass_fds=[listening.fileno()],
                stdin=ended,
                stdout=subprocess.PIPE,
            )
        os.close(ended)
        # No command is to wait for the imports: its patience begins when it does.
        if self._begun.stdout is not None:
            self._begun.stdout.read(1)
            self._begun.stdout.close()


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Let nobody else begin, join or end the process of a folder."""
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


STAND_IN_NAME = "spark"
STAND_IN = """#!{python} -IS
import os, signal, socket, sys, json
line = socket.socket(socket.AF_UNIX)
line.connect({address!r})
order = dict(words=sys.argv, folder=os.getcwd(), environ=dict(os.environ))
data = json.dumps(order).encode()
socket.send_fds(line, [len(data).to_bytes(4, "big")], [0, 1, 2])
line.sendall(data)
answers = line.makefile("rb")
pid = int(answers.readline())
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGWINCH):
    signal.signal(number, lambda number, _: os.kill(pid, number))
null = os.open(os.devnull, os.O_RDWR)
for stream in (0, 1, 2):
    os.dup2(null, stream)
code = int(answers.readline())
if code < 0:
    signal.signal(-code, signal.SIG_DFL)
    os.kill(os.getpid(), -code)
os._exit(code)
"""


def send_order(line: socket.socket, order: Mapping[str, object], streams: list[int]) -> None:
    """Send a command and its three streams."""
    data = json.dumps(order).encode()
    socket.send_fds(line, [len(data).to_bytes(4, "big")], streams)
    line.sendall(data)


def _read(said: dict[int, bytes], stream: int) -> None:
    with os.fdopen(stream, "rb") as file:
        said[stream] = file.read()


def serve(listening: socket.socket, folder: Path) -> None:
    """Run commands side by side, until nobody holds the folder's ``life`` open for writing."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while True:
        ready, _, _ = select.select([listening, sys.stdin], [], [])
        if sys.stdin in ready:
            with locked(folder):
                if select.select([sys.stdin], [], [], 0)[0]:
                    (folder / "line").unlink()
                    return
            continue
        line, _ = listening.accept()
        if not os.fork():
            listening.close()
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            _run(line)
        line.close()


def _run(line: socket.socket) -> NoReturn:
    """Run the command that comes in on a line in a fork, and tell its process number and its end."""
    head, streams, _, _ = socket.recv_fds(line, 4, 3)
    left = int.from_bytes(head, "big")
    data = b""
    while len(data) < left:
        data += line.recv(min(READ_AT_ONCE, left - len(data)))
    pid = os.fork()
    if not pid:
        line.close()
        _become(json.loads(data), streams)
    for each in streams:
        os.close(each)
    line.sendall(b"%d\n" % pid)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    with contextlib.suppress(BrokenPipeError):
        line.sendall(b"%d\n" % code)
    os._exit(0)


def _become(order: dict[str, Any], streams: list[int]) -> NoReturn:
    """Be the command from here on, and end as an interpreter ends."""
    code: object = 1
    try:
        if "code" in order:
            os.setsid()
            del sys.path[0]
        for number, each in enumerate(streams):
            os.dup2(each, number)
            os.close(each)
        for name, number in (("stdin", 0), ("stdout", 1), ("stderr", 2)):
            was = getattr(sys, name)
            mode = "w" if number else "r"
            new = os.fdopen(number, mode, encoding=was.encoding, errors=was.errors, closefd=False)
            setattr(sys, name, new)
            setattr(sys, f"__{name}__", new)
        os.chdir(order["folder"])
        os.environ.clear()
        os.environ.update(order["environ"])
        time.tzset()
        sys.argv = order["words"]
        if "code" in order:
            exec(order["code"], {"__name__": "__main__"})
        else:
            sys.path[0] = str(Path(sys.argv[0]).parent)
            from tui.cli.main import main

            main()
        code = None
    except SystemExit as end:
        code = end.code
    except BaseException:  # noqa: BLE001 (told as an interpreter tells it)
        sys.excepthook(*sys.exc_info())
    if isinstance(code, str):
        print(code, file=sys.stderr)
    threading._shutdown()  # type: ignore[attr-defined]  # worker threads are waited for here
    atexit._run_exitfuncs()
    with contextlib.suppress(OSError):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(code if isinstance(code, int) else int(code is not None))


def import_all() -> None:
    """Import all of spark and what it imports when it is run, and read its tables."""
    for module in modules():
        if not module.endswith("__main__"):
            importlib.import_module(module)
    for name in (
        "anyio._backends._asyncio",
        "encodings.idna",
        "httpx2",
        "pathspec",
        "pygments.lexers.python",
        "regex",
        "textual.layouts.horizontal",
        "textual.layouts.stream",
        "textual.scrollbar",
        "tiktoken",
        "tree_sitter",
        "watchdog.observers",
        "websockets",
    ):
        importlib.import_module(name)
    for name, table in TABLES:
        getattr(importlib.import_module(name), table)()


if __name__ == "__main__":
    import_all()
    gc.collect()
    gc.freeze()
    os.write(1, b".")
    os.dup2(2, 1)
    serve(socket.socket(fileno=int(sys.argv[1])), Path(sys.argv[2]))
