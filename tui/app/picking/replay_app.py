"""The app that plays a recording: a screen for each time that the user goes back, and what came of forks.

The screen of a replay: the panes of the app, and a line that says where the replay is.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from time import monotonic
from typing import ClassVar, Protocol

from rich.text import Text
from textual import events
from textual.app import App, ComposeResult
from textual.containers import Container
from textual.screen import Screen

from session.base.events import Event, HunkLanded, ModelChosen, TurnStarted
from session.base.storage.private_files import StoreError
from session.record.fork import NoSuchPlaceError
from session.ways.player import Player, State, Unit
from session.ways.recording import Moment, RecordedFiles
from tui.app.control.background import BackgroundTasks, fault
from tui.app.control.feed import Feed
from tui.app.overlays.overlay import Lines
from tui.app.panes.held_bar import HeldBar
from tui.app.panes.layout import Layout
from tui.app.panes.status import StatusLine
from tui.app.panes.titles import pane_title
from tui.chat.chat import ChatView
from tui.editor.disk_changes import DiskChanges
from tui.editor.editor import EditorPane
from tui.editor.flights import Flights
from tui.editor.marks import Marks
from tui.editor.shown_file import ShownFile
from tui.front.keys.keymap import scope
from tui.screen.drawing.palette import Palette, ThemeSwitch
from tui.screen.drawing.plain import clipped, visible
from tui.screen.drawing.rows import Row
from tui.screen.terminal.driver import SparkDriver
from tui.screen.terminal.signals import leaving_on_signals

PLAYING = "replaying the session"
FRAME = 1 / 30
"""Least seconds between two looks at the player."""
KEYS = "space pause · →← event · h/b hunk · t/T turn · 0-9 jump · +- speed · f fork · q leave"
STATES = {State.PLAYING: "▶", State.PAUSED: "⏸", State.ENDED: "■"}


class Replay(Protocol):
    """The replay that a screen is of."""

    fork: Callable[[str], Path] | None
    """Makes a session that goes on from a hunk; None where there is no project to make it in."""
    forks: list[str]
    """The sessions that were made."""

    def begin_anew(self) -> None:
        """Show an empty screen, on which all up to the player's position is shown at once."""
        ...


