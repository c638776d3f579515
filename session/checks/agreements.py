"""Which checks the user has agreed to run in a project, by the exact text of their commands.

Kept as JSON in the project's state folder. A command that changes by one character is not agreed to.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from session.base.storage.line_files import StoreError
from session.base.storage.private_files import changed_alone, replace_private
from session.checks.check import Check

_WITH_NETWORK = "\0with network"
"""What a command with the network is marked with; no command holds such a character."""


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
