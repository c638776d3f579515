"""Which faults are found in a piece of code, and that each is put where it belongs."""

from __future__ import annotations

import pytest

from tests.mutate.operators import defaults_of, mutations


def changes(code: str) -> list[str]:
    source = code.encode()
    return [one.change for one in mutations("a.py", source, defaults_of(iter([source])))]


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("x = a < b", ["a < b → (a <= b)"]),
        ("x = a in b", ["a in b → (a not in b)"]),
        ("x = a and b", ["a and b → (a or b)"]),
        ("x = not a", ["not a → (a)"]),
        ("x = a + b", ["a + b → (a - b)"]),
        ("x = a + 'é'", []),
        ("x = 3", ["3 → 4"]),
        ("x = True", ["True → False"]),
        ("x = ''", ["'' → 'x'"]),
        ("x = a[b:]", ["b: → b + 1:", "b: → b:-1"]),
        ("f(a)", ["f(a) → pass"]),
        ("x = sorted(a, key=b)", ["key=b → nothing"]),
        ("while a:\n  break", ["a → (not (a))", "break → continue"]),
        ("if a:\n  b()", ["a → (not (a))", "a → False", "b() → pass"]),
        ("def f() -> int:\n  return g()", ["return g() → return None"]),
        ("def f(a=b): ...\nx = f(a=b)", []),
        ("def f(a=b): ...\nx = f(a=c)", ["a=c → nothing"]),
        ("def f(a): ...\nx = f(a=c)", []),
        ("x: Literal[3] = y", []),
        ("assert a < b", []),
        ("if TYPE_CHECKING:\n  import b", []),
        ("log.info(1)", []),
        ("def __repr__(self): return a + b", []),
        ("@dataclass(slots=True)\nclass A: ...", []),
        ("__all__ = ['']", []),
        ('"""A text."""', []),
    ],
)
def test_the_faults_of_a_piece_of_code(code: str, found: list[str]) -> None:
    assert changes(code) == found


def test_a_fault_changes_its_own_place_only() -> None:
    source = "é = 'é'\ndef f(a=1):\n    return a <\\\n        2\n".encode()
    one, two, three, four = mutations("a.py", source, {})
    assert one.applied(source) == source.replace(b"a=1", b"a=2")
    assert (one.in_function, two.in_function) == (False, True)
    assert {(fault.line, fault.first, fault.last) for fault in (two, three)} == {(3, 3, 4)}
    assert four.applied(source) == source.replace(b" 2\n", b" 3\n") and four.line == 4
