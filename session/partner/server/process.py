"""Runs the partner as a process: alone (``spark partner``), or beside the demo.

The demo uses a separate process so that the server's speed does not depend on the screen's, as with a real
server.
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
    """The partner cannot serve; ``address`` is true if the port is not available."""

    def __init__(self, message: str, *, address: bool = False) -> None:
        super().__init__(message)
        self.address = address


def serve_until_stopped(port: int, rate: str, script: Path | None, announce: Callable[[str], None]) -> None:
    """Serve on loopback until SIGINT or SIGTERM; ``announce`` is called with the base URL once it listens.

    Raises ServingError for a bad rate or script, or a port that is taken.
    """
    from session.partner.load_script import ScriptError
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
                f"port {port} is not available ({problem.strerror}); choose another with --port", address=True
            ) from problem
        try:
            announce(partner.url)
            await stop.wait()
        finally:
            await partner.close()

    asyncio.run(serve())


@contextmanager
def companion(rate: str, script: Path | None = None) -> Iterator[str]:
    """Runs a partner in a process of its own during the ``with`` block, and yields its base URL.

    Raises ServingError if it does not start.
    """
    # -P keeps Python from importing a folder called "session" in the user's project.
    command = [sys.executable, "-P", "-m", "session.partner", rate, *([str(script)] if script else [])]
    # In a session of its own it outlives the terminal, as the turn does that it answers.
    process = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
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
