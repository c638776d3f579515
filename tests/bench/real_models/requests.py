"""The requests and their small projects, read from ``projects/*.toml``, and the judge of what came of them.

A project file holds ``language``, ``[files]`` and ``[[request]]`` tables: ``id``, ``kind``, ``prompt``, the
files that may change, and ``check``, a piece of Python that runs in the project's folder. In it
``text(name)`` is a file's text, ``squeeze(text)`` has one blank for each run of them, and ``python(code)``
and ``js(code)`` give what a program prints.
"""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

_PROJECTS = Path(__file__).with_name("projects")
_SECONDS = 60
_PRELUDE = """
import pathlib, subprocess, sys
sys.path.insert(0, ".")
sys.dont_write_bytecode = True
def text(name): return pathlib.Path(name).read_text("utf-8")
def squeeze(words): return " ".join(words.split())
def said(*line):
    done = subprocess.run(line, capture_output=True, text=True, timeout=30, stdin=subprocess.DEVNULL)
    return done.stdout.strip()
def python(code): return said(sys.executable, "-B", "-c", code)
def js(code): return said("node", "-e", code)
"""


@dataclass(frozen=True, slots=True)
class Request:
    """One request. ``changes`` are the files that may change, ``check`` the condition on the result."""

    id: str
    kind: str
    prompt: str
    changes: tuple[str, ...]
    check: str
    project: str
    language: str
    files: MappingProxyType[str, str] = field(repr=False)

    def lay_out(self, folder: Path, *, commit: bool = True) -> None:
        """Write the project into ``folder``, and commit it unless told otherwise."""
        for name, text in self.files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text, "utf-8")
        if not commit:
            return
        author = ["-c", "user.name=bench", "-c", "user.email=bench@localhost"]
        for line in (["init", "-q"], ["add", "-A"], [*author, "commit", "-qm", "start"]):
            subprocess.run(["git", *line], cwd=folder, check=True, capture_output=True)

    def changed(self, folder: Path) -> list[str]:
        """The files in ``folder`` that are not as they were laid out."""
        there = {
            str(path.relative_to(folder)): path.read_text("utf-8", "replace")
            for path in folder.rglob("*")
            if path.is_file() and not {".git", "__pycache__"} & set(path.relative_to(folder).parts)
        }
        return sorted(
            name for name in there.keys() | self.files.keys() if there.get(name) != self.files.get(name)
        )

    def wrong(self, folder: Path) -> str:
        """Why the project in ``folder`` is not as the request asks; empty where it is right."""
        changed = self.changed(folder)
        if not changed:
            return "nothing changed"
        if other := [name for name in changed if name not in self.changes]:
            return f"changed {', '.join(other)}"
        limits = ["bash", "-c", 'ulimit -v 8000000 -t 30; exec "$@"', "x"]
        apart = ["unshare", "-Urn"] if shutil.which("unshare") else []
        line = [*limits, *apart, sys.executable, "-B", "-c", _PRELUDE + self.check]
        try:
            done = subprocess.run(
                line, cwd=folder, capture_output=True, text=True, timeout=_SECONDS, stdin=subprocess.DEVNULL
            )
        except subprocess.TimeoutExpired:
            return "the check took too long"
        said = done.stderr.strip().splitlines()
        return "" if done.returncode == 0 else (said[-1] if said else f"exit code {done.returncode}")


def read_requests() -> list[Request]:
    """All requests, one of each project after the other: a run that is not done yet tells something too."""
    rows = [(at, file, data, row) for file, data in _tables() for at, row in enumerate(data["request"])]
    rows.sort(key=lambda each: (each[0], each[1]))
    return [_request(file.stem, data, row) for _, file, data, row in rows]


def _tables() -> list[tuple[Path, dict[str, Any]]]:
    return [(file, tomllib.loads(file.read_text("utf-8"))) for file in sorted(_PROJECTS.glob("*.toml"))]


def _request(project: str, data: dict[str, Any], row: dict[str, Any]) -> Request:
    return Request(
        id=row["id"],
        kind=row["kind"],
        prompt=row["prompt"],
        changes=tuple(row["changes"]),
        check=row["check"],
        project=project,
        language=data["language"],
        files=MappingProxyType(data["files"]),
    )


def held_back(requests: Sequence[Request], seed: int) -> frozenset[str]:
    """The ids of the half that no wording and no rule may be made for."""
    names = sorted(request.id for request in requests)
    random.Random(seed).shuffle(names)
    return frozenset(names[: len(names) // 2])
