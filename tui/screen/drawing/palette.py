"""Turns the roles of a theme into Rich styles and a Textual theme."""

from __future__ import annotations

from rich.style import Style
from textual.theme import BUILTIN_THEMES
from textual.theme import Theme as TextualTheme

from themes.loader import Ink, Theme
from tui.screen.drawing.links import linked

ON_SELECTION = frozenset({"text", "strong", "accent", "muted"})
"""Roles that keep their colour on the selection's; the others would be hard to read there."""


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
