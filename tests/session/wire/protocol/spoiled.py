"""Whole answers of which one value is wrong, or one part is missing: every place in its turn."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

WRONG: tuple[Any, ...] = (
    None,
    True,
    -1,
    1.5e308,
    10**30,
    "",
    "x",
    "a\ud800",
    [],
    [1],
    [[]],
    {},
    {"a": 1},
    [{"type": "text"}],
)
"""Values of every kind that JSON has, most of them wrong wherever they stand."""


def spoiled(value: Any) -> Iterator[Any]:
    """Copies of ``value``, a JSON value, in each of which one value inside is another or is not there."""
    yield from WRONG
    if isinstance(value, dict):
        for name, inner in value.items():
            yield {key: each for key, each in value.items() if key != name}
            for other in spoiled(inner):
                yield {**value, name: other}
    elif isinstance(value, list):
        for at, inner in enumerate(value):
            for other in spoiled(inner):
                yield [*value[:at], other, *value[at + 1 :]]


def spoiled_answers(bodies: list[Any]) -> Iterator[list[Any]]:
    """Answers like ``bodies`` of which one body is spoiled, comes twice, or does not come."""
    for at, body in enumerate(bodies):
        yield bodies[:at] + bodies[at + 1 :]
        yield [*bodies[:at], body, *bodies[at:]]
        for other in spoiled(body):
            yield [*bodies[:at], other, *bodies[at + 1 :]]
