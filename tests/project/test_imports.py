"""The arrows of the architecture, and what starting up may import."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

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
HEAVY = (
    "textual",
    "httpx",
    "httpx2",
    "httpx2",
    "tiktoken",
    "tree_sitter",
    "websockets",
    "watchdog",
    "pygments",
    "prompt_toolkit",
    "rich",
    "keyring",
)


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


@pytest.mark.parametrize("arguments", [["--version"], ["--help"], ["exec", "--help"], ["partner", "--help"]])
def test_a_cold_start_imports_nothing_heavy(arguments: list[str]) -> None:
    script = (
        "import sys\n"
        "from tui.cli import main\n"
        f"sys.argv = ['spark', *{arguments!r}]\n"
        "try:\n    main()\nexcept SystemExit as end:\n    assert not end.code, end.code\n"
        f"print('HEAVY', [name for name in sys.modules if name.split('.')[0] in {HEAVY!r}])\n"
    )
    run = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    assert run.stdout.rstrip().endswith("HEAVY []"), run.stdout
