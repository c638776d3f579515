"""What calls need once a signature has changed: only those that fitted it, and only what they need."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from context.code.calls import calls, signatures
from context.code.languages import named_language
from session.next_edit.places import places_in
from session.next_edit.signature import fits, signature_changes


def after(language: str, before: str, now: str, text: str, name: str = "fun") -> list[str | None]:
    """The places in ``text`` as they should be, joined to a text each; None for the model's."""
    known = named_language(language)
    assert known is not None
    (change,) = signature_changes(signatures(known, before), signatures(known, now))
    assert change.name == name
    path = f"x{known.extensions[0]}"
    found = places_in(change, path, text.split("\n"))
    return [None if each.new is None else "\n".join(each.new) for each in found]


@pytest.mark.parametrize(
    ("before", "now", "text", "wanted"),
    [
        ("a, b", "a", "fun(1, 2)", ["fun(1)"]),
        ("a, b", "b", "x = y.fun(1, [2, 3])", ["x = y.fun([2, 3])"]),
        ("a, b", "", "fun(1, 2)", ["fun()"]),
        ("a, b", "a", "fun(1, b=2)", ["fun(1)"]),
        ("a, b", "a, c", "fun(1, b=2)", ["fun(1, c=2)"]),
        ("a, b", "a, c", "fun(1, 2)", []),
        ("a, b", "b, a", "fun(1, 2)", ["fun(2, 1)"]),
        ("a, b", "b, a", "fun(a=1, b=2)", []),
        ("a, *, b", "a, *, c", "fun(1, b=2)", ["fun(1, c=2)"]),
        ("a, b", "a, b, c", "fun(1, 2)", [None]),
        ("a, b", "a, b, c=3", "fun(1, 2)", []),
        ("a, b", "a, *, b", "fun(1, 2)", [None]),
        ("a, b", "a", "fun(*both)", []),
        ("a, b", "a", "fun(1)  # it has another fun\nprint('fun(1, 2)')", []),
        ("a, b", "a", "fun(\n    1,\n    2,  # two\n)", ["fun(\n    1,  # two\n)"]),
        ("a, b", "a", "fun(1, 2), fun(3, 4)", ["fun(1), fun(3)"]),
        ("a, b", "a", "fun(fun(1, 2), 3)", ["fun(fun(1))"]),
        ("a, b", "a", "fun(1, fun(2, 3))", [None]),
        ("a, *more", "b, a, *more", "fun(1, 2)", [None]),
        ("a, **more", "**more", "fun(1, c=2)", ["fun(c=2)"]),
        ("a: int, b: str", "a: float, b: str", "fun(1, '')", []),
    ],
)
def test_a_call_gets_what_it_needs(before: str, now: str, text: str, wanted: list[str | None]) -> None:
    assert after("python", f"def fun({before}): pass", f"def fun({now}): pass", text) == wanted


@pytest.mark.parametrize(
    ("language", "before", "now", "text", "wanted"),
    [
        ("python", "class Fun:\n  def __init__(self, a, b): 0", "class Fun:\n  def __init__(self, a): 0",
         "Fun(1, 2)", "Fun(1)"),
        ("go", "package m\nfunc fun(a, b int) {}", "package m\nfunc fun(a int) {}",
         "package m\nfunc m() { fun(1, 2) }", "func m() { fun(1) }"),
        ("rust", "fn fun(a: i32, b: &str) {}", "fn fun(b: &str, a: i32) {}",
         'fn m() { fun(1, "x"); }', 'fn m() { fun("x", 1); }'),
        ("typescript", "function fun(a: number, b?: string) {}", "function fun(b?: string) {}",
         'fun(1, "x")', 'fun("x")'),
        ("javascript", "const o = { fun(a, b) {} }", "const o = { fun(a) {} }",
         "o.fun(1, () => 2)", "o.fun(1)"),
        ("java", "class A { void fun(int a, String b) {} }", "class A { void fun(int a) {} }",
         'class B { void m() { this.fun(1, "x"); } }', "class B { void m() { this.fun(1); } }"),
        ("c", "int fun(int a, char *b) { return a; }", "int fun(char *b) { return 1; }",
         'int m() { return fun(1, "x"); }', 'int m() { return fun("x"); }'),
        ("ruby", "def fun(a, b)\nend", "def fun(a)\nend", "fun(1, 2)", "fun(1)"),
    ],
)  # fmt: skip
def test_other_languages(language: str, before: str, now: str, text: str, wanted: str) -> None:
    name = "Fun" if "Fun" in before else "fun"
    assert after(language, before, now, text, name) == [wanted]


def test_a_name_that_stands_for_two_functions_has_no_changed_signature() -> None:
    python = named_language("python")
    assert python is not None
    before = "class A:\n  def fun(self, a): 0\nclass B:\n  def fun(self, a): 0"
    found = signature_changes(
        signatures(python, before), signatures(python, before.replace("a): 0\nclass", "): 0\nclass"))
    )
    assert not found


NAMES = st.lists(st.sampled_from(["one", "two", "three", "four"]), unique=True, max_size=4)


@settings(max_examples=60)
@given(NAMES, NAMES, st.data())
def test_whatever_is_derived_fits_and_gives_each_parameter_the_value_it_had(
    before: list[str], now: list[str], data: st.DataObject
) -> None:
    if before == now:
        return
    by_place = data.draw(st.integers(0, len(before)))
    given_values = {name: f"v{number}" for number, name in enumerate(before)}
    written = [*(given_values[name] for name in before[:by_place])]
    written += [f"{name}={given_values[name]}" for name in before[by_place:]]
    python = named_language("python")
    assert python is not None
    old, new = (f"def fun({', '.join(names)}): pass" for names in (before, now))
    (change,) = signature_changes(signatures(python, old), signatures(python, new))
    places = list(places_in(change, "x.py", [f"fun({', '.join(written)})"]))
    if not places or places[0].new is None:
        return
    (line,) = places[0].new
    (call,) = calls(python, line, "fun")
    assert fits(call, change.new.parameters, line.encode())
    namespace: dict[str, object] = {value: value for value in given_values.values()}
    exec(f"def fun({', '.join(now)}): return dict(locals())\nmade = {line}", namespace)
    made = namespace["made"]
    assert isinstance(made, dict)
    for name in set(before) & set(now):
        assert made[name] == given_values[name]
