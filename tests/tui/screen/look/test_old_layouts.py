"""What Textual remembers of layouts does not grow with each size that the terminal had."""

from __future__ import annotations

from textual.geometry import Region

from tui.screen.textual_memory import forget_old_layouts


def remembered() -> int:
    return sum(each.cache_info().currsize for each in (Region.translate, Region.intersection, Region.shrink))


def test_regions_of_other_sizes_are_forgotten() -> None:
    forget_old_layouts()
    for width in range(500):
        region = Region(0, 0, width, 10)
        region.translate((1, 1)), region.intersection(Region(1, 1, 5, 5)), region.shrink((1, 1, 1, 1))
    assert remembered() >= 1_500
    forget_old_layouts()
    assert remembered() == 0
    assert Region(0, 0, 9, 9).intersection(Region(5, 5, 9, 9)) == Region(5, 5, 4, 4)
