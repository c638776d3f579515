"""A resize wraps a long conversation in slices, and what is read stays where it is."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from itertools import islice

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some
from textual import events
from textual.geometry import Size
from textual.pilot import Pilot

from tests.tui.app.panes.test_chat import chat, shown
from tui.chat import painting
from tui.chat.chat import ChatView
from tui.chat.reading import Move
from tui.chat.transcript.answer import Answer
from tui.screen.drawing.rows import DRAWN_ONLY, Row

LINES = some.sampled_from(
    [
        "",
        "prose with `code` and **some** words that are wrapped in a narrow pane and not in a wide one",
        "- an item that is long enough to go on in another row, and then in one more of them",
        "## Heading",
        "```python",
        "```",
        "~~~",
        "def called(first, second=None, *others): return [each for each in others if each is not None]",
        "\tif x:\t# behind a tab, and so long that it goes on in another row of the pane",
        'text = """a string that is never closed',
        "漢字仮名交じり文の長い行がここにあり、狭い画面では折り返される。",
        "| a | b |",
        "| --- | --- |",
        "| a cell of many words that are wrapped | and another one of them |",
        "    four",
    ]
)
WIDTHS = some.integers(9, 120)


def look(rows: Sequence[Row]) -> list[tuple[str, str, int, str | None, str | None]]:
    return [(row.text, row.fill, row.skip, row.joint, row.raw) for row in rows]


def colours(rows: Sequence[Row]) -> list[tuple[str, str]]:
    """The characters of all code with their roles, but for blanks."""
    return [
        (letter, role)
        for row in rows
        if row.fill == "code_background" and row.skip != DRAWN_ONLY
        for text, role in row.spans[2:]
        for letter in text
        if not letter.isspace()
    ]


def answer(text: str, width: int, *, closed: bool) -> Answer:
    entry = Answer()
    for at in range(0, len(text), 37):
        entry.feed(text[at : at + 37])
        entry.settle(width)
    if closed:
        entry.close()
    entry.settle(width)
    return entry


@settings(deadline=None)
@given(
    lines=some.lists(LINES, max_size=60),
    before=WIDTHS,
    now=WIDTHS,
    closed=some.booleans(),
    late=some.lists(LINES, max_size=8),
    at=some.integers(0, 6),
    ends=some.booleans(),
)
def test_an_answer_that_is_wrapped_anew_reads_as_one_of_that_width(
    lines: list[str], before: int, now: int, closed: bool, late: list[str], at: int, ends: bool
) -> None:
    text = "\n".join(["begin", *lines])
    more = "" if closed else "\n".join(["", *late])
    entry = answer(text, before, closed=closed)
    drawn = colours(entry.rows)
    steps = entry.rewrap(now)
    for _ in islice(steps, at):
        pass
    for piece in (more[:5], more[5:]):  # it grows while it is being wrapped
        entry.feed(piece)
        entry.settle(now)
        next(steps, None)
    if ends:
        entry.close()
        entry.settle(now)
    for _ in steps:
        pass
    entry.settle(now)
    right = answer(text + more, now, closed=closed or ends)
    assert entry.width == now and look(entry.rows) == look(right.rows)
    assert entry.text == right.text and entry.blocks == right.blocks and entry.ending == right.ending
    if closed:
        assert colours(entry.rows) == drawn, "the colours are those that were seen"


@settings(deadline=None)
@given(
    lines=some.lists(LINES.filter(lambda line: "|" not in line), max_size=40),
    widths=some.tuples(WIDTHS, WIDTHS),
    folded=some.booleans(),
    data=some.data(),
)
def test_a_place_is_at_the_same_character_in_another_width(
    lines: list[str], widths: tuple[int, int], folded: bool, data: some.DataObject
) -> None:
    text = "\n".join(["begin", *lines])
    before, now = (answer(text, width, closed=True) for width in widths)
    row = data.draw(some.integers(0, len(before.rows) - 1))
    own = before.rows[row]
    if own.skip == DRAWN_ONLY or len(own.text) == own.skip:
        return
    column = data.draw(some.integers(own.skip, len(own.text) - 1))
    letter = own.text[column]
    if folded:
        now._folded = frozenset(range(len(now._stream.block_ends)))
        now._show()
    found, at = Move(before.rows, now.rows).of(row, column)
    there = now.rows[found]
    if there.raw is not None and "\n" in there.raw:
        assert own.text[own.skip :].strip() in there.raw or own.raw is not None, "it is in what is folded"
    elif letter not in " •":
        assert there.text[at] == letter


def test_a_block_that_was_folded_in_a_narrow_pane_is_shown_in_a_wide_one() -> None:
    entry = answer("```\n" + f"{'word ' * 60}\n" * 4 + "```\n", 30, closed=True)
    assert entry.fold(folded=True)
    entry.settle(30)
    assert any("more rows" in row.text for row in entry.rows)
    for _ in entry.rewrap(400):
        pass
    assert [row.text.count("word") for row in entry.rows] == [60] * 4
    assert not entry.toggle(1)
    for _ in entry.rewrap(60):
        pass
    assert any("more rows" in row.text for row in entry.rows) and entry.toggle(1)
    entry.settle(60)
    assert sum(row.text.count("word") for row in entry.rows) == 240


