"""Starts processes of spark's own: this interpreter with this module path, and nothing of the project's."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from pathlib import Path

from context.disk.programs import plain_environment

_START = (
    "import sys, json, importlib; sys.path[:] = json.loads(sys.argv.pop());"
    " importlib.import_module(sys.argv.pop()).main()"
)


class NotStarted(Exception):
    """No process could be started; the message says why."""


def start_python(module: str, *arguments: str) -> subprocess.Popen[bytes]:
    """Start ``main`` of a module of spark's, with pipes to its input and from its output.

    It has no folder of the project on its module path, so nothing in the project is ever imported, and it is
    in a session of its own, so that a key such as Ctrl+C does not reach it. It reads files of strangers, so
    its environment has no keys. Raises NotStarted.
    """
    if not sys.executable:
        raise NotStarted("the interpreter does not know its own path")
    modules = json.dumps([path for path in sys.path if path])
    try:
        return subprocess.Popen(
            [sys.executable, "-I", "-c", _START, *arguments, module, modules],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=plain_environment(),
            start_new_session=True,
        )
    except (OSError, ValueError) as problem:
        raise NotStarted(f"no process can be started: {problem}") from problem


def memory_taken() -> int:
    """The memory of this process in bytes."""
    try:
        return int(Path("/proc/self/statm").read_bytes().split()[1]) * resource.getpagesize()
    except OSError:
        # The peak, which on Linux would include the parent's memory at the start.
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak if sys.platform == "darwin" else peak * 1024
