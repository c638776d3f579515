from __future__ import annotations

from typing import Any

from context.code.outline import exact_excerpt, excerpt, outline
from context.text.lines import TextLines

TEXT = """\
import os

LIMIT = 1


class Big:
    '''Doc.'''

    # Kept together.
    @staticmethod
    def long(
        first: int,
        second: int,
    ) -> int:
        return first

    def other(self) -> None:
        pass


setup = os.environ
print(setup)
"""
CODE = TEXT.splitlines()


def shown(*changed: range, outline_too: bool = True) -> str:
    return excerpt(CODE, outline("a.py", TEXT), changed, outline=outline_too)


def test_signatures_are_whole_and_gaps_are_counted() -> None:
    assert shown() == (
        "… 5 lines not shown\n"
        "class Big:\n"
        "    … 4 lines not shown\n"
        "    def long(\n        first: int,\n        second: int,\n    ) -> int:\n"
        "        … 2 lines not shown\n"
        "    def other(self) -> None:\n"
        "        … 5 lines not shown\n"
    )


def test_a_changed_symbol_is_shown_whole() -> None:
    whole = "".join(f"{line}\n" for line in CODE[8:15])
    assert shown(range(14, 15), outline_too=False) == (
        f"… 5 lines not shown\nclass Big:\n    … 2 lines not shown\n{whole}    … 7 lines not shown\n"
    )


def test_a_change_between_symbols_is_shown_with_the_lines_near_it() -> None:
    text = shown(range(21, 22))
    assert "print(setup)\n" in text and "setup = os.environ\n" in text


def test_removed_lines_are_shown_by_the_symbol_around_them() -> None:
    assert "        pass\n" in shown(range(17, 17))


def test_ranges_past_the_end_are_ignored() -> None:
    assert shown(range(500, 600)) and excerpt([], outline("a.py", ""), [range(0)]) == ""


class CountedLines(TextLines):
    """Counts the lines that are made."""

    __slots__ = ("made",)

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.made = 0

    def __getitem__(self, at: Any) -> Any:
        self.made += isinstance(at, int)
        return super().__getitem__(at)


def test_of_a_gap_only_the_lines_up_to_its_first_words_are_made() -> None:
    lines = CountedLines("first\n" + "\n" * 3 + "    inside\n" * 5_000 + "last\n")
    assert exact_excerpt(lines, [], [range(1)]) == "first\n    … 5004 lines not shown\n"
    assert lines.made < 10
