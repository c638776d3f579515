"""Styling anew leaves nothing to the garbage collector, and the styles are Textual's."""

from __future__ import annotations

import inspect

import pytest
from textual.app import App, ComposeResult
from textual.css.stylesheet import Stylesheet
from textual.dom import DOMNode
from textual.widgets import TextArea

from tests.garbage import garbage_of
from tui.screen.textual_memory import FreeingStylesheet


class Writing(App[None]):
    """A text area, which has many parts to style."""

    CSS = """
    .other TextArea .text-area--cursor-line { background: red; }
    """

    def __init__(self, sheet: type[Stylesheet]) -> None:
        super().__init__()
        self.stylesheet = sheet(variables=self.get_css_variables())

    def compose(self) -> ComposeResult:
        yield TextArea("one\ntwo")


@pytest.mark.parametrize(("sheet", "leaves"), [(FreeingStylesheet, False), (Stylesheet, True)])
async def test_styling_anew_leaves_no_nodes(sheet: type[Stylesheet], leaves: bool) -> None:
    app = Writing(sheet)
    async with app.run_test() as pilot:
        await pilot.pause()
        with garbage_of(DOMNode) as left:
            app.screen.toggle_class("other")
            app.update_styles(app.screen)
            await pilot.pause()
        assert bool(left) is leaves


async def test_a_part_is_drawn_in_the_style_that_it_has_now() -> None:
    looks: dict[type[Stylesheet], list[object]] = {FreeingStylesheet: [], Stylesheet: []}
    for sheet, seen in looks.items():
        app = Writing(sheet)
        async with app.run_test() as pilot:
            for _ in range(3):
                app.screen.toggle_class("other")
                await pilot.pause()
                area = app.query_one(TextArea)
                styles = [area.get_component_styles(name) for name in sorted(area.COMPONENT_CLASSES)]
                seen.append([(each.color, each.background, each.text_style) for each in styles])
    own, textual = looks.values()
    assert own == textual
    assert own[0] != own[1] and own[0] == own[2]


def test_the_private_names_are_where_they_were() -> None:
    source = inspect.getsource(Stylesheet)
    assert "virtual_node = DOMNode(classes=component)" in source
    assert "self._process_component_classes(node)" in source
