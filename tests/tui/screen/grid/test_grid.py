"""The grid writes what Textual's own painting writes: compared cell by cell in two terminals."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.color import ColorSystem
from rich.console import Console
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from tests.thorough import share
from tests.tui.screen.grid.emulators import Pyte, two_panes
from tui.screen.grid.grid import Grid
from tui.screen.grid.pens import Pens
from tui.screen.grid.writer import Abilities, abilities

WIDTH, HEIGHT = 24, 5
CONSOLE = Console(color_system="truecolor", force_terminal=True, width=WIDTH)
SAFE = ["a", "b", "Z", "0", " ", " ", " ", "─", "│", "é", "漢", "字", "e\u0301", "ツ"]
RISKY = ["👍", "👩\u200d💻", "☀\ufe0f", "❤", "1\ufe0f\u20e3", "🇩🇪"]

MARKS = "\x1b7\x1b[m" + "".join(f"\x1b[{y + 1};{WIDTH + 1}H|" for y in range(HEIGHT)) + "\x1b8"
"""Behind each row: tmux leaves erased cells at a row's end out of what it tells."""

Piece = tuple[str, Style | None]
Chop = tuple[int, list[Piece]]
"""The first cell of a piece of a row, and its text."""
Frame = list[tuple[int, int, list[Chop]]]
"""Rows with what of them is painted; a row where the pieces lie otherwise than before is painted whole."""

COLOURS = [None, "red", "bright_blue", "#102030", "#405060", "color(200)"]


def style(choose: random.Random, attributes: tuple[str, ...]) -> Style | None:
    if choose.random() < 0.2:
        return None
    said = {name: True for name in attributes if choose.random() < 0.15}
    return Style(color=choose.choice(COLOURS), bgcolor=choose.choice(COLOURS), **said)  # type: ignore[arg-type]


def pieces(choose: random.Random, width: int, letters: list[str], attributes: tuple[str, ...]) -> list[Piece]:
    """Styled text of exactly ``width`` cells."""
    out: list[Piece] = []
    left = width
    while left:
        count = min(left, choose.randint(1, 12))
        text, used = "", 0
        if choose.random() < 0.3:
            text, used = choose.choice([" ", "a", "─"]) * count, count
        while used < count:
            letter = choose.choice(letters)
            size = Segment(letter).cell_length
            if used + size <= count:
                text, used = text + letter, used + size
        out.append((text, style(choose, attributes)))
        left -= used
    return out


def frames(choose: random.Random, count: int, letters: list[str], attributes: tuple[str, ...]) -> list[Frame]:
    """Frames as a compositor makes them."""
    cuts: dict[int, list[int]] = {}
    shown: dict[tuple[int, int], list[Piece]] = {}
    out: list[Frame] = []
    for number in range(count):
        rows: Frame = []
        for y in range(HEIGHT):
            anew = number == 0 or choose.random() < 0.2
            if not anew and choose.random() < 0.4:
                continue
            if anew:
                cuts[y] = sorted({0, WIDTH, *choose.sample(range(1, WIDTH), choose.randint(0, 3))})
            chops: list[Chop] = []
            for x, end in zip(cuts[y], cuts[y][1:], strict=False):
                if anew or choose.random() < 0.7:
                    moved = shown.get((choose.randrange(HEIGHT), x))
                    if (
                        moved is None
                        or Strip(Segment(*each) for each in moved).cell_length != end - x
                        or choose.random() < 0.5
                    ):
                        moved = pieces(choose, end - x, letters, attributes)
                    shown[(y, x)] = moved
                    chops.append((x, moved))
            rows.append((y, WIDTH, chops))
        out.append(rows)
    return out


def plain(frame: Frame) -> str:
    """A frame as Textual writes it."""
    out = ""
    for y, _, chops in frame:
        for x, texts in chops:
            strip = Strip([Segment(text, drawn) for text, drawn in texts])
            out += f"\x1b[{y + 1};{x + 1}H" + strip.render(CONSOLE)
    return out


