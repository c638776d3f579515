"""Measures keys in a large file: ``python3 -m tests.bench.large_file_bench [--lines N]``.

The real app on a pseudo-terminal of 160×48 opens a file and types into it. Printed for each kind of key, in
milliseconds: from the key until what it changes is on the terminal (median and worst), and the CPU time of
all threads for each key, the writing of the unsaved text a moment later included.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable

from tests.bench.frame_bench import cpu_seconds, until
from tests.bench.pty_spark import Pty, stage

GAP = 0.12
"""Seconds between two keys: those of a quick typist."""
LINE = "    value_{number} = compute({number}, other)  # line {number} of a large file\n"
LETTERS = "qzwxkvjqzwxkvjqzwxkvj"


def contents(lines: int) -> str:
    """Python code of that many lines."""
    return "".join(
        f"def function_{number}(other):\n" if number % 10 == 0 else LINE.format(number=number)
        for number in range(lines)
    )


def type_keys(pane: Pty, keys: list[tuple[str, Callable[[str], bool]]]) -> tuple[list[float], float]:
    """Press keys one by one; the time from each until what was written fits, and the CPU time of one."""
    took = []
    before = cpu_seconds(pane.pid)
    for key, fits in keys:
        pane.raw = ""
        pressed = time.monotonic()
        pane.type(key)
        until(pane, lambda fits=fits: fits(pane.raw), 5.0)  # type: ignore[misc]
        took.append(1000 * (time.monotonic() - pressed))
        until(pane, lambda: False, GAP)
    until(pane, lambda: False, 0.6)
    return took, 1000 * (cpu_seconds(pane.pid) - before) / len(keys)


def report(name: str, figures: tuple[list[float], float]) -> None:
    """Print a row."""
    took, cpu = figures
    print(f"{name:<24}{statistics.median(took):>8.1f}{max(took):>8.1f}{cpu:>9.1f}", flush=True)


def main() -> None:
    """Measure and print."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    arguments.add_argument("--lines", type=int, default=62_500)
    lines = arguments.parse_args().lines
    with stage() as at:
        (at.project / "large.py").write_text(contents(lines), "utf-8")
        with at.spark(columns=160, rows=48) as pane:
            pane.until("ready")
            pane.type("\x10")
            pane.until("Open")
            pane.type("large.py\r")
            pane.until("function_0", 60)
            pane.type("\x1bOQ")
            until(pane, lambda: False, 2.0)
            print(f"{lines:,} lines; ms\n{'key':<24}{'median':>8}{'worst':>8}{'CPU':>9}")
            report("letter, first of all", type_keys(pane, [("q", lambda raw: "q" in raw)]))
            letters = [(each, lambda raw, each=each: each in raw) for each in LETTERS]
            report("letter, first line", type_keys(pane, letters))  # type: ignore[arg-type]
            report("new line", type_keys(pane, [("\r", bool)] * 10))
            pane.type("\x1b[1;5F")  # Ctrl+End
            until(pane, lambda: False, 1.0)
            report("letter, last line", type_keys(pane, letters))  # type: ignore[arg-type]
            report("arrow up", type_keys(pane, [("\x1b[A", bool)] * 10))
            report("undo", type_keys(pane, [("\x1a", bool)] * 3))


if __name__ == "__main__":
    main()
