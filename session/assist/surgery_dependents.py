"""Which landed hunks depend on another one: by the lines that it left, or by names that it defines."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

LEAST_NAME = 3
"""Characters of a name from which on a use of it says something."""


@dataclass(frozen=True, slots=True)
class Dependent:
    """A hunk that depends on ``on``, and why in words."""

    hunk: str
    path: str
    on: str
    why: str

    def __str__(self) -> str:
        return f"{self.hunk} {self.path}: {self.why}"


@dataclass(frozen=True, slots=True)
class Used:
    """The words of a hunk's new lines that its old ones lack."""

    path: str
    words: frozenset[str]


@dataclass(frozen=True, slots=True)
class Left:
    """What a hunk left for others: ``leaning`` are those that cannot stay when its lines go, ``defines`` the
    names that it defines, and ``imports`` the words of its imports, for the file at ``path`` alone."""

    leaning: frozenset[str]
    defines: frozenset[str]
    path: str = ""
    imports: frozenset[str] = frozenset()


def dependents(hunk: str, used: Mapping[str, Used], left: Callable[[str], Left]) -> tuple[Dependent, ...]:
    """The hunks that depend on ``hunk``, on one of those, and so on; in the order of ``used``."""
    found: dict[str, Dependent] = {}
    wanted = [hunk]
    while wanted:
        on = wanted.pop()
        gives = left(on)
        for name, each in used.items():
            if name in (hunk, on) or name in found:
                continue
            if why := _why(name, each, on, gives):
                found[name] = Dependent(name, each.path, on, why)
                wanted.append(name)
    return tuple(found[name] for name in used if name in found)


def _why(name: str, each: Used, on: str, gives: Left) -> str:
    if name in gives.leaning:
        return f"changes lines of {on}"
    given = gives.defines | gives.imports if each.path == gives.path else gives.defines
    names = sorted(word for word in given & each.words if len(word) >= LEAST_NAME)
    return f"uses {', '.join(names[:3])} of {on}" if names else ""


def defined(before: Collection[str], after: Collection[str]) -> frozenset[str]:
    """The last parts of the definitions' names in ``after`` that are not in ``before``, without those that a
    language itself looks for."""
    known = {_last(name) for name in before}
    names = {_last(name) for name in after}
    return frozenset(name for name in names - known if not (name.startswith("__") and name.endswith("__")))


def _last(name: str) -> str:
    return name.rpartition(".")[2]
