"""Forgets what Textual worked out for the layouts of other sizes."""

from __future__ import annotations

from textual.css.scalar import Scalar
from textual.geometry import Region

_REMEMBERED = (
    Region.contains_region,
    Region.grow,
    Region.intersection,
    Region.overlaps,
    Region.shrink,
    Region.translate,
    Region.union,
    Scalar.resolve,
)
"""Textual remembers up to 4,096 results of each of these, 230 bytes a region."""


def forget_old_layouts() -> None:
    """The terminal has another size: the regions of the old one come up again in few places."""
    for each in _REMEMBERED:
        each.cache_clear()
