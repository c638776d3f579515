"""Records the picture of checks at work on a public project, from the real app.

    python3 -m tests.e2e.shows.picture NAME CLONE [FILE.svg]

``NAME`` and ``CLONE`` are those of ``tests.e2e.shows.show``; the picture in the documents is of libuv. A hunk
turns red while the answer streams and is mended by the next round, one is dropped with what depends on it,
and a test run that fails becomes a fix by two keys.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from tests.bench.pty_spark import Pty
from tests.e2e.picture import COLUMNS, ROWS, Recorder, save
from tests.e2e.shows.show import PATIENCE, QUESTION_SECONDS, broken_file, idle, lent, read, served

TITLE = "spark: a hunk turns red and is mended, one is dropped, and a failing test becomes a fix by two keys"
SHIFT_F10 = "\x1b[21;2~"


def record(recorder: Recorder, clone: Path, data: dict[str, Any]) -> int:
    """Play the story; returns the index of the frame that stands for all of it."""

    def send(text: str, caption: str) -> None:
        recorder.until(idle, PATIENCE)
        recorder.type(text)
        recorder.pause(0.4)
        recorder.press("\r", caption)

    recorder.until(lambda text: "● ready" in text)
    send("/check on", "checks judge hunks as they land")
    recorder.until(lambda text: "judged" in text, PATIENCE)
    send(data["verify"]["prompt"], "a hunk turns red while the answer still streams")
    recorder.until(lambda text: data["verify"]["red"] in text, PATIENCE)
    recorder.pause(1.5)
    still = len(recorder.frames) - 1
    recorder.until(lambda text: "auto-fix 1 of 2" in text, PATIENCE)
    recorder.caption = "what is red goes back by itself, and is green after that round"
    recorder.until(lambda text: data["verify"]["mended"] in text and idle(text), PATIENCE)
    recorder.pause(1.5)
    hunk = data["surgery"]["hunk"]
    send(f"/drop {hunk} it is not needed", "one hunk is taken out: what depends on it is named")
    recorder.until(lambda text: f"Drop {hunk} with" in text, PATIENCE)
    recorder.watch(QUESTION_SECONDS)
    recorder.pause(2.0)
    recorder.press("y", "y: it is undone too, and asked for again")
    recorder.until(lambda text: data["surgery"]["again"] in text and idle(text), PATIENCE)
    recorder.pause(1.5)
    broken_file(clone, data["failing"])
    send(data["failing"]["command"], "!COMMAND: a test run that fails")
    recorder.until(lambda text: "Shift+F10" in text and data["failing"]["fails"] in text, PATIENCE)
    recorder.pause(1.5)
    recorder.press(SHIFT_F10, "Shift+F10 sends the command with the lines that failed")
    recorder.until(lambda text: not idle(text), PATIENCE)
    recorder.until(idle, PATIENCE)
    recorder.pause(3.0)
    return still


def main() -> None:
    """Record, and write the SVG."""
    name, clone = sys.argv[1], Path(sys.argv[2]).resolve()
    file = Path(sys.argv[3] if len(sys.argv) > 3 else "docs/checks.svg")
    with (
        tempfile.TemporaryDirectory(prefix="picture-", ignore_cleanup_errors=True) as made,
        lent(clone),
        served(name, clone, Path(made).resolve()) as (command, environment),
    ):
        pane = Pty(command, clone, {**os.environ, **environment, "TERM": "xterm-256color"}, COLUMNS, ROWS)
        try:
            recorder = Recorder(pane)
            still = record(recorder, clone, read(name))
        finally:
            pane.end()
    save(recorder, still, TITLE, file)


if __name__ == "__main__":
    main()
