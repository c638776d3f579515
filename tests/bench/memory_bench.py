"""Measures the memory of a long answer: run ``python -m tests.bench.memory_bench [--minutes 10]``.

The real partner streams one answer at 1,000 tokens a second to the real ``spark`` in each front end. Resident
memory, open files and threads are read from ``/proc`` after the first minute and at the end, and how long
the program takes to leave when it is told to in the middle of the answer.
"""

from __future__ import annotations

import argparse
import contextlib
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.bench.pty_spark import Pty, Stage, stage
from tests.bench.screen_bench import CODE, PROSE

FIRST = 60.0
"""Seconds of streaming after which memory is to stay where it is."""
FRONTS = ("screen", "exec", "line")


@dataclass(frozen=True, slots=True)
class Sample:
    """What a process takes at one moment."""

    seconds: float
    megabytes: float
    files: int
    threads: int


def sample(process: int, began: float) -> Sample:
    """Read ``/proc``. Raises OSError once the process has ended."""
    folder = Path(f"/proc/{process}")
    fields = dict(line.split(":", 1) for line in (folder / "status").read_text().splitlines() if ":" in line)
    files = len(list((folder / "fd").iterdir()))
    return Sample(
        time.monotonic() - began, int(fields["VmRSS"].split()[0]) / 1024, files, int(fields["Threads"])
    )


def script(characters: int) -> str:
    """One answer of prose and code, so many characters long."""
    text = (PROSE + CODE) * (1 + characters // len(PROSE + CODE))
    head = "[[scenario]]\nid = 'long'\nprompt = 'long'\nmatch = ['long']\n\n[[scenario.step]]\n"
    return f"{head}say = '''\n{text}'''\n"


def watch(process: int, seconds: float, turn: Callable[[float], None]) -> list[Sample]:
    """Samples of a process, one each second at most; ``turn`` does what its terminal needs meanwhile."""
    began, samples = time.monotonic(), []
    while time.monotonic() - began < seconds:
        try:
            samples.append(sample(process, began))
        except OSError:
            break
        turn(1.0)
    return samples


def told(front: str, samples: list[Sample], left: float) -> None:
    """Print one line about a front end."""
    minute = next((each for each in samples if each.seconds >= FIRST), samples[-1])
    last = samples[-1]
    most = max(each.megabytes for each in samples)
    grown = 100 * (last.megabytes / minute.megabytes - 1)
    print(
        f"{front:8}{minute.megabytes:7.1f} MB after {minute.seconds:4.0f} s  {last.megabytes:7.1f} MB after "
        f"{last.seconds:5.0f} s  {grown:+6.1f} %  most {most:7.1f} MB  files {minute.files} → {last.files}  "
        f"threads {minute.threads} → {last.threads}  left in {left:.2f} s",
        flush=True,
    )


def without_terminal(command: list[str], place: Stage, seconds: float) -> tuple[list[Sample], float]:
    """Watch a front end that needs no terminal, then stop it; with the seconds until it had ended."""
    process = subprocess.Popen(
        command, cwd=place.project, env=place.environ, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    samples = watch(process.pid, seconds, time.sleep)
    asked = time.monotonic()
    process.terminate()
    process.wait()
    return samples, time.monotonic() - asked


def on_terminal(command: list[str], place: Stage, seconds: float, quit: str) -> tuple[list[Sample], float]:
    """Type the prompt into a front end, watch it, then quit it by its keys in the middle of the answer."""
    pane = Pty(command, place.project, place.environ)

    def read(most: float) -> None:
        until = time.monotonic() + most
        while (rest := until - time.monotonic()) > 0:
            pane.read(rest)
            pane.forget()

    try:
        read(5.0)
        pane.type("long\r")
        samples = watch(pane.process, seconds, read)
        asked = time.monotonic()
        pane.type(quit)
        with contextlib.suppress(EOFError):
            read(20.0)
        left = time.monotonic() - asked
    finally:
        pane.end()
    return samples, left


def main() -> None:
    """Stream to each front end, and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--minutes", type=float, default=3.0)
    parser.add_argument("--rate", type=int, default=1000)
    parser.add_argument("--fronts", nargs="*", default=list(FRONTS), choices=FRONTS)
    given = parser.parse_args()
    seconds = given.minutes * 60
    for front in given.fronts:
        with stage(str(given.rate), script=script(int(seconds * given.rate * 6))) as place:
            python, options = place.command()[:4], place.command()[4:]
            if front == "exec":
                samples, left = without_terminal([*python, "exec", "long", *options], place, seconds)
            else:
                name, quit = (["line"], "\x03\x04") if front == "line" else ([], "\x11")
                samples, left = on_terminal([*python, *name, *options], place, seconds, quit)
            told(front, samples, left)


if __name__ == "__main__":
    main()
