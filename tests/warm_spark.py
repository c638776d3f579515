"""Runs ``spark`` in forks of one process that has imported all of it, so that a command takes milliseconds.

A fork gets the command's words, environment, folder and standard streams, and runs what the installed script
runs. That script itself is run by the tests in ``tests/e2e`` and ``tests/project``.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import importlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

ROOT = Path(__file__).resolve().parents[1]
OF_THE_START = ("PYTHON", "LC_", "LANG", "LD_", "MALLOC")
"""How the names of the variables begin that an interpreter reads at its start alone."""
WITH_PROCESSES = ("bench", "check", "exec", "run")
"""Commands that start many processes of their own: each of them begins as a user's does."""
READ_AT_ONCE = 65536


def fits(words: Sequence[str], environ: Mapping[str, str]) -> bool:
    """Whether a warm process is as one that starts with these words in this environment."""

    def of_the_start(variables: Mapping[str, str]) -> dict[str, str]:
        return {name: value for name, value in variables.items() if name.startswith(OF_THE_START)}

    alone = not any(word in WITH_PROCESSES for word in words[1:])
    return alone and of_the_start(environ) == of_the_start(os.environ)


class WarmSpark:
    """The process, which begins with the first command."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._line: socket.socket | None = None
        self._answers: Any = None

    def run(
        self, words: Sequence[str], folder: Path, environ: Mapping[str, str], given: bytes, patience: float
    ) -> tuple[int, bytes, bytes]:
        """Run a command to its end; returns its exit code and what it wrote to its two streams.

        Raises TimeoutExpired after ``patience`` seconds, when the command has been killed.
        """
        if self._line is None:
            self._begin()
        assert self._line is not None
        (their_in, our_in), (our_out, their_out), (our_err, their_err) = (os.pipe() for _ in range(3))
        order = {"words": list(words), "folder": str(folder), "environ": dict(environ)}
        data = json.dumps(order).encode()
        socket.send_fds(self._line, [len(data).to_bytes(4, "big")], [their_in, their_out, their_err])
        self._line.sendall(data)
        for each in (their_in, their_out, their_err):
            os.close(each)
        pid = int(self._answers.readline())
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
        code = int(self._answers.readline())
        if late:
            raise subprocess.TimeoutExpired(list(words), patience)
        return code, said[our_out], said[our_err]

    def end(self) -> None:
        """End the process."""
        if self._process is not None and self._line is not None:
            self._answers.close()
            self._line.close()
            self._process.wait()

    def _begin(self) -> None:
        self._line, theirs = socket.socketpair()
        self._answers = self._line.makefile("rb")
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.warm_spark", str(theirs.fileno())],
            cwd=ROOT,
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )
        theirs.close()


def _read(said: dict[int, bytes], stream: int) -> None:
    with os.fdopen(stream, "rb") as file:
        said[stream] = file.read()


def serve(line: socket.socket) -> None:
    """Run one command after the other, until the other end of the line is closed."""
    while True:
        head, streams, _, _ = socket.recv_fds(line, 4, 3)
        if not head:
            return
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
        line.sendall(b"%d\n" % os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))


def _become(order: dict[str, Any], streams: list[int]) -> NoReturn:
    """Be the command from here on, and end as an interpreter ends."""
    code: object = 1
    try:
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
    """Import what commands import when they are run."""
    from tui.cli.main import COMMAND_ROOMS

    for room, commands in COMMAND_ROOMS.items():
        for name in commands:
            importlib.import_module(f"tui.cli.{room}.{name}_command")
    for name in (
        "httpx2",
        "websockets",
        "pathspec",
        "pygments",
        "regex",
        "tiktoken",
        "tree_sitter",
        "watchdog",
    ):
        importlib.import_module(name)
    for name in (
        "tui.line.headless",
        "session.session",
        "session.setup.opening",
        "context.project.project",
    ):
        importlib.import_module(name)


if __name__ == "__main__":
    import_all()
    gc.collect()
    gc.freeze()
    serve(socket.socket(fileno=int(sys.argv[1])))
