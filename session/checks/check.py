"""A check: a command that says whether the project is in order."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from fnmatch import fnmatchcase

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
