"""A text found on the first rung leaves the file as it is typed, and nothing beside it does."""

from __future__ import annotations

import json
from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from edits.files.text import decode
from edits.formats.detect import AutoParser
from edits.formats.events import Completed
from edits.hunk import Rung
from edits.placing.place import Placed, place
from edits.placing.splices import spliced

LINES = st.lists(st.sampled_from(["", "", "def run(self):", "    return 1", "}", "value = 2"]), max_size=8)


def search_replace(lines: list[str]) -> str:
    return "\n".join(["a.py", "<<<<<<< SEARCH", *lines, "=======", ">>>>>>> REPLACE", ""])


def v4a(lines: list[str]) -> str:
    old = [f"-{line}" for line in lines]
    return "\n".join(["*** Begin Patch", "*** Update File: a.py", "@@", *old, "*** End Patch", ""])


def string_replace(lines: list[str]) -> str:
    old = "".join(f"{line}\n" for line in lines)
    return json.dumps({"path": "a.py", "old_string": old, "new_string": ""})


@given(
    above=LINES,
    middle=LINES,
    blank=st.integers(1, 3),
    below=LINES,
    ending=st.sampled_from(["\n", "\r\n"]),
    write=st.sampled_from([search_replace, v4a, string_replace]),
)
def test_several_lines_that_end_in_a_blank_one_are_removed_with_it(
    above: list[str],
    middle: list[str],
    blank: int,
    below: list[str],
    ending: str,
    write: Callable[[list[str]], str],
) -> None:
    old = ["first line of it = 1", *middle, "last line of it = 2", *[""] * blank]
    data = "".join(line + ending for line in [*above, *old, *below]).encode()
    parser = AutoParser()
    events = [*parser.feed(write(old)), *parser.close(clean=True)]
    (hunk,) = [event.hunk for event in events if isinstance(event, Completed)]
    file = decode(data, "a.py")
    found = place(file, hunk)
    assert isinstance(found, Placed) and found.rung is Rung.EXACT
    assert spliced(file, found.splices) == "".join(line + ending for line in [*above, *below])
