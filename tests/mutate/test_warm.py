"""Code that runs already is given a fault, or it is said that it cannot be."""

from __future__ import annotations

from types import FunctionType
from typing import Any

import pytest

from tests.mutate.warm import exchange

BEFORE = b"""
def plain(a): return a + 1
def outer(a):
    def inner(): return a + 2
    return inner
class Kept:
    def method(self): return [one + 3 for one in (0,)]
made = outer(0)
"""


def running() -> dict[str, Any]:
    names: dict[str, Any] = {}
    exec(compile(BEFORE, "a.py", "exec", dont_inherit=True), names)
    return names


def functions(names: dict[str, Any]) -> list[FunctionType]:
    return [names["plain"], names["outer"], names["Kept"].method, names["made"]]


@pytest.mark.parametrize(
    ("old", "new", "results"),
    [
        (b"a + 1", b"a - 1", [-1, 2, 2, [3]]),
        (b"a + 2", b"a - 2", [1, -2, -2, [3]]),
        (b"one + 3", b"one", [1, 2, 2, [0]]),
    ],
)
def test_functions_closures_and_methods_run_the_fault(old: bytes, new: bytes, results: list[object]) -> None:
    names = running()
    assert exchange(functions(names), BEFORE, BEFORE.replace(old, new), "a.py")
    assert [names["plain"](0), names["outer"](0)(), names["made"](), names["Kept"]().method()] == results


@pytest.mark.parametrize(("old", "new"), [(b"outer(0)", b"outer(1)"), (b"return a + 2", b"return None")])
def test_code_outside_functions_and_other_names_in_closures_cannot_be_exchanged(
    old: bytes, new: bytes
) -> None:
    assert not exchange(functions(running()), BEFORE, BEFORE.replace(old, new), "a.py")