class Painter:
    """The grid, fed with frames."""

    def __init__(self, can: Abilities) -> None:
        self.grid = Grid(WIDTH, HEIGHT, Pens(ColorSystem.TRUECOLOR), can)

    def paint(self, frame: Frame) -> str:
        for y, _, chops in frame:
            for x, texts in chops:
                self.grid.paint(x, y, [Segment(text, drawn) for text, drawn in texts])
        return self.grid.frame((0, 0))


SEEDS = st.integers(0, 2**32)
"""Frames are drawn from a seed: what hypothesis draws itself for a frame is too large for it."""
KNOWN_TO_PYTE = ("bold", "italic", "underline", "reverse", "strike")


@settings(max_examples=share(300, 40), deadline=None)
@given(SEEDS, st.booleans(), st.integers(1, 8))
def test_every_cell_is_as_plain_painting_has_it(seed: int, erase: bool, count: int) -> None:
    choose = random.Random(seed)
    painter = Painter(Abilities(erase=erase))
    ours, theirs = Pyte(WIDTH, HEIGHT), Pyte(WIDTH, HEIGHT)
    for frame in frames(choose, count, SAFE, KNOWN_TO_PYTE):
        ours.feed(painter.paint(frame))
        theirs.feed(plain(frame))
        assert ours.cells() == theirs.cells()


def scrolled(choose: random.Random, before: Frame, letters: list[str]) -> tuple[tuple[int, int, int], Frame]:
    """Rows from one to before another and by how many they move, and the whole screen after that. Some of
    what moved is changed at the same time."""
    top = choose.randrange(HEIGHT - 1)
    bottom = choose.randint(top + 2, HEIGHT)
    by = choose.choice([-1, 1]) * choose.randint(1, bottom - top)
    after: Frame = []
    for y in range(HEIGHT):
        source = y + by if top <= y < bottom else y
        kept = (top <= source < bottom or source == y) and choose.random() < 0.8
        chops = before[source][2] if kept else [(0, pieces(choose, WIDTH, letters, KNOWN_TO_PYTE))]
        after.append((y, WIDTH, chops))
    return (top, bottom, by), after


@settings(max_examples=share(200, 30), deadline=None)
@given(SEEDS, st.booleans(), st.booleans())
def test_every_cell_is_right_after_rows_moved(seed: int, erase: bool, scroll: bool) -> None:
    choose = random.Random(seed)
    painter = Painter(Abilities(erase=erase, scroll=scroll))
    ours, theirs = Pyte(WIDTH, HEIGHT), Pyte(WIDTH, HEIGHT)
    shown: Frame = [(y, WIDTH, [(0, pieces(choose, WIDTH, SAFE, KNOWN_TO_PYTE))]) for y in range(HEIGHT)]
    ours.feed(painter.paint(shown))
    for _ in range(4):
        moved, shown = scrolled(choose, shown, SAFE)
        painter.grid.scroll(*moved)
        ours.feed(painter.paint(shown))
        theirs.feed(plain(shown))
        assert ours.cells() == theirs.cells()


def test_rows_that_moved_are_not_written_again() -> None:
    painter = Painter(Abilities(erase=True, scroll=True))
    row = Style(color="#aabbcc", bgcolor="#102030")
    texts: list[list[Piece]] = [[(f"row {number}".ljust(WIDTH), row)] for number in range(HEIGHT + 1)]
    painter.paint([(y, WIDTH, [(0, texts[y])]) for y in range(HEIGHT)])
    painter.grid.scroll(0, HEIGHT, 1)
    written = painter.paint([(y, WIDTH, [(0, texts[y + 1])]) for y in range(HEIGHT)])
    assert written == f"\x1b[1;{HEIGHT}r\x1b[1H\x1b[1M\x1b[r\x1b[{HEIGHT}H\x1b[Krow {HEIGHT}\x1b[1H"


