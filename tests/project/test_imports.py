"""The arrows of the architecture, and what starting up may import."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tui.cli import COMMANDS

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("edits", "context", "session", "tui", "themes")
MAY_IMPORT = {
    "edits": set[str](),
    "context": set[str](),
    "session": {"edits", "context"},
    "tui": {"session", "themes"},
    "themes": set[str](),
}
SANS_IO = ("edits/formats", "session/protocol")
IO_MODULES = {"asyncio", "socket", "ssl", "pathlib", "os", "io", "time", "websockets", "textual", "threading"}
LIBRARIES = (
    "anthropic",
    "httpx",
    "httpx2",
    "keyring",
    "mcp",
    "openai",
    "pathspec",
    "prompt_toolkit",
    "pygments",
    "tiktoken",
    "watchdog",
    "websockets",
    "xllamacpp",
)
COLD = (*LIBRARIES, "asyncio", "context", "edits", "rich", "session", "ssl", "textual", "tree_sitter")
"""What the help of a command has no use for."""
BEHIND_THE_FRAME = (
    *LIBRARIES,
    "context",
    "edits",
    "session.session",
    "session.events",
    "tui.app.feed",
    "tui.app.desk",
)
"""What is loaded once the first frame is there; tree_sitter is not named, which Textual's text area loads."""


def modules(folder: str) -> Iterator[Path]:
    for file in sorted((ROOT / folder).rglob("*.py")):
        if "sample" not in file.relative_to(ROOT).parts:
            yield file


def imports(file: Path) -> Iterator[tuple[int, str]]:
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}:{node.lineno}: imports name their package in full"
            yield node.lineno, node.module or ""


@pytest.mark.parametrize("package", PACKAGES)
def test_packages_import_only_what_stands_below_them(package: str) -> None:
    wrong = [
        f"{file.relative_to(ROOT)}:{line} imports {name}"
        for file in modules(package)
        for line, name in imports(file)
        if (top := name.split(".")[0]) in PACKAGES and top != package and top not in MAY_IMPORT[package]
    ]
    assert not wrong


@pytest.mark.parametrize("folder", SANS_IO)
def test_parsers_and_dialects_touch_no_outside(folder: str) -> None:
    files = list(modules(folder))
    assert files
    wrong = [
        f"{file.relative_to(ROOT)}:{line} imports {name}"
        for file in files
        for line, name in imports(file)
        if name.split(".")[0] in IO_MODULES
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


@pytest.mark.parametrize(
    "arguments",
    [["--version"], ["--help"], *([name, "--help"] for name in COMMANDS)],
    ids=lambda words: words[0],
)
def test_a_cold_start_imports_nothing_heavy(arguments: list[str]) -> None:
    script = (
        "from tui.cli import main\n"
        f"sys.argv = ['spark', *{arguments!r}]\n"
        "try:\n    main()\nexcept SystemExit as end:\n    assert not end.code, end.code\n"
    )
    assert not loaded(script, COLD)


def test_the_first_frame_waits_for_nothing_of_the_session(tmp_path: Path) -> None:
    script = (
        "import asyncio\n"
        "from pathlib import Path\n"
        "from tui.commands.sessions import open_command\n"
        "from tui.commands.options import opening\n"
        "import tui.app.run\n"
        "from tui.app.app import SparkApp\n"
        "from tui.app.pending_session import Coming, look_at\n"
        f"look = look_at(opening(Path({str(tmp_path)!r})))\n"
        "SparkApp._fetch = lambda self, coming: self.exit()\n"
        "async def frame():\n"
        "    async with SparkApp(Coming(look, lambda: None), theme='dark').run_test() as pilot:\n"
        "        await pilot.pause()\n"
        "asyncio.run(frame())\n"
    )
    assert not loaded(script, BEHIND_THE_FRAME, HOME=str(tmp_path))
