"""The checks of a project: those that are configured, and those that its files propose."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from session.checks.agreements import Agreements
from session.checks.check import Check, by_cost
from session.checks.proposals import propose


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
                known = ", ".join(self._checks) or "none: add [[checks]] to config.toml"
                raise UnknownCheckError(f"there is no check {name!r} here; there are: {known}")
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
