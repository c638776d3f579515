"""The order of a project's files for one request, with the evidence for it, as the ranking makes it."""

from __future__ import annotations

import tomllib
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from heapq import merge
from importlib import resources
from itertools import chain
from typing import Any

from context.project.project_paths import Nearness, ProjectPaths

_TINY = 1e-9
"""A tiny score that sorts discounted files behind the others if none is near."""


@lru_cache(maxsize=1)
def settings() -> dict[str, Any]:
    """The tables of ``ranking.toml``."""
    return tomllib.loads(resources.files("context.find").joinpath("ranking.toml").read_text("utf-8"))


@dataclass(frozen=True, slots=True)
class Order:
    """All paths of a project, the likeliest to matter first and ties in path order; computed lazily.

    ``first`` are the files in hand, ``top`` those with any evidence, and ``negated`` their negated scores.
    ``near`` is the nearness of the folders.
    """

    first: tuple[str, ...]
    top: tuple[str, ...]
    negated: array[float]
    near: Nearness
    paths: ProjectPaths
    discount: Callable[[str], float]
    """Gives the factor by which a path's score is reduced, 1 for code that people edit."""

    def __iter__(self) -> Iterator[str]:
        yield from self.first
        known = {*self.first, *self.top}
        for _, path in merge(zip(self.negated, self.top, strict=True), self._rest(known)):
            yield path

    def folders(self) -> Iterator[str]:
        """The folders without repeats, those with the likeliest files first."""
        top = (path.rpartition("/")[0] for path in (*self.first, *self.top))
        told: set[str] = set()
        for folder in chain(top, chain.from_iterable(self.near.groups.values())):
            if folder not in told and folder in self.paths.folders:
                told.add(folder)
                yield folder

    def _rest(self, known: set[str]) -> Iterator[tuple[float, str]]:
        """All other paths by nearness, with discounted files placed by their reduced score."""
        groups = self.near.groups
        held: dict[float, list[str]] = {}

        def inside(near: float) -> Iterable[str]:
            if len(groups) == 1:  # Nothing is in hand, so these are all paths, already sorted.
                return self.paths.all
            if near not in held:
                folders = (self.paths.folders[folder] for folder in groups[near])
                held[near] = sorted(chain.from_iterable(folders))
            return held[near]

        weight: float = settings()["weights"]["near"]
        discounts = sorted({1.0, *settings()["discounts"].values()}, reverse=True)
        yield from merge(*(self._with_discount(discount, weight, inside, known) for discount in discounts))

    def _with_discount(
        self,
        discount: float,
        weight: float,
        inside: Callable[[float], Iterable[str]],
        known: set[str],
    ) -> Iterator[tuple[float, str]]:
        """The paths with this discount, by nearness, with their negated scores."""
        behind = _TINY * (1 - discount)
        for near in self.near.groups:
            for path in inside(near):
                if path not in known and self.discount(path) == discount:
                    yield behind - weight * near * discount, path


@dataclass(frozen=True, slots=True)
class Ranking:
    """The order of all paths, and their scores."""

    order: Order
    scores: Mapping[str, float]
    """The score of each path without nearness, which alone is no reason to show a file."""
    reasons: Mapping[str, str]
    """The strongest evidence of each path that has any, in words."""
    wanted: Mapping[str, float]
    """Weighted words by which parts of files are chosen."""
    held: Mapping[str, float] = field(default_factory=dict)
    """Weighted words of the files in hand, by which parts of other files are chosen as well."""
    asked: Mapping[str, float] = field(default_factory=dict)
    """Weighted words of the requests, without those of the paths of files in hand."""
    changed: bool = False
    """Whether words of changed lines are among those wanted, so that even "Go on." says something."""
