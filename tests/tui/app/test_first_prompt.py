"""From Enter to the first token of a session's first prompt: what could be done before is done before."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from textual.screen import Screen

from tests.tui.stage import Stage, stage

PACKAGES = ("context", "edits", "session", "tui")
IMPORTS = """
import asyncio, pathlib, sys
from tests.tui.app.test_first_prompt import imported_by_the_first_prompt
print(*asyncio.run(imported_by_the_first_prompt(pathlib.Path(sys.argv[1]))), flush=True)
"""


class Imports:
    """Notes the modules that the event loop imports, and those of spark that any thread does."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        """Find nothing."""
        if threading.current_thread() is threading.main_thread() or name.split(".")[0] in PACKAGES:
            self.names.append(name)


async def warm(it: Stage) -> None:
    """Wait until all is loaded that is loaded behind the first frame."""
    behind = {"warming up", "opening the session", "reserving hunk ids"}
    await it.until(
        lambda: not behind & {task.get_name() for task in asyncio.all_tasks()}, "the end of what warms up"
    )
    await it.pilot.pause()


async def imported_by_the_first_prompt(folder: Path) -> list[str]:
    """The modules that are loaded between Enter and the first token."""
    imports = Imports()
    async with stage(folder) as it:
        await warm(it)
        sys.meta_path.insert(0, imports)
        await it.ask("just talk")
        await it.until(lambda: "Manners" in it.chat, "the first token")
        return imports.names.copy()


def test_the_first_prompt_imports_nothing(tmp_path: Path) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", IMPORTS, str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert (ran.returncode, ran.stdout) == (0, "\n"), ran.stdout + ran.stderr


async def test_the_conversation_begins_without_a_layout(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    laid_out: list[object] = []
    refresh = Screen._refresh_layout

    def counted(screen: Screen[Any], *arguments: Any, **named: Any) -> None:
        laid_out.append(screen)
        refresh(screen, *arguments, **named)

    async with stage(tmp_path) as it:
        await warm(it)
        monkeypatch.setattr(Screen, "_refresh_layout", counted)
        await it.ask("just talk")
        await it.until(lambda: "Manners" in it.screen, "the first token on the screen")
        assert "Say what should change" not in it.screen
        assert not laid_out
