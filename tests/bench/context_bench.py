"""How long the context takes: ``python -m tests.bench.context_bench [FOLDER] [--request TEXT]``.

Prints figures and asserts nothing. FOLDER is only read, by way of a copy of one of its files for the save;
without one, the folder of installed packages is taken. Caches go to a temporary folder.
"""

from __future__ import annotations

import argparse
import resource
import shutil
import statistics
import sysconfig
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TypeVar

from context.project import Project
from context.seen import Seen
from context.tokens import Counter
from context.window import WindowRequest, build

T = TypeVar("T")
BUDGETS = (8_000, 32_000, 128_000)
SAVES = 30


def timed(name: str, work: Callable[[], T], times: int = 1) -> T:
    """Run ``work`` so many times and print the median and the worst, in milliseconds."""
    taken = []
    for _ in range(times):
        start = time.perf_counter()
        result = work()
        taken.append((time.perf_counter() - start) * 1000)
    worst = f"  worst {max(taken):9.1f} ms" if times > 1 else ""
    print(f"{name:34} {statistics.median(taken):9.1f} ms{worst}")
    return result


def main() -> None:
    """Measure one folder."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("folder", nargs="?", type=Path, default=Path(sysconfig.get_path("purelib")))
    options.add_argument("--request", default="why does the client close the connection too early?")
    given = options.parse_args()
    counter = Counter()
    timed("load the rank file", counter.load)
    with tempfile.TemporaryDirectory() as scratch:
        cache = Path(scratch) / "cache"
        root = Path(scratch) / "project"
        # A copy, because the saves below write: links stay links, so that nothing outside is touched.
        shutil.copytree(given.folder, root, symlinks=True, ignore_dangling_symlinks=True)
        snapshot = timed("cold scan", Project(root, cache).scan)
        size = sum(len(entry.outline) for entry in snapshot.entries.values())
        print(f"{'':34} {len(snapshot.paths)} files, {len(snapshot.entries)} outlined in {size / 1e6:.1f} MB")
        time.sleep(2.1)
        timed("second scan (stamps settle)", Project(root, cache).scan)
        project = Project(root, cache)
        timed("warm scan, new process", project.scan)
        timed("reconcile, same process", project.scan, 3)
        path = next(
            path
            for path in project.snapshot.entries
            if path.endswith((".py", ".c", ".go", ".rs", ".ts", ".js"))
        )
        file = root / path
        text = file.read_text("utf-8")

        def save() -> None:
            nonlocal text
            text += f"\n# {len(text)}\n"
            file.write_text(text, "utf-8")
            project.update([path])

        timed(f"update after a save ({path[-20:]})", save, SAVES)
        for budget in BUDGETS:
            request = WindowRequest(given.request, "Instructions.", budget)
            window = timed(f"first window of {budget:,}", partial(build, request, project.snapshot, counter))
            timed(f"window of {budget:,}, warm", partial(build, request, project.snapshot, counter), 5)
            print(f"{'':34} {window.tokens:,} tokens in {len(window.pieces)} pieces")
        seen = Seen().after(window)
        save()
        following = timed("following turn", partial(build, request, project.snapshot, counter, seen), 5)
        print(f"{'':34} {sum(len(piece.text.encode()) for piece in following.pieces):,} bytes")
        print(f"{'peak memory':34} {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:9.0f} MB")


if __name__ == "__main__":
    main()
