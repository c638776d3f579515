"""The app's theme: the palette in use, and changing it while the app runs."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from textual.app import App

from themes.loader import load_theme
from tui.screen.drawing.palette import Palette


@runtime_checkable
class Restyled(Protocol):
    """A widget or screen that draws with a palette."""

    def restyle(self, palette: Palette) -> None:
        """Draw in other colours from now on."""
        ...


class ThemeSwitch:
    """Holds the palette, and gives another one to everything on the screen."""

    def __init__(self, app: App[int], name: str) -> None:
        """Use the theme called ``name``. Raises ThemeError where there is none or it is incomplete."""
        self._app = app
        self.palette = self._register(name)

    def use(self, name: str) -> None:
        """Draw everything in the theme called ``name``."""
        self._give(self._register(name, coloured_code=self.palette.coloured_code))

    def colour_code(self, *, coloured: bool) -> None:
        """Draw code in the theme's colours from now on, or as plain text."""
        if coloured != self.palette.coloured_code:
            self._give(Palette(self.palette.theme, coloured_code=coloured))

    def _give(self, palette: Palette) -> None:
        self.palette = palette
        for screen in self._app.screen_stack:
            for node in (screen, *screen.walk_children()):
                if isinstance(node, Restyled):
                    node.restyle(self.palette)

    def _register(self, name: str, *, coloured_code: bool = True) -> Palette:
        palette = Palette(load_theme(name), coloured_code=coloured_code)
        self._app.register_theme(palette.textual_theme())
        self._app.theme = palette.textual_name
        return palette
