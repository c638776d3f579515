"""Goes to another session of the project: a new one, or one picked from the list."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Coroutine
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from textual.app import App

from session.base.storage.private_files import StoreError, replace_private
from session.record.archive import markdown
from session.record.fork import fork_session
from session.record.journal.session_list import NoSessionError, SessionList, find_session, list_sessions
from session.record.sharing.claim import rename_session
from session.ways.following_link import ask_to_hand_over
from tui.app.control.background import BackgroundTasks
from tui.app.control.overlay_control import OverlayControl
from tui.app.panes.layout import Panes
from tui.front.keys.key_order import KeyTurns
from tui.front.keys.keymap import save_first
from tui.front.matching import Choice
from tui.front.slash.table import split_slash
from tui.screen.terminal.lending import keep_keys

if TYPE_CHECKING:
    from session.session import Session
    from tui.app.control.quit_control import QuitControl
    from tui.app.picking.session_screens import ListWish, SessionsScreen
    from tui.editor.shown_file import ShownFile


@dataclass(frozen=True, slots=True)
class Switch:
    """What to open once the app is left: the session of a journal, or a new one."""

    journal: Path | None = None


class SessionControl:
    """Leaves the app for another session, which opens in its place; nothing that was typed is lost."""

    def __init__(
        self,
        app: App[int],
        panes: Panes,
        overlays: OverlayControl,
        background: BackgroundTasks,
        session: Session,
        shown_file: ShownFile,
        quitting: QuitControl,
        key_turns: KeyTurns,
    ) -> None:
        self._app = app
        self._panes = panes
        self._overlays = overlays
        self._background = background
        self._session = session
        self._shown_file = shown_file
        self._quitting = quitting
        self._key_turns = key_turns
        self._screen: SessionsScreen | None = None
        """The list that was shown last."""
        self.switch: Switch | None = None
        """Set once the app is left for another session."""

    def sending(self, text: str) -> None:
        """Called with each text before it is sent: what is typed behind a command that leaves this session
        waits for the next one."""
        command = split_slash(text)
        if command is not None and (command == ("new", "") or command[0] == "resume"):
            self._key_turns.hold()

    def begin_new(self) -> None:
        """Go to a new session."""
        self._go(Switch())

    def resume(self, name: str, *, take_over: bool = False) -> None:
        """Go to the session called ``name``, or to the one that the user picks; ``take_over`` asks the
        process that has it to hand it over."""
        self._background.start(self._resume(name, take_over), "finding the session")

    async def _resume(self, name: str, take_over: bool) -> None:
        folder = self._session.folders.sessions
        try:
            if take_over:
                await asyncio.to_thread(ask_to_hand_over, self._session.folders.live, name)
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
        finally:
            if self.switch is None:
                self._key_turns.release()

    def _pick(self, folder: Path, found: SessionList) -> None:
        from tui.app.picking.session_screens import SessionsScreen

        choices = self._choices(found)
        if not choices:
            self._panes.status.say("this project has no earlier session")
            return
        screen = SessionsScreen(self._overlays.themes.palette, choices, self._wished)
        self._overlays.open(screen, lambda name: self._go(Switch(folder / f"{name}.jsonl")))
        self._screen = screen

    def _choices(self, found: SessionList) -> list[Choice]:
        now = time.time()
        return [
            Choice(
                row.name,
                " ".join(row.title.split()) or "no prompt",
                f"{ago(now - row.changed)} · {row.turns} turn{'s' if row.turns != 1 else ''} · {row.name}",
            )
            for row in found.rows
            if row.name != self._session.name
        ]

    def _wished(self, wish: ListWish, name: str, title: str) -> None:
        """Do what the user wishes about a session of the list."""
        work = {"rename": self._rename, "fork": self._fork, "export": self._export}[wish]
        self._background.start(self._told(work(name, title)), f"{wish} of a session")

    async def _told(self, work: Coroutine[Any, Any, None]) -> None:
        try:
            await work
        except (StoreError, OSError) as problem:
            self._panes.status.say(str(problem), "error")
            if self._screen is not None:
                self._screen.tell(str(problem))

    async def _rename(self, name: str, title: str) -> None:
        folders = self._session.folders
        await asyncio.to_thread(rename_session, folders, name, title)
        if self._screen is not None:
            found = await asyncio.to_thread(list_sessions, folders.sessions)
            self._screen.offer(self._choices(found), name)

    async def _fork(self, name: str, title: str) -> None:
        journal = self._session.folders.sessions / f"{name}.jsonl"
        if self._stays():
            return
        self._key_turns.hold()
        try:
            made = await asyncio.to_thread(fork_session, journal)
        except (StoreError, OSError):
            self._key_turns.release()
            raise
        self._go(Switch(made))

    async def _export(self, name: str, title: str) -> None:
        folders = self._session.folders
        file = folders.state / "exports" / f"{name}.md"

        def write() -> None:
            text = "".join(markdown(folders.sessions / f"{name}.jsonl"))
            replace_private(file, text.encode("utf-8", errors="replace"))

        await asyncio.to_thread(write)
        told = f"wrote {file.name}: the chat says where"
        self._panes.chat.remark(f"wrote {file}", "quiet")
        self._panes.status.say(told)
        if self._screen is not None:
            self._screen.tell(told)

    def _go(self, switch: Switch) -> None:
        if self._stays():
            self._key_turns.release()
            return
        self.switch = switch
        self._key_turns.hold()
        keep_keys(self._app)
        self._quitting.quit()

    def _stays(self) -> bool:
        """Whether this session cannot be left now; the user is told why."""
        why = ""
        if self._session.running:
            why = "cannot leave this session: a turn runs; stop it first"
        elif self._shown_file.buffers.dirty:
            why = f"cannot leave this session: {save_first()}"
        if why:
            self._panes.status.say(why, "warning")
            if self._screen is not None:
                self._screen.tell(why)
        return bool(why)


def ago(seconds: float) -> str:
    """How long ago, in the largest unit that fits: ``5 min ago``."""
    for unit, length in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= length:
            return f"{int(seconds // length)} {unit} ago"
    return "just now"
