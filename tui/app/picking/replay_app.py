"""The app that plays a recording: a screen for each time that the user goes back, and what came of forks."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import ClassVar

from rich.text import Text
from textual.app import App

from session.ways.player import Player
from session.ways.recorded_texts import RecordedFiles
from session.ways.recording import Moment
from tui.app.control.background import fault
from tui.app.picking.replay_screen import ReplayScreen
from tui.screen.drawing.theme_switch import ThemeSwitch
from tui.screen.terminal.driver import SparkDriver
from tui.screen.terminal.end_signals import leaving_on_signals


class ReplayApp(App[int], inherit_bindings=False):
    """Plays one recording. ``fork`` makes a session that goes on from a hunk, and returns its name; None
    where there is no project to make it in."""

    CSS_PATH: ClassVar = ["../app/spark.tcss", "../app/later.tcss"]
    ENABLE_COMMAND_PALETTE = False
    TITLE = "spark replay"

    def __init__(
        self,
        name: str,
        moments: Sequence[Moment],
        files: RecordedFiles,
        *,
        theme: str,
        speed: float = 1.0,
        fork: Callable[[str], Path] | None = None,
    ) -> None:
        super().__init__(driver_class=SparkDriver)
        self.animation_level = "none"
        self.themes = ThemeSwitch(self, theme)
        self.player = Player(moments, speed)
        self.recorded = name
        self.files = files
        self.fork = fork
        self.forks: list[str] = []
        """The sessions that were made."""

    async def on_mount(self) -> None:
        """Show the panes."""
        await self.push_screen(ReplayScreen(self, self.player, self.files, self.themes.palette))

    def begin_anew(self) -> None:
        """Show an empty screen, on which all up to the player's position is shown at once."""
        self.switch_screen(ReplayScreen(self, self.player, self.files, self.themes.palette))

    def _fatal_error(self) -> None:
        """End in one line: Textual would print the values of all variables."""
        problem = sys.exc_info()[1] or RuntimeError("unknown")
        self.panic(Text(f"spark: {fault('replaying the session', problem)}"))


async def play(app: ReplayApp) -> None:
    """Run ``app``; a signal ends it with the terminal given back."""

    def leave(code: int, heard: Callable[[], None]) -> None:
        with suppress(RuntimeError):  # it has left already
            app.call_from_thread(partial(app.exit, return_code=code))

    with leaving_on_signals(leave):
        await app.run_async()
