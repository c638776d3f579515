"""One process that has imported spark and runs each command in a fork of itself.

For tests of what a command says and does, not of how it starts: a fork is there in milliseconds, where a new
interpreter imports for half a second. ``python -m tests.session.shared_spark`` is that process: a line of
JSON on its standard input is a command, and its exit code is the answer.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import json
import os
import subprocess
import sys
import traceback
from pathlib import Path
from typing import Any

from tests.conftest import Ran

CHECKOUT = Path(__file__).resolve().parents[2]
AHEAD = (
    "tui.cli.main",
    "session.session",
    "session.setup.opening",
    "session.setup.diagnosis",
    "session.wire.transport.http",
    "session.models.engine.pull",
    "tui.cli.sessions.exec_command",
    "tui.cli.project.apply_command",
)
"""What most commands need."""


class SharedSpark:
    """The process, and the commands that it runs, one after the other."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", __name__],
            cwd=CHECKOUT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(self, arguments: list[str], cwd: Path, given: bytes, env: dict[str, str], scratch: Path) -> Ran:
        """Run ``spark ARGUMENTS``; its streams are files in ``scratch``. No command may show a traceback."""
        streams = [scratch / f".spark-{name}" for name in ("in", "out", "err")]
        streams[0].write_bytes(given)
        asked = {"arguments": arguments, "cwd": str(cwd), "env": env, "streams": list(map(str, streams))}
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(json.dumps(asked) + "\n")
        self._process.stdin.flush()
        code = int(self._process.stdout.readline())
        ran = Ran(code, streams[1].read_text(), streams[2].read_text())
        for stream in streams:
            stream.unlink()
        assert "Traceback" not in ran.err, ran.err
        return ran

    def close(self) -> None:
        """End the process."""
        self._process.communicate()


def _become(asked: dict[str, Any]) -> int:
    """Run a command in this process, which is a fork, and return its exit code."""
    os.chdir(asked["cwd"])
    os.environ.clear()
    os.environ.update(asked["env"])
    for number, name in enumerate(asked["streams"]):
        descriptor = os.open(name, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        os.dup2(descriptor, number)
        os.close(descriptor)
    sys.stdin, sys.stdout, sys.stderr = (
        os.fdopen(number, mode, encoding="utf-8") for number, mode in enumerate("rww")
    )
    sys.argv = ["spark", *asked["arguments"]]
    try:
        importlib.import_module("tui.cli.main").main()
        code: object = 0
    except SystemExit as leaving:
        code = leaving.code
    except BaseException:  # noqa: BLE001 (as the interpreter does with what nobody caught)
        traceback.print_exc()
        code = 1
    if isinstance(code, str):
        print(code, file=sys.stderr)
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    return code if isinstance(code, int) else int(code is not None)


def serve() -> None:
    """Run each command that is asked for, until standard input ends."""
    for module in AHEAD:
        importlib.import_module(module)
    gc.freeze()
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            code = 1
            try:
                code = _become(json.loads(line))
            finally:
                os._exit(code)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


if __name__ == "__main__":
    serve()
