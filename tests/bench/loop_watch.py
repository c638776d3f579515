"""Watches an event loop from inside its process: which steps took long, and what they were doing.

``install(file)`` is called before the program. At its end ``file`` holds a line of JSON for each step of the
loop longer than ``LEAST`` seconds: ``at`` (by ``time.monotonic``), ``wall`` and ``cpu`` (of the loop's own
thread) in seconds, and ``stack``: where the thread was after about ``LEAST`` seconds, innermost last, and
where other threads were. A step whose wall time is much above its CPU time waited: for another thread
that held the interpreter, or for the system.
"""

from __future__ import annotations

import asyncio
import atexit
import json
import sys
import threading
import time
from pathlib import Path
from types import FrameType
from typing import Any

LEAST = 0.01
DEPTH = 12
WAITING = (" select", " get", " wait", " _check_inotify_fd", " _read_event_buffer", " _worker", " accept")
ROOT = str(Path(__file__).resolve().parents[2])


class Watch:
    """The steps of one loop."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._began: float | None = None
        self._seen: list[str] = []
        self._main = threading.get_ident()
        self.slow: list[dict[str, Any]] = []

    def step(self, run: Any, handle: Any) -> None:
        """Run one step, and note it if it was long."""
        self._seen = []
        cpu, began = time.thread_time(), time.monotonic()
        self._began = began
        try:
            run(handle)
        finally:
            self._began = None
            wall = time.monotonic() - began
            if wall > LEAST:
                spent = time.thread_time() - cpu
                self.slow.append({"at": began, "wall": wall, "cpu": spent, "stack": self._seen})

    def look(self) -> None:
        """Record where the loop's thread is when a step takes long."""
        while True:
            time.sleep(LEAST / 3)
            began = self._began
            if began is not None and not self._seen and time.monotonic() - began > LEAST:
                frames = sys._current_frames()
                mine = frames.pop(self._main)
                del frames[threading.get_ident()]
                beside = [place for frame in frames.values() for place in where(frame)[-1:]]
                busy = [f"(beside {each})" for each in beside if not each.endswith(WAITING)]
                self._seen = [*busy, *where(mine)]

    def save(self) -> None:
        """Write the slow steps to the file."""
        self._file.write_text("".join(json.dumps(each) + "\n" for each in self.slow))


def where(frame: FrameType | None) -> list[str]:
    """Return the innermost functions of a stack, as ``file:line name``."""
    places: list[str] = []
    while frame is not None and len(places) < DEPTH:
        code = frame.f_code
        if not code.co_filename.endswith(("threading.py", "thread.py", "loop_watch.py")):
            name = code.co_filename.removeprefix(ROOT + "/").rpartition("site-packages/")[2]
            places.insert(0, f"{name}:{frame.f_lineno} {code.co_name}")
        frame = frame.f_back
    return places


def install(file: Path) -> None:
    """Watch the event loops that run in this thread."""
    watch = Watch(file)
    run = asyncio.events.Handle._run
    setattr(asyncio.events.Handle, "_run", lambda handle: watch.step(run, handle))  # noqa: B010
    threading.Thread(target=watch.look, daemon=True).start()
    atexit.register(watch.save)