@pytest.fixture
def one_step_a_slice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(painting, "SLICE", 0)


def fill(view: ChatView) -> None:
    for number in range(300):
        view.text(f"paragraph {number} " + "of many words that are wrapped in the pane " * 3 + "\n\n")
        if number % 20 == 19:
            view.hunk(f"h{number}", f"file{number}.py", "update", "landed")
        if number % 100 == 50:
            view.text("```python\n" + "def f(first, second): return first + second\n" * 20 + "```\n")
    view.settle_now()


def waiting(view: ChatView) -> int:
    return sum(entry.width != view.transcript.width for entry in view.transcript.entries)


async def resize(view: ChatView, pilot: Pilot[None], width: int) -> None:
    """Resize the terminal as a driver does: Pilot's own way returns when nothing is left to do."""
    size = Size(width, 20)
    before = view.transcript.width
    pilot.app.post_message(events.Resize(size, size))
    while view.transcript.width == before:
        await asyncio.sleep(0)


async def all_wrapped(view: ChatView) -> None:
    while waiting(view):
        await asyncio.sleep(0.001)


@pytest.mark.usefixtures("one_step_a_slice")
async def test_keys_are_heard_while_a_long_conversation_is_wrapped() -> None:
    async with chat() as (view, pilot):
        fill(view)
        heard: list[int] = []
        view.keys.search = lambda: heard.append(waiting(view))  # type: ignore[method-assign]
        await resize(view, pilot, 33)
        view.post_message(events.Key("slash", "/"))
        while not heard:
            await asyncio.sleep(0)
        assert heard[0] > 0, "the key came before the last entry was wrapped"
        await all_wrapped(view)
        assert any("paragraph 299" in line for line in shown(view)) and view.following


@pytest.mark.usefixtures("one_step_a_slice")
@pytest.mark.parametrize("widths", [(33, 90), (120, 33, 60)])
@pytest.mark.parametrize("up", [40, 400, 1_000])
async def test_what_is_read_stays_the_first_row_in_sight(widths: tuple[int, ...], up: int) -> None:
    async with chat() as (view, pilot):
        fill(view)
        view.scroll_rows_by(-up)
        while (row := view.transcript.row(view.top)) is None or "paragraph" not in row.text:
            view.scroll_rows_by(-1)
        first = row.text.split(" of")[0]
        for width in widths:
            await resize(view, pilot, width)
            seen = 0
            while waiting(view):
                assert shown(view)[0].startswith(first)
                seen += 1
                await asyncio.sleep(0.001)
            assert shown(view)[0].startswith(first) and seen


@pytest.mark.usefixtures("one_step_a_slice")
async def test_the_end_stays_in_sight_while_the_answer_goes_on() -> None:
    async with chat() as (view, pilot):
        fill(view)
        await resize(view, pilot, 33)
        number = 0
        while waiting(view):
            number += 1
            view.text(f"late {number}\n")
            view.settle_now()
            assert any(f"late {number}" in line for line in shown(view))
            await asyncio.sleep(0.001)
        assert number > 3
        rows = whole(view)
        assert [row.strip() for row in rows if "late" in row] == [
            f"late {each + 1}" for each in range(number)
        ]
        assert all(len(row) <= 33 for row in rows)


def whole(view: ChatView) -> list[str]:
    rows = map(view.transcript.row, range(view.transcript.total))
    return [row.text if row is not None else "" for row in rows]


@pytest.mark.usefixtures("one_step_a_slice")
async def test_another_resize_in_the_midst_of_one_is_the_one_that_counts() -> None:
    async with chat() as (view, pilot):
        fill(view)
        for width in (90, 40, 77, 31, 50):
            await resize(view, pilot, width)
            assert waiting(view)
        await all_wrapped(view)
        resized = whole(view)
    async with chat((50, 20)) as (view, _):
        fill(view)
        assert resized == whole(view)


@pytest.mark.usefixtures("one_step_a_slice")
async def test_the_cursor_and_the_selection_stay_at_their_text() -> None:
    async with chat() as (view, pilot):
        fill(view)
        reading = view.reading
        reading.search("paragraph 150 of many words that are")
        assert reading.find(-1, view.transcript.total) is not None
        view.reveal_cursor()
        reading.anchor = reading.cursor
        reading.move(0, 12)
        assert reading.text() == "paragraph 150"[:12]
        for width in (33, 100, 47):
            await resize(view, pilot, width)
            while waiting(view):
                assert reading.text() == "paragraph 15"
                assert any("paragraph 150" in line for line in shown(view))
                await asyncio.sleep(0.001)


@pytest.mark.usefixtures("one_step_a_slice")
async def test_the_app_can_be_left_while_it_wraps() -> None:
    async with chat() as (view, pilot):
        fill(view)
        await resize(view, pilot, 33)
        assert waiting(view)
    left = waiting(view)
    assert left
    await asyncio.sleep(0.05)
    assert waiting(view) == left, "nothing is wrapped once the pane is gone"


def test_a_line_of_code_that_was_wrapped_while_it_streamed_is_copied_whole() -> None:
    entry = Answer()
    for piece in ("```python\n", "\tif first and second", ": return third, fourth", "\n```\n"):
        entry.feed(piece)
        entry.settle(20)
    assert "\tif first and second: return third, fourth" in [row.raw for row in entry.rows]
