"""Measures the edits: ``python -m tests.bench.edit_bench``.

CPU from a complete hunk to its durable write, by rung, with the system calls on files apart; the same
edits by a process of ``git apply`` and by a search with difflib; what a 50 MB file needs; and the cost
of a streamed character.
"""

from __future__ import annotations

import builtins
import contextlib
import os
import resource
import statistics
import subprocess
import tempfile
import time
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

from edits.formats.detect import AutoParser
from edits.hunk import Action, Format, Hunk, HunkLine, Landed, LineKind, Rung
from edits.landing import Landing
from edits.ledger.ledger import Ledger

LINES = 5000
RUNS = 60


def line(number: int) -> str:
    """Return line ``number`` of the file before any edit."""
    return f"    value_{number} = compute(value_{number - 1}, 'step {number}')  # {number * 7}"


def hunk_on(rung: Rung, at: int) -> Hunk:
    """Return a hunk of five old lines around line ``at`` that only ``rung`` and looser rungs can place."""
    old = [line(number) for number in range(at - 2, at + 3)]
    match rung:
        case Rung.FOLDED:
            old[0] += "  "
        case Rung.INDENT:
            old = [text.strip() for text in old]
        case Rung.ELISION:
            old[1] = "..."
        case Rung.ALIGNED:
            old[1] = old[1].replace("compute", "compile")
        case Rung.EXACT:
            pass
    kinds = [LineKind.CONTEXT] * 5
    kinds[3] = LineKind.OLD
    lines = [HunkLine(kind, text) for kind, text in zip(kinds, old, strict=True)]
    indent = "" if rung is Rung.INDENT else "    "
    lines.insert(4, HunkLine(LineKind.NEW, f"{indent}value_{at + 1} = changed({at})"))
    return Hunk("a.py", Action.UPDATE, Format.V4A, tuple(lines))


@contextlib.contextmanager
def file_calls_apart(spent: dict[str, float]) -> Iterator[None]:
    """Add up the CPU and wall time of the calls that reach the file system."""
    names = ("fsync", "open", "close", "write", "replace", "link", "unlink", "fchmod", "listxattr", "mkdir")
    saved: dict[str, Callable[..., Any]] = {name: getattr(os, name) for name in names}
    real_open = builtins.open

    def timed(real: Callable[..., Any], wall_name: str | None) -> Callable[..., Any]:
        def call(*given: Any, **more: Any) -> Any:
            cpu, wall = time.process_time(), time.perf_counter()
            try:
                return real(*given, **more)
            finally:
                spent["cpu"] += time.process_time() - cpu
                if wall_name:
                    spent[wall_name] += time.perf_counter() - wall

        return call

    for name, real in saved.items():
        setattr(os, name, timed(real, "fsync" if name == "fsync" else None))
    try:
        yield
    finally:
        for name, real in saved.items():
            setattr(os, name, real)
        assert builtins.open is real_open


