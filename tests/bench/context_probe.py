"""Indexes a project in one process as the app does, and reports what it took; run by ``context_bench``.

``index ROOT CACHE REQUEST`` reads a whole project beside an event loop, then saves files and builds windows;
``prompts ROOT CACHE`` builds the first windows of new prompts in an indexed project, and counts beside each
for as long; ``first ROOT CACHE REQUEST STARTED`` builds one window as soon as it can. All print one JSON
object a line.
"""

from __future__ import annotations

import asyncio
import json
import random
import resource
import statistics
import subprocess
import sys
import threading
import time
from array import array
from collections.abc import Callable
from functools import partial
from pathlib import Path

from context.disk.watch import Watcher
from context.index.outliner import OUTLINER
from context.project.project import Project
from context.project.snapshot import Snapshot
from context.text.tokens import Counter
from context.window.limits import fill_comfort, fill_limit, map_limit
from context.window.pieces import WindowRequest
from context.window.seen import Seen
from context.window.window import build
from tui.screen.terminal.startup import SWITCH_SECONDS, load, loaded

BUDGETS = (8_000, 32_000, 100_000)
SAVES = 120
PROMPTS = 24
PROMPT_BUDGETS = (32_000, 128_000)
TICK = 0.001
SOURCE = (".py", ".c", ".go", ".rs", ".ts", ".js", ".h", ".java", ".rb")


