"""Measures the time and memory that the context needs: ``python -m tests.bench.context_bench [FOLDER]``.

Prints figures and asserts nothing. FOLDER is copied (``--here``: used as it is; the files that are saved
are then put back with git); without one, the folder of installed packages is taken. ``ctags -R`` runs on
the same tree, where it is installed. Caches go to a temporary folder. If FOLDER is not
a repository, the project is read without git.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

SMALL = 500
PROMPT_RUNS = 7
SAMPLE_EVERY = 0.1
PROBE = "tests.bench.context_probe"


def main() -> None:
    """Measure one folder, and a small project."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("folder", nargs="?", type=Path, default=Path(sysconfig.get_path("purelib")))
    options.add_argument("--here", action="store_true")
    options.add_argument("--request", default="why does the client close the connection too early?")
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        root = given.folder.resolve()
        if not given.here:
            # Links stay links, so that nothing outside is touched.
            root = Path(scratch) / "project"
            shutil.copytree(given.folder, root, symlinks=True, ignore_dangling_symlinks=True)
            time.sleep(2.1)
        busy = " ".join(f"{load:.1f}" for load in os.getloadavg())
        print(f"{given.folder}: {'with' if (root / '.git').exists() else 'without'} git; load {busy}")
        peer = ctags(root, Path(scratch) / "tags")
        large(root, Path(scratch) / "cache", given.request, peer)
        small(Path(scratch), given.request)


def line(name: str, value: float, unit: str, more: str = "") -> None:
    """Print one figure."""
    print(f"{name:40} {value:9.1f} {unit:3} {more}", flush=True)


def ctags(root: Path, out: Path) -> float | None:
    """Return the seconds that ctags needs for the tree, or None where it is not installed."""
    if shutil.which("ctags") is None:
        return None
    start, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(["ctags", "-R", "-f", str(out), "."], cwd=root, check=True, capture_output=True)
    taken, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    line("ctags -R", taken, "s", f"CPU time {spent:.1f} s")
    return taken


