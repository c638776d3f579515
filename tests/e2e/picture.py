"""Records the README's moving picture from the real app: ``python3 -m tests.e2e.picture [FILE.svg]``.

``spark demo`` runs on a pseudo-terminal and is driven by keys alone; the partner answers over loopback.
Its screens go into one animated SVG.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import tempfile
import time
from collections.abc import Callable
from itertools import groupby
from pathlib import Path

import pyte

from tests.bench.pty_spark import ROOT, START, Pty
from tests.e2e.moving_svg import Frame, MovingSvg, Row, Run, Style
from tests.emulator import Emulator

COLUMNS, ROWS = 112, 30
CHAT = 64
"""The column that the chat pane begins at."""
TOKENS_PER_SECOND = "150"
"""Slower than what spark is made for, so that a reader can follow."""
PROMPT = "Let a done task be reopened, from the API and from the page"
REDIRECT = "Good, and say on the page how many are done"
TITLE = "spark: a prompt, hunks that land while the answer streams, Esc, a redirect, an undo"

KEY_SECONDS = 0.035
"""Between two typed characters."""
FRAME_SECONDS = 0.1
"""The least time between two frames."""
QUIET_SECONDS = 0.015
"""Once nothing more is written for this long, the screen is whole."""
LONGEST_WAIT = 0.8
"""A wait in which nothing changes is shortened to this, unless the story pauses there."""


class Recorder:
    """Drives the app, and keeps every screen it shows."""

    def __init__(self, pane: Pty) -> None:
        self._pane = pane
        self._emulator = Emulator(COLUMNS, ROWS)
        self._screen = self._emulator.screen
        self._clock = 0.0
        self._seen = time.monotonic()
        self.frames: list[Frame] = []
        self.caption = ""
        self.length = 0.0

    @property
    def text(self) -> str:
        """The screen as plain text."""
        return "\n".join(self._screen.display)

    def type(self, text: str) -> None:
        """Type as a person does."""
        for character in text:
            self._pane.type(character)
            self.watch(KEY_SECONDS)

    def press(self, key: str, caption: str) -> None:
        """Press a key, and say what it does from here on."""
        self.caption = caption
        self._pane.type(key)

    def watch(self, seconds: float) -> None:
        """Record for so long."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            self._read(left)

    def pause(self, seconds: float) -> None:
        """Let what is shown stand for so long."""
        self._read(0.3)
        self._keep(at_once=True)
        self._clock += seconds
        self._seen = time.monotonic()
        self.length = self._clock

    def until(self, fits: Callable[[str], bool], patience: float = 30.0) -> None:
        """Record until the screen fits. Raises TimeoutError."""
        end = time.monotonic() + patience
        while not fits(self.text):
            if time.monotonic() > end:
                raise TimeoutError(f"not within {patience:.0f} s:\n{self.text}")
            self._read(0.2)

    def _read(self, seconds: float) -> None:
        """Take what is written within ``seconds``, and keep the screen once it is whole."""
        if not self._pane.read(seconds):
            return
        end = time.monotonic() + FRAME_SECONDS / 2
        while time.monotonic() < end and self._pane.read(QUIET_SECONDS):
            pass
        self._emulator.feed(self._pane.raw)
        self._pane.forget()
        self._keep()

    def _keep(self, *, at_once: bool = False) -> None:
        passed = time.monotonic() - self._seen
        if self.frames and passed < FRAME_SECONDS and not at_once:
            return
        rows = tuple(self._row(number) for number in range(ROWS))
        if self.frames and (rows, self.caption) == (self.frames[-1].rows, self.frames[-1].caption):
            return
        self._clock += min(passed, LONGEST_WAIT) if self.frames else 0.0
        self._seen = time.monotonic()
        self.frames.append(Frame(self._clock, rows, self.caption))

    def _row(self, number: int) -> Row:
        cells = self._screen.buffer[number]
        runs: list[Run] = []
        for (_, style), group in groupby(
            range(COLUMNS), lambda column: (column < CHAT, _style(cells[column]))
        ):
            columns = list(group)
            text = "".join(cells[column].data for column in columns)
            if text.strip() or style.ground:
                runs.append(Run(columns[0], text, style))
        return tuple(runs)


def _style(cell: pyte.screens.Char) -> Style:
    ink, ground = _colour(cell.fg), _colour(cell.bg)
    if cell.reverse:
        ink, ground = ground or "#10131a", ink or "#d7dce5"
    return Style(ink, ground, cell.bold, cell.italics, cell.underscore)


def _colour(name: str) -> str | None:
    return f"#{name}" if re.fullmatch("[0-9a-f]{6}", name) else None


def record(recorder: Recorder) -> int:
    """Play the story; returns the index of the frame that stands for all of it."""
    recorder.until(lambda text: "● ready" in text)
    recorder.caption = "ask for a change"
    recorder.type(PROMPT)
    recorder.pause(0.6)
    recorder.press("\r", "Enter: hunks land while the answer streams")
    recorder.until(lambda text: "… h5" in text)
    recorder.watch(0.4)
    still = len(recorder.frames) - 1
    recorder.press("\x1b", "Esc: stops at once; what landed stays")
    recorder.until(lambda text: "Stopped." in text)
    recorder.pause(1.8)
    recorder.caption = "ask for something else"
    recorder.type(REDIRECT)
    recorder.pause(0.6)
    recorder.press("\r", "Enter: goes on from what landed")
    recorder.until(lambda text: "● streaming" in text)
    recorder.until(lambda text: "● ready" in text)
    recorder.pause(1.2)
    recorder.press("\x1b[20~", "F9: takes one hunk back")
    recorder.until(lambda text: "undone" in text)
    recorder.pause(3.0)
    return still


def demo(folder: Path) -> Pty:
    """``spark demo`` on a terminal, with a home of its own in ``folder``."""
    places = {f"XDG_{name}_HOME": str(folder / name.lower()) for name in ("CONFIG", "STATE", "CACHE")}
    environment = {
        **os.environ,
        **places,
        "HOME": str(folder),
        "TERM": "xterm-256color",
        "COLORTERM": "truecolor",
    }
    command = [sys.executable, "-P", "-c", START, "demo", "--rate", TOKENS_PER_SECOND]
    return Pty(command, folder, {**environment, "PYTHONPATH": str(ROOT)}, COLUMNS, ROWS)


def write_picture(default: str, title: str, record: Callable[[Recorder], int], description: str) -> None:
    """Record the demo as ``record`` plays it, and write the SVG to the file that the command line names.
    ``record`` returns the frame that is shown where nothing may move."""
    options = argparse.ArgumentParser(description=description)
    options.add_argument("file", nargs="?", type=Path, default=Path(default))
    file: Path = options.parse_args().file
    with tempfile.TemporaryDirectory(prefix="picture-") as folder:
        pane = demo(Path(folder))
        try:
            recorder = Recorder(pane)
            still = record(recorder)
        finally:
            pane.end()
    save(recorder, still, title, file)


def save(recorder: Recorder, still: int, title: str, file: Path) -> None:
    """Write what was recorded; the frame ``still`` is shown where nothing may move."""
    picture = MovingSvg(recorder.frames, COLUMNS, CHAT, recorder.length, still)
    file.write_text(picture.document(title), "utf-8")
    size = file.stat().st_size / 1000
    print(f"{file}: {len(recorder.frames)} frames, {recorder.length:.1f} s, {size:.0f} KB")


if __name__ == "__main__":
    write_picture("docs/spark.svg", TITLE, record, __doc__ or "")
