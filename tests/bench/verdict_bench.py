"""Measures how long after a hunk has landed its lint verdict is on the screen, in the real app.

    python3 -m tests.bench.verdict_bench [TURNS]

The app runs under Pilot with the real partner, which changes one line in each turn; the check is ruff on a
small project. Printed are the milliseconds from the event of the landing to the paint of the sign beside the
line, the time of the tool without spark, and what is beyond that: medians and worst of all turns.
"""

from __future__ import annotations

import asyncio
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from session.base.events import Event, HunkChecked, HunkLanded
from session.base.storage.folders import config_folder, project_folders
from session.checks.check import Check
from session.checks.known_checks import Agreements
from tests.tui.stage import stage

RUFF = f"{sys.executable} -m ruff check --isolated --no-cache {{files}}"
TURNS = 10
COLOURS = "def red():\n    return 0\n"


def script(turns: int) -> str:
    """One turn for each prompt ``paint N``."""
    parts = ['models = ["spark-practice"]']
    for number in range(turns):
        parts.append(
            f'[[scenario]]\nid = "p{number}"\nmatch = ["paint {number};"]\n[[scenario.hunk]]\nid = "red"\n'
            f'path = "colours.py"\nlines = """\n def red():\n'
            f'-    return {number}\n+    return {number + 1}\n"""\n'
            '[[scenario.step]]\npatch = ["red"]\n'
        )
    return "\n".join(parts)


def alone(project: Path) -> float:
    """The seconds that the tool takes by itself."""
    began = time.perf_counter()
    subprocess.run(
        RUFF.replace("{files}", "colours.py").split(), cwd=project, check=True, capture_output=True
    )
    return time.perf_counter() - began


async def measure(folder: Path, turns: int) -> None:
    """Run the turns and print the figures."""
    landed: list[float] = []
    checked: list[float] = []
    painted: list[float] = []

    def take(event: Event) -> None:
        if isinstance(event, HunkLanded):
            landed.append(time.perf_counter())
        elif isinstance(event, HunkChecked):
            checked.append(time.perf_counter())

    async with stage(folder, files={"colours.py": COLOURS}, script=script(turns)) as it:
        it.session._recorder.subscribe(take)
        await it.session.checks.follow()
        for number in range(turns):
            notes = it.app.editor.notes
            it.session.submit(f"paint {number};")
            while len(landed) <= number:
                await asyncio.sleep(0.001)
            while len(checked) <= number or not notes.of("colours.py"):
                await asyncio.sleep(0.001)
            await it.pilot.pause()  # until everything that was asked to paint has painted
            painted.append(time.perf_counter())
            while it.session.running:
                await asyncio.sleep(0.005)
    whole = [(shown - at) * 1000 for at, shown in zip(landed, painted, strict=True)]
    tool = [alone(folder / "project") * 1000 for _ in range(turns)]
    beyond = [each - statistics.median(tool) for each in whole]
    for name, values in (("landed to painted", whole), ("the tool alone", tool), ("beyond it", beyond)):
        print(f"{name:20} {statistics.median(values):8.1f} ms   worst {max(values):8.1f} ms")


def main() -> None:
    """Prepare a project whose check is agreed to, measure, print."""
    turns = int(sys.argv[1]) if len(sys.argv) > 1 else TURNS
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        environ = {"HOME": str(folder / "home")}
        os.environ |= environ
        config = config_folder(environ)
        config.mkdir(parents=True)
        (config / "config.toml").write_text(
            f'[[checks]]\nname = "ruff"\nkind = "lint"\nfiles = ["*.py"]\ncommand = """{RUFF}"""\n'
        )
        (folder / "project").mkdir()
        Agreements(project_folders(folder / "project", environ).state).add([Check("ruff", RUFF)])
        asyncio.run(measure(folder, turns))


if __name__ == "__main__":
    main()