class ReplayScreen(Screen[object], inherit_bindings=False):
    """The panes, played by ``player`` from the beginning up to its position, and on from there."""

    AUTO_FOCUS = ""
    CSS = "ReplayScreen #replay { height: 1; background: $spark-panel; }"

    def __init__(self, replay: Replay, player: Player, files: RecordedFiles, palette: Palette) -> None:
        super().__init__()
        self._replay = replay
        self._player = player
        self._files = files
        self._palette = palette
        self._marks = Marks()
        self._layout = Layout(lambda: self, self.app.size)
        self._background = BackgroundTasks(lambda line, level: self._status.say(line, level))
        self._woken = asyncio.Event()
        self._told = ""

    def compose(self) -> ComposeResult:
        """The panes, from top to bottom."""
        with Container(id="work"):
            yield EditorPane(self._palette, self._marks, id="editor")
            yield ChatView(self._palette, id="chat")
        yield HeldBar(self._palette, id="held")
        yield StatusLine(self._palette, id="status")
        yield Lines(self._palette, id="replay")

    def on_mount(self) -> None:
        """Show what was played so far, and play on."""
        editor, self._chat = self.query_one(EditorPane), self.query_one(ChatView)
        self._status, held = self.query_one(StatusLine), self.query_one(HeldBar)
        for pane in (editor, self._chat, held):
            pane.can_focus = False  # all keys are the replay's
        self._shown = ShownFile(editor, self._marks, self._files, self._status.say, self._background.start)
        self._shown.on_change = self._name_editor
        self._name_editor()
        flights = Flights(self._shown)
        disk = DiskChanges(self._shown, flights)
        self._feed = Feed(self._chat, self._shown, flights, disk, self._status, held, 0)
        self._status.show(link="replay")
        self._files.begin()
        self._catch_up([each.event for each in self._player.moments[: self._player.position]])
        self._background.start(self._play(), PLAYING)

    async def on_unmount(self) -> None:
        """Play no more."""
        await self._background.close()

    def on_resize(self, event: events.Resize) -> None:
        """Arrange the panes for the terminal's size."""
        self._layout.resize(event.size)
        self.call_after_refresh(self._draw)

    # Playing.

    async def _play(self) -> None:
        last = monotonic()
        while True:
            self._draw()
            wait = self._player.wait
            with suppress(TimeoutError):
                async with asyncio.timeout(None if wait is None else max(FRAME, min(wait, 0.5))):
                    await self._woken.wait()
            self._woken.clear()
            now = monotonic()
            for event in self._player.advance(now - last):
                self._take(event)
            last = now

    def _take(self, event: Event) -> None:
        with self._background.guarding("showing what happened"):
            self._files.take(event)
            self._feed.take(event)
            if isinstance(event, TurnStarted | ModelChosen):
                self._status.show(model=event.model, effort=event.effort)

    def _catch_up(self, past: list[Event]) -> None:
        """Show ``past`` at once: the conversation, and the file of the hunk that landed last."""
        for event in past:
            self._files.take(event)
        self._feed.replay(past)
        landed = [event for event in past if isinstance(event, HunkLanded)]
        if landed:
            self._feed.take(landed[-1])

    # Drawing.

    def _name_editor(self) -> None:
        editor = self.query_one(EditorPane)
        self._layout.show_file(bool(self._shown.path))
        editor.border_title = pane_title(visible(self._shown.path) or "no file")

    def _draw(self) -> None:
        player, width = self._player, self.size.width
        share = 100 * player.position // max(1, len(player.moments))
        where = f" {STATES[player.state]} {share}% · turn {player.turn}"
        where += f" · {player.hunk}" if player.hunk else ""
        where += f" · {player.speed:g}× · "
        row = Row([(clipped(where + (self._told or KEYS), width), "muted")], "panel")
        for line in self.query("#replay").results(Lines):  # none on a screen that is being left
            line.show([row])

    # Keys.

    async def on_key(self, event: events.Key) -> None:
        """Run the keys in the order in which they were pressed."""
        event.stop()
        event.prevent_default()
        self._told = ""
        if event.character is not None and event.character.isdecimal() and event.character.isascii():
            self.action_jump(int(event.character))
            return
        pressed = (event.key, event.character)
        action = next(
            (entry.action for entry in scope("replay").keys if set(pressed) & set(entry.keys)), None
        )
        if action is not None:
            await self.run_action(action)

    def action_pause(self) -> None:
        """Pause, or go on; from the end, begin anew."""
        ended = self._player.state is State.ENDED
        self._player.toggle()
        if ended:
            self._begin_anew()
        self._woken.set()

    def action_step(self, unit: Unit, by: int) -> None:
        """Go to the next or the previous event, hunk or turn."""
        self._seek(self._player.target(unit, by))

    def action_jump(self, tenths: int) -> None:
        """Go to a tenth of the time."""
        self._seek(self._player.share(tenths) if tenths < 10 else len(self._player.moments))

    def action_faster(self, by: int) -> None:
        """Play faster, or slower."""
        self._player.faster(by)
        self._woken.set()

    def action_scroll(self, pages: int) -> None:
        """Scroll the conversation."""
        self._chat.action_scroll_page(pages)

    def action_leave(self) -> None:
        """Leave."""
        self.app.exit(0)

    def action_fork(self) -> None:
        """Make a session that goes on from the hunk that landed last."""
        if self._replay.fork is None:
            self._tell("a fork needs the session in its project: spark replay ID")
        elif (hunk := self._player.hunk) is None:
            self._tell("no hunk has landed yet: h goes to the first")
        else:
            self._background.start(self._fork(self._replay.fork, hunk), "forking the session")

    async def _fork(self, fork: Callable[[str], Path], hunk: str) -> None:
        try:
            made = await asyncio.to_thread(fork, hunk)
        except (NoSuchPlaceError, StoreError) as problem:
            self._tell(str(problem))
        else:
            self._replay.forks.append(made.stem)
            self._tell(f"made {made.stem} from {hunk}: spark resume {made.stem}")

    def _tell(self, line: str) -> None:
        self._told = visible(line)
        self._woken.set()

    def _seek(self, position: int) -> None:
        back = position < self._player.position
        passed = self._player.seek(position)
        if back:
            self._begin_anew()
        elif len(passed) > 1:
            self._catch_up(passed)
        else:
            for event in passed:
                self._take(event)
        self._woken.set()

    def _begin_anew(self) -> None:
        self._background.cancel(PLAYING)  # another screen plays on
        self._replay.begin_anew()


class ReplayApp(App[int], inherit_bindings=False):
    """Plays one recording. ``fork`` makes a session that goes on from a hunk, and returns its name; None
    where there is no project to make it in."""

    CSS_PATH: ClassVar = ["../spark.tcss", "../later.tcss"]
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