class Ticker:
    """Measures how late an event loop is at worst, in milliseconds.

    On a busy machine the loop is also late when other programs have the processors. So the CPU time that this
    process, with all of its threads, took meanwhile is noted as well: what held the loop took as much.
    """

    def __init__(self) -> None:
        # No pairs: the garbage collector would look at each.
        self._late, self._cpu = array("d"), array("d")
        self._task = asyncio.get_running_loop().create_task(self._run())

    async def _run(self) -> None:
        before, spent = time.perf_counter(), time.process_time()
        while True:
            await asyncio.sleep(TICK)
            now, cpu = time.perf_counter(), time.process_time()
            self._late.append((now - before - TICK) * 1000)
            self._cpu.append((cpu - spent) * 1000)
            before, spent = now, cpu

    def stop(self) -> dict[str, float]:
        """Return the longest stall, the longest that was this process's own, and the 99.9th percentile."""
        self._task.cancel()
        late, own = sorted(self._late) or [0.0], [*map(min, self._late, self._cpu)] or [0.0]
        return {
            "longest": late[-1],
            "own": max(own),
            "p99.9": late[-1 - len(late) // 1000],
            "over 10 ms": sum(x > 10 for x in late),
            "own over 10 ms": sum(x > 10 for x in own),
        }


def tell(**figures: object) -> None:
    """Print one line of JSON for the bench."""
    print(json.dumps(figures), flush=True)


def memory() -> float:
    """Return this process's resident memory in MB."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1024
    return 0.0


def cpu() -> float:
    """Return the seconds of CPU time that this process and its ended children took."""
    spent = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(found.ru_utime + found.ru_stime for found in spent)


def timed(work: Callable[[], object], times: int) -> list[float]:
    """Return how long ``work`` took each time, in milliseconds."""
    taken = []
    for _ in range(times):
        start = time.perf_counter()
        work()
        taken.append((time.perf_counter() - start) * 1000)
    return taken


async def index(root: Path, cache: Path, text: str) -> None:
    """Read everything as the session does, then measure saves and windows."""
    counter = Counter()
    idle = Ticker()
    await asyncio.sleep(3)
    tell(idle=idle.stop())
    await asyncio.to_thread(counter.load)
    tell(resident_before=memory())
    project = Project(root, cache)
    ticker = Ticker()
    start, spent = time.perf_counter(), cpu()
    first = asyncio.create_task(_first_known(project))
    snapshot = await asyncio.to_thread(project.scan)
    cold = time.perf_counter() - start
    if not snapshot.entries:
        first.cancel()
        project.close()
        raise NothingToRead(_why_nothing(snapshot))
    tell(cold_cpu=cpu() - spent)
    tell(cold=cold, stall=ticker.stop(), files=len(snapshot.paths), outlined=len(snapshot.entries))
    tell(first_known=(await first) - start)
    ticker = Ticker()
    start = time.perf_counter()
    while any(thread.name == "spark-merge" for thread in threading.enumerate()):
        await asyncio.sleep(0.05)
    tell(merging=time.perf_counter() - start, stall_merging=ticker.stop(), resident_after=memory())
    # As the session does.
    await asyncio.to_thread(OUTLINER.prepare, project.snapshot.paths)
    await _saves(root, project, counter, text)
    _windows(project.snapshot, counter, text)
    ticker = Ticker()
    start = time.perf_counter()
    await asyncio.to_thread(_new_prompts, project.snapshot, counter)
    tell(stall_prompts=ticker.stop())
    ticker = Ticker()
    await asyncio.to_thread(_count_for, time.perf_counter() - start)
    tell(stall_counting=ticker.stop())
    ticker = Ticker()
    taken = await asyncio.to_thread(timed, project.reconcile, 3)
    tell(reconcile=taken, stall_checks=ticker.stop(), resident_end=memory())
    project.close()
    for name in ("warm", "again"):
        ticker = Ticker()
        start = time.perf_counter()
        project = Project(root, cache)
        await asyncio.to_thread(project.scan)
        tell(**{name: time.perf_counter() - start, f"stall_{name}": ticker.stop()})
        project.close()


class NothingToRead(Exception):
    """The project has no file that can be read; the message says so, and what to look at."""


def _why_nothing(snapshot: Snapshot) -> str:
    if snapshot.paths:
        return f"{snapshot.root}: none of the {len(snapshot.paths):,} files can be read as text"
    listed = "git lists no files: commit some, or see whether .gitignore leaves all of them out (/*)"
    return (
        f"{snapshot.root}: there is nothing to read; {listed if snapshot.git else 'the folder has no files'}"
    )


async def _first_known(project: Project) -> float:
    while not project.snapshot.entries:
        await asyncio.sleep(0.01)
    return time.perf_counter()


async def _saves(root: Path, project: Project, counter: Counter, text: str) -> None:
    """Save files, and wait each time for a window that shows the save."""
    watcher = Watcher(root)
    ticker = Ticker()
    start = time.perf_counter()
    await asyncio.to_thread(watcher.start)
    tell(watching=time.perf_counter() - start, stall_watching=ticker.stop())
    rng = random.Random(7)
    likely = [path for path in project.snapshot.entries if path.endswith(SOURCE)]
    chosen = [
        path for path in rng.sample(likely, min(len(likely), 200)) if (root / path).stat().st_size < 200_000
    ][:20]
    request = WindowRequest(text, "Instructions.", 32_000)
    seen = Seen().after(build(request, project.snapshot, counter).shown)
    ticker = Ticker()
    noticed, taken, spent = [], [], []
    changed: set[str] = set()
    for number in range(SAVES):
        path = chosen[number % len(chosen)]
        content = (root / path).read_bytes()
        (root / path).write_bytes(content + b"\n/* saved %d */\n" % number)
        start, before = time.perf_counter(), time.process_time()
        changed.add(path)
        waiting = {path}
        while waiting:
            told = await watcher.changes()
            noticed.append((time.perf_counter() - start) * 1000)
            await asyncio.to_thread(project.update, told)
            waiting -= told
        window = await asyncio.to_thread(build, request, project.snapshot, counter, seen)
        assert any(piece.path == path for piece in window.pieces), path
        taken.append((time.perf_counter() - start) * 1000)
        spent.append((time.process_time() - before) * 1000)
        seen = seen.after(window.shown)
    tell(save_to_window=taken, save_to_window_cpu=spent, noticed=noticed, stall_saves=ticker.stop())
    await asyncio.to_thread(watcher.stop)
    for path in changed:
        subprocess.run(["git", "checkout", "-q", "--", path], cwd=root, check=False, capture_output=True)
    await asyncio.to_thread(project.update, changed)


def _windows(snapshot: Snapshot, counter: Counter, text: str) -> None:
    hand = tuple(path for path in snapshot.entries if path.endswith(SOURCE))[100:103]
    for budget in BUDGETS:
        for name, files in (("nothing", ()), ("3 files", hand)):
            request = WindowRequest(text, "Instructions.", budget, open_files=files)
            work = partial(build, request, snapshot, counter)
            cold, warm = timed(work, 1)[0], timed(work, 7)
            window = build(request, snapshot, counter)
            assert window.tokens <= budget
            tell(window=budget, hand=name, first=cold, median=statistics.median(warm), tokens=window.tokens)


def _new_prompts(snapshot: Snapshot, counter: Counter) -> None:
    """Build the first windows of prompts that name definitions of the project, as a session builds them."""
    for budget in PROMPT_BUDGETS:
        taken, spent = [], []
        for request in _prompts(snapshot, budget):
            start, before = time.perf_counter(), time.process_time()
            build(request, snapshot, counter)
            taken.append((time.perf_counter() - start) * 1000)
            spent.append((time.process_time() - before) * 1000)
        tell(**{f"new_prompt_of_{budget // 1000}K": taken, f"new_prompt_of_{budget // 1000}K_cpu": spent})


def _prompts(snapshot: Snapshot, budget: int) -> list[WindowRequest]:
    """Prompts that name two definitions each; those of another budget name them the other way round."""
    names = _some_names(snapshot)
    if budget != PROMPT_BUDGETS[0]:
        names = names[::-1]
    return [
        WindowRequest(
            f"why does {one} not end before {other} is called?",
            "Instructions.",
            budget,
            map_limit=map_limit(budget),
            fills_up=True,
            fill_limit=fill_limit(budget, 0, 0),
            fill_comfort=fill_comfort(budget, 0, 0),
        )
        for one, other in zip(names[:PROMPTS], names[PROMPTS:], strict=False)
    ]


async def prompts(root: Path, cache: Path) -> None:
    """Build the first window of each prompt beside an event loop, and only count for as long afterwards."""
    counter, project = Counter(), Project(root, cache)
    await asyncio.to_thread(counter.load)
    snapshot = await asyncio.to_thread(project.scan)
    await asyncio.to_thread(OUTLINER.prepare, snapshot.paths)
    held, counted = [], []
    for request in [each for budget in PROMPT_BUDGETS for each in _prompts(snapshot, budget)]:
        ticker, start = Ticker(), time.perf_counter()
        await asyncio.to_thread(build, request, snapshot, counter)
        held.append(ticker.stop()["own"])
        ticker, taken = Ticker(), time.perf_counter() - start
        await asyncio.to_thread(_count_for, taken)
        counted.append(ticker.stop()["own"])
    tell(held=held, counted=counted)
    project.close()


def _count_for(seconds: float) -> None:
    """Only count, which never holds another thread up for longer than it has to wait for its turn: what the
    loop is late by beside this is the machine's."""
    end = time.perf_counter() + seconds
    counts: dict[int, int] = {}
    while time.perf_counter() < end:
        for number in range(1_000):
            counts[number] = counts.get(number, 0) + 1


def _some_names(snapshot: Snapshot) -> list[str]:
    rng = random.Random(5)
    sources = [path for path in snapshot.entries if path.endswith(SOURCE)]
    named = [sorted(snapshot.entries[path].names) for path in rng.sample(sources, min(len(sources), 200))]
    return [rng.choice(found) for found in named if found]


def first(root: Path, cache: Path, text: str, started: float) -> None:
    """Build a window as soon as possible, then one of everything."""
    project, counter = Project(root, cache), Counter()
    imported = time.time()
    scanning = threading.Thread(target=project.scan)
    scanning.start()
    while not project.snapshot.paths:
        if not scanning.is_alive():
            raise NothingToRead(_why_nothing(project.snapshot))
        time.sleep(0.001)
    known = time.time()
    request = WindowRequest(text, "Instructions.", 32_000)
    window = build(request, project.snapshot, counter)
    done = time.time()
    scanning.join()
    whole = time.time()
    complete = build(request, project.snapshot, counter)
    tell(
        imported=(imported - started) * 1000,
        known=(known - started) * 1000,
        first_window=(done - started) * 1000,
        first_entries=sum(1 for piece in window.pieces),
        scanned=(whole - started) * 1000,
        whole_window=(time.time() - started) * 1000,
        files=len(project.snapshot.entries),
        pieces=len(complete.pieces),
    )
    counter.load()
    build(request, project.snapshot, counter)
    tell(warm=statistics.median(timed(lambda: build(request, project.snapshot, counter), 9)))
    project.close()


if __name__ == "__main__":
    # As in the app: working threads yield to the loop as often, and what was imported is no garbage.
    sys.setswitchinterval(SWITCH_SECONDS)
    load()
    loaded()
    what, where, kept, *rest = sys.argv[1:]
    try:
        if what == "index":
            asyncio.run(index(Path(where), Path(kept), rest[0]))
        elif what == "prompts":
            asyncio.run(prompts(Path(where), Path(kept)))
        else:
            first(Path(where), Path(kept), rest[0], float(rest[1]))
    except NothingToRead as problem:
        sys.exit(str(problem))
