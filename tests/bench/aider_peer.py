"""aider's repository map as a peer in the commit replay; aider runs in an environment of its own.

``python3 -m venv AIDER && AIDER/bin/pip install aider-chat``, then ``--aider AIDER/bin/python``.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from context.disk.source import Source
from context.project.snapshot import Snapshot
from context.text.safe import fenced
from context.text.tokens import Counter
from tests.bench.replay_peers import Filled, lines_of
from tests.bench.replay_truth import git

SPARK = Path(__file__).resolve().parents[2]
NAME = "aider's map"


class AiderMap:
    """Fills a window with the whole given file and, in the rest of the budget, aider's map.

    It works in a clone of its own, ``folder``, since aider keeps a cache in the folder that it maps.
    ``over`` counts the windows that came out larger than their budget, of ``made``.
    """

    def __init__(self, python: str, clone: Path, folder: Path) -> None:
        self.over = self.made = 0
        self._folder = folder
        git(folder.parent, "clone", "-q", "--shared", "--no-checkout", str(clone.resolve()), str(folder))
        self._process = subprocess.Popen(
            [python, "-m", "tests.bench.aider_map"],
            cwd=SPARK,
            env={**os.environ, "PYTHONPATH": str(SPARK)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def check_out(self, commit: str) -> None:
        """Check out ``commit``."""
        git(self._folder, "checkout", "-q", "--detach", "--force", commit)

    def close(self) -> None:
        """End aider's process."""
        self._process.communicate()

    def __call__(self, snapshot: Snapshot, message: str, given: str, budget: int, counter: Counter) -> Filled:
        """Fill a window, as any :data:`tests.bench.replay_peers.Filler` does."""
        source = snapshot.read(given)
        text = fenced(given, source.text) if isinstance(source, Source) else ""
        first = counter.count(f"## File: {given}\n\n{text}")
        texts = {given: lines_of(text)}
        if first + 100 > budget:
            return Filled(first, texts, {})
        shown = self._ask(given, [path for path in snapshot.paths if path != given], message, budget - first)
        tokens = first + counter.count(shown)
        self.made += 1
        self.over += tokens > budget
        return Filled(tokens, {**read_map(shown), **texts}, {})  # a map shows lines as they are in the file

    def _ask(self, given: str, files: list[str], message: str, tokens: int) -> str:
        asked = {"root": str(self._folder), "given": given, "files": files, "message": message}
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(json.dumps({**asked, "tokens": tokens}) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        if not answer:
            told = f"PYTHONPATH=. AIDER/bin/python -m {__package__}.aider_map shows why"
            sys.exit(f"aider ended with {self._process.wait()}; {told}")
        return str(json.loads(answer)["map"])


def read_map(text: str) -> dict[str, set[str]]:
    """Return the lines that a map shows of each file: a name and a colon, then lines after a bar."""
    shown: dict[str, set[str]] = {}
    path = ""
    for line in text.split("\n"):
        if line.startswith("│"):
            shown[path].add(line[1:].strip())
        elif line and not line.startswith("⋮"):
            path = line.removesuffix(":")
            shown.setdefault(path, set())
    return shown
