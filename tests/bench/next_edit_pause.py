"""Measures how long next edits hold up the event loop: ``python -m tests.bench.next_edit_pause``.

A function that 50 files of 2,000 lines call is renamed, then loses a parameter. While a worker thread looks
for the places, the loop wakes up every millisecond; its longest pause is what a key would wait. Asserts
nothing.
"""

from __future__ import annotations

import asyncio
import tempfile
import time
from pathlib import Path

from context.project.project import Project
from session.assist.next_edit.causes import left_behind
from session.assist.next_edit.move import Moves

FILES, LINES = 50, 2_000
HOME = "def measure(rows, unit):\n    return rows\n"


def made(folder: Path) -> None:
    """Write the files."""
    (folder / "home.py").write_text(HOME)
    body = [
        f"def f{number}(row):\n    return [row.x + {number} for x in row]\n" for number in range(LINES // 2)
    ]
    for number in range(FILES):
        calls = "\n".join(f"measure({each}, 'm')" for each in range(5))
        text = f"from home import measure\n{''.join(body)[: LINES * 40]}\n{calls}\n"
        (folder / f"file{number}.py").write_text(text)


async def pause(folder: Path, new: str) -> tuple[float, float, int]:
    """Seconds in all, the longest pause of the loop in seconds, and places."""
    (folder / "home.py").write_text(new)
    project = Project(folder)
    project.scan()
    start = time.perf_counter()
    work = asyncio.create_task(
        asyncio.to_thread(left_behind, (("home.py", tuple(HOME.split("\n"))),), project.snapshot, Moves())
    )
    longest, last = 0.0, start
    while not work.done():
        await asyncio.sleep(0.001)
        now = time.perf_counter()
        longest, last = max(longest, now - last), now
    left = work.result()
    return last - start, longest, len(left.places)


async def measured() -> None:
    """Print both."""
    with tempfile.TemporaryDirectory() as folder:
        made(Path(folder))
        for what, new in (
            ("rename", HOME.replace("def measure", "def weigh")),
            ("signature", HOME.replace(", unit", "")),
        ):
            seconds, longest, places = await pause(Path(folder), new)
            print(f"{what}: {places} places in {seconds:.2f} s, longest pause {longest * 1000:.0f} ms")


if __name__ == "__main__":
    asyncio.run(measured())
