"""Records the picture of suggestions from the real app: ``python3 -m tests.e2e.typing_picture [FILE.svg]``.

A method is typed in a file of ``spark demo``: ghost text, a word of it, all of it, lines, and undo.
"""

from __future__ import annotations

from tests.e2e.picture import Recorder, write_picture

TITLE = "spark: suggestions while typing, accepted by a word, a line and as a whole, and undone"
ARROW_RIGHT, END, UNDO = "\x1b[1;5C", "\x05", "\x1a"


def record(recorder: Recorder) -> int:
    """Play the story; returns the index of the frame that stands for all of it."""
    recorder.until(lambda text: "● ready" in text)
    recorder.press("\x10", "open a file")
    recorder.watch(0.6)
    recorder.type("tasks/store.py")
    recorder.watch(0.6)
    recorder.press("\r", "open a file")
    recorder.until(lambda text: "class Store" in text or "import json" in text)
    recorder.press("\x1b[1;5F", "type in the editor")
    recorder.watch(0.3)
    recorder.type("\r    def reopen(self, ")
    recorder.until(lambda text: "reopen(self, t" in text)
    recorder.caption = "ghost text at the cursor: not in the file yet"
    recorder.pause(1.6)
    still = len(recorder.frames) - 1
    recorder.press(ARROW_RIGHT, "Ctrl+Right: a word of it")
    recorder.pause(1.4)
    recorder.press("\t", "Tab: all of it")
    recorder.pause(1.4)
    recorder.caption = "and on: whole lines"
    recorder.type("\r        ")
    recorder.watch(0.5)
    recorder.type("task = self.g")
    recorder.watch(0.8)
    recorder.press("\t", "Tab: accepted")
    recorder.pause(1.2)
    recorder.press(UNDO, "Ctrl+Z: taken back as one step")
    recorder.pause(2.5)
    return still


if __name__ == "__main__":
    write_picture("docs/typing.svg", TITLE, record, __doc__ or "")
