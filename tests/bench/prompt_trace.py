"""Counts what a prompt passes on its way to the socket, and a text to its hunk:
``python -m tests.bench.prompt_trace``.

A hunk is asked for in the real app. Every call of the project's own code is noted, on the event loop and in
threads that start meanwhile: from Enter to the first byte of the request, and from the first text of the
answer to the landed hunk. What the partner does does not count.
``--names`` prints the classes too. Asserts nothing.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
import threading
from collections import Counter
from pathlib import Path
from types import FrameType
from typing import Any

from session.base.events import Event, HunkLanded, TextDelta
from session.record.journal.recorder import Recorder
from session.wire.transport.websocket import WebSocketLink
from tests.checkout import ROOT
from tests.project.source import PACKAGES
from tests.tui.stage import TWO_HUNKS, stage

_OWN = tuple(f"{ROOT}/{package}/" for package in PACKAGES)
_PARTNER = f"{ROOT}/session/partner/"


class Trace:
    """The calls from when it is begun to when it is ended, by code."""

    def __init__(self) -> None:
        self.calls: Counter[tuple[str, str]] = Counter()
        """By the file and the qualified name of what was called."""
        self.over = False

    def begin(self) -> None:
        """Note every call from now on."""
        threading.setprofile(self._note)  # of threads that start from now on
        sys.setprofile(self._note)

    def end(self) -> None:
        """Note no more."""
        self.over = True
        sys.setprofile(None)
        threading.setprofile(None)

    def _note(self, frame: FrameType, what: str, _: Any) -> None:
        code = frame.f_code
        if self.over or what != "call" or not code.co_filename.startswith(_OWN):
            return
        if not code.co_filename.startswith(_PARTNER):
            self.calls[code.co_filename, code.co_qualname] += 1

    def classes(self) -> list[str]:
        """The classes whose methods were called, as ``module.Class``."""
        return sorted(
            {
                f"{_module(file)}.{name.split('.')[0]}"
                for file, name in self.calls
                if "." in name and not name.startswith("<") and name.split(".")[1] != "<locals>"
            }
        )

    def told(self) -> str:
        """One line of counts."""
        files = {file for file, _ in self.calls}
        rooms = {Path(file).parent for file in files}
        return (
            f"{sum(self.calls.values()):7,} calls, {len(self.classes()):4} classes, {len(files):4} modules, "
            f"{len(rooms):3} rooms"
        )


def _module(file: str) -> str:
    return Path(file).relative_to(ROOT).with_suffix("").as_posix().replace("/", ".")


async def measured(*, names: bool) -> None:
    """Ask for a hunk, and print both ways."""
    asked, landed = Trace(), Trace()
    send, publish = WebSocketLink.send, Recorder.publish

    async def sent(self: WebSocketLink, frame: str) -> None:
        asked.end()
        await send(self, frame)

    def published(self: Recorder, event: Event) -> None:
        if isinstance(event, TextDelta) and not landed.calls:
            landed.begin()
        publish(self, event)
        if isinstance(event, HunkLanded):
            landed.end()

    with tempfile.TemporaryDirectory() as folder:
        async with stage(Path(folder), script=TWO_HUNKS) as it:
            await asyncio.sleep(2)  # what is done at the start is over
            WebSocketLink.send, Recorder.publish = sent, published  # type: ignore[method-assign]
            it.app.composer.focus()
            it.app.composer.insert("make it polite")
            asked.begin()
            it.key("enter", "\r")
            await it.until(lambda: landed.over, "the hunk")
            WebSocketLink.send, Recorder.publish = send, publish  # type: ignore[method-assign]
    print(f"from Enter to the socket:          {asked.told()}")
    print(f"from the first text to the hunk:   {landed.told()}")
    if names:
        for each in (*asked.classes(), "", *landed.classes()):
            print(f"  {each}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--names", action="store_true", help="print the classes, too")
    asyncio.run(measured(names=parser.parse_args().names))
