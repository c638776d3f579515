"""Checks that a project's own files suggest. Nothing is run for this, and nothing is agreed to by it."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from session.checks.check import Check, Kind
from session.checks.settings import command_problem

_LARGEST = 1_000_000
"""Bytes of a file that is read for proposals."""
_TARGETS = {
    "test": Kind.TESTS,
    "tests": Kind.TESTS,
    "lint": Kind.LINT,
    "typecheck": Kind.TYPES,
    "check": Kind.OTHER,
}
"""The names of scripts and targets that check a project."""
_TARGET = re.compile(r"^([A-Za-z][\w-]*)\s*:(?!=)", re.MULTILINE)
_NODE_PATH = 'PATH="$PWD/node_modules/.bin:$PATH";'
_PYTHON = ("*.py", "*.pyi")


def propose(root: Path) -> list[Check]:
    """The checks that the files in the folder ``root`` suggest, each name once, in the order of the files."""
    found: dict[str, Check] = {}
    for name, reader in _READERS.items():
        for check in reader(_read(root / name), root):
            if not command_problem(check.command):
                found.setdefault(check.name, check)
    return list(found.values())


def _pyproject(text: str, root: Path) -> Iterator[Check]:
    tools = _table(_table(_toml(text), "tool"))
    source = "pyproject.toml"
    if "ruff" in tools:
        yield Check("ruff", "ruff check {files}", Kind.LINT, files=_PYTHON, source=source)
    if "mypy" in tools:
        yield Check(
            "mypy", "mypy" if "files" in _table(tools, "mypy") else "mypy .", Kind.TYPES, source=source
        )
    if "pyright" in tools:
        yield Check("pyright", "pyright", Kind.TYPES, source=source)
    if "pytest" in tools or (text and (root / "tests").is_dir()):
        yield Check("pytest", "python -m pytest -q {tests}", Kind.TESTS, source=source)


def _package(text: str, root: Path) -> Iterator[Check]:
    del root
    try:
        scripts = _table(json.loads(text), "scripts")
    except (ValueError, RecursionError):
        return
    for name, kind in _TARGETS.items():
        script = scripts.get(name)
        if isinstance(script, str) and script.strip() and "no test specified" not in script:
            # The script's own text, not its name: that is what is run, and so what is agreed to.
            yield Check(f"npm-{name}", f"{_NODE_PATH} {script}", kind, source="package.json")


def _cargo(text: str, root: Path) -> Iterator[Check]:
    del root
    if _toml(text).keys() & {"package", "workspace"}:
        yield Check("cargo-check", "cargo check --offline --quiet", Kind.TYPES, source="Cargo.toml")
        yield Check("cargo-test", "cargo test --offline --quiet", Kind.TESTS, source="Cargo.toml")


def _go(text: str, root: Path) -> Iterator[Check]:
    del root
    if text:
        yield Check("go-vet", "go vet ./...", Kind.TYPES, source="go.mod")
        yield Check("go-test", "go test ./...", Kind.TESTS, source="go.mod")


def _make(text: str, root: Path) -> Iterator[Check]:
    del root
    targets = set(_TARGET.findall(text))
    for name, kind in _TARGETS.items():
        if name in targets:
            yield Check(f"make-{name}", f"make {name}", kind, source="Makefile")


_READERS: Mapping[str, Callable[[str, Path], Iterator[Check]]] = {
    "pyproject.toml": _pyproject,
    "package.json": _package,
    "Cargo.toml": _cargo,
    "go.mod": _go,
    "Makefile": _make,
}


def _read(file: Path) -> str:
    """The text of a regular file; empty if there is none, or it is too large or no text."""
    try:
        if not file.is_file() or file.stat().st_size > _LARGEST:
            return ""
        return file.read_text("utf-8")
    except (OSError, ValueError):
        return ""


def _toml(text: str) -> Mapping[str, Any]:
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError):
        return {}


def _table(value: Any, key: str = "") -> Mapping[str, Any]:
    """``value``, or its entry ``key``, if that is a table; else an empty one."""
    found = value.get(key) if key and isinstance(value, Mapping) else value
    return found if isinstance(found, Mapping) else {}
