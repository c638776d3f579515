"""Records the picture of suggestions from the real app: ``python3 -m tests.e2e.typing_picture [FILE.svg]``.

A method is typed in a file of ``spark demo``: ghost text, a word of it, all of it, lines, and undo. Then
another method is renamed, and its calls in other files follow by Tab.
"""

from __future__ import annotations

from tests.e2e.picture import Recorder, write_picture

TITLE = "spark: suggestions while typing, accepted by a word and as a whole, and a rename carried on by Tab"
ARROW_RIGHT, ERASE, UNDO, SAVE, ALT_H = "\x1b[1;5C", "\x7f", "\x1a", "\x13", "\x1bh"


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
    recorder.pause(1.5)
    recorder.type(UNDO * 8)
    recorder.until(lambda text: "nothing to undo" in text)
    _rename(recorder)
    return still


def _rename(recorder: Recorder) -> None:
    """Rename ``Store.complete``, and take the next edits."""
    recorder.press("\x10", "rename a method")
    recorder.type("store.py:50\r")
    recorder.until(lambda text: "def complete" in text)
    for _ in range(2):
        recorder.press(ARROW_RIGHT, "rename a method")
    recorder.type(ERASE * len("complete") + "finish")
    recorder.watch(0.6)
    recorder.press(SAVE, "Ctrl+S: three calls have to follow")
    recorder.until(lambda text: "3 places left" in text)
    recorder.pause(1.4)
    recorder.press(ALT_H, "Alt+H: the next edit, in another file")
    for number in (1, 2, 3):
        recorder.until(lambda text, number=number: f"{number} of 3" in text)  # type: ignore[misc]
        recorder.pause(1.2)
        recorder.press("\t", "Tab takes it and goes to the next")
    recorder.until(lambda text: "of 3" not in text)
    recorder.pause(2.0)


if __name__ == "__main__":
    write_picture("docs/typing.svg", TITLE, record, __doc__ or "")
