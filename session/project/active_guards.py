"""Which guards hold edits back: the user's locks always, the others where somebody can be asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from edits.guards.guards import Locks, Protection


class GuardError(ValueError):
    """A guard's setting cannot be used."""


@dataclass(frozen=True, slots=True)
class GuardSettings:
    """The table ``[guards]`` of the user's ``config.toml``; a project's own file cannot loosen a guard."""

    deletes: int = 200
    """Lines that one hunk may take away on balance before it is held; 0 holds none."""
    secrets: bool = True
    dependencies: bool = True
    syntax: bool = True


def read_guards(table: Any) -> GuardSettings:
    """The settings in ``table``. Raises GuardError naming the key."""
    if not isinstance(table, Mapping):
        raise GuardError("[guards] must be a table")
    kinds = {name: type(value) for name, value in asdict(GuardSettings()).items()}
    for key, value in table.items():
        if key not in kinds:
            raise GuardError(f"[guards] {key!r} is no guard; there are {', '.join(kinds)}")
        if type(value) is not kinds[key] or (key == "deletes" and value < 0):
            wanted = "a whole number of lines" if kinds[key] is int else "true or false"
            raise GuardError(f"[guards] {key} must be {wanted}, not {value!r}")
    return GuardSettings(**table)


def asking(settings: GuardSettings, locks: Locks, ignored: Callable[[str], bool]) -> Protection:
    """The guards of a session whose user can be asked."""
    from context.code.syntax import fault
    from edits.guards.guards import Protection

    return Protection(
        locks=locks,
        most_deleted=settings.deletes or None,
        ignored=ignored,
        checker=fault if settings.syntax else None,
        dependencies=settings.dependencies,
        secrets=settings.secrets,
    )


def unattended(settings: GuardSettings, locks: Locks, ignored: Callable[[str], bool]) -> Protection:
    """The guards where nobody can be asked: what is locked, and files that may hold secrets."""
    from edits.guards.guards import Protection

    return Protection(locks=locks, ignored=ignored, dependencies=False, secrets=settings.secrets)


def locks_alone(locks: Locks) -> Protection:
    """The guards of edits that the user applies with their own hands."""
    from edits.guards.guards import Protection

    return Protection(locks=locks, dependencies=False, secrets=False)
