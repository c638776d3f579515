"""Measures what parsing costs: 1 MB of answer in each format, at several chunk sizes.

Run it with ``python -m tests.bench.parse_bench``. Time per character must not depend on the size of the
answer: the same text at a quarter of the length is measured beside it. Memory is the most that the parser
held beyond the events it gave, while a long unfinished hunk grows.
"""

from __future__ import annotations

import gc
import json
import time
import tracemalloc
from collections.abc import Callable

from edits.formats.detect import AutoParser
from edits.hunk import Format

MEGABYTE = 1_000_000
CHUNKS = (1, 7, 64, None)
PROSE = "I changed the loop so that it ends, see `run` in src/app.py, and kept the rest as it was.\n"


def _v4a(number: int) -> str:
    lines = "".join(f" line {number} {i}\n-old {i}\n+new {i}\n" for i in range(6))
    return f"*** Begin Patch\n*** Update File: src/f{number}.py\n@@ def f{number}():\n{lines}*** End Patch\n"


def _search_replace(number: int) -> str:
    old = "".join(f"    old line {number} {i}\n" for i in range(6))
    return f"src/f{number}.py\n```python\n<<<<<<< SEARCH\n{old}=======\n{old}    more\n>>>>>>> REPLACE\n```\n"


def _unified(number: int) -> str:
    lines = "".join(f" line {number} {i}\n-old {i}\n+new {i}\n" for i in range(6))
    return f"--- a/src/f{number}.py\n+++ b/src/f{number}.py\n@@ -{number},12 +{number},12 @@\n{lines}\n"


def _json(number: int) -> str:
    old = "".join(f'    old = "line" {i}\n' for i in range(8))
    edit = {"path": f"src/f{number}.py", "old_string": old, "new_string": old + "more → 😀\n"}
    return json.dumps(edit) + "\n"


def _whole(number: int) -> str:
    text = "".join(f"    line {number} {i}\n" for i in range(12))
    return f"src/f{number}.py\n```python\n{text}```\n"


def _prose(number: int) -> str:
    return PROSE + f"- point {number}\n"


def _json_in_one(size: int) -> str:
    return json.dumps({"path": "a.py", "old_string": "x", "new_string": 'a\n"b" ' * (size // 9)}) + "\n"


def _one_chunk(size: int) -> str:
    return "*** Begin Patch\n*** Update File: a.py\n@@\n-x\n" + "+a new line of the file\n" * (size // 23)


def _one_line(size: int) -> str:
    return "word " * (size // 5)


def _headers(size: int) -> str:
    return "--- a.py\n+++ b.py\n@@ -1,9 +1,9 @@\n x\n" + "--- one\n+++ other\n" * (size // 18)


Maker = Callable[[int], str]
CASES: tuple[tuple[str, Format | None, Maker | None, Maker | None], ...] = (
    ("prose", None, _prose, None),
    ("v4a", None, _v4a, None),
    ("search-replace", None, _search_replace, None),
    ("unified", None, _unified, None),
    ("json", None, _json, None),
    ("whole (asked for)", Format.WHOLE, _whole, None),
    ("one JSON string of it all", None, None, _json_in_one),
    ("one V4A chunk of it all", None, None, _one_chunk),
    ("one line of it all", None, None, _one_line),
    ("doubtful diff headers", None, None, _headers),
)


def text_of(size: int, repeated: Maker | None, single: Maker | None) -> str:
    """Return an answer of about ``size`` characters."""
    if single is not None:
        return single(size)
    assert repeated is not None
    parts: list[str] = []
    length = number = 0
    while length < size:
        number += 1
        part = repeated(number) + (PROSE + "\n" if number % 4 == 0 else "")
        parts.append(part)
        length += len(part)
    return "".join(parts)


def per_character(text: str, format: Format | None, chunk: int | None) -> float:
    """Return the microseconds of CPU for each character of ``text``; garbage is collected afterwards."""
    size = chunk or len(text)
    pieces = [text[at : at + size] for at in range(0, len(text), size)]
    parser = AutoParser(format)
    gc.collect()
    gc.disable()
    began = time.process_time()
    for piece in pieces:
        parser.feed(piece)
    parser.close(clean=True)
    took = time.process_time() - began
    gc.enable()
    return took / len(text) * 1e6


def peak(text: str, format: Format | None) -> int:
    """Return the most bytes held at once while ``text`` is fed in pieces of 64 characters."""
    parser = AutoParser(format)
    tracemalloc.start()
    for at in range(0, len(text), 64):
        parser.feed(text[at : at + 64])
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return most


def main() -> None:
    """Print the table."""
    print("µs of CPU per character at chunks of … (in brackets: a quarter of the text)")
    print(f"{'1 MB of':28}" + "".join(f"{chunk or 'whole':>18}" for chunk in CHUNKS) + f"{'peak MB':>10}")
    for name, format, repeated, single in CASES:
        full, quarter = (text_of(size, repeated, single) for size in (MEGABYTE, MEGABYTE // 4))
        cells = [
            f"{per_character(full, format, chunk):8.3f} ({per_character(quarter, format, chunk):.3f})"
            for chunk in CHUNKS
        ]
        print(f"{name:28}" + "".join(f"{cell:>18}" for cell in cells) + f"{peak(full, format) / 1e6:10.1f}")


if __name__ == "__main__":
    main()
