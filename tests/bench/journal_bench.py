"""Measures the journal: run ``python -m tests.bench.journal_bench [--megabytes 100]``.

Writes the events of many turns with a journal, once with the answer's lines in records of their own (as
spark wrote them before it collected text) and once as it writes them now, and resumes and lists both sessions
in a process of its own. Prints the sizes, the seconds and the most memory that each process took.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from session.base.events import (
    Event,
    HunkAimed,
    HunkLanded,
    HunkOpened,
    PhaseChanged,
    PromptSubmitted,
    ReasoningDelta,
    TextDelta,
    TurnEnded,
    Usage,
)
from session.record.journal.journals import Journal
from session.record.journal.reading import journal_size

NAME = "20260102-030405-abcd"
LINE = "the function returns a list of values and checks each item before it writes "
RESUME = """
import resource, sys, time
from pathlib import Path
from edits.ledger.ledger import Ledger
from session.record.journal.session_list import list_sessions
from session.turn.resume import resume_session
file = Path(sys.argv[1])
began = time.perf_counter()
events = len(resume_session(file, Ledger(file.parent / "ledger")).events)
resumed = time.perf_counter()
list_sessions(file.parent)
listed = time.perf_counter()
memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
print(f"resume {resumed - began:5.2f} s  {events:,} events  list {listed - resumed:5.2f} s  {memory} MB")
"""


def a_turn(number: int) -> Iterator[Event]:
    """The events of one turn: a hunk for each 25 lines of the answer."""
    turn = f"t{number}"
    yield PromptSubmitted(turn, "Let a done task be reopened, from the API and from the page")
    for phase in ("preparing", "waiting", "streaming"):
        yield PhaseChanged(turn, phase)
    for line in range(40):
        yield ReasoningDelta(turn, LINE[: 7 * line % 40] + "\n")
    for line in range(200):
        yield TextDelta(turn, LINE[: 7 * line % 60] + "\n")
        if line % 25 == 0:
            hunk, path = f"h{number}-{line}", "src/package/module.py"
            yield HunkOpened(turn, hunk, path)
            yield HunkAimed(turn, hunk, path, 10, 14)
            yield HunkLanded(turn, hunk, path, "applied", 0, 10, 14)
    yield Usage(turn, 1000, 0, 900, 100, model="m", cost=0.01)
    yield TurnEnded(turn, "completed")


def write(folder: Path, turns: int, *, by_line: bool) -> Path:
    """A journal of ``turns`` turns; ``by_line`` as it was written before."""
    folder.mkdir()
    journal = Journal(folder, NAME)
    for number in range(turns):
        for event in a_turn(number):
            journal.write(event)
            if by_line:
                journal.flush()
    journal.close()
    return journal.file


def main() -> None:
    """Write, resume and list."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--megabytes", type=int, default=100)
    turns = parser.parse_args().megabytes * 1_000_000 // 28_000
    with tempfile.TemporaryDirectory() as folder:
        for name, by_line in (("a record a line", True), ("collected", False)):
            file = write(Path(folder, name), turns, by_line=by_line)
            size = journal_size(file) / 1e6
            print(f"{name:16}{turns:,} turns  {size:6.1f} MB  ", end="", flush=True)
            subprocess.run([sys.executable, "-c", RESUME, str(file)], check=True)


if __name__ == "__main__":
    main()
