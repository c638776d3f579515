"""Outlines files of languages without a grammar: definitions by keywords, and their ends by indentation.

A definition ends before the next line that is not indented deeper than its first one, and with that line if
it only closes it (``end``, ``}``). What is found is less exact than by a grammar.
"""

from __future__ import annotations

import re

from context.code.plain_languages import PlainLanguage
from context.code.symbols import CUT, Symbol

_WIDEST = 100
"""Length at which a signature is cut."""
_LONGEST_LINE = 400
"""Length of a line above which no definition is looked for in it."""
_MOST_LINES = 40_000
"""Number of lines that are looked at."""
_TAB = 8
_CLOSES = re.compile(r"(?:end|fi|done|esac|endfunction|endif|endmacro)\b|[})\]]")
_OPENS = re.compile(r"\s*(?:\{|do|=>|=|->|:|where|then|\\)?\s*$")


def plain_symbols(language: PlainLanguage, text: str) -> tuple[Symbol, ...]:
    """The definitions of a text, in order."""
    lines = text.split("\n")[:_MOST_LINES]
    found: list[tuple[int, int, str, str]] = []
    for at, line in enumerate(lines):
        if line.strip() and len(line) <= _LONGEST_LINE and not line.lstrip().startswith(language.comments):
            for kind, pattern in language.patterns:
                match = pattern.match(line)
                if match is not None:
                    found.append((at, _indent(line), kind, match[1].strip()))
                    break
    ends = _ends(lines)
    symbols: list[Symbol] = []
    around: list[Symbol] = []
    for at, _, kind, name in found:
        while around and around[-1].end <= at:
            around.pop()
        start, doc = _comment_above(lines, at, language.comments)
        inside = any(symbol.kind == "function" for symbol in around)
        symbol = Symbol(
            kind, name, _signature(lines[at]), doc, start, ends[at], at, at + 1, len(around), inside
        )
        symbols.append(symbol)
        around.append(symbol)
    return tuple(symbols)


def _indent(line: str) -> int:
    expanded = line.expandtabs(_TAB)
    return len(expanded) - len(expanded.lstrip())


def _ends(lines: list[str]) -> list[int]:
    """For each line, one past the last line of a definition that begins in it."""
    ends = [at + 1 for at in range(len(lines))]
    open_lines: list[tuple[int, int]] = []
    last = 0
    for at, line in enumerate(lines):
        if not line.strip():
            continue
        indent = _indent(line)
        closes = _CLOSES.match(line.lstrip()) is not None
        opens = line.strip() == "{"
        while open_lines and (open_lines[-1][1] > indent or (open_lines[-1][1] == indent and not opens)):
            begin, begins = open_lines.pop()
            ends[begin] = at + 1 if closes and begins == indent else last
        if not opens:
            open_lines.append((at, indent))
        last = at + 1
    for begin, _ in open_lines:
        ends[begin] = last
    return ends


def _comment_above(lines: list[str], at: int, comments: tuple[str, ...]) -> tuple[int, str]:
    """The first line of the comment right above a definition, and the first words of it."""
    start = at
    while start and lines[start - 1].lstrip().startswith(comments):
        if lines[start - 1].startswith("#!"):
            break
        start -= 1
    if start == at:
        return at, ""
    told = lines[start].strip()
    for mark in sorted(comments, key=len, reverse=True):
        told = told.removeprefix(mark)
    told = told.strip(' *#/-;!"')
    return start, told if len(told) <= _WIDEST else f"{told[: _WIDEST - 1]}{CUT}"


def _signature(line: str) -> str:
    told = _OPENS.sub("", line.strip()) or line.strip()
    return told if len(told) <= _WIDEST else f"{told[: _WIDEST - 1].rstrip()}{CUT}"
