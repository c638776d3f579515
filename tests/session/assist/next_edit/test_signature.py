"""What calls need once a signature has changed: only those that fitted it, and only what they need."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from context.code.languages import named_language
from context.code.uses import calls, signatures
from session.assist.next_edit.causes import places_in
from session.assist.next_edit.signature import fits, signature_changes
from tests.thorough import share


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


NAMES = ("one", "two", "three", "four")


def parameters(dice: random.Random) -> str:
    """Any list of parameters: with defaults, by name alone, and with the rest in a tuple or a dictionary."""
    made: list[str] = []
    by_name = optional = False
    for name in dice.sample(NAMES, dice.randint(0, 4)):
        if not by_name and dice.random() < 0.2:
            by_name = True
            made.append(dice.choice(["*", "*rest"]))
        default = dice.random() < 0.3 or (optional and not by_name)
        optional = optional or (default and not by_name)
        made.append(f"{name}=0" if default else name)
    if made and made[-1] == "*":
        made.pop()
    return ", ".join([*made, "**more"] if dice.random() < 0.15 else made)


def arguments(dice: random.Random) -> str:
    """Any arguments, each with a value of its own."""
    names, by_place = dice.sample(NAMES, 4), dice.randint(0, 4)
    values = [f"v{number}" for number in range(dice.randint(0, 4))]
    named = [f"{name}={value}" for name, value in zip(names, values[by_place:], strict=False)]
    return ", ".join([*values[:by_place], *named])


def called(listed: str, call: str) -> dict[str, object] | None:
    """What a function with these parameters gets by a call; None where the call fails."""
    space: dict[str, object] = {f"v{number}": f"v{number}" for number in range(4)}
    exec(f"def fun({listed}): return dict(locals())", space)
    try:
        got = eval(call, space)
    except TypeError:
        return None
    assert isinstance(got, dict)
    return got


@settings(max_examples=share(100, 25))
@given(st.randoms(use_true_random=False))
def test_whatever_is_derived_gives_each_parameter_the_value_it_had(dice: random.Random) -> None:
    python = named_language("python")
    assert python is not None
    before, now, call = parameters(dice), parameters(dice), f"fun({arguments(dice)})"
    found = [signatures(python, f"def fun({listed}): pass") for listed in (before, now)]
    for change in signature_changes(*found):
        was = called(before, call)
        places = list(places_in(change, "x.py", [call]))
        if was is None:
            assert not places, "it was no call of this function"
        elif not places:
            assert called(now, call) is not None, "it needs a change"
        elif places[0].new is not None:
            (made,) = places[0].new
            got = called(now, made)
            assert got is not None and [
                fits(each, change.new.parameters) for each in calls(python, made, "fun")
            ]
            for name in {*was, *got}.intersection(was, got) - {"rest", "more"}:
                assert was[name] in (got[name], 0)
