"""Look-ups in the paths of a project."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from context.project.project_paths import ProjectPaths
from tests.thorough import share

PARTS = st.lists(st.sampled_from(["a", "b.c", "ab", "a b", ".c", "界.py"]), min_size=1, max_size=3).map(
    "/".join
)


@given(st.sets(PARTS), PARTS, st.integers(0, 4))
def test_a_name_is_found_in_every_folder(paths: set[str], name: str, most: int) -> None:
    """Also one with its last folders; in the order of the paths, and never by a part of a name."""
    known = tuple(sorted(paths))
    expected = [path for path in known if f"/{path}".endswith(f"/{name}")]
    assert ProjectPaths(known).named(name, most) == expected[:most]


def test_names_are_looked_up_and_not_searched_for() -> None:
    """Without a clock: with a search through all paths for each name, this would take minutes."""
    known = tuple(sorted(f"{'folder/' * 9}{number % 900}/file_{number}.c" for number in range(20_000)))
    paths = ProjectPaths(known)
    assert sum(len(paths.named(f"file_{number}.h")) for number in range(share(1_000_000, 100_000))) == 0
    assert paths.named("file_7.c") == [f"{'folder/' * 9}7/file_7.c"]


@given(st.sets(PARTS), st.sets(PARTS))
def test_paths_that_come_and_go_keep_the_order(paths: set[str], others: set[str]) -> None:
    held = ProjectPaths(tuple(sorted(paths)))
    assert held.changed(others - paths, others & paths) == tuple(sorted(paths ^ others))
