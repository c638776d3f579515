"""The colours of a theme: its roles as Rich styles and as a Textual theme, the palette in use, and changing
it while the app runs.

A role can carry the address of a link behind a space, ``link https://example.org``, which a terminal opens
with a click (OSC 8), also where the address is wrapped. Sequence:
https://gist.github.com/egmontkob/eb114294efbcd5adb1944c9f3cb5feda
"""

from __future__ import annotations

from functools import lru_cache
from typing import Protocol, runtime_checkable
from urllib.parse import quote

from rich.style import Style
from textual.app import App
from textual.theme import BUILTIN_THEMES
from textual.theme import Theme as TextualTheme

from themes.loader import Ink, Theme, load_theme

_SCHEMES = ("https://", "http://", "mailto:")
"""What may be opened: a model must not make a click run or open anything else."""
_LONGEST = 2_000
_KEPT = "%/:?#[]@!$&'()*+,;=~-._"
ON_SELECTION = frozenset({"text", "strong", "accent", "muted"})
"""Roles that keep their colour on the selection's; the others would be hard to read there."""


def link_role(address: str) -> str:
    """The role of text that stands for ``address``; a plain one for addresses that are not opened."""
    if len(address) > _LONGEST or not address.lower().startswith(_SCHEMES):
        return "link"
    # The sequence takes printable ASCII alone.
    return f"link {quote(address, safe=_KEPT)}"


@lru_cache(maxsize=512)
def linked(style: Style, address: str) -> Style:
    """``style`` with a link to ``address``; the same each time, since terminals tell links apart."""
    return style + Style(link=address)


class Palette:
    """The styles of a theme by role, each made once. A role is a name of the ``[ui]`` table, or of
    ``[tokens]`` with a dot before it (``.keyword``); behind a space it can have the address of a link. A
    background is a ``[ui]`` role whose colour fills the cell."""

    def __init__(self, theme: Theme, *, coloured_code: bool = True) -> None:
        """Without ``coloured_code`` all tokens have the colour of text."""
        self.theme = theme
        self.coloured_code = coloured_code
        self._styles: dict[tuple[str, str], Style] = {}
        inks = (*theme.ui.values(), *theme.tokens.values())
        self.is_truecolor = all(ink.colour.startswith("#") and "dim" not in ink.attributes for ink in inks)
        """Whether no style has a colour that depends on the terminal."""

    def style(self, role: str, background: str = "surface") -> Style:
        """The style of ``role`` on ``background``."""
        role, _, address = role.partition(" ")
        if address:
            return linked(self.style(role, background), address)
        key = (role, background)
        style = self._styles.get(key)
        if style is None:
            readable = background != "selection" or role in ON_SELECTION
            ink = self._ink(role if readable else "text")
            style = self._styles[key] = self._make(ink, self.theme.ui[background])
        return style

    def _ink(self, role: str) -> Ink:
        if role.startswith("."):
            return self.theme.tokens[role[1:] if self.coloured_code else "text"]
        return self.theme.ui[role]

    def _make(self, ink: Ink, background: Ink) -> Style:
        names = {*ink.attributes, *background.attributes}
        return Style(
            color=ink.colour,
            bgcolor=background.colour,
            bold="bold" in names or None,
            italic="italic" in names or None,
            underline="underline" in names or None,
            dim="dim" in names or None,
            reverse="reverse" in names or None,
            strike="strike" in names or None,
        )

    @property
    def cursor(self) -> Style:
        """The style of the cell under the cursor."""
        ink = self.theme.ui["cursor"]
        if "reverse" in ink.attributes:
            return Style(reverse=True)
        return Style(color=self.theme.ui["cursor_text"].colour, bgcolor=ink.colour)

    @property
    def selection(self) -> Style:
        """The style of selected text."""
        ink = self.theme.ui["selection"]
        if "reverse" in ink.attributes:
            return Style(reverse=True)
        return Style(color=self.theme.ui["text"].colour, bgcolor=ink.colour)

    @property
    def match(self) -> Style:
        """The style of text that was searched for."""
        ink = self.theme.ui["warning"]
        if self.theme.ansi or ink.colour == "default":
            # Not reversed: the match that was gone to is, as it is selected.
            return Style(bold=True, underline=True)
        return Style(color=self.theme.ui["surface"].colour, bgcolor=ink.colour)

    def textual_theme(self) -> TextualTheme:
        """The theme for Textual's own widgets and for ``spark.tcss`` (``$spark-ROLE``)."""

        def css(role: str) -> str:
            colour = self.theme.ui[role].colour
            if not self.theme.ansi and colour != "default":
                return colour
            return f"ansi_{colour}"

        return TextualTheme(
            name=self.textual_name,
            dark=self.theme.dark,
            ansi=self.theme.ansi,
            primary=css("accent"),
            secondary=css("info"),
            accent=css("accent"),
            warning=css("warning"),
            error=css("error"),
            success=css("success"),
            foreground=css("text"),
            background=css("background"),
            surface=css("surface"),
            panel=css("panel"),
            boost=css("panel"),
            # Textual's own widgets need some variables for an ANSI theme that others do not have.
            variables=(BUILTIN_THEMES["ansi-dark"].variables if self.theme.ansi else {})
            | {f"spark-{role.replace('_', '-')}": css(role) for role in self.theme.ui},
        )

    @property
    def textual_name(self) -> str:
        """The theme's name in Textual, distinct from Textual's own themes."""
        return f"spark-{self.theme.name}"


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
