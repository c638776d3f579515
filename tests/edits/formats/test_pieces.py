"""An answer in single characters says what it says in one piece, at every line on the edge of a marker."""

from __future__ import annotations

from itertools import product

import pytest

from edits.hunk import Format
from tests.edits.helpers import merged, parse

OPEN: dict[str, tuple[Format | None, str]] = {
    "diff": (Format.UNIFIED, "--- a/a.py\n+++ b/a.py\n@@ -1,2 +1,2 @@\n x\n-y\n+z\n"),
    "longer diff": (Format.UNIFIED, "--- a/a.py\n+++ b/a.py\n@@ -1,4 +1,4 @@\n x\n-y\n+z\n"),
    "diff without numbers": (Format.UNIFIED, "--- a/a.py\n+++ b/a.py\n@@\n x\n-y\n+z\n"),
    "diff in a fence": (None, "```diff\n--- a/a.py\n+++ b/a.py\n@@ -1,2 +1,2 @@\n x\n-y\n+z\n"),
    "patch": (Format.V4A, "*** Begin Patch\n*** Update File: a.py\n@@\n x\n-y\n+z\n"),
    "patch with a new file": (Format.V4A, "*** Begin Patch\n*** Add File: a.py\n+z\n"),
    "search": (Format.SEARCH_REPLACE, "a.py\n<<<<<<< SEARCH\nx\n"),
    "replace": (Format.SEARCH_REPLACE, "a.py\n<<<<<<< SEARCH\nx\n=======\ny\n"),
    "file": (Format.WHOLE, "a.py\n```\nx\n"),
    "file in a list": (Format.WHOLE, "a.py\n  ````py\n  x\n"),
}
LINES = [
    *(
        "-",
        "--",
        "-- ",
        "---",
        "--- ",
        "--- a/b.py",
        "-- \t",
        "--  x",
        "+",
        "++",
        "+++",
        "+++ b/b.py",
        "+++ ",
    ),
    *("@", "@@", "@@ -9 +9 @@", " ", "", " x", "\\", "\\ No newline at end of file", "diff --git a/b b/b"),
    *(
        "*",
        "***",
        "*** ",
        "*** End Patch",
        " *** End Patch",
        "*** End of File",
        "*** Delete File: b",
        "*** x",
    ),
    *("=", "=====", "=======", "======= ", "========", "<<<<<<<", "<<<<<<< SEARCH", ">>>>>>> REPLACE", ">>>"),
    *("`", "``", "```", "``` ", "  ```", "\t```", "````", "  ````", "```py", "```\t", "~~~", "prose", "EOF"),
]
ENDINGS = ["\n", "\r\n", " \r\n", "\r\r\n"]
RESTS = ["", "+more\n more\n", "*** End Patch\n", "````\n", ">>>>>>> REPLACE\n"]


@pytest.mark.parametrize("opened", OPEN)
def test_a_line_that_may_be_a_marker_is_read_the_same_however_it_comes(opened: str) -> None:
    format, before = OPEN[opened]
    for line, ending, rest in product(LINES, ENDINGS, RESTS):
        text = f"{before}{line}{ending}{rest}"
        whole = merged(parse([text], clean=True, format=format))
        pieces = [before, *f"{line}{ending}", rest]
        assert merged(parse(pieces, clean=True, format=format)) == whole, text
