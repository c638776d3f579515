"""The states of a redirect by touch, and the note that is sent."""

from __future__ import annotations

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from tui.app.typing.touch_control import (
    MOST_LINES,
    STOOD,
    TABLE,
    Change,
    Lines,
    Signal,
    State,
    Touch,
    diff_lines,
    note,
)
from tui.editor.buffers.rows import Rows

PATH = "a.py"


def at(touch_text: list[str], hunk: str = "h1", start: int = 2, end: int = 4) -> Lines:
    return Lines(hunk, PATH, start, end, tuple(touch_text[start:end]))


def text() -> list[str]:
    return ["zero", "one", "two", "three", "four"]


def there(lines: list[str]) -> Touch:
    touch = Touch()
    touch.appeared("h1", 0.0)
    touch.put(at(lines), STOOD)
    assert touch.state is State.THERE
    return touch


def test_every_state_leads_back_to_away() -> None:
    for state in (State.THERE, State.TOUCHED):
        assert TABLE[state][Signal.GIVEN_UP] is State.AWAY


def test_a_hunk_must_stand_before_the_cursor_is_put_there() -> None:
    lines, touch = text(), Touch()
    touch.put(at(lines), 100.0)
    assert touch.state is State.AWAY, "an older hunk is no fresh one"
    touch.appeared("h1", 100.0)
    touch.put(at(lines), 100.0 + STOOD / 2)
    assert touch.state is State.AWAY, "a key that was on its way"
    assert not touch.changed(PATH, Rows(2, ("two",), ("xtwo",)), typed=True)
    touch.put(at(lines), 100.0 + STOOD)
    assert touch.changed(PATH, Rows(2, ("two",), ("xtwo",)), typed=True)
    assert not touch.changed(PATH, Rows(2, ("xtwo",), ("xytwo",)), typed=True), "it stops once"


def test_lines_that_are_deleted_and_typed_anew_are_still_those_of_the_hunk() -> None:
    lines = text()
    touch = there(lines)
    assert touch.changed(PATH, Rows(2, ("two", "three"), ()), typed=True)
    assert touch.changed(PATH, Rows(2, (), ("2", "3", "4")), typed=True) is False
    assert touch.changed(PATH, Rows(0, ("zero",), ("zero", "half")), typed=True) is False
    now = ["zero", "half", "one", "2", "3", "4", "four"]
    assert touch.saved(PATH, now) == Change("h1", PATH, 4, ("two", "three"), ("2", "3", "4"))
    assert touch.state is State.AWAY and touch.saved(PATH, now) is None, "sent once"


def test_lines_that_others_write_beside_it_are_not_the_users() -> None:
    touch = there(text())
    assert touch.changed(PATH, Rows(3, ("three",), ("drei",)), typed=True)
    touch.changed(PATH, Rows(4, (), ("landed",)), typed=False)
    touch.changed(PATH, Rows(2, (), ("landed",)), typed=False)
    change = touch.saved(PATH, ["zero", "one", "landed", "two", "drei", "landed", "four"])
    assert change is not None and change.after == ("two", "drei")


def test_a_rewritten_hunk_must_be_gone_to_again() -> None:
    touch = there(text())
    assert not touch.changed(PATH, Rows(2, ("two",), ("2",)), typed=False)
    assert touch.state is State.AWAY


def test_what_is_as_it_was_is_not_sent() -> None:
    lines = text()
    touch = there(lines)
    touch.changed(PATH, Rows(2, ("two",), ("xtwo",)), typed=True)
    touch.changed(PATH, Rows(2, ("xtwo",), ("two",)), typed=True)
    assert touch.saved(PATH, lines) is None and touch.state is State.AWAY


def test_the_note_is_a_small_diff_that_no_line_ends() -> None:
    change = Change("h3", "a.py", 7, ("keep", "old ```` x", "keep"), ("keep", "new", "keep"))
    assert note(change).split("\n") == [
        "I changed your hunk h3 in a.py, line 7:",
        "`````diff",
        " keep",
        "-old ```` x",
        "+new",
        " keep",
        "`````",
        "Go on from there.",
    ]
    long = note(Change("h3", "a.py", 1, (), tuple(map(str, range(1000)))))
    assert len(long.split("\n")) == MOST_LINES + 5 and "(940 more lines)" in long


class Machine(RuleBasedStateMachine):
    """Random edits by the user and by others, against the plain text and a list of what the user changed."""

    def __init__(self) -> None:
        super().__init__()
        self.touch = Touch()
        self.text = [f"line {number}" for number in range(8)]
        self.now = 0.0
        self.stood = False
        self.running = True
        self.stopped = 0

    @rule(seconds=st.sampled_from([0.1, 0.5]))
    def wait(self, seconds: float) -> None:
        self.now += seconds

    @rule()
    def land(self) -> None:
        if self.running:
            self.touch.appeared("h1", self.now)

    @precondition(lambda self: self.touch.state is not State.TOUCHED)
    @rule(start=st.integers(0, 8), length=st.integers(0, 3), elsewhere=st.booleans())
    def put(self, start: int, length: int, elsewhere: bool) -> None:
        end = min(len(self.text), start + length)
        start = min(start, end)
        self.touch.put(None if elsewhere else at(self.text, start=start, end=end), self.now)

    @rule(data=st.data(), typed=st.booleans())
    def change(self, data: st.DataObject, typed: bool) -> None:
        row = data.draw(st.integers(0, len(self.text)))
        gone = data.draw(st.integers(0, min(3, len(self.text) - row)))
        new = tuple(data.draw(st.lists(st.sampled_from("abc"), max_size=3)))
        rows = Rows(row, tuple(self.text[row : row + gone]), new)
        if rows.empty:
            return
        before, was = self.touch.lines, self.touch.state
        self.text[row : row + gone] = new
        stops = self.touch.changed(PATH, rows, typed=typed)
        self.stopped += stops
        if stops:
            assert typed and self.running and was is State.THERE and before is not None
            assert before.start <= row + gone and row <= before.end
            self.running = False

    @rule()
    def turn_over(self) -> None:
        self.running = False
        self.touch.turn_over()
        assert self.touch.state is not State.THERE

    @rule()
    def prompt(self) -> None:
        self.touch.turn_over()
        self.touch.give_up()
        self.running = True
        assert self.touch.state is State.AWAY

    @rule()
    def save(self) -> None:
        touched, lines = self.touch.state is State.TOUCHED, self.touch.lines
        change = self.touch.saved(PATH, self.text)
        assert change is None or (touched and change.before != change.after)
        if change is not None and lines is not None:
            assert list(change.after) == self.text[lines.start : lines.end]
            assert diff_lines(change.before, change.after)

    @invariant()
    def lines_are_in_the_text(self) -> None:
        lines = self.touch.lines
        assert (lines is None) == (self.touch.state is State.AWAY)
        assert lines is None or 0 <= lines.start <= lines.end <= len(self.text)


TestMachine = Machine.TestCase
TestMachine.settings = settings(max_examples=30, stateful_step_count=20, deadline=None)
