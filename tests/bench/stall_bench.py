"""Measures what delays the event loop: run ``python -m tests.bench.stall_bench [--project DIR]``.

The real ``spark`` on a pseudo-terminal with the partner behind it: it is typed into, asked, scrolled while
the answer streams, resized, its context panel and file list are opened, an edit is undone. Each step
of the loop that took more than 10 ms is printed with what was being done and where the time went. A
turn's first step at a full rate is part of it: the partner answers with 1,000 tokens a second.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import time
from pathlib import Path

from tests.bench.pty_spark import START, Pty, stage

WATCH = "from pathlib import Path; from tests.bench.loop_watch import install; install(Path({file!r}))\n"
PROMPT = "Let a done task be reopened, from the API and from the page"
PACKAGES = ("tui/", "session/", "context/", "edits/", "themes/")


def rest(pane: Pty, seconds: float) -> None:
    """Wait, and read what it writes."""
    end = pane.now + seconds
    while pane.now < end:
        pane.read(end - pane.now)


def type_slowly(pane: Pty, text: str, gap: float = 0.05) -> None:
    """Type as a person does."""
    for letter in text:
        pane.type(letter)
        rest(pane, gap)


def press(pane: Pty, keys: str, times: int = 1, gap: float = 0.08) -> None:
    """Press a key several times."""
    for _ in range(times):
        pane.type(keys)
        rest(pane, gap)


def answered(pane: Pty) -> None:
    """Send a prompt, and scroll while the answer streams."""
    pane.forget()
    pane.type("\r")
    rest(pane, 0.6)
    press(pane, "\x1b[5~", 4)
    press(pane, "\x1b[6~", 4)
    pane.until("out (", pane.now + 60)
    rest(pane, 0.5)


def resized(pane: Pty) -> None:
    """Resize the terminal several times."""
    for columns, rows in ((80, 24), (160, 48), (60, 14), (120, 36)):
        pane.resize(columns, rows)
        rest(pane, 0.3)


def started(pane: Pty) -> None:
    """Wait for what follows the first frame by itself."""
    rest(pane, 0.5)


def typed(pane: Pty) -> None:
    """Type a prompt as a person does."""
    type_slowly(pane, PROMPT)
    rest(pane, 2.0)


def panel(pane: Pty) -> None:
    """Open the context panel and walk its list."""
    press(pane, "\x14")
    rest(pane, 1.0)
    press(pane, "j", 12)
    press(pane, "\x14")


def opened(pane: Pty) -> None:
    """Open a file by some letters of its name."""
    press(pane, "\x10")
    type_slowly(pane, "store")
    press(pane, "\r")
    rest(pane, 0.5)


def edited(pane: Pty) -> None:
    """Type into the file."""
    type_slowly(pane, "# words in the editor")
    rest(pane, 1.0)


def undone(pane: Pty) -> None:
    """Undo the last hunk."""
    press(pane, "\x1b[20~")
    rest(pane, 1.0)


def helped(pane: Pty) -> None:
    """Open the list of keys."""
    press(pane, "\x1bOP")
    rest(pane, 0.3)
    press(pane, "\x1b")
    rest(pane, 0.3)


STEPS = (started, typed, answered, resized, panel, opened, edited, undone, helped)


def main() -> None:
    """Run once, and print what was slow."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    arguments.add_argument("--project", type=Path, help="a git repository to work on a clone of")
    arguments.add_argument("--most", type=int, default=25, help="how many to print")
    given = arguments.parse_args()
    with stage(project=given.project) as on:
        with on.spark() as pane:
            pane.until("ready", 60)
            rest(pane, 1.0)
        file = on.project.parent / "slow"
        begun: list[tuple[float, str]] = []
        with on.spark(WATCH.format(file=str(file)) + START) as pane:
            pane.until(" Ask ", 60)
            for step in STEPS:
                begun.append((time.monotonic(), step.__name__))
                step(pane)
            begun.append((time.monotonic(), "leave"))
            with contextlib.suppress(EOFError):
                press(pane, "\x03", 3, gap=0.3)
                rest(pane, 5.0)
        found = [json.loads(line) for line in file.read_text().splitlines()]
        print(f"{len(found)} steps of more than 10 ms; the {given.most} longest:")
        for slow in sorted(found, key=lambda each: -each["wall"])[: given.most]:
            doing = next((name for at, name in reversed(begun) if slow["at"] >= at), "before the frame")
            ours = [each for each in slow["stack"] if each.startswith(PACKAGES)][-2:]
            places = list(
                dict.fromkeys([*reversed(slow["stack"][-1:]), *reversed(ours), *_beside(slow["stack"])])
            )
            print(
                f"{1000 * slow['wall']:>6.0f} ms ({1000 * slow['cpu']:>3.0f} CPU) {doing:>16}  "
                f"{' < '.join(places)}"
            )


def _beside(stack: list[str]) -> list[str]:
    return [each for each in stack if each.startswith("(")]


if __name__ == "__main__":
    main()
