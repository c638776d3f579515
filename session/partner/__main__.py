"""``python -P -m session.partner RATE [SCRIPT]``: serves the demo on a free port.

It prints its base URL, and ends with its parent, when standard input closes.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from pathlib import Path

from session.partner.server.server import ServingError, serve_until_stopped


def _end_with_parent() -> None:
    while os.read(0, 1024):
        pass
    os.kill(os.getpid(), signal.SIGTERM)


def main() -> None:
    """Serve until the parent ends or SIGTERM comes."""
    rate, script = sys.argv[1], Path(sys.argv[2]) if len(sys.argv) > 2 else None
    threading.Thread(target=_end_with_parent, daemon=True).start()
    # Ctrl+C in the shared terminal is for the app, and the partner ends with the app.
    try:
        serve_until_stopped(0, rate, script, announce=lambda url: print(url, flush=True))
    except ServingError as problem:
        sys.exit(str(problem))


main()
