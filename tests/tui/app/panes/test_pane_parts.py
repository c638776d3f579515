"""The plain parts of the panes: rows, Markdown, code, marks, the hunk in flight, text differences."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from session.base.events import Usage
from tui.chat.composer.cut_and_paste import Chips, is_big
from tui.chat.composer.history import History
from tui.chat.transcript.answer import Answer
from tui.chat.transcript.entries import HunkEntry
from tui.chat.transcript.markdown import MarkdownStream
from tui.chat.transcript.transcript import Prompt, Transcript
from tui.editor.colouring import Colouring, whole
from tui.editor.marks import Mark, Marks, shifted
from tui.editor.virtual_lines import DocRow, GhostRow, HunkInFlight
from tui.front.matching import best
from tui.front.words.figures import Meter
from tui.screen.drawing.code import CodeStream, lex, lexer_for
from tui.screen.drawing.plain import clipped, clipped_left, untabbed, visible
from tui.screen.drawing.rows import Row, wrap

DOCUMENT = '''# Title

Some **strong** and *soft* words with `code` and [a link](https://example.org/page).

1. one
2. two, which is rather long and has to be wrapped to the next row of the pane
   - nested
- [ ] to do
- [x] done

> quoted words

```python
def f(x: int) -> str:
    """A doc string
    over two lines."""
    return f"{x}"  # end


class Other:
    pass
```

---
After the rule.
'''


def texts(rows: list[Row]) -> list[str]:
    return [row.text.rstrip() for row in rows]


def test_markdown_is_drawn_without_its_marks() -> None:
    stream = MarkdownStream(60)
    stream.feed(DOCUMENT)
    stream.settle(closed=True)
    lines = texts(stream.rows)
    assert lines[0] == "  Title"
    assert "  Some strong and soft words with code and a link" in "\n".join(lines)
    assert "  1. one" in lines and any(
        line.startswith("     next row") or "of the pane" in line for line in lines
    )
    assert "  ☐ to do" not in lines and any("☐ to do" in line for line in lines)
    assert any("☑ done" in line for line in lines)
    assert "```" not in "\n".join(lines)
    assert stream.blocks == [DOCUMENT.split("```")[1].removeprefix("python\n")]
    assert all(cell_len(row.text) <= 60 for row in stream.rows)


@given(st.lists(st.integers(1, 9), min_size=1, max_size=80), st.integers(20, 70))
def test_streamed_in_any_pieces_markdown_ends_the_same(sizes: list[int], width: int) -> None:
    at_once = MarkdownStream(width)
    at_once.feed(DOCUMENT)
    at_once.settle(closed=True)
    pieces = MarkdownStream(width)
    at = 0
    for size in sizes:
        pieces.feed(DOCUMENT[at : at + size])
        pieces.settle()
        at += size
    pieces.feed(DOCUMENT[at:])
    pieces.settle(closed=True)
    assert texts(pieces.rows) == texts(at_once.rows)
    assert pieces.blocks == at_once.blocks


def test_rows_before_the_told_one_stay_as_they_were() -> None:
    stream = MarkdownStream(50)
    seen: list[Row] = []
    for at in range(0, len(DOCUMENT), 7):
        stream.feed(DOCUMENT[at : at + 7])
        first = stream.settle()
        assert stream.rows[:first] == seen[:first]
        seen = list(stream.rows)


def test_a_long_code_block_is_lexed_in_bounded_pieces() -> None:
    code = CodeStream(lexer_for(language="python"))
    most = 0
    for number in range(2000):
        code.append([f"def f{number}(x):", f"    return x + {number}", ""])
        most = max(most, len(code.settle("    # being typed")))
    assert most < 20


def test_an_endless_string_still_bounds_the_work() -> None:
    code = CodeStream(lexer_for(language="python"))
    code.append(['text = """'])
    most = 0
    for _ in range(1000):
        code.append(["words without an end"])
        most = max(most, len(code.settle(None)))
    assert most <= 122


