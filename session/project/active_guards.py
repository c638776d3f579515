"""Chooses the guards that hold edits back: locks always, the others if a user can be asked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from session.base.text.tables import Table

if TYPE_CHECKING:
    from edits.guards.protection import Locks, Protection


@dataclass(frozen=True, slots=True)
class GuardSettings:
    """The table ``[guards]`` of the user's ``config.toml``; a project's file cannot change it."""

    deletes: int = 200
    """Most lines by which one hunk may shorten a file without a question; 0 means any number."""
    secrets: bool = True
    dependencies: bool = True
    syntax: bool = True
    runs: bool = True


def read_guards(values: Any) -> GuardSettings:
    """The settings in ``values``. Raises TableError."""
    table, usual = Table("[guards]", values), GuardSettings()
    settings = GuardSettings(
        deletes=table.whole("deletes", usual.deletes, least=0, unit="lines"),
        secrets=table.flag("secrets", usual.secrets),
        dependencies=table.flag("dependencies", usual.dependencies),
        syntax=table.flag("syntax", usual.syntax),
        runs=table.flag("runs", usual.runs),
    )
    table.end()
    return settings


def guards_with_user(settings: GuardSettings, locks: Locks, ignored: Callable[[str], bool]) -> Protection:
    """The guards of a session whose user can be asked."""
    from edits.guards.protection import Protection

    return Protection(
        locks=locks,
        most_deleted=settings.deletes or None,
        secret=_secret(settings, ignored),
        dependencies=settings.dependencies,
        sources=settings.dependencies,
        overwrites=True,
        runs=settings.runs,
        home=Path.home(),
    )


def guards_without_user(settings: GuardSettings, locks: Locks, ignored: Callable[[str], bool]) -> Protection:
    """The guards without a user to ask: locks, files that may hold secrets or run by themselves, and changes
    of where code comes from. A new package from where its kind comes from by itself lands."""
    from edits.guards.protection import Protection

    return Protection(
        locks=locks,
        secret=_secret(settings, ignored),
        dependencies=False,
        sources=settings.dependencies,
        runs=settings.runs,
        home=Path.home(),
    )


def locks_only(locks: Locks) -> Protection:
    """The guards of edits that the user applies by hand."""
    from edits.guards.protection import Protection

    return Protection(locks=locks, dependencies=False, sources=False)


def _secret(settings: GuardSettings, ignored: Callable[[str], bool]) -> Callable[[str], bool]:
    """Makes the test for files that may hold secrets: by their names, and only if git ignores them."""
    from context.text.secrets import may_hold_secrets

    return lambda path: settings.secrets and may_hold_secrets(path) and ignored(path)
