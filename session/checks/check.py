"""A check: a command that says whether the project is in order.

The tables ``[[checks]]`` of a configuration file hold the user's.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import Any

from session.base.text.sanitize import invisible_character
from session.base.text.tables import Table, TableError

FILES = "{files}"
"""The placeholder for the changed files in a command."""
TESTS = "{tests}"
"""The placeholder for the tests that reach the changed files; nothing stands there when all tests run."""
SECONDS = 300.0


class Kind(StrEnum):
    """The kinds of checks. Cheap kinds come first and run first."""

    SYNTAX = "syntax"
    LINT = "lint"
    TYPES = "types"
    TESTS = "tests"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Check:
    """A command for ``/bin/sh``, run at the project's root.

    ``files`` are patterns of the files it is about, all if there are none; ``**`` and ``*`` match across
    folders. Where the command contains ``{files}``, the changed files among them take its place; where it
    contains ``{tests}``, the files of the tests that are to run first, then nothing, which means all.
    """

    name: str
    command: str
    kind: Kind = Kind.OTHER
    seconds: float = SECONDS
    files: tuple[str, ...] = ()
    network: bool = False
    source: str = "config.toml"
    """The file that the check comes from, for the person who is asked to agree to it."""

    @property
    def takes_files(self) -> bool:
        """Whether the changed files are part of its command."""
        return FILES in self.command

    @property
    def takes_tests(self) -> bool:
        """Whether its command can be told which tests to run."""
        return TESTS in self.command

    def takes(self, path: str) -> bool:
        """Whether the check is about the file ``path``, relative to the root."""
        return not self.files or any(fnmatchcase(path, pattern) for pattern in self.files)

    def line(self, changed: Sequence[str] | None = None) -> str:
        """The shell line for the files in ``changed``, or for the whole project where that is None."""
        command = self.command.replace(TESTS, "").rstrip() if self.takes_tests else self.command
        if not self.takes_files:
            return command
        taken = ["."] if changed is None else [path for path in changed if self.takes(path)]
        return command.replace(FILES, _operands(taken))

    def only(self, tests: Sequence[str]) -> Check:
        """The same check for some of its tests, which are files."""
        return replace(self, command=self.command.replace(TESTS, _operands(tests)))


def by_cost(checks: Sequence[Check]) -> list[Check]:
    """The checks in the order to run them: the cheapest kind first."""
    order = list(Kind)
    return sorted(checks, key=lambda check: order.index(check.kind))


def _operands(paths: Sequence[str]) -> str:
    return shlex.join(_as_operand(path) for path in paths)


def _as_operand(path: str) -> str:
    """``path`` so that no program takes it for an option."""
    return f"./{path}" if path.startswith("-") else path


_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:-]{0,39}")
_MOST_SECONDS = 86_400
LONGEST_COMMAND = 2_000


def read_checks(values: Any, source: str = "config.toml") -> tuple[Check, ...]:
    """The checks of a file called ``source``. Raises TableError."""
    if not isinstance(values, Sequence) or isinstance(values, str):
        raise TableError("[[checks]] must be a list of tables, each under [[checks]]")
    checks = tuple(_check(number, each, source) for number, each in enumerate(values, 1))
    names = [check.name for check in checks]
    for name in names:
        if names.count(name) > 1:
            raise TableError(f"[[checks]] has {name!r} more than once; each check needs a name of its own")
    return checks


def _check(number: int, values: Any, source: str) -> Check:
    table = Table(f"[[checks]] number {number}", values)
    name = table.text("name")
    if not _NAME.fullmatch(name):
        raise table.wrong("needs a name of at most 40 letters, digits and any of _ . : -")
    check = Check(
        name,
        command=table.text("command"),
        kind=Kind(table.choice("kind", tuple(Kind), Kind.OTHER)),
        seconds=table.seconds("seconds", _MOST_SECONDS) or SECONDS,
        files=table.texts("files"),
        network=table.flag("network", default=False),
        source=source,
    )
    table.end()
    if problem := command_problem(check.command):
        raise table.wrong(problem)
    return check


def command_problem(command: str) -> str:
    """Why ``command`` cannot be a check's; empty if it can."""
    if not command.strip():
        return "needs a command that is not empty"
    if len(command) > LONGEST_COMMAND:
        return f"has a command of more than {LONGEST_COMMAND:,} characters; put it into a script"
    if hidden := invisible_character(command):
        return f"has a command with an invisible character ({hidden}); leave it out"
    if quoted := next((name for name in (FILES, TESTS) if _is_quoted(command, name)), ""):
        return f"has {quoted} between quotes in its command; leave these out, since each name gets its own"
    return ""


def _is_quoted(command: str, name: str) -> bool:
    """Whether ``name`` stands between quotes somewhere: there the shell would read file names as code."""
    quote, at = "", 0
    while at < len(command):
        if quote and command.startswith(name, at):
            return True
        char = command[at]
        if char == "\\" and quote != "'":
            at += 1
        elif char == quote:
            quote = ""
        elif char in "\"'`" and not quote:
            quote = char
        at += 1
    return False
