"""Which renames are found, and the order in which their places are offered."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from session.assist.next_edit.causes import NextPlace
from session.assist.next_edit.next_edits import Chain, Signal, State
from session.assist.next_edit.rename import Rename, renames
from session.project.definitions import definitions_in
from tests.thorough import share

BEFORE = ["def greet(name):", "    return name", "", "", "def part(name):", "    return greet(name)"]


def found(before: list[str], after: list[str]) -> tuple[Rename, ...]:
    defined = (definitions_in("a.py", "\n".join(lines)) for lines in (before, after))
    return renames("a.py", before, after, *defined)


def test_a_renamed_definition_is_found() -> None:
    assert found(BEFORE, ["def welcome(name):", *BEFORE[1:]]) == (Rename("greet", "welcome", "a.py", 0, 4),)


def test_a_class_and_a_method_are_found_as_well() -> None:
    before = ["class Store:", "    def find(self):", "        return 1"]
    after = ["class Shop:", "    def look(self):", "        return 1"]
    assert found(before, after) == (
        Rename("Store", "Shop", "a.py", 0, 6),
        Rename("find", "look", "a.py", 1, 8),
    )


def test_what_is_no_rename_gives_none() -> None:
    assert not found(BEFORE, ["def greet(name, word):", *BEFORE[1:]]), "a parameter more"
    assert not found(BEFORE, BEFORE[4:]), "a deleted definition"
    assert not found(BEFORE, ["def hello(name):", "    return name", "", "", *BEFORE]), "a new definition"
    assert not found(BEFORE, ["x = 1", *BEFORE[1:]])
    assert not found(["def ab(c):", "    return c"], ["def cd(c):", "    return c"]), "too short"
    assert not found(["def one(c):", "    return c"], ["class Other(c):", "    return c"]), "another line"


def test_a_local_variable_is_no_definition() -> None:
    before = ["def greet(name):", "    total = 1", "    return total"]
    assert not found(before, [line.replace("total", "amount") for line in before])


def test_one_of_two_classes_methods_an_attribute_and_a_type_with_an_impl_are_found() -> None:
    before = ["class A:", "    def find(self): 0", "class B:", "    def find(self):", "        self.size = 1"]
    after = [*before[:3], "    def look(self):", "        self.length = 1"]
    assert [str(each) for each in found(before, after)] == ["find → look", "size → length"]
    rust = ["struct Ring {", "    head: u8,", "}", "impl Ring {", "    fn f(&self) {}", "}"]
    now = ["struct Circle {", "    first: u8,", *rust[2:]]
    defined = (definitions_in("a.rs", "\n".join(lines)) for lines in (rust, now))
    assert [str(each) for each in renames("a.rs", rust, now, *defined)] == ["Ring → Circle", "head → first"]


NAME = st.from_regex(r"[a-z]{3,8}", fullmatch=True).filter(
    lambda name: name not in ("def", "return", "name", "pass")
)


@given(NAME, NAME, st.lists(st.sampled_from(["", "x = 1", "    pass"]), max_size=5))
def test_any_rename_of_a_function_is_found_wherever_it_stands(old: str, new: str, above: list[str]) -> None:
    if old == new:
        return
    above = [line for line in above if line != "    pass"]
    before = [*above, f"def {old}(name):", "    return name"]
    after = [*above, f"def {new}(name):", "    return name"]
    try:
        compile("\n".join(before), "", "exec"), compile("\n".join(after), "", "exec")
    except SyntaxError:
        return
    assert found(before, after) == (Rename(old, new, "a.py", len(above), 4),)


CAUSE = Rename("old", "new")


class Offers(RuleBasedStateMachine):
    """Whatever is pressed, one place is offered at a time, each at most once and in order."""

    def __init__(self) -> None:
        super().__init__()
        self.places = [NextPlace(CAUSE, "a.py", line, ("old",), ("new",)) for line in range(1, 5)]
        self.chain = Chain(self.places)
        self.settled = 0

    @rule(moved=st.integers(0, 9))
    def ready(self, moved: int) -> None:
        coming, was = self.chain.coming, self.chain.state
        now = replace(coming[0], line=moved) if coming else self.places[0]
        assert self.chain.ready(now) is (was is State.PREPARING)
        if was is State.PREPARING:
            assert self.chain.offered is now

    @rule()
    def take(self) -> None:
        was = self.chain.state
        assert self.chain.signal(Signal.TAKE) is (was is State.OFFERED)

    @rule()
    def pass_over(self) -> None:
        if self.chain.signal(Signal.SKIP):
            self.settled += 1

    @rule()
    def landed(self) -> None:
        if self.chain.signal(Signal.DONE):
            self.settled += 1

    @rule(sure=st.integers(0, 9))
    def end(self, sure: int) -> None:
        if sure == 0:
            self.chain.signal(Signal.END)
            assert self.chain.state is State.OVER

    @invariant()
    def offers_the_next_one(self) -> None:
        offered = self.chain.offered
        assert (offered is not None) is (self.chain.state is State.OFFERED)
        if offered is not None:
            assert offered.old == ("old",) and self.chain.number == self.settled + 1
        if self.settled == len(self.places):
            assert self.chain.state is State.OVER


Offers.TestCase.settings = settings(max_examples=share(200, 15), deadline=None)
TestOffers = Offers.TestCase
