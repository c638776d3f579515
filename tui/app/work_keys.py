"""What the keys for files and hunks do: save, open, walk, take back, answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from textual import work
from textual.screen import ModalScreen, Screen

from tui.app.pane_keys import PaneKeys
from tui.keys.keymap import shown
from tui.panes.composer.composer import Composer

if TYPE_CHECKING:
    from tui.words.held_items import Verdict


class WorkKeys(PaneKeys, inherit_bindings=False):
    """The half of the app that works on files and hunks, in the editor and in the session."""

    composer: Composer
    _chosen: str
    """The landed hunk that the keys went to last, while the cursor may still be on it."""

    def _in_turn(self, call: Callable[[], object]) -> None:
        """Call after what was typed before the key: keys that work anywhere overtake typing."""
        (self.focused or self).call_later(call)

    async def _obey(self, name: str, argument: str) -> bool:
        """Do a typed command; the app knows how."""
        raise NotImplementedError

    def action_save(self) -> None:
        """Save the file in the editor."""
        self._in_turn(self._save)

    @work(group="save")
    async def _save(self) -> None:
        path = self.desk.path
        if not path:
            self.status.say("no file is open")
        elif not self.desk.dirty:
            self.status.say(f"{path} holds nothing unsaved")
        elif await self.desk.save():
            self.status.say(f"saved {path}")

    def action_open_file(self) -> None:
        """Pick a file; where one is picked, leave that."""
        from tui.overlays.screens import FilePicker

        if self._left(FilePicker):
            return

        def picked(path: str | None) -> None:
            if path is not None:
                self._open(path)

        hint = f"Enter opens · {self._leaving('open_file')}"
        listed = self.session.files.list
        self.push_screen(FilePicker(self._palette, listed, self.desk.path, hint=hint), picked)

    def action_context(self) -> None:
        """Show what the model is shown, with the draft as the request; where it is shown, leave that."""
        from tui.overlays.context_panel import ContextScreen

        if not self._left(ContextScreen):
            self._in_turn(self._show_context)

    def _left(self, kind: type[Screen[str | None]]) -> bool:
        """Whether a screen lies over the panes; one of this kind is left, and a running turn goes on."""
        covered = isinstance(self.screen, ModalScreen)
        if isinstance(self.screen, kind):
            self.screen.dismiss(None)
        return covered

    def _leaving(self, action: str) -> str:
        """How the screen that ``action`` opens is left: Esc stops a turn as well."""
        return f"{shown(action)} leaves, Esc stops" if self.session.running else "Esc leaves"

    def _show_context(self) -> None:
        from tui.overlays.context_panel import ContextScreen

        def left(path: str | None) -> None:
            if path is not None:
                self._open(path)

        if isinstance(self.screen, ModalScreen):
            return

        def held() -> bool:
            return self.feed.held.oldest is not None

        self.push_screen(ContextScreen(self._palette, self.session, self.composer.draft, held), left)

    def _open(self, path: str) -> None:
        """Show a file. Keys for the editor wait for it, the others do not."""
        self.editor.call_later(self._open_now, path)

    async def _open_now(self, path: str) -> None:
        if await self.desk.open(path):
            self.arrangement.bring("editor")
            self.editor.focus()

    def action_next_hunk(self) -> None:
        """To the next landed hunk."""
        self.editor.call_later(self._go, 1)

    def action_previous_hunk(self) -> None:
        """To the previous landed hunk."""
        self.editor.call_later(self._go, -1)

    async def _go(self, step: int) -> None:
        await self.desk.go(step)
        mark = self.desk.marked_here()
        self._chosen = mark.hunk if mark else ""
        if self.desk.path:
            self.arrangement.bring("editor")

    @work(group="undo")
    async def action_undo_hunk(self) -> None:
        """Undo the hunk at the cursor when the editor has the focus or the keys went there, else the last."""
        mark = self.desk.marked_here()
        meant = mark is not None and (self.editor.has_focus or mark.hunk == self._chosen)
        await self.session.hunks.undo(mark.hunk if mark and meant else None)

    @work(group="undo")
    async def action_undo_turn(self) -> None:
        """Undo all hunks of the last turn that has any."""
        await self._obey("undo-turn", "")

    def action_answer(self, verdict: Verdict, name: str = "") -> None:
        """The user's verdict on a held hunk or tool call, the oldest without a name."""
        if not self.feed.answer(self.session, verdict, name):
            self.status.say(f"{name} is not held" if name else "nothing is held")

    @work(group="undo")
    async def action_redo_hunk(self) -> None:
        """Redo the hunk undone last."""
        await self.session.hunks.redo(None)

    def action_follow(self) -> None:
        """Let the editor follow the hunks again."""
        self.editor.follow()