def large(root: Path, cache: Path, request: str, peer: float | None) -> None:
    """Print the figures of one tree."""
    peak = {"sum": 0.0, "own": 0.0}
    for told in probe(["index", str(root), str(cache), request], peak):
        if "cold_cpu" in told:
            line("cold index, CPU time", told["cold_cpu"], "s")
        if "cold" in told:
            line("cold index", told["cold"], "s", f"{told['files']} files, {told['outlined']} outlined")
            if peer is not None:
                line("  of ctags", told["cold"] / peer, "x")
            line("  memory, all processes, peak", peak["sum"], "MB", f"this one {peak['own']:.0f} MB")
        for name in (
            "idle",
            "stall",
            "stall_merging",
            "stall_watching",
            "stall_saves",
            "stall_prompts",
            "stall_counting",
            "stall_checks",
            "stall_warm",
            "stall_again",
        ):
            if name in told:
                rest = f"p99.9 {told[name]['p99.9']:.1f}, {told[name]['over 10 ms']} over 10 ms; "
                rest += f"own {told[name]['own']:.1f}, {told[name]['own over 10 ms']} over 10 ms"
                line(f"  longest wait of the loop ({name})", told[name]["longest"], "ms", rest)
        for name in ("first_known", "merging", "watching", "warm", "again"):
            if name in told:
                line(name.replace("_", " "), told[name], "s")
        for name in ("resident_before", "resident_after", "resident_end"):
            if name in told:
                line(name.replace("_", " "), told[name], "MB")
        for name, values in told.items():
            if isinstance(values, list):
                taken = sorted(values)
                p99 = taken[min(len(taken) - 1, len(taken) * 99 // 100)]
                line(
                    name.replace("_", " "),
                    statistics.median(taken),
                    "ms",
                    f"p99 {p99:.1f} ms, {len(taken)} times",
                )
        if "window" in told:
            name = f"window of {told['window']:,}, in hand: {told['hand']}"
            line(name, told["median"], "ms", f"first {told['first']:.1f} ms, {told['tokens']:,} tokens")
    line("memory, all processes, peak of all", peak["sum"], "MB")
    new_prompts(root, cache)


def new_prompts(root: Path, cache: Path) -> None:
    """Print how long windows of new prompts hold the event loop, from several processes that build the same.

    A wait that the code makes comes in each of them, and one that the machine makes in some: so the shortest
    of each prompt's longest waits says what the code does. The same is told of a thread that only counts.
    """
    told = [told for _ in range(PROMPT_RUNS) for told in probe(["prompts", str(root), str(cache)], {})]
    for name, what in (("held", "new prompts"), ("counted", "only counting")):
        by_prompt = [sorted(waits) for waits in zip(*(each[name] for each in told), strict=True)]
        every, least = (
            sorted(wait for waits in by_prompt for wait in waits),
            [waits[0] for waits in by_prompt],
        )
        middle = [statistics.median(waits) for waits in by_prompt]
        over = sum(wait > 10 for wait in every)
        rest = (
            f"{len(every)} windows in {PROMPT_RUNS} processes, {over} over 10 ms; by prompt: longest median "
        )
        rest += f"{max(middle):.1f}, longest that comes in each process {max(least):.1f} ms"
        line(f"  own wait of the loop, {what}", every[-1], "ms", rest)


def small(scratch: Path, request: str) -> None:
    """Start a fresh process on a project of about 500 files, with a cold and then a warm cache."""
    root = scratch / "small"
    sources = sorted(Path(sysconfig.get_path("stdlib")).rglob("*.py"))
    for number, source in enumerate(sources[: SMALL * 3 : 3]):
        target = root / f"part{number % 20}" / f"{number}_{source.name}"
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)
    for command in (
        ["init", "-q"],
        ["add", "-A"],
        ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "a"],
    ):
        subprocess.run(["git", *command], cwd=root, check=True)
    time.sleep(2.1)
    for name in ("cold", "warm", "warm again"):
        for told in probe(["first", str(root), str(scratch / "small-cache"), request], {}):
            if "first_window" in told:
                rest = f"imports {told['imported']:.0f}, scanned {told['scanned']:.0f}"
                rest += f", whole {told['whole_window']:.0f} ms"
                line(f"first window, {told['files']} files, {name}", told["first_window"], "ms", rest)
            else:
                line("  window, warm", told["warm"], "ms")


def probe(arguments: list[str], peak: dict[str, float]) -> Iterator[dict[str, Any]]:
    """Return what one process reports; its memory and that of its children are sampled meanwhile."""
    started = [str(time.time())] if arguments[0] == "first" else []
    with subprocess.Popen(
        [sys.executable, "-m", PROBE, *arguments, *started], stdout=subprocess.PIPE, text=True
    ) as process:
        done = threading.Event()
        thread = threading.Thread(target=sample, args=(process.pid, peak, done))
        if peak:
            thread.start()
        assert process.stdout is not None
        for told in process.stdout:
            yield json.loads(told)
        done.set()
        if peak:
            thread.join()
    if process.returncode:
        sys.exit(process.returncode)


def sample(pid: int, peak: dict[str, float], done: threading.Event) -> None:
    """Record the most memory that a process and its children hold at once."""
    while not done.wait(SAMPLE_EVERY):
        own = resident(pid)
        peak["own"] = max(peak["own"], own)
        peak["sum"] = max(peak["sum"], own + sum(resident(child) for child in children(pid)))


def children(pid: int) -> list[int]:
    """Return the child processes of a process that run a program of their own.

    One that was forked a moment ago has the command line of its parent, and shares its memory.
    """
    try:
        found = [
            int(child)
            for task in Path(f"/proc/{pid}/task").iterdir()
            for child in (task / "children").read_text().split()
        ]
    except OSError:
        return []
    own = command(pid)
    return [child for child in found if command(child) != own]


def command(pid: int) -> bytes:
    """Return a process's command line, or nothing when it is gone."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def resident(pid: int) -> float:
    """Return a process's resident memory in MB, or 0 when it is gone."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0.0
    return next((int(row.split()[1]) / 1024 for row in status.splitlines() if row.startswith("VmRSS")), 0.0)


if __name__ == "__main__":
    main()
