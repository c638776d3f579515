"""The checks of a project: those that are configured, and those that its files propose.

Which checks the user has agreed to run in a project, by the exact text of their commands.

Kept as JSON in the project's state folder. A command that changes by one character is not agreed to.

Checks that a project's own files suggest. Nothing is run for this, and nothing is agreed to by it.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from session.base.storage.private_files import StoreError, changed_alone, replace_private
from session.checks.check import Check, Kind, by_cost, command_problem

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


_WITH_NETWORK = "\0with network"
"""What a command with the network is marked with; no command holds such a character."""
_WITHOUT_WALLS = "\0without walls"
"""Stands for an agreement to all commands of the project where the machine has no walls."""


class Agreements:
    """The agreements of the project whose state is kept in ``folder``. Every method touches the disk."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._file = folder / "checks.json"

    def read(self) -> frozenset[str]:
        """The commands that were agreed to. Raises StoreError where their file cannot be read."""
        try:
            commands = json.loads(self._file.read_text("utf-8"))["agreed"]
            return frozenset(map(_text, commands))
        except FileNotFoundError:
            return frozenset()
        except (OSError, ValueError, KeyError, TypeError, RecursionError) as problem:
            raise StoreError(
                f"the agreements in {self._file} cannot be read ({problem}); repair or remove that file"
            ) from problem

    def add(self, checks: Iterable[Check]) -> None:
        """Agree to the commands of ``checks``. Raises StoreError."""
        self._change(added={_key(check) for check in checks})

    def revoke(self, checks: Iterable[Check]) -> None:
        """Take the agreement to the commands of ``checks`` back. Raises StoreError."""
        self._change(removed={_key(check) for check in checks})

    def agree_to_no_walls(self, agreed: bool) -> None:
        """Let commands run where the machine has no walls, or no longer. Raises StoreError."""
        self._change(*(((_WITHOUT_WALLS,), ()) if agreed else ((), (_WITHOUT_WALLS,))))

    def without_walls(self) -> bool:
        """Whether commands run where the machine has no walls. Raises StoreError."""
        return _WITHOUT_WALLS in self.read()

    def agreed(self, checks: Iterable[Check]) -> list[Check]:
        """Those of ``checks`` that were agreed to as they are now. Raises StoreError."""
        known = self.read()
        return [check for check in checks if _key(check) in known]

    def _change(self, added: Iterable[str] = (), removed: Iterable[str] = ()) -> None:
        try:
            with changed_alone(self._folder):
                commands = (self.read() | set(added)) - set(removed)
                replace_private(self._file, json.dumps({"agreed": sorted(commands)}, indent=1).encode())
        except OSError as problem:
            raise StoreError(f"the agreement cannot be kept in {self._file}: {problem.strerror}") from problem


def _key(check: Check) -> str:
    """The text that is agreed to: with the network it is another one, which no command can be."""
    return f"{check.command}{_WITH_NETWORK}" if check.network else check.command


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is not a command")
    return value


class UnknownCheckError(Exception):
    """A name that no check has; the message lists the names there are."""


class KnownChecks:
    """The checks of the project at ``root``, cheapest first. Configured ones come before proposed ones of the
    same name. Reads files, and writes only the agreements in ``folder``."""

    def __init__(self, root: Path, folder: Path, configured: Iterable[Check]) -> None:
        checks = {check.name: check for check in (*propose(root), *configured)}
        self._checks: Mapping[str, Check] = {check.name: check for check in by_cost(list(checks.values()))}
        self._agreements = Agreements(folder)

    def all(self) -> list[Check]:
        """Every check, agreed to or not."""
        return list(self._checks.values())

    def named(self, names: Sequence[str]) -> list[Check]:
        """The checks with these names, or all without any. Raises UnknownCheckError."""
        for name in names:
            if name not in self._checks:
                known = ", ".join(self._checks)
                told = (
                    f"there are: {known}" if known else "this project has none: add [[checks]] to config.toml"
                )
                raise UnknownCheckError(f"there is no check {name!r} here; {told}")
        return [check for check in self._checks.values() if not names or check.name in names]

    def agreed(self) -> list[Check]:
        """The checks that the user agreed to as they are now. Raises StoreError."""
        return self._agreements.agreed(self.all())

    def agree(self, checks: Iterable[Check]) -> None:
        """Agree to ``checks`` for this project. Raises StoreError."""
        self._agreements.add(checks)

    def revoke(self, checks: Iterable[Check]) -> None:
        """Take the agreement to ``checks`` back. Raises StoreError."""
        self._agreements.revoke(checks)
