"""The lines of a text."""

from __future__ import annotations

import re
import sys
import zlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from context.disk.source import Source
from context.index.file_text import FileText
from context.text import lines, safe, secrets, unseen
from context.text.lines import TextLines, line_slices, matches, replaced, split_lines
from context.text.safe import safe_text


@given(st.text(alphabet="a\n\r ü"), st.slices(6))
def test_lines_are_cut_as_they_are_split(text: str, part: slice) -> None:
    lines, split = TextLines(text), split_lines(text)
    assert [*lines] == split
    assert len(lines) == len(split)
    assert lines[part] == split[part]
    assert [*lines.starts] == [*accumulate((len(line) + 1 for line in split), initial=0)]


@given(st.text(alphabet="a\n\r üΣİ\ud800"), st.integers(0, 9))
def test_what_is_made_slice_by_slice_is_what_is_made_of_the_whole(text: str, size: int) -> None:
    file = FileText(Source("a.py", text, ""))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lines, "_SLICE", size)
        parts = [*line_slices(text)]
        assert "".join(parts) == text
        assert all(part.endswith("\n") for part in parts[:-1])
        assert [*TextLines(text)] == split_lines(text)
        assert [*file.sums] == [zlib.crc32(line.encode("utf-8", "surrogatepass")) for line in file.lines]
        assert file.lowered == text.lower()


def test_there_is_no_line_past_the_last() -> None:
    lines = TextLines("one\ntwo")
    assert lines[-1] == lines[1] == "two"
    with pytest.raises(IndexError):
        lines[2]


KEY = "sk-" + "a1B2" * 8
PARTS = ["x = 1\n", f'key = "{KEY}"\n', "\n", "api-key:\n  ", f"{KEY} ", '"', "Bearer\n", "é ", "a" * 30, " "]
PARTS += [
    'PASSWORD =\n "h4rd-to-guess-9x7"\n',
    "https://me:pass1@host/",
    "\u200b\u200b\u200b",
    "\u202e",
    "\f\r\n",
]


@given(st.lists(st.sampled_from(PARTS), max_size=40), st.integers(1, 40))
def test_what_is_found_slice_by_slice_is_what_is_found_in_the_whole(parts: list[str], size: int) -> None:
    text = "".join(parts)
    patterns = [pattern for name, _, _, pattern in secrets._rules().texts if name != "private key"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lines, "_SLICE", size)
        patch.setattr(lines, "_BEYOND", 300)
        for pattern in (*patterns, unseen._HIDING, safe._HELD):
            assert [found.span() for found in matches(pattern, text)] == [
                found.span() for found in pattern.finditer(text)
            ]
            assert replaced(pattern, lambda found: "*", text) == pattern.sub("*", text)
        secrets._redacted.cache_clear()
        sliced = safe_text(text)
    secrets._redacted.cache_clear()
    assert sliced == safe_text(text)


@dataclass
class Noted:
    """An expression that notes how many characters it looks at in one call."""

    pattern: re.Pattern[str]
    seen: list[int]

    def search(self, text: str, start: int = 0, end: int = sys.maxsize) -> re.Match[str] | None:
        self.seen.append(min(end, len(text)) - start)
        return self.pattern.search(text, start, end)

    def sub(self, stand_in: Callable[[re.Match[str]], str], text: str) -> str:
        self.seen.append(len(text))
        return self.pattern.sub(stand_in, text)


def test_a_long_text_is_made_safe_without_a_long_call(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []
    rules = secrets._rules()
    noted: Any = tuple(
        (name, needed, held, Noted(pattern, seen) if name != "private key" else pattern)
        for name, needed, held, pattern in rules.texts
    )
    monkeypatch.setattr(secrets, "_rules", lambda: replace(rules, texts=noted))
    for module, name in ((unseen, "_HIDING"), (safe, "_HELD")):
        monkeypatch.setattr(module, name, Noted(getattr(module, name), seen))
    line = f"desk-lamp = größe \u202e bearer {'x' * 40}\r\n"
    shown = safe_text(line * 10_000 + f'key = "{KEY}"\n')
    assert shown.kinds == ("API key", "hidden characters") and "[API key masked]" in shown.text
    assert max(seen) < 60_000
