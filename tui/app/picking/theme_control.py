"""Choosing a theme while it can be seen, and following the terminal's background."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING

from session.base.storage.private_files import StoreError
from themes.loader import ThemeError, load_theme, theme_names
from tui.app.control.background import BackgroundTasks
from tui.app.control.overlay_control import OverlayControl
from tui.screen.drawing.palette import ThemeSwitch
from tui.screen.theme_choice import AUTO, ThemeChoice, is_dark

if TYPE_CHECKING:
    from tui.app.panes.status import StatusLine


class ThemeControl:
    """Uses themes, and keeps the one that the user chose. Without a ``choice`` nothing is kept."""

    def __init__(
        self,
        themes: ThemeSwitch,
        overlays: OverlayControl,
        background: BackgroundTasks,
        status: StatusLine,
        choice: ThemeChoice | None,
    ) -> None:
        self._themes = themes
        self._overlays = overlays
        self._background = background
        self._status = status
        self._choice = choice

    def pick(self) -> None:
        """Have the user pick a theme; each is shown as it is chosen."""
        from tui.front.matching import Choice  # the first frame has no list

        before = self._themes.palette.theme.name
        auto = [Choice(AUTO, AUTO, "dark or light, as the terminal is")] if self._choice is not None else []
        self._overlays.pick(
            "Theme",
            [*auto, *(Choice(name, name, _described(name)) for name in theme_names())],
            self.choose,
            left=partial(self._show, before),
            chosen=before,
            on_chosen=self._show,
            hint="↑ ↓ shows it · Enter keeps it · Esc goes back",
            previews=True,
        )

    def choose(self, name: str) -> None:
        """Use a theme from now on, and in the next start."""
        if self._use(name):
            self._status.say(f"theme: {name}")
            if self._choice is not None:
                self._background.start(self._keep(name), "keeping the theme")

    def next(self) -> None:
        """Change to the next theme."""
        order = theme_names()
        current = self._themes.palette.theme.name
        self.choose(order[(order.index(current) + 1) % len(order) if current in order else 0])

    def background_told(self, answer: str) -> None:
        """The terminal answered what its background is."""
        dark = is_dark(answer)
        if dark is not None and self._choice is not None:
            self._background.start(self._follow(self._choice, dark=dark), "following the background")

    def _show(self, name: str) -> None:
        self._use(name)

    def _use(self, name: str) -> bool:
        if name == AUTO:
            name = self._choice.first if self._choice is not None else "dark"
        try:
            if name != self._themes.palette.theme.name:
                self._themes.use(name)
        except ThemeError as problem:
            self._status.say(str(problem), "error")
            return False
        return True

    async def _keep(self, name: str) -> None:
        if self._choice is not None:
            try:
                await asyncio.to_thread(self._choice.choose, name)
            except StoreError as problem:
                self._status.say(str(problem), "warning")

    async def _follow(self, choice: ThemeChoice, *, dark: bool) -> None:
        try:
            theme = await asyncio.to_thread(lambda: choice.answered(dark=dark))
        except StoreError as problem:
            self._status.say(str(problem), "warning")
            return
        if theme is not None and not self._overlays.covered:
            self._use(theme)


def _described(name: str) -> str:
    """What a theme is for, from the first line of its file; empty for a file that is not whole."""
    try:
        theme = load_theme(name)
    except ThemeError:
        return "cannot be used"
    return theme.about
