"""Which package may import which, and what starting up may import."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.checkout import ROOT
from tests.project.source import PACKAGES, imports, python_files
from tui.cli.main import COMMANDS

MAY_IMPORT = {
    "edits": set[str](),
    "context": set[str](),
    "session": {"edits", "context"},
    "tui": {"session", "themes"},
    "themes": set[str](),
}
SANS_IO = ("edits/formats", "session/wire/protocol")
IO_MODULES = {"asyncio", "socket", "ssl", "pathlib", "os", "io", "time", "websockets", "textual", "threading"}
LIBRARIES = (
    "anthropic",
    "distributed",
    "httpx",
    "httpx2",
    "keyring",
    "mcp",
    "openai",
    "pathspec",
    "prompt_toolkit",
    "pygments",
    "regex",
    "tiktoken",
    "watchdog",
    "websockets",
    "xllamacpp",
)
COLD = (*LIBRARIES, "asyncio", "context", "edits", "rich", "session", "ssl", "textual", "tree_sitter")
"""What no command needs to print its help."""
BEHIND_THE_FRAME = (
    *LIBRARIES,
    "context",
    "edits",
    "session.session",
    "session.base.events",
    "tui.editor.buffers.buffer",
    "tui.app.control.feed",
    "tui.editor.buffers.text_search",
    "tui.editor.virtual_lines",
    "tui.editor.signs",
    "tui.editor.editor",
    "tui.editor.shown_file",
    "tui.app.panes.later_panes",
)
"""What is loaded only after the first frame. Textual's own text area loads tree_sitter before it."""


@pytest.mark.parametrize("package", PACKAGES)
def test_a_package_imports_only_the_packages_below_it(package: str) -> None:
    wrong = [
        f"{file.relative_to(ROOT)}:{each.line} imports {each.name}"
        for file in python_files(package)
        for each in imports(file)
        if (top := each.name.split(".")[0]) in PACKAGES and top != package and top not in MAY_IMPORT[package]
    ]
    assert not wrong


@pytest.mark.parametrize("folder", SANS_IO)
def test_parsers_and_dialects_do_no_io(folder: str) -> None:
    files = python_files(folder)
    assert files
    wrong = [
        f"{file.relative_to(ROOT)}:{each.line} imports {each.name}"
        for file in files
        for each in imports(file)
        if each.name.split(".")[0] in IO_MODULES
    ]
    assert not wrong


def loaded(script: str, names: tuple[str, ...], **environment: str) -> list[str]:
    """Which modules among ``names``, or under them, a fresh interpreter has loaded after ``script``."""
    told = (
        f"\nnames = {names!r}\n"
        "print('LOADED', *(each for each in sys.modules if each.startswith(tuple(n + '.' for n in names))"
        " or each in names))\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", "import sys\n" + script + told],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, **environment},
    )
    return run.stdout.rpartition("LOADED")[2].split()


STARTS = """
import json, os, sys
from tui.cli.main import main

names, heavy = json.loads(sys.argv.pop())
for name in names:
    pid = os.fork()
    if not pid:
        told = os.dup(1)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        sys.argv = ["spark", name, *(["--help"] if not name.startswith("-") else [])]
        code = "it did not end"
        try:
            main()
        except SystemExit as end:
            code = end.code or 0
        below = tuple(f"{each}." for each in heavy)
        found = [each for each in sys.modules if each in heavy or each.startswith(below)]
        os.write(told, json.dumps([name, code, found]).encode() + b"\\n")
        os._exit(0)
    os.waitpid(pid, 0)
"""
"""Starts each command in a fork of an interpreter that has loaded what all of them begin with."""
STARTED = ("--version", "--help", *COMMANDS)


@pytest.fixture(scope="module")
def cold_starts() -> dict[str, tuple[object, list[str]]]:
    """For each command the exit code of its help, and the heavy modules that it loaded."""
    run = subprocess.run(
        [sys.executable, "-c", STARTS, json.dumps([STARTED, COLD])],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return {name: (code, heavy) for name, code, heavy in map(json.loads, run.stdout.splitlines())}


@pytest.mark.parametrize("command", STARTED)
def test_a_cold_start_imports_nothing_heavy(
    command: str, cold_starts: dict[str, tuple[object, list[str]]]
) -> None:
    assert cold_starts[command] == (0, [])


@pytest.mark.parametrize(
    ("module", "needless"),
    [
        ("tui.line.headless", ("textual", "rich")),
        ("tui.line.event_printers", ("textual", "rich", "session.session")),
    ],
)
def test_what_has_no_screen_loads_no_textual(module: str, needless: tuple[str, ...]) -> None:
    assert not loaded(f"import {module}\n", needless)


def test_the_first_frame_does_not_wait_for_the_session(tmp_path: Path) -> None:
    script = (
        "import asyncio\n"
        "from pathlib import Path\n"
        "from tui.cli import app_commands\n"
        "from tui.cli.options import opening\n"
        "import tui.app.run\n"
        "from tui.app.app import SparkApp\n"
        "from tui.app.session_start import SessionStart\n"
        "from tui.app.pending_session import PendingSession, first_frame_of\n"
        f"first = first_frame_of(opening(Path({str(tmp_path)!r})))\n"
        "SessionStart.fetch = lambda self, pending: self._app.exit()\n"
        "async def frame():\n"
        "    async with SparkApp(PendingSession(first, lambda: None), theme='dark').run_test() as pilot:\n"
        "        await pilot.pause()\n"
        "asyncio.run(frame())\n"
    )
    assert not loaded(script, BEHIND_THE_FRAME, HOME=str(tmp_path))
