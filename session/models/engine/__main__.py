"""The engine's process: runs llama.cpp's server for one model until its standard input closes.

    python -m session.models.engine FILE.gguf [--port N] [--context N] [--threads N] [--cache-mib N]

The first line of standard input is the key that every request must carry. Once the model is loaded, one
line of JSON goes to standard output: ``{"url": "http://127.0.0.1:PORT"}``. llama.cpp logs to standard error.
The module imports nothing of spark, so it can be run by its path alone.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import signal
import sys
import threading
from pathlib import Path

_SET_PARENT_DEATH_SIGNAL = 1
"""``PR_SET_PDEATHSIG`` of Linux's prctl(2)."""


def main() -> int:
    """Serve until the parent ends; returns 1 if the model cannot be loaded."""
    arguments = _arguments()
    # Ctrl+C in the terminal is for the parent, which ends this process by closing the pipe.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    key = sys.stdin.readline().strip()
    report = os.dup(1)
    os.dup2(2, 1)  # what the library prints must not be taken for the report
    _end_with_parent()

    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = arguments.file
    params.model_alias = {Path(arguments.file).name.removesuffix(".gguf")}
    params.hostnames = ["127.0.0.1"]
    params.port = arguments.port
    params.api_keys = [key]
    params.n_ctx = arguments.context
    params.cache_ram_mib = arguments.cache_mib
    params.ui = params.endpoint_slots = params.endpoint_metrics = False
    params.cors_origins = ""
    if arguments.threads:
        params.cpuparams.n_threads = params.cpuparams_batch.n_threads = arguments.threads
    try:
        server = xllamacpp.Server(params)
    except RuntimeError as problem:
        print(problem, file=sys.stderr)
        return 1
    os.write(report, json.dumps({"url": server.listening_address}).encode() + b"\n")
    threading.Event().wait()
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="session.models.engine", description="llama.cpp's server for one model"
    )
    parser.add_argument("file")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--context", type=int, default=0)
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--cache-mib", type=int, default=1024)
    return parser.parse_args()


def _end_with_parent() -> None:
    """Make this process end when the parent does, however the parent ends.

    Once the model is loaded, a closed pipe is enough. Loading holds Python's lock, so the kernel is asked
    to do it as well where it can.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_SET_PARENT_DEATH_SIGNAL, signal.SIGKILL)
    threading.Thread(target=_watch, name="parent", daemon=True).start()


def _watch() -> None:
    while os.read(0, 4096):
        pass
    os._exit(0)


if __name__ == "__main__":
    sys.exit(main())