def test_the_windows_colours_are_those_of_the_whole_file() -> None:
    lines = []
    for number in range(300):
        lines += [
            f"def f{number}(value: int) -> str:",
            '    """A doc',
            '    string."""',
            "    return str(value)",
            "",
        ]
    text = "\n".join(lines)
    right = whole("long.py", text)
    colouring = Colouring()
    colouring.reset("long.py", len(lines))
    for first in (0, 700, 333, 1400):
        colouring.prepare(lines.__getitem__, first, first + 50)
        assert [colouring.of(row) for row in range(first, first + 50)] == right[first : first + 50]


def test_an_unknown_language_is_plain() -> None:
    assert lexer_for(language="no-such-language") is None
    assert lex(None, ["a", ""]) == [[("a", ".text")], []]


@given(st.text("ab \n界", max_size=60), st.integers(2, 12))
def test_wrapped_rows_fit_and_lose_only_the_spaces_they_break_at(text: str, width: int) -> None:
    line = text.replace("\n", " ")
    rows = wrap([(line, "text")], width)
    assert all(cell_len(row.text) <= width for row in rows)
    assert "".join(row.text for row in rows).replace(" ", "") == line.replace(" ", "")


@pytest.mark.parametrize("char", ["\x1b", "\x07", "\x9b", "\x00", "\r", "\u202e", "\x7f", "\ud800"])
def test_control_characters_are_shown_never_sent(char: str) -> None:
    shown = visible(f"a{char}[31mb")
    assert char not in shown and cell_len(shown) == 7 and shown.isprintable()


def test_tabs_stop_where_the_editor_stops_them() -> None:
    assert untabbed("\ta\tb") == "    a   b"
    assert untabbed("界\tx") == "界  x"


def test_clipping_keeps_to_the_cells_it_was_given() -> None:
    assert clipped("abcdef", 4) == "abc…" and clipped("abc", 4) == "abc"
    assert clipped_left("src/deep/file.py", 8) == "…file.py"
    assert cell_len(clipped("界界界界", 5)) <= 5


@pytest.mark.parametrize(
    ("edit", "after"),
    [
        ((0, 0, 2), Mark("h", 7, 10)),
        ((0, 3, 1), Mark("h", 3, 6)),
        ((9, 1, 5), Mark("h", 5, 8)),
        ((6, 1, 3), Mark("h", 5, 10)),
        ((6, 1, 0), Mark("h", 5, 7)),
        ((5, 3, 0), None),
        ((5, 0, 2), Mark("h", 7, 10)),
        ((8, 0, 2), Mark("h", 5, 8)),
        ((0, 20, 20), Mark("h", 5, 8)),
        ((6, 4, 4), Mark("h", 5, 8)),
    ],
)
def test_marks_follow_edits_around_them(edit: tuple[int, int, int], after: Mark | None) -> None:
    assert shifted(Mark("h", 5, 8), *edit) == after


def test_marks_are_walked_through_all_files() -> None:
    marks = Marks()
    marks.set("b.py", Mark("h2", 4, 6))
    marks.set("a.py", Mark("h1", 9, 10))
    marks.set("b.py", Mark("h3", 1, 2))
    path, row, walked = "a.py", 0, []
    for _ in range(4):
        found = marks.neighbour(path, row, 1)
        assert found is not None
        path, row = found[0], found[1].start
        walked.append(found[1].hunk)
    assert walked == ["h1", "h3", "h2", "h1"]
    assert marks.neighbour("b.py", 4, -1) == ("b.py", Mark("h3", 1, 2))
    assert Marks().neighbour("", 0, 1) is None


def test_the_hunk_in_flight_lies_over_the_lines_it_replaces() -> None:
    flight = HunkInFlight("h1", "a.py", "update")
    flight.feed(" ", "keep\n")
    flight.feed("-", "old\n")
    assert flight.overlay(9).first is None
    flight.aim = (4, 6)
    flight.feed("+", "new ")
    flight.feed("+", "one\nnew t")
    overlay = flight.overlay(9)
    drawn = [overlay.at(row) for row in range(2, 9)]
    assert drawn[:3] == [DocRow(2), DocRow(3), DocRow(4, removed=True)]
    ghosts = ["".join(text for text, _ in row.spans) for row in drawn if isinstance(row, GhostRow)]
    assert ghosts == ["new one", "new t"]
    assert drawn[5:] == [DocRow(5), DocRow(6)]
    assert overlay.view_row(5) == 7 and overlay.tail == 6
    assert flight.growth == 0


