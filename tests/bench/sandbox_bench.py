"""Measures sandboxes of a large tree: ready, further ones, with edits, a command in one, removed, disk used.

python3 -m tests.bench.sandbox_bench [FILES]
"""

from __future__ import annotations

import asyncio
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from session.base.storage.folders import state_folder
from session.checks.sandbox.command import Command
from session.checks.sandbox.sandbox import Sandbox, Sandboxes
from session.checks.sandbox.sandbox_folder import remove_leftovers
from session.checks.walled_commands import WalledCommands

FILES = 80_000
PER_FOLDER = 200
FURTHER = 20


def make_tree(root: Path, files: int) -> None:
    """Make ``files`` small files in folders of :data:`PER_FOLDER`."""
    for start in range(0, files, PER_FOLDER):
        folder = root / f"package{start // PER_FOLDER:04}"
        folder.mkdir()
        for number in range(start, min(start + PER_FOLDER, files)):
            (folder / f"module{number}.py").write_text(f"value = {number}\n")


async def timed(work: Callable[[], Awaitable[object]]) -> tuple[float, float]:
    """The milliseconds that ``work`` takes, and those of CPU: on a busy machine they differ."""
    began, cpu = time.perf_counter(), time.process_time()
    await work()
    return (time.perf_counter() - began) * 1000, (time.process_time() - cpu) * 1000


def told(what: str, times: list[tuple[float, float]]) -> None:
    """Print the median and the most of ``times``."""
    wall, cpu = ([each[at] for each in times] for at in (0, 1))
    print(
        f"{what:<30} {statistics.median(wall):8.1f} ms   most {max(wall):8.1f}   "
        f"CPU {statistics.median(cpu):6.1f} ms"
    )


async def measure(root: Path) -> None:
    """Print the figures for the tree at ``root``."""
    sandboxes = Sandboxes(root, os.environ)
    made: list[Sandbox] = []

    async def make() -> None:
        made.append(await sandboxes.make())

    told("first ready", [await timed(make)])
    further = [await timed(make) for _ in range(FURTHER)]
    told("each further ready", further)
    edits = {f"package0000/module{number}.py": b"value = -1\n" for number in range(10)}
    put = [await timed(lambda each=each: each.put(edits)) for each in made]  # type: ignore[misc]
    told("10 files put in", put)
    true = Command(["/bin/true"], 10.0, dict(os.environ))
    ran = [await timed(lambda each=each: each.run(true, lambda _: True)) for each in made]  # type: ignore[misc]
    told("a command that does nothing", ran)
    commands = WalledCommands(sandboxes, dict(os.environ))
    walled = [await timed(lambda: commands.run("true", 10, lambda _: True)) for _ in range(FURTHER)]
    told("a command of the model, whole", walled)
    boxes = [each for each in (state_folder() / "sandboxes").iterdir() if each.is_dir()]
    disk = sum(file.stat().st_blocks * 512 for box in boxes for file in box.rglob("*") if file.is_file())
    print(f"{'disk of each, 10 changed files':<30} {disk / len(made) / 1024:8.1f} KB")
    removed = [await timed(each.remove) for each in made]
    told("removed", removed)
    if made[0].note:
        print(f"(these are not overlays: {made[0].note})")


def main() -> None:
    """Make the tree, measure, and remove what is left."""
    files = int(sys.argv[1]) if len(sys.argv) > 1 else FILES
    with tempfile.TemporaryDirectory() as folder:
        for kind in ("STATE", "CONFIG", "CACHE"):
            os.environ[f"XDG_{kind}_HOME"] = f"{folder}/{kind.lower()}"
        root = Path(folder).resolve() / "project"
        root.mkdir()
        make_tree(root, files)
        print(f"{files:,} files")
        asyncio.run(measure(root))
        remove_leftovers(state_folder() / "sandboxes")


if __name__ == "__main__":
    main()