@settings(max_examples=share(60, 15), deadline=None)
@given(SEEDS)
def test_what_something_else_wrote_is_gone_after_a_full_frame(seed: int) -> None:
    choose = random.Random(seed)
    painter = Painter(Abilities(erase=True))
    ours, theirs = Pyte(WIDTH, HEIGHT), Pyte(WIDTH, HEIGHT)
    first, *_ = frames(choose, 1, SAFE, KNOWN_TO_PYTE)
    ours.feed(painter.paint(first))
    theirs.feed(plain(first))
    for _ in range(choose.randint(1, 4)):
        ours.feed(f"\x1b[{choose.randint(1, HEIGHT)};{choose.randint(1, WIDTH)}H\x1b[1;4;41mnoise 漢")
    painter.grid.forget()
    ours.feed(painter.paint(first))
    assert ours.cells() == theirs.cells()


class Narrow(Pyte):
    """A terminal that takes each emoji for one cell."""

    def feed(self, data: str) -> None:
        for letter in RISKY:
            data = data.replace(letter, "x")
        super().feed(data)


class Broad(Pyte):
    """A terminal that takes each emoji for four cells."""

    def feed(self, data: str) -> None:
        for letter in RISKY:
            data = data.replace(letter, "wxyz")
        super().feed(data)


@pytest.mark.parametrize("terminal", [Narrow, Broad])
@settings(max_examples=share(60, 15), deadline=None)
@given(seed=SEEDS)
def test_a_terminal_with_other_widths_for_emoji_has_all_other_cells_right(
    terminal: type[Pyte], seed: int
) -> None:
    choose = random.Random(seed)
    painter = Painter(Abilities(erase=True))
    ours, theirs = terminal(WIDTH, HEIGHT), Pyte(WIDTH, HEIGHT)
    letters = ["a", "b", " ", "─", *RISKY]
    for frame in frames(choose, 4, letters, KNOWN_TO_PYTE):
        ours.feed(painter.paint(frame))
        # In the other terminal an emoji is two letters, so that nothing can be out of place.
        told = [
            (y, end, [(x, [(_spelled(text), drawn) for text, drawn in texts]) for x, texts in chops])
            for y, end, chops in frame
        ]
        theirs.feed(plain(told))
        for y, (row, other) in enumerate(zip(ours.cells(), theirs.cells(), strict=True)):
            for x, (one, two) in enumerate(zip(row, other, strict=True)):
                if two[0] != "#":
                    assert one == two, (x, y)


def _spelled(text: str) -> str:
    for letter in RISKY:
        text = text.replace(letter, "#" * Segment(letter).cell_length)
    return text


@pytest.mark.e2e
def test_tmux_shows_every_cell_as_plain_painting_has_it(tmp_path: Path) -> None:
    seeds = random.Random(20)
    attributes = (
        "bold",
        "dim",
        "italic",
        "underline",
        "underline2",
        "blink",
        "reverse",
        "conceal",
        "strike",
        "overline",
    )
    with two_panes(tmp_path, WIDTH + 1, HEIGHT + 1) as (ours, theirs):
        for number in range(25):
            seed = seeds.randrange(10**9)
            choose = random.Random(seed)
            painter = Painter(Abilities(erase=True, repeat=number % 2 == 0))
            for pane in (ours, theirs):
                pane.feed("\x1b[m\x1b[2J\x1b[?7l")
            for frame in frames(choose, 4, [*SAFE, "👍"], attributes):
                ours.feed(painter.paint(frame) + MARKS)
                theirs.feed(plain(frame) + MARKS)
                assert ours.cells() == theirs.cells(), seed


