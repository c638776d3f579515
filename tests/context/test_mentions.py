from __future__ import annotations

import pytest

from context.mentions import mentions

PATHS = (
    "README.md",
    "src/app.py",
    "src/ui/app.ts",
    "src/ui/view.ts",
    "docs/a b.md",
    "lib/util.py",
    "test/util.py",
)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("look at @src/app.py please", ("src/app.py",)),
        ("look at @src/app.py, then @README.md.", ("src/app.py", "README.md")),
        ("(@./src/app.py:12)", ("src/app.py",)),
        ('see @"docs/a b.md"', ("docs/a b.md",)),
        ("all of @src/ui/", ("src/ui/app.ts", "src/ui/view.ts")),
        ("fix src/app.py:10:4: it fails", ("src/app.py",)),
        ("does view.ts work?", ("src/ui/view.ts",)),
        ("util.py is ambiguous", ()),
        ("@util.py too", ()),
        ("mail me at someone@src/app.py", ()),
        ("src is a word, and so is docs", ()),
        ("@nowhere/at.all", ()),
        ("", ()),
    ],
)
def test_mentions(text: str, found: tuple[str, ...]) -> None:
    assert mentions(text, PATHS) == found
