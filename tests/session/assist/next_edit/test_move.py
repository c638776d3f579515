"""What was moved from one file to another, and the imports that follow it."""

from __future__ import annotations

import pytest

from session.assist.next_edit.causes import places_in
from session.assist.next_edit.move import Move, Moves
from session.project.definitions import definitions_in

BODY = "def total(rows):\n    return sum(row.price for row in rows)\n"


def changed(moves: Moves, path: str, before: str, after: str) -> list[Move]:
    old, new = before.split("\n"), after.split("\n")
    return moves.changed(path, (old, definitions_in(path, before)), (new, definitions_in(path, after)))


@pytest.mark.parametrize("first", ["gone", "come"])
def test_a_move_is_known_once_both_files_are_saved_in_whichever_order(first: str) -> None:
    moves = Moves()
    steps = [("a.py", f"x = 1\n{BODY}", "x = 1\n"), ("b.py", "y = 2\n", f"y = 2\n{BODY}")]
    if first == "come":
        steps.reverse()
    assert changed(moves, *steps[0]) == []
    assert changed(moves, *steps[1]) == [Move("total", "a.py", "b.py")]
    assert changed(moves, "c.py", "", BODY) == [], "it is told once"


def test_another_function_of_the_same_name_is_no_move() -> None:
    moves = Moves()
    changed(moves, "a.py", BODY, "")
    assert (
        changed(moves, "b.py", "", "def total():\n    import os\n\n    os.remove('x')\n    print(42)\n") == []
    )


def test_what_came_back_was_not_moved() -> None:
    moves = Moves()
    changed(moves, "a.py", BODY, "")
    changed(moves, "a.py", "", BODY)
    assert changed(moves, "b.py", "", BODY) == []


@pytest.mark.parametrize(
    ("path", "text", "wanted"),
    [
        ("x.py", "from shop.a import total", ["from shop.b import total"]),
        ("x.py", "from shop.a import total as t  # why", ["from shop.b import total as t  # why"]),
        ("x.py", "from shop.a import one, total, two",
         ["from shop.a import one, two\nfrom shop.b import total"]),
        ("x.py", "from shop.a import one, total", ["from shop.a import one\nfrom shop.b import total"]),
        ("x.py", "from shop.a import (\n    one,\n    total,\n)",
         ["from shop.a import (\n    one,\n)\nfrom shop.b import total"]),
        ("x.py", "def f():\n    from shop.a import one, total",
         ["    from shop.a import one\n    from shop.b import total"]),
        ("shop/x.py", "from .a import total", ["from .b import total"]),
        ("shop/in/x.py", "from ..a import total", ["from ..b import total"]),
        ("other/x.py", "from .a import total", []),
        ("x.py", "from a import total", ["from b import total"]),
        ("x.py", "from other.a import total", []),
        ("x.py", "from shop.a import *\nimport shop.a\n# from shop.a import total", []),
        ("shop/b.py", "import os\nfrom .a import total", [""]),
        ("shop/b.py", "from .a import one, total", ["from .a import one"]),
        ("shop/a.py", "from .c import one\n\nprint(total([]))",
         ["from .c import one\nfrom .b import total"]),
        ("shop/a.py", "from .c import one\n\nprint(one)", []),
    ],
)  # fmt: skip
def test_python_imports_follow(path: str, text: str, wanted: list[str]) -> None:
    found = places_in(Move("total", "shop/a.py", "shop/b.py"), path, text.split("\n"))
    assert ["\n".join(each.new or ()) for each in found] == wanted


@pytest.mark.parametrize(
    ("path", "text", "wanted"),
    [
        ("x.ts", "import { total } from './shop/a';", ["import { total } from './shop/lib/b';"]),
        ("shop/x.ts", 'import { one, total as t } from "./a"',
         ['import { one } from "./a"\nimport { total as t } from "./lib/b"']),
        ("y/x.ts", "import type { total } from '../shop/a.js'",
         ["import type { total } from '../shop/lib/b.js'"]),
        ("x.ts", "import * as a from './shop/a'", []),
        ("x.ts", "import { total } from './other/a'", []),
    ],
)  # fmt: skip
def test_imports_of_scripts_follow(path: str, text: str, wanted: list[str]) -> None:
    found = places_in(Move("total", "shop/a.ts", "shop/lib/b.ts"), path, text.split("\n"))
    assert ["\n".join(each.new or ()) for each in found] == wanted


def test_a_language_whose_imports_are_not_read_is_left_to_the_model() -> None:
    lines = ["use crate::a::total;", "use crate::c::total;", "use crate::a::other;"]
    found = list(places_in(Move("total", "src/a.rs", "src/b.rs"), "src/x.rs", lines))
    assert [(each.line, each.new) for each in found] == [(1, None)]
