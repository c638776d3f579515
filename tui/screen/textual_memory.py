"""Keeps Textual from filling memory: with the nodes of parts that are styled anew, and with the layouts of
other sizes.
"""

from __future__ import annotations

from textual.css.scalar import Scalar
from textual.css.stylesheet import Stylesheet
from textual.dom import DOMNode
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


class FreeingStylesheet(Stylesheet):
    """Frees the nodes of component classes as soon as others take their place.

    For each component class of a widget, such as a text area's cursor line, Textual makes a node of 6.6 KB to
    find the style by, and makes it anew whenever the widget is styled: 25 of them when the terminal gets or
    loses the focus or another size. Node and styles know each other, so the old ones would take memory until
    a full collection.
    """

    def _process_component_classes(self, node: DOMNode) -> None:
        before = [styles.node for styles in node._component_styles.values()]
        super()._process_component_classes(node)
        for old in before:
            if old is not None:
                del old.styles, old._css_styles, old._inline_styles


def forget_old_layouts() -> None:
    """The terminal has another size: the regions of the old one come up again in few places."""
    for each in _REMEMBERED:
        each.cache_clear()
