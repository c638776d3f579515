"""Goes to another session of the project: a new one, or one picked from the list."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from session.journal.session_list import NoSessionError, SessionList, find_session, list_sessions
from session.storage.line_files import StoreError
from tui.control.background import BackgroundTasks
from tui.control.overlay_control import OverlayControl
from tui.overlays.filtering import Choice
from tui.panes.layout import Panes

if TYPE_CHECKING:
    from tui.control.quit_control import QuitControl
    from tui.panes.editor.shown_file import ShownFile
    from tui.port import SessionPort


@dataclass(frozen=True, slots=True)
class Switch:
    """What to open once the app is left: the session of a journal, or a new one."""

    journal: Path | None = None


class SessionControl:
    """Leaves the app for another session, which opens in its place; nothing that was typed is lost."""

    def __init__(
        self,
        panes: Panes,
        overlays: OverlayControl,
        background: BackgroundTasks,
        session: SessionPort,
        shown_file: ShownFile,
        quitting: QuitControl,
    ) -> None:
        self._panes = panes
        self._overlays = overlays
        self._background = background
        self._session = session
        self._shown_file = shown_file
        self._quitting = quitting
        self.switch: Switch | None = None
        """Set once the app is left for another session."""

    def begin_new(self) -> None:
        """Go to a new session."""
        self._go(Switch())

    def resume(self, name: str) -> None:
        """Go to the session called ``name``, or to the one that the user picks."""
        self._background.start(self._resume(name), "finding the session")

    async def _resume(self, name: str) -> None:
        folder = self._session.folders.sessions
        try:
            if name:
                journal = await asyncio.to_thread(find_session, folder, name)
                if journal.stem == self._session.name:
                    self._panes.status.say("that is this session")
                else:
                    self._go(Switch(journal))
            else:
                self._pick(folder, await asyncio.to_thread(list_sessions, folder))
        except (NoSessionError, StoreError) as problem:
            self._panes.status.say(str(problem), "error")

    def _pick(self, folder: Path, found: SessionList) -> None:
        rows = [row for row in found.rows if row.turns and row.name != self._session.name]
        if not rows:
            self._panes.status.say("this project has no earlier session")
            return
        now = time.time()
        choices = [
            Choice(
                row.name,
                " ".join(row.title.split()) or "no prompt",
                f"{ago(now - row.changed)} · {row.turns} turn{'s' if row.turns > 1 else ''} · {row.name}",
            )
            for row in rows
        ]
        self._overlays.pick(
            "Sessions",
            choices,
            lambda name: self._go(Switch(folder / f"{name}.jsonl")),
            hint="type to find · Enter resumes it · Esc leaves",
            empty="no session has that",
        )

    def _go(self, switch: Switch) -> None:
        if self._session.running:
            self._panes.status.say("a turn runs: stop it first", "warning")
        elif self._shown_file.buffers.dirty:
            self._panes.status.say("save the file in the editor first", "warning")
        else:
            self.switch = switch
            self._quitting.quit()


def ago(seconds: float) -> str:
    """How long ago, in the largest unit that fits: ``5 min ago``."""
    for unit, length in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= length:
            return f"{int(seconds // length)} {unit} ago"
    return "just now"
