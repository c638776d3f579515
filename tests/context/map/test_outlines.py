"""In a map without room for all outlines, many are cut rather than a few shown whole."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from context.map.outlines import cut_outline
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


def test_the_best_matching_lines_are_kept_with_those_that_enclose_them() -> None:
    assert cut_outline(BLOCK, (("price", 3.0), ("ship", 1.0)), 78) == (
        "shop.py:\n class Order\n   class Line\n     def price(self)\n … 5 more\n"
    )


def test_without_a_match_the_outermost_definitions_are_kept() -> None:
    assert cut_outline(BLOCK, (), 62) == "shop.py:\n class Cart\n class Order\n def main()\n … 5 more\n"


def test_an_entry_is_whole_if_it_fits_and_empty_if_no_line_fits() -> None:
    assert cut_outline(BLOCK, (("price", 1.0),), 1_000) == BLOCK
    assert cut_outline(BLOCK, (), 25) == ""


@given(
    st.lists(st.tuples(st.integers(0, 4), st.text("abcİß Ǆé_", min_size=1, max_size=12)), max_size=40),
    st.lists(st.tuples(st.text("abcß", min_size=1, max_size=3), st.floats(0, 9)), max_size=5),
    st.integers(0, 400),
)
def test_a_cut_entry_keeps_the_order_and_the_limit(
    lines: list[tuple[int, str]], weights: list[tuple[str, float]], room: int
) -> None:
    block = "a.py:\n" + "".join(f" {'  ' * depth}x{text.strip()}\n" for depth, text in lines)
    part = cut_outline(block, tuple(weights), room)
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


def test_one_long_file_does_not_crowd_out_others(picture: Snapshot, counter: Counter) -> None:
    asked = WindowRequest("frobnication of part_1", "", 3_000, map_limit=1_500, likely_limit=375)
    window = build(asked, picture, counter)
    text = the_map(window)
    assert "tests/test_all.py:\n" in text and " def check_frobnication()\n" in text and " more\n" in text
    assert sum(f"src/part{n:02}.py:\n" in text for n in range(40)) >= 20
    assert window.tokens <= 3_000 and counter.count(text) <= 1_500
    told = next(piece.why for piece in window.pieces if piece.kind is Kind.MAP)
    assert told.endswith(" with their definitions (1 of them in part)")


def test_room_left_over_extends_the_cut_outline(picture: Snapshot, counter: Counter) -> None:
    asked = WindowRequest("frobnication", "", 20_000, map_limit=4_000)
    text = the_map(build(asked, picture, counter))
    assert all(f"src/part{n:02}.py:\n" in text for n in range(40))
    assert text.count("def test_case_number") > 60
    assert counter.count(text) > 3_900


def test_the_likeliest_file_takes_an_eighth_of_a_full_map_in_short_signatures(
    repo: Repo, counter: Counter
) -> None:
    others = {
        f"src/part{n:03}.py": "".join(f"def weigh_{n}_{at}(value, other): ...\n" for at in range(30))
        for n in range(300)
    }
    taking = "first_argument: int, second_argument: int, third_argument: int"
    long = "".join(f"def frobnicate_{n}({taking}): ...\n" for n in range(900))
    repo.commit(**others, **{"engine.py": long})
    asked = WindowRequest("frobnicate", "", 40_000, map_limit=18_000, likely_limit=0)
    text = the_map(build(asked, Project(repo.root).scan(), counter))
    entry = text.partition("\nengine.py:\n")[2].partition("\nsrc/")[0]
    assert 1_800 < counter.count(entry) <= 18_000 / 8
    assert all(len(line) <= 48 for line in entry.splitlines())
    assert text.count("\nsrc/part") > 30, "the others have the rest"


def test_a_change_of_a_definition_that_was_cut_is_sent(repo: Repo, counter: Counter) -> None:
    long = "\n".join(f"def case_number_{n}(fixture): ..." for n in range(400))
    repo.commit(**{"a.py": long, "b.py": "def other(): ...\n"})
    project = Project(repo.root)
    first = build(WindowRequest("case_number_7", "", 2_000, map_limit=600), project.scan(), counter)
    assert "case_number_311(" not in first.text
    repo.commit(**{"a.py": long.replace("case_number_311(fixture)", "case_number_311(fixture, more)")})
    later = build(WindowRequest("go on", "", 4_000), project.scan(), counter, Seen().after(first.shown))
    assert "+ def case_number_311(fixture, more)\n" in later.text
    assert "case_number_312" not in the_map(later)