def landing_figures(folder: Path) -> dict[Rung, float]:
    """Return the milliseconds of CPU for one landing on each rung, without file calls."""
    found: dict[Rung, float] = {}
    for rung in Rung:
        root = folder / rung.name
        root.mkdir()
        (root / "a.py").write_text("".join(f"{line(number)}\n" for number in range(LINES)))
        ledger = Ledger(folder / f"{rung.name}-ledger")
        landing = Landing(root, ledger)
        own: list[float] = []
        total: list[float] = []
        fsync: list[float] = []
        for number in range(RUNS):
            edit = hunk_on(rung, 20 + number * (LINES // RUNS - 1))
            spent = {"cpu": 0.0, "fsync": 0.0}
            with file_calls_apart(spent):
                cpu = time.process_time()
                result = landing.land(edit, hunk_id=f"h{number}")
                cpu = time.process_time() - cpu
            assert isinstance(result, Landed) and result.rung is rung, result
            total.append(cpu)
            own.append(cpu - spent["cpu"])
            fsync.append(spent["fsync"])
        found[rung] = 1000 * statistics.median(own[3:])
        print(
            f"rung {rung.value} {rung.name.lower():8} {found[rung]:6.2f} ms of CPU beyond file calls,"
            f" {1000 * statistics.median(total[3:]):6.2f} ms with them;"
            f" fsync {1000 * statistics.median(fsync):6.2f} ms"
        )
    return found


def by_difflib(lines: Sequence[str], old: Sequence[str]) -> int:
    """Return the lines that difflib finds most similar, as a reference."""
    wanted = "\n".join(old)
    best, at = 0.0, 0
    for start in range(len(lines) - len(old) + 1):
        ratio = SequenceMatcher(None, "\n".join(lines[start : start + len(old)]), wanted).ratio()
        if ratio > best:
            best, at = ratio, start
    return at


def references(folder: Path, ours: dict[Rung, float]) -> None:
    """Time the same exact edit by ``git apply``, and the same stale one by difflib."""
    root = folder / "git"
    root.mkdir()
    text = [line(number) for number in range(LINES)]
    (root / "a.py").write_text("".join(f"{one}\n" for one in text))
    took: list[float] = []
    for number in range(10):
        at = 100 + 400 * number
        body = f" {text[at - 1]}\n-{text[at]}\n+x\n {text[at + 1]}\n"
        patch = f"--- a/a.py\n+++ b/a.py\n@@ -{at},3 +{at},3 @@\n{body}"
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(["git", "apply", "-"], cwd=root, input=patch.encode(), check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        took.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    git = 1000 * statistics.median(took)
    print(f"git apply {git:.2f} ms of CPU: {git / ours[Rung.EXACT]:.1f} times ours on the exact rung")
    edit = hunk_on(Rung.ALIGNED, LINES // 2)
    cpu = time.process_time()
    assert by_difflib(text, edit.old) == LINES // 2 - 2
    difflib = 1000 * (time.process_time() - cpu)
    print(f"a search by difflib {difflib:.0f} ms: {difflib / ours[Rung.ALIGNED]:.0f} times ours on rung 5")


def large_file(folder: Path) -> None:
    """Return the most memory that landing in a file of 50 MB needs, in copies of the file."""
    root = folder / "large"
    root.mkdir()
    size = 50 * 1024 * 1024
    with (root / "a.py").open("w") as file:
        for number in range(size // 64):
            file.write(f"{number:063d}\n")
    middle = size // 128
    edit = Hunk("a.py", Action.UPDATE, Format.V4A, (
        HunkLine(LineKind.OLD, f"{middle:063d}"), HunkLine(LineKind.NEW, "changed"),
    ))  # fmt: skip
    landing = Landing(root, Ledger(folder / "large-ledger"))
    tracemalloc.start()
    started = time.perf_counter()
    assert isinstance(landing.land(edit, hunk_id="h1"), Landed)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    print(
        f"50 MB file: {peak / size:.1f} copies held at most, {time.perf_counter() - started:.1f} s (traced)"
    )


def streamed() -> None:
    """Return the microseconds for a character of a 1 MB answer, whole and in small pieces."""
    block = "a.py\n```\n<<<<<<< SEARCH\n{0}\n=======\n{1}\n>>>>>>> REPLACE\n```\nAnd so on.\n"
    text = "".join(block.format(line(number), line(number + 1)) for number in range(6000))[: 1 << 20]
    for size in (1 << 20, 64, 4, 1):
        parser = AutoParser()
        cpu = time.process_time()
        for start in range(0, len(text), size):
            parser.feed(text[start : start + size])
        each = 1e6 * (time.process_time() - cpu) / len(text)
        print(f"parsing in pieces of {size:7}: {each:6.3f} us a character")


def main() -> None:
    """Print all figures."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        references(folder, landing_figures(folder))
        large_file(folder)
        streamed()


if __name__ == "__main__":
    main()
