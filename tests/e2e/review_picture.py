"""Records the picture of reviews from the real app: ``python3 -m tests.e2e.review_picture [FILE.svg]``.

In a file of ``spark demo`` a function is typed and saved: a finding stands in the gutter, the list says
why, and one key lands its fix.
"""

from __future__ import annotations

from tests.e2e.picture import Recorder, write_picture

TITLE = "spark: a fault that is found on save, why it is one, and its fix landed by one key"
SAVE, BOTTOM, UNINDENT, ALT_G = "\x13", "\x1b[1;5F", "\x1b[Z", "\x1bg"
TYPED = ("\r\rdef count(path):\r", "try:\r", "return len(json.loads(path.read_text()))\r")


def record(recorder: Recorder) -> int:
    """Play the story; returns the index of the frame that stands for all of it."""
    recorder.until(lambda text: "● ready" in text)
    recorder.press("\x10", "open a file")
    recorder.type("tasks/store.py")
    recorder.watch(0.4)
    recorder.press("\r", "open a file")
    recorder.until(lambda text: "class Store" in text or "import json" in text)
    recorder.press(BOTTOM, "type in the editor")
    for text in TYPED:
        recorder.type(text)
    recorder.press(UNINDENT, "type in the editor")
    recorder.type("except:\rreturn 0")
    recorder.watch(0.5)
    recorder.press(SAVE, "Ctrl+S: what changed is reviewed")
    recorder.until(lambda text: "▲" in text)
    recorder.pause(1.2)
    recorder.press(ALT_G, "Alt+G: the findings, why, and the fix")
    recorder.until(lambda text: "swallowed" in text)
    recorder.pause(2.0)
    still = len(recorder.frames) - 1
    recorder.press("y", "y: the fix lands as a hunk of its own")
    recorder.until(lambda text: "no findings are open" in text)
    recorder.pause(1.0)
    recorder.press("q", "y: the fix lands as a hunk of its own")
    recorder.until(lambda text: "except Exception:" in text)
    recorder.pause(2.5)
    return still


if __name__ == "__main__":
    write_picture("docs/review.svg", TITLE, record, __doc__ or "")
