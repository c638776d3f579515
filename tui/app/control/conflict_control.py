"""Conflicts of unsaved text with what landed: shown, told of in the chat, and settled by the user."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from session.base.events import HunkRefused
from tui.app.panes.held_bar import Question
from tui.editor.buffers.buffer import Buffer, OpenConflict
from tui.front.keys.keymap import shown

if TYPE_CHECKING:
    from session.commands.hunk_commands import HunkCommands
    from tui.chat.chat import ChatView
    from tui.editor.disk_changes import DiskChanges
    from tui.editor.shown_file import ShownFile
    from tui.front.words.held_items import Verdict

CONFLICT = "conflict"
"""The name of the question."""
_CONFLICTS, _REPLACED = " · conflicts with your unsaved text", " · your text replaced it"
"""What the chat says behind a hunk that landed."""


class ConflictControl:
    """The conflicts of the open files; the first one of the shown file is asked about."""

    def __init__(
        self,
        file: ShownFile,
        chat: ChatView,
        hunks: HunkCommands,
        disk: DiskChanges,
        propose: Callable[[], None],
    ) -> None:
        """``propose`` asks what there is to ask, when that has changed."""
        self._file = file
        self._editor = file.editor
        self._chat = chat
        self._hunks = hunks
        self._disk = disk
        self._say = file.say
        self._propose = propose
        self._conflicting: set[str] = set()
        """The hunks of which the chat says that they conflict with unsaved text."""
        self._asked: OpenConflict | None = None

    @property
    def question(self) -> Question | None:
        """What to ask about the shown file."""
        return None if self._asked is None else _about(self._editor.buffer, self._asked)

    def changed(self) -> None:
        """The text or the conflicts of a file changed, or another file is shown."""
        conflicts = self._editor.buffer.conflicts
        first = conflicts[0] if conflicts else None
        if first != self._asked:
            self._asked = first
            self._editor.redraw()
            self._propose()
        hunks = {each.hunk for buffer in self._file.buffers for each in buffer.conflicts if each.hunk}
        for hunk in hunks - self._conflicting:
            self._tell_of(hunk, _CONFLICTS)
        for hunk in self._conflicting - hunks:
            self._tell_of(hunk, "")
        self._conflicting = hunks

    def _tell_of(self, hunk: str, remark: str) -> None:
        """Change what the chat says of a landed hunk."""
        entry = self._chat.hunk_named(hunk)
        if entry is not None and entry.fate.state == "landed":
            detail = entry.fate.detail.removesuffix(_CONFLICTS).removesuffix(_REPLACED)
            self._chat.hunk(hunk, entry.path, entry.action, "landed", detail + remark)

    async def settle(self, verdict: Verdict) -> None:
        """Settle the conflict that was asked about."""
        buffer, conflict = self._editor.buffer, self._asked
        if conflict is None or conflict not in buffer.conflicts:
            return
        if verdict == "edit":
            self._editor.focus()
            self._editor.reveal(conflict.start, last=conflict.end)
            mine, theirs, both = (shown(f"answer({each!r})", "held") for each in ("mine", "theirs", "both"))
            keys = f"{mine}, {theirs} or {both}"
            self._say(f"edit your lines, then settle the conflict with {keys}", "info")
        elif verdict == "mine" and conflict.whole and await self._undone(conflict.hunk):
            self._say(f"your lines stay; {conflict.hunk} is undone", "info")
        elif verdict in ("mine", "theirs", "both"):
            before = self._editor.selected
            rows = buffer.settle(conflict, verdict)
            if rows is not None:
                buffer.history.typed(rows, before, self._editor.selected, 0.0)
            self.changed()
            if verdict == "mine":
                self._tell_of(conflict.hunk, _REPLACED)
        self._editor.redraw()

    async def _undone(self, hunk: str) -> bool:
        """Undo a hunk that did nothing but what the user's lines conflict with."""
        result = await self._hunks.undo(hunk)
        if isinstance(result, HunkRefused):
            return False
        await self._disk.take(result)
        return True

    async def overwrite(self, buffer: Buffer) -> None:
        """Save the user's text over what landed in its place."""
        hunks = [each.hunk for each in buffer.conflicts]
        if await self._file.save(buffer):
            for hunk in hunks:
                self._tell_of(hunk, _REPLACED)
            self._say(f"saved {buffer.path}", "info")


def _about(buffer: Buffer, conflict: OpenConflict) -> Question:
    """The question how to settle a conflict."""
    by = conflict.hunk or "a change from outside"
    by = f"the undo of {conflict.undone}" if conflict.undone else by
    count = f" (1 of {len(buffer.conflicts)})" if len(buffer.conflicts) > 1 else ""
    title = f"{by} changed your unsaved text at {buffer.path}:{conflict.start + 1}{count}"
    others: tuple[tuple[Verdict, str], ...] = (
        ("mine", "yours"),
        ("theirs", "theirs"),
        ("both", "both"),
        ("edit", "edit by hand"),
    )
    return Question(CONFLICT, title, "", "", "", "", others, "editor")
