"""From a theme's roles to the styles Rich draws with and the theme Textual's CSS reads."""

from __future__ import annotations

from rich.style import Style
from textual.theme import BUILTIN_THEMES
from textual.theme import Theme as TextualTheme

from themes.loader import Ink, Theme


class Palette:
    """A theme's styles by role, each made once.

    A role is a name of the theme's ``[ui]`` table, or of ``[tokens]`` with a dot before it
    (``.keyword``). A background is a ``[ui]`` role whose colour fills the cell.
    """

    def __init__(self, theme: Theme) -> None:
        self.theme = theme
        self._styles: dict[tuple[str, str], Style] = {}

    def style(self, role: str, background: str = "surface") -> Style:
        """The style of ``role`` on ``background``."""
        key = (role, background)
        style = self._styles.get(key)
        if style is None:
            ink = self.theme.tokens[role[1:]] if role.startswith(".") else self.theme.ui[role]
            style = self._styles[key] = self._make(ink, self.theme.ui[background])
        return style

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
        """What is laid over the cell under the cursor."""
        ink = self.theme.ui["cursor"]
        if "reverse" in ink.attributes:
            return Style(reverse=True)
        return Style(color=self.theme.ui["cursor_text"].colour, bgcolor=ink.colour)

    @property
    def selection(self) -> Style:
        """What is laid over selected text."""
        ink = self.theme.ui["selection"]
        return Style(reverse=True) if "reverse" in ink.attributes else Style(bgcolor=ink.colour)

    def textual_theme(self) -> TextualTheme:
        """The same look for Textual's own widgets and for ``spark.tcss`` (``$spark-ROLE``)."""

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
            # Textual's own widgets ask an ANSI theme for some variables that others do not need.
            variables=(BUILTIN_THEMES["ansi-dark"].variables if self.theme.ansi else {})
            | {f"spark-{role.replace('_', '-')}": css(role) for role in self.theme.ui},
        )

    @property
    def textual_name(self) -> str:
        """The name under which Textual knows the theme, apart from Textual's own."""
        return f"spark-{self.theme.name}"
