"""What is left of a suggestion after edits: never anything but the way from the text as it is now to the text
that the suggestion was for."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from session.assist.suggest.answer import Region, read_insertion, read_rewrite
from session.assist.suggest.suggester import Memory
from session.assist.suggest.suggestion import (
    Insertion,
    Place,
    Rewrite,
    Suggestion,
    continues,
    place_at,
    remaining,
    rewrite,
)
from tests.thorough import share


def place(text: str) -> Place:
    """The place of ``|`` in a text."""
    before = text.partition("|")[0]
    lines = text.replace("|", "").split("\n")
    return place_at("a.py", lines, before.count("\n"), len(before.rpartition("\n")[2]))


def applied(lines: Sequence[str], made: Suggestion) -> str:
    """The text with a suggestion in it."""
    text = list(lines)
    if isinstance(made, Insertion):
        at, left = made.place.row, len(made.place.left)
        text[at] = text[at][:left] + made.text + text[at][left:]
    else:
        assert tuple(text[made.first : made.first + len(made.old)]) == made.old
        text[made.first : made.first + len(made.old)] = made.new
    return "\n".join(text)


def test_what_was_typed_is_taken_off() -> None:
    made = Insertion(place("def a|\n"), "rea(w, h):\n    return w * h")
    left = remaining(made, place("def area(|\n"))
    assert isinstance(left, Insertion) and left.text == "w, h):\n    return w * h"
    left = remaining(made, place("def area(w, h):\n    ret|\n"))
    assert isinstance(left, Insertion) and left.text == "urn w * h"


def test_it_does_not_fit_where_anything_else_was_changed() -> None:
    made = Insertion(place("x = 1\ndef a|\ny = 2\n"), "rea():")
    assert remaining(made, place("x = 1\ndef b|\ny = 2\n")) is None
    assert remaining(made, place("x = 2\ndef ar|\ny = 2\n")) is None
    assert remaining(made, place("x = 1\ndef ar|\ny = 3\n")) is None
    assert remaining(made, place("x = 1\ndef ar|\n\ny = 2\n")) is None
    assert remaining(made, place("\nx = 1\ndef ar|\ny = 2\n")) is None
    assert remaining(made, place("x = 1\ndef |\ny = 2\n")) is None
    assert remaining(made, place("x = 1\ndef area():|\ny = 2\n")) is None, "nothing is left of it"


def test_a_rewrite_is_as_small_as_it_can_be() -> None:
    at = place("a = 1\nprint(b|, c)\nd = 2")
    old = ("a = 1", "print(b, c)", "d = 2")
    assert rewrite(at, 0, old, old) is None
    assert rewrite(at, 0, old, ("a = 1", "print(b, x, c)", "d = 2")) == Insertion(at, ", x")
    made = rewrite(at, 0, old, ("a = 1", "print(x, c)", "d = 2"))
    assert made == Rewrite(at, 1, ("print(b, c)",), ("print(x, c)",))
    assert rewrite(at, 0, old, ("a = 1", "d = 2")) == Rewrite(at, 1, ("print(b, c)",), ())
    assert rewrite(at, 0, old, ("a = 1", "q", *old[1:])) == Rewrite(at, 1, (), ("q",))


def test_a_rewrite_shrinks_with_what_is_typed() -> None:
    at = place("to|(b)\nb = 1")
    made = rewrite(at, 0, ("to(b)", "b = 1"), ("total(c)", "c = 1"))
    assert made is not None
    left = remaining(made, place("tot|(b)\nb = 1"))
    assert left is not None and applied(["tot(b)", "b = 1"], left) == "total(c)\nc = 1"
    assert remaining(made, place("tox|(b)\nb = 1")) is None


def test_answers_are_read_as_models_give_them() -> None:
    at = place("def area(w, h):\n    ret|\n\n\nprint(1)\n")
    for said in ("urn w * h", "urn w * h\n", "    return w * h", "```python\n    return w * h\n```"):
        made = read_insertion(at, said, whole=True)
        assert made is not None and made.text == "urn w * h", said
    assert read_insertion(at, "", whole=True) is None
    assert read_insertion(at, "urn 1\x1b[2J", whole=True) is None, "what cannot be seen is not suggested"
    made = read_insertion(at, "urn w * h\n\n\nprint(1)", whole=True)
    assert made is not None and made.text == "urn w * h", "what follows is not repeated"
    closing = place("print(value|)")
    made = read_insertion(closing, ", end='')", whole=True)
    assert made is not None and made.text == ", end=''"


def test_blank_lines_at_the_ends_of_a_region_stay() -> None:
    lines = ("", "a = 1", "b|  = 2", "", "")
    at = place("\n".join(lines))
    region = Region(0, tuple(line.replace("|", "") for line in lines))
    made = read_rewrite(at, region, "a = 1\nb = 3\n")
    assert made is not None and applied(region.old, made) == "\na = 1\nb = 3\n\n"
    assert read_rewrite(at, region, "I cannot help with that, sorry.") is None


TEXTS = st.text("ab \n", min_size=1, max_size=6)
LINES = st.lists(st.text("ab ", max_size=4), min_size=1, max_size=6)


class Typing(RuleBasedStateMachine):
    """A user edits and moves, in a file that others change too; answers come late and in any order. What is
    shown leads from the text as it is to the text that one of the answers was for, and is at the cursor."""

    def __init__(self) -> None:
        super().__init__()
        self.lines = ["ab", ""]
        self.row, self.column = 1, 0
        self.memory = Memory()
        self.running: list[tuple[Place, tuple[str, ...]]] = []
        self.goals: dict[Place, str] = {}
        """The text with the last answer for each place."""
        self.shown: Place | None = None

    def now(self) -> Place:
        return place_at("a.py", self.lines, self.row, self.column)

    @rule(text=TEXTS)
    def types(self, text: str) -> None:
        line = self.lines[self.row]
        left, right = line[: self.column], line[self.column :]
        *whole, last = (left + text).split("\n")
        self.lines[self.row : self.row + 1] = [*whole, last + right]
        self.row, self.column = self.row + len(whole), len(last)

    @precondition(lambda self: self.shown is not None)
    @rule(length=st.integers(1, 5))
    def types_what_is_suggested(self, length: int) -> None:
        found = self.memory.find(self.now(), self.shown)
        if found is not None and isinstance(found.left, Insertion):
            self.types(found.left.text[:length])

    @rule()
    def erases(self) -> None:
        if self.column:
            line = self.lines[self.row]
            self.lines[self.row] = line[: self.column - 1] + line[self.column :]
            self.column -= 1

    @rule(data=st.data())
    def moves(self, data: st.DataObject) -> None:
        self.row = data.draw(st.integers(0, len(self.lines) - 1))
        self.column = data.draw(st.integers(0, len(self.lines[self.row])))

    @rule(lines=LINES, data=st.data())
    def somebody_else_changes_lines(self, lines: list[str], data: st.DataObject) -> None:
        row = data.draw(st.integers(0, len(self.lines)))
        gone = data.draw(st.integers(0, 1))
        if row < self.row:
            gone = min(gone, self.row - row)
            self.row += len(lines) - gone
        elif row == self.row:
            return
        self.lines[row : row + gone] = lines

    @precondition(lambda self: len(self.lines) > 1)
    @rule(line=st.text("ab ", max_size=4), step=st.sampled_from((-1, 1)))
    def somebody_else_changes_the_line_beside(self, line: str, step: int) -> None:
        row = self.row + step
        if 0 <= row < len(self.lines):
            self.lines[row] = line

    @rule()
    def asks(self) -> None:
        self.running.append((self.now(), tuple(self.lines)))

    @precondition(lambda self: self.running)
    @rule(data=st.data(), text=TEXTS, whole=st.booleans())
    def an_insertion_comes(self, data: st.DataObject, text: str, whole: bool) -> None:
        at = data.draw(st.integers(0, len(self.running) - 1))
        place, lines = self.running.pop(at) if whole else self.running[at]
        self.comes(place, lines, Insertion(place, text))

    @precondition(lambda self: self.running)
    @rule(data=st.data(), new=LINES)
    def a_rewrite_comes(self, data: st.DataObject, new: list[str]) -> None:
        place, lines = self.running.pop(data.draw(st.integers(0, len(self.running) - 1)))
        first = max(0, place.row - 1)
        old = lines[first : place.row + 2]
        self.comes(place, lines, rewrite(place, first, old, tuple(new)))

    def comes(self, place: Place, lines: Sequence[str], made: Suggestion | None) -> None:
        self.memory.keep(place, made)
        self.goals.pop(place, None)
        if made is not None:
            self.goals[place] = applied(lines, made)

    @rule()
    def refuses(self) -> None:
        self.memory.refuse(self.now())
        found = self.memory.find(self.now(), self.shown)
        assert found is None or found.left is None

    @invariant()
    def what_is_shown_fits(self) -> None:
        found = self.memory.find(self.now(), self.shown)
        left = found.left if found is not None else None
        self.shown = found.asked if found is not None and left is not None else None
        if found is None or left is None:
            return
        assert left.place == self.now()
        assert applied(self.lines, left) == self.goals[found.asked]
        assert applied(self.lines, left) != "\n".join(self.lines), "there is something to suggest"


TestTyping = Typing.TestCase
TestTyping.settings = settings(max_examples=share(150, 30), stateful_step_count=40, deadline=None)


def test_a_line_that_still_grows_is_no_suggestion() -> None:
    at = place("def area(w, h):|")
    texts = ["\n", "\n    ret", "\n    return w * h", "\n    return w * h\n", "\n    return w * h\n    pr"]
    made = [read_insertion(at, said, whole=False) for said in texts]
    assert [each and each.text for each in made] == [None] * 3 + ["\n    return w * h"] * 2


@pytest.mark.parametrize(
    ("before", "now", "same"),
    [
        ("rea(w):\n    pass", "a(w):\n    pass", True),
        ("rea(w):", "rea(w):", True),
        ("rea(w):", "rea(w):\n    pass", False),
        ("rea(w):", "ound():", False),
        ("", "rea(w):", False),
    ],
)
def test_the_rest_of_a_suggestion_goes_on_with_it(before: str, now: str, same: bool) -> None:
    at = place("def a|")
    assert continues(Insertion(at, before) if before else None, Insertion(at, now)) is same


def test_a_rewrite_keeps_most_of_the_words_however_they_are_laid_out() -> None:
    old = ("    total = add(one, two)", "    print(total)", "    return total")
    at = place("\n".join(old).replace("two", "two|"))
    region = Region(0, old)
    assert read_rewrite(at, region, "\n".join(old).replace("total", "sum_of_all")) is not None
    assert read_rewrite(at, region, "Sorry, I cannot tell\nwhat you mean by\nthese lines.") is None


def test_an_answer_that_is_made_to_be_compared_for_a_minute_is_not() -> None:
    old = tuple("e " * 150 + "." for _ in range(12))
    at = place_at("a.py", old, 5, 10)
    made = "\n".join(("e " * 199)[:399] + "." for _ in range(22))
    assert isinstance(read_rewrite(at, Region(0, old), made), Rewrite)
