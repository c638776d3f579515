"""What hostile attempts answer, the processes that they leave, and how the end of a race is waited for."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path

import psutil

from context.text.unseen import shown
from session.base.events import Event, TurnEnded
from tests.session.race.attempts.races import RIGHT, WRONG
from tests.session.talking import Listening

FIX = f"*** Update File: calc.py\n@@\n def add(a, b):\n-    return a - b\n+    {RIGHT}\n"
MARK = f"86400.{os.getpid()}"
"""The seconds that a hostile process sleeps, by which it is found."""


def marked() -> list[psutil.Process]:
    """The processes that attempts started and that live."""
    return [each for each in psutil.process_iter(["cmdline"]) if MARK in (each.info["cmdline"] or ())]


def answers(*patches: str, stall: float = 0.0) -> str:
    """A script that gives each of ``patches`` once, to the same prompt."""
    parts = ['models = ["spark-practice", "spark-practice-text"]']
    for number, patch in enumerate(patches, 1):
        said = json.dumps(f"*** Begin Patch\n{patch}*** End Patch\n", ensure_ascii=False)
        parts.append(f'[[scenario]]\nid = "a{number}"\nmatch = ["add"]\ntimes = 1')
        parts += [f"[[scenario.step]]\nstall = {stall}"] if stall else []
        parts.append(f"[[scenario.step]]\nsay = {said}\n")
    return "\n".join(parts)


def added(path: str) -> str:
    return f"*** Add File: {path}\n+echo spark was here\n"


def doing(code: str) -> str:
    """An attempt that is wrong, and whose code does ``code`` when it is judged."""
    lines = "".join(f"+{line}\n" for line in f"import os, sys\n{code}".splitlines())
    return f"*** Update File: calc.py\n@@\n{lines} def add(a, b):\n-    return a - b\n+    {WRONG}\n"


def files(folder: Path) -> dict[str, str]:
    """All files below ``folder`` with their texts."""
    return {
        str(path.relative_to(folder)): path.read_text("utf-8") for path in folder.rglob("*") if path.is_file()
    }


def sandboxes(root: Path) -> list[str]:
    """The sandboxes that are left."""
    folder = root.parent / "xdg" / "state" / "spark" / "sandboxes"
    return sorted(each.name for each in folder.iterdir()) if folder.is_dir() else []


def texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from texts(list(value.values()))
    elif isinstance(value, list | tuple):
        for each in value:
            yield from texts(each)


def hidden(event: Event) -> list[str]:
    """The texts of an event that hold what cannot be seen."""
    return [text for text in texts(asdict(event)) if shown(text) != text]


def state(folder: Path) -> dict[str, object]:
    """What is below ``folder``, with the texts of files; nothing is followed or waited for."""
    return {
        str(path.relative_to(folder)): (path.lstat().st_mode, path.is_file() and path.read_bytes())
        for path in folder.rglob("*")
    }


async def until(true: Callable[[], object]) -> None:
    async with asyncio.timeout(60):
        while not true():
            await asyncio.sleep(0.02)


async def ended(it: Listening, turn: str = "t1") -> TurnEnded:
    """The end of the turn, for which a race may take its time."""
    async with asyncio.timeout(120):
        while not (ends := [each for each in it.all(TurnEnded) if each.turn == turn]):
            await it.news()
    return ends[0]
