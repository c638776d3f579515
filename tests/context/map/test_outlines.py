"""The outlines of a map without room for all: many files in part before one file whole."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from context.map.outline_part import part_of
from context.project.project import Project
from context.project.snapshot import Snapshot
from context.text.tokens import Counter
from context.window.pieces import Kind
from context.window.seen import Seen
from context.window.window import Window, WindowRequest, build
from tests.context.conftest import Repo

BLOCK = (
    "shop.py:\n class Cart\n   def add(self, item)\n   def total(self)\n"
    " class Order\n   def ship(self, address)\n   class Line\n     def price(self)\n def main()\n"
)


def test_the_lines_that_match_come_first_each_under_what_encloses_it() -> None:
    assert part_of(BLOCK, (("price", 3.0), ("ship", 1.0)), 78) == (
        "shop.py:\n class Order\n   class Line\n     def price(self)\n … 5 more\n"
    )


def test_where_nothing_matches_the_outermost_come_first() -> None:
    assert part_of(BLOCK, (), 62) == "shop.py:\n class Cart\n class Order\n def main()\n … 5 more\n"


def test_an_entry_that_fits_is_whole_and_one_without_room_for_a_line_is_empty() -> None:
    assert part_of(BLOCK, (("price", 1.0),), 1_000) == BLOCK
    assert part_of(BLOCK, (), 25) == ""


@given(
    st.lists(st.tuples(st.integers(0, 4), st.text("abcİß Ǆé_", min_size=1, max_size=12)), max_size=40),
    st.lists(st.tuples(st.text("abcß", min_size=1, max_size=3), st.floats(0, 9)), max_size=5),
    st.integers(0, 400),
)
def test_a_part_is_lines_of_the_entry_in_order_within_the_room(
    lines: list[tuple[int, str]], telling: list[tuple[str, float]], room: int
) -> None:
    block = "a.py:\n" + "".join(f" {'  ' * depth}x{text.strip()}\n" for depth, text in lines)
    part = part_of(block, tuple(telling), room)
    assert not part or len(part) <= max(room, 0) + len(" … 40 more\n")
    kept = part.split("\n")[:-1]
    if kept and kept[-1].startswith(" … "):
        left_out = int(kept.pop().split(" ")[2])
        assert left_out == len(lines) + 1 - len(kept)
    rest = iter(block.split("\n"))
    assert all(line in rest for line in kept)


@pytest.fixture
def picture(repo: Repo) -> Snapshot:
    files = {
        f"src/part{n:02}.py": f"def part_{n}(value): ...\n\n\ndef weigh_{n}(value): ...\n" for n in range(40)
    }
    long = "\n\n".join(f"def test_case_number_{n}_of_many(fixture, other): ..." for n in range(300))
    tests = f"import part_1\n\n{long}\n\ndef check_frobnication(): ...\n"
    repo.commit(**files, **{"tests/test_all.py": tests})
    return Project(repo.root).scan()


def the_map(window: Window) -> str:
    return next(piece.text for piece in window.pieces if piece.kind is Kind.MAP)


def test_one_long_file_does_not_stand_for_many(picture: Snapshot, counter: Counter) -> None:
    asked = WindowRequest("frobnication of part_1", "", 3_000, map_limit=1_500)
    window = build(asked, picture, counter)
    text = the_map(window)
    assert "tests/test_all.py:\n" in text and " def check_frobnication()\n" in text and " more\n" in text
    assert sum(f"src/part{n:02}.py:\n" in text for n in range(40)) >= 20
    assert window.tokens <= 3_000 and counter.count(text) <= 1_500
    told = next(piece.why for piece in window.pieces if piece.kind is Kind.MAP)
    assert told.endswith(" with their definitions (1 of them in part)")


def test_what_is_left_over_makes_the_long_one_longer(picture: Snapshot, counter: Counter) -> None:
    asked = WindowRequest("frobnication", "", 20_000, map_limit=4_000)
    text = the_map(build(asked, picture, counter))
    assert all(f"src/part{n:02}.py:\n" in text for n in range(40))
    assert text.count("def test_case_number") > 60
    assert counter.count(text) > 3_900


def test_a_definition_that_was_not_shown_is_told_when_it_changes(repo: Repo, counter: Counter) -> None:
    long = "\n".join(f"def case_number_{n}(fixture): ..." for n in range(400))
    repo.commit(**{"a.py": long, "b.py": "def other(): ...\n"})
    project = Project(repo.root)
    first = build(WindowRequest("case_number_7", "", 2_000, map_limit=600), project.scan(), counter)
    assert "case_number_311(" not in first.text
    repo.commit(**{"a.py": long.replace("case_number_311(fixture)", "case_number_311(fixture, more)")})
    later = build(WindowRequest("go on", "", 4_000), project.scan(), counter, Seen().after(first.shown))
    assert "+ def case_number_311(fixture, more)\n" in later.text
    assert "case_number_312" not in the_map(later)
