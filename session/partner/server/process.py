"""The partner as a process: alone (``spark partner``), or as the demo's companion.

The demo runs it in a process of its own, so that what is practised with is what the real thing
would be: a server whose pace owes nothing to the screen's.
"""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

START_SECONDS = 20.0


class ServingError(Exception):
    """The partner cannot serve; ``address`` is true when it is the port that cannot be had."""

    def __init__(self, message: str, *, address: bool = False) -> None:
        super().__init__(message)
        self.address = address


def serve_until_stopped(port: int, rate: str, script: Path | None, announce: Callable[[str], None]) -> None:
    """Serve on loopback until SIGINT or SIGTERM; ``announce`` is given the base URL once it listens.

    Raises ServingError for a bad rate or script, or a port that is taken.
    """
    from session.partner.script.load import ScriptError
    from session.partner.server.server import Partner, parse_rate

    try:
        partner = Partner(rate=parse_rate(rate), scripts=script)
    except (ScriptError, ValueError) as problem:
        raise ServingError(str(problem)) from problem

    async def serve() -> None:
        stop = asyncio.Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, stop.set)
        try:
            await partner.serve(port)
        except OSError as problem:
            raise ServingError(
                f"port {port} cannot be had ({problem.strerror}); give another with --port", address=True
            ) from problem
        try:
            announce(partner.url)
            await stop.wait()
        finally:
            await partner.close()

    asyncio.run(serve())


@contextmanager
def companion(rate: str, script: Path | None = None) -> Iterator[str]:
    """A partner in a process of its own for the length of the ``with`` block; gives its base URL.

    Raises ServingError when it does not come up.
    """
    # -P: a folder called "session" in the user's project must never be imported instead of ours.
    command = [sys.executable, "-P", "-m", "session.partner", rate, *([str(script)] if script else [])]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        assert process.stdout is not None
        url = process.stdout.readline().decode("ascii", "replace").strip()
        if not url:
            _, errors = process.communicate(timeout=START_SECONDS)
            raise ServingError(
                errors.decode("utf-8", "replace").strip() or "the practice partner did not start"
            )
        yield url
    finally:
        process.terminate()
        try:
            process.communicate(timeout=5)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