def test_new_lines_stand_where_they_will_land_between_kept_ones() -> None:
    flight = HunkInFlight("h1", "a.py", "update")
    flight.aim = (1, 4)
    for kind, text in ((" ", "a"), ("+", "x"), (" ", "b"), ("+", "y"), ("-", "c")):
        flight.feed(kind, text + "\n")
    overlay = flight.overlay(3)
    kinds = [type(overlay.at(row)).__name__ for row in range(5)]
    assert kinds == ["DocRow", "GhostRow", "DocRow", "GhostRow", "DocRow"]


def test_the_history_keeps_the_draft_at_its_end() -> None:
    history = History(["one", "two", "one"])
    assert history.step(-1, "draft") == "one"
    assert history.step(-1, "one") == "two"
    assert history.step(-1, "two") is None
    assert history.step(1, "two") == "one"
    assert history.step(1, "one") == "draft"
    assert history.step(1, "draft") is None


def test_a_chip_stands_for_the_whole_paste() -> None:
    chips = Chips()
    big = "x = 1\n" * 500
    chip = chips.chip(big)
    assert is_big(big) and not is_big("a line")
    assert "501 lines" in chip and "3.0 KB" in chip and "\n" not in chip
    assert chips.whole(f"see {chip} and go") == f"see {big} and go"
    assert chips.around(f"ab{chip}", 5) == (2, len(chip) + 2)
    assert chips.around(f"ab{chip}", 2) is None


def test_fuzzy_finds_letters_in_order_names_first() -> None:
    paths = ["src/app_config.py", "app/main.py", "docs/applet.md", "lib/zzz.py"]
    assert best("app", paths, 9)[0][0] in ("src/app_config.py", "docs/applet.md")
    assert best("mn", paths, 9)[0][0] == "app/main.py"
    assert best("qqq", paths, 9) == []
    assert len(best("", paths, 2)) == 2


def test_the_meter_tells_the_speed_of_the_last_second_and_none_when_nothing_comes() -> None:
    meter = Meter()
    meter.begin(1000)
    assert meter.speed(0.0) is None
    for tenth in range(31):
        meter.took(400, tenth / 10)
    assert meter.used == 1000 + 3100 and meter.estimated
    assert meter.speed(3.0) == pytest.approx(1000, rel=0.15)
    assert meter.speed(9.0) is None
    meter.counted(Usage("t1", 1000, 0, 3000, 0))
    assert meter.used == 4000
    meter.took(400, 10.0)
    assert meter.speed(10.0) == pytest.approx(500), "a burst is not told as more than it was"
    meter.paused()
    assert meter.speed(10.0) is None


def test_the_transcript_finds_every_row_however_entries_change() -> None:
    rng = random.Random(7)
    transcript = Transcript(40)
    answers: list[Answer] = []
    hunks: list[HunkEntry] = []
    for step in range(300):
        choice = rng.random()
        if choice < 0.1:
            transcript.add(Prompt(f"prompt {step}"))
        elif choice < 0.2 or not answers:
            answers.append(Answer())
            answers[-1].feed("words ")
            transcript.add(answers[-1])
        elif choice < 0.3:
            hunks.append(HunkEntry(f"h{step}", "some/path.py", "update"))
            transcript.add(hunks[-1])
        elif choice < 0.4 and hunks:
            rng.choice(hunks).become("refused", "a long message " * rng.randint(1, 9))
        else:
            answers[-1].feed(f"and more words of number {step}\n")
        before = [transcript.row(at) for at in range(transcript.total)]
        changed = transcript.settle()
        after = [transcript.row(at) for at in range(transcript.total)]
        if changed is not None:
            assert before[:changed] == after[:changed]
    drawn = [row.text for row in after if row is not None]
    expected = [row.text for entry in transcript.entries for row in entry.rows]
    assert drawn == expected
    transcript.width = 25
    for entry in transcript.entries:
        for _ in entry.rewrap(25):
            pass
    transcript.recount()
    assert all(
        row is None or cell_len(row.text) <= 25 for row in map(transcript.row, range(transcript.total))
    )
