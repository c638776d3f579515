"""The data derived from a file's text is cached from window to window."""

from __future__ import annotations

import gc
import weakref

import pytest

from context.disk.source import Source
from context.index import file_text as module
from context.index.file_text import FileText, file_text
from context.text.words import words
from context.window.passage_words import count_words
from context.window.passages import passages

TEXT = """def readAll(read_size, 0xBEEF, x2y):
    read = read_read(12_read)

	class HTTPReader: pass  # read it all
"""


def test_each_version_of_a_file_is_analysed_once() -> None:
    first = file_text(Source("a.py", TEXT, "1"))
    assert file_text(Source("a.py", TEXT, "1")) is first
    changed = file_text(Source("a.py", TEXT + "y = 1\n", "2"))
    assert changed is not first
    assert len(changed.lines) == len(first.lines) + 1
    assert file_text(Source("a.py", "other\n", "1")).lines[:] == ["other"]


def test_the_cache_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MOST_CHARACTERS", 100)
    first = file_text(Source("a.py", "x" * 60, "1"))
    assert file_text(Source("a.py", "x" * 60, "1")) is first
    file_text(Source("b.py", "y" * 60, "2"))
    assert file_text(Source("a.py", "x" * 60, "1")) is not first


def test_what_is_derived_from_a_file_goes_with_it() -> None:
    file = FileText(Source("a.py", TEXT, "1"))
    assert passages(file) is passages(file)
    assert count_words({"a.py": file}, ["reader"]) == {"a.py": {"reader": {0: 1}}}
    gone = weakref.ref(file)
    del file
    gc.collect()
    assert gone() is None


def test_numbers_are_not_words() -> None:
    assert words("a[0xBEEF] = 12ul + read2(1e5); 0b1010 7z") == {"read2": 1}
    assert words("größe12 = 0xBEEF") == {"größe12": 1}


def test_lines_are_nothing_to_look_at_for_the_garbage_collector() -> None:
    """It looks at all that a tracked object refers to, and holds up all threads meanwhile."""
    file = file_text(Source("a.py", "value = 'many words'\n" * 20_000 + "token = 'xoxb'\n", "1"), b"\1")
    assert len(file.lines) == len(file.safe_lines) == 20_001
    assert file.starts[20_000] == 20_000 * 21 and file.tokens and file.long_definitions == ()
    kept = [value for value in vars(file).values() if gc.is_tracked(value)]
    assert kept and sum(len(gc.get_referents(value)) for value in kept) < 100
