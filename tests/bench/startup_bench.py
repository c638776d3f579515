"""Measures the time from the command to the first frame and the first key.

Run ``python -m tests.bench.startup_bench [RUNS]``.

``spark`` is started in the sample project on a pseudo-terminal of 120×36, with the partner in a process
of its own. Printed, as the median of the runs and the worst of them, in milliseconds since the process
was started (or as said):

- first paint: there is a composer;
- early key: pressed then, until it is shown;
- first frame: the app has drawn its panes; and the CPU time that took, of all threads;
- first key: pressed when the frame was there, until it is shown;
- ready: the status line says that a prompt could be sent;
- answered: in runs of their own, a prompt and its Enter typed before the app is up, until the first
  word of the answer;
- other commands, to their end.

Then what keys took to be shown while one was pressed every 37 ms, from the first frame on for three
seconds; and from the start of the process on (blind, that is): how many of those were lost.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import time

from tests.bench.pty_spark import ROOT, START, Stage, stage

PAINT = " Ask "
FRAME = " Chat "
KEY_SECONDS = 0.037
TYPED_SECONDS = 3.0
LETTERS = "".join(chr(ord("a") + (at * 7 + at // 26 * 3) % 26) for at in range(90))
"""The text that is typed: no eight letters in a row occur twice."""
QUICK = (["--version"], ["--help"], ["exec", "--help"], ["undo", "--help"], ["sessions"])


def start_once(on: Stage) -> dict[str, float]:
    """Start once, with one key at the first paint and one at the first frame."""
    with on.spark() as pane:
        paint = pane.until(PAINT)
        pane.type("k")
        early = pane.until(lambda _: "k\x1b[7m" in pane.raw) - paint
        frame, cpu = pane.until(FRAME), pane.cpu
        pressed = pane.now
        pane.forget()
        pane.type("q")
        echo = pane.until("q") - pressed
        ready = pane.until("ready")
    return {
        "first paint": paint,
        "early key": early,
        "first frame": frame,
        "CPU to it": cpu,
        "first key": echo,
        "ready": ready,
    }


def ask_once(on: Stage) -> float:
    """Type a prompt and Enter before the app is up; return the time of the answer."""
    with on.spark() as pane:
        time.sleep(0.02)
        pane.type("hello there\r")
        return pane.until(lambda text: "tok/s" in text)


def type_on(on: Stage, *, blind: bool) -> tuple[list[tuple[float, float]], int]:
    """Press keys at a steady pace; return when each was pressed, what it took, and how many were lost."""
    with on.spark(columns=140) as pane:
        if not blind:
            pane.until(FRAME)
        began, took, shown = pane.now, [], 0
        pane.forget()
        pressed: list[float] = []
        end = began + TYPED_SECONDS + 2.0
        while pane.now < end and shown < len(LETTERS):
            due = began + len(pressed) * KEY_SECONDS
            if len(pressed) < len(LETTERS) and pane.now >= due:
                pane.type(LETTERS[len(pressed)])
                pressed.append(pane.now)
                continue
            wait = due - pane.now if len(pressed) < len(LETTERS) else end - pane.now
            if not pane.read(wait):
                continue
            text = pane.text
            if blind and FRAME not in text:
                continue
            text = text[text.find(FRAME) :] if blind else text
            while shown < len(pressed) and LETTERS[max(0, shown - 7) : shown + 1] in text:
                took.append((pressed[shown] - began, pane.now - pressed[shown]))
                shown += 1
        return took, len(pressed) - shown


def command_once(arguments: list[str], environ: dict[str, str], folder: str) -> float:
    """Return the seconds that a command takes."""
    began = time.monotonic()
    subprocess.run(
        [sys.executable, "-c", START, *arguments], env=environ, cwd=folder, capture_output=True, check=False
    )
    return time.monotonic() - began


def table(rows: dict[str, list[float]]) -> None:
    """Print medians and worst values."""
    for name, values in rows.items():
        print(f"{name:>24} {1000 * statistics.median(values):>8.0f} ms   worst {1000 * max(values):>6.0f}")


def keys(on: Stage, runs: int, *, blind: bool) -> None:
    """Type in several starts, and print how long keys took."""
    took: list[tuple[float, float]] = []
    lost = 0
    for _ in range(runs):
        some, missing = type_on(on, blind=blind)
        took += some
        lost += missing
    if blind:
        print(f"{'typed from the start on':>24} {len(took) + lost} keys, {lost} lost")
        return
    sizes = sorted(each for _, each in took)
    at, worst = max(took, key=lambda each: each[1])
    middle, late = sizes[len(sizes) // 2], sizes[int(len(sizes) * 0.99)]
    print(
        f"{'keys, first 3 seconds':>24} {1000 * middle:>8.1f} ms   p99 {1000 * late:.0f}   worst"
        f" {1000 * worst:.0f} ({at:.2f} s after the frame); {lost} lost"
    )


def main() -> None:
    """Measure and print."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    arguments.add_argument("runs", type=int, nargs="?", default=15)
    runs = arguments.parse_args().runs
    print(f"{ROOT.name}: median of {runs} runs, {os.cpu_count()} cores")
    with stage() as on:
        with on.spark() as pane:  # the first start of all writes bytecode and the index
            pane.until("ready")
        found: dict[str, list[float]] = {}
        for _ in range(runs):
            for name, value in start_once(on).items():
                found.setdefault(name, []).append(value)
        found["answered"] = [ask_once(on) for _ in range(runs)]
        for words in QUICK:
            name = "spark " + " ".join(words)
            found[name] = [command_once(words, on.environ, str(on.project)) for _ in range(runs)]
        table(found)
        keys(on, max(3, runs // 3), blind=False)
        keys(on, max(3, runs // 3), blind=True)


if __name__ == "__main__":
    main()
