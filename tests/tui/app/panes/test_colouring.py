"""The colours of a file's rows: only those that an edit took are lexed, and in the end all are right."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from pygments.lexer import Lexer

from tui.editor import colouring
from tui.editor.colouring import Colouring, whole
from tui.screen.drawing.code import lex

TEXT = "".join(f"def f_{n}(a):\n    '''Says {n}.'''\n    return a + {n}  # {n}\n" for n in range(40)) + "\n"


class Text:
    """Lines, and how often each was read."""

    def __init__(self, text: str) -> None:
        self.lines = text.split("\n")
        self.colours = Colouring()
        self.colours.reset("a.py", len(self.lines))

    def edit(self, row: int, new: list[str], gone: int = 1) -> None:
        self.lines[row : row + gone] = new
        self.colours.edited(row, gone, len(new))

    def coloured(self, first: int, last: int) -> bool:
        """Whether the rows have the colours of the whole file."""
        self.colours.prepare(self.lines.__getitem__, first, last)
        right = whole("a.py", "\n".join(self.lines))
        return [self.colours.of(row) for row in range(first, last)] == right[first:last]


def test_after_a_key_only_the_rows_up_to_it_are_lexed(monkeypatch: pytest.MonkeyPatch) -> None:
    text = Text(TEXT)
    assert text.coloured(30, 70)
    lexed: list[str] = []

    def noting(lexer: Lexer | None, lines: Sequence[str], *, most: int = 0) -> list[list[tuple[str, str]]]:
        lexed.extend(lines)
        return lex(lexer, lines, most=most)

    monkeypatch.setattr(colouring, "lex", noting)
    text.edit(35, ["    return b + 1  # 2"])
    text.colours.prepare(text.lines.__getitem__, 30, 70)
    assert "    return b + 1  # 2" in lexed and len(lexed) < 8
    assert text.coloured(30, 70)


def test_a_string_that_is_opened_colours_the_rows_below_once_the_typing_rests() -> None:
    text = Text(TEXT)
    assert text.coloured(0, 30)
    text.edit(2, ['    text = """'])
    assert not text.coloured(0, 30)
    text.colours.doubt()
    assert text.coloured(0, 30)
    text.edit(2, ["    text = 1"])
    text.colours.doubt()
    assert text.coloured(0, 30)


def test_rows_that_come_into_view_and_rows_that_come_and_go_are_coloured() -> None:
    text = Text(TEXT)
    assert text.coloured(40, 60)
    assert text.coloured(20, 60) and text.coloured(50, 90)
    text.edit(55, ["    x = 1", "    y = 'two'", "# three"], 2)
    assert text.coloured(45, 75)