@pytest.mark.e2e
def test_tmux_shows_every_cell_after_rows_moved(tmp_path: Path) -> None:
    seeds = random.Random(21)
    with two_panes(tmp_path, WIDTH + 1, HEIGHT + 1) as (ours, theirs):
        for _ in range(12):
            seed = seeds.randrange(10**9)
            choose = random.Random(seed)
            painter = Painter(Abilities(erase=True, scroll=True, repeat=True))
            shown: Frame = [
                (y, WIDTH, [(0, pieces(choose, WIDTH, SAFE, KNOWN_TO_PYTE))]) for y in range(HEIGHT)
            ]
            for pane in (ours, theirs):
                pane.feed("\x1b[m\x1b[2J\x1b[?7l")
            ours.feed(painter.paint(shown) + MARKS)
            for _ in range(4):
                moved, shown = scrolled(choose, shown, SAFE)
                painter.grid.scroll(*moved)
                ours.feed(painter.paint(shown) + MARKS)
                theirs.feed(plain(shown) + MARKS)
                assert ours.cells() == theirs.cells(), seed


def test_a_frame_like_the_last_takes_nothing() -> None:
    painter = Painter(Abilities(erase=True))
    frame: Frame = [(0, WIDTH, [(0, [("def ", Style(bold=True)), ("f" * (WIDTH - 4), None)])])]
    assert painter.paint(frame)
    assert painter.paint(frame) == ""


def test_only_what_changed_is_written() -> None:
    painter = Painter(Abilities(erase=True))
    row = Style(color="#aabbcc", bgcolor="#102030")
    painter.paint([(1, WIDTH, [(0, [("abc", row), (" " * (WIDTH - 3), row)])])])
    assert (
        painter.paint([(1, WIDTH, [(0, [("abcd", row), (" " * (WIDTH - 4), row)])])]) == "\x1b[2;4Hd\x1b[1H"
    )
    cleared = painter.paint([(1, WIDTH, [(0, [(" " * WIDTH, row)])])])
    assert cleared == "\r\n    \x1b[1H"


def test_each_colour_is_set_once_in_a_frame() -> None:
    painter = Painter(Abilities(erase=True))
    one, two = (Style(color=colour, bgcolor="#102030") for colour in ("#aabbcc", "#ddeeff"))
    words: list[Piece] = [(word, two if word == "." else one) for word in ("some", ".", "name", ".", "here")]
    written = painter.paint([(0, WIDTH, [(0, [*words, (" " * (WIDTH - 14), one)])])])
    assert written.count("\x1b[38;2;221;238;255m") == written.count("38;2;170;187;204") == 1


def test_text_that_controls_a_terminal_is_not_written() -> None:
    painter = Painter(Abilities())
    written = painter.paint([(0, WIDTH, [(0, [("a\x1b[2Jb\nc\x9bd", None)])])])
    assert "a[2Jbcd" in written


@pytest.mark.parametrize(
    ("environ", "can"),
    [
        ({"TERM": "xterm-256color"}, Abilities(erase=True, scroll=True)),
        ({"TERM": "xterm-256color", "VTE_VERSION": "7006"}, Abilities(erase=True, scroll=True, repeat=True)),
        ({"TERM": "xterm-kitty"}, Abilities(erase=True, scroll=True, repeat=True)),
        ({"TERM": "screen-256color"}, Abilities()),
        (
            {"TERM": "screen", "TERM_PROGRAM": "tmux", "TERM_PROGRAM_VERSION": "3.3a"},
            Abilities(erase=True, scroll=True, repeat=True),
        ),
        (
            {"TERM": "tmux-256color", "TERM_PROGRAM": "tmux", "TERM_PROGRAM_VERSION": "2.9"},
            Abilities(erase=True, scroll=True),
        ),
        ({"TERM": "tmux-256color"}, Abilities(erase=True, scroll=True)),
        ({"TERM": "vt100"}, Abilities()),
        ({}, Abilities()),
    ],
)
def test_abilities_are_those_that_are_known(environ: dict[str, str], can: Abilities) -> None:
    assert abilities(environ) == can
