"""The file in the editor: opened, saved, merged with the disk, and with the hunks that land in it.

Three texts are kept apart: the one on disk when it was last read (*base*), the one in the editor (*mine*) and
the one on disk now (*theirs*). The user's text is replaced only by a merge in which it wins.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from session.events import HunkAimed, HunkLanded, HunkOpened, HunkRedone, HunkTyped, HunkUndone
from session.project.open_files import FileProblem, OpenFile, ProjectFiles
from tui.panes.editor.editor import EditorPane
from tui.panes.editor.hunk_in_flight import HunkInFlight
from tui.panes.editor.marks import Mark, Marks

Say = Callable[[str, str], None]
"""Shows one line to the user: the text, and its level as of a notice."""


class ShownFile:
    """Moves files between the disk and the editor pane, for the user and for the hunks."""

    def __init__(self, editor: EditorPane, marks: Marks, files: ProjectFiles, say: Say) -> None:
        self.editor = editor
        self.marks = marks
        self._files = files
        self._say = say
        self._base: OpenFile | None = None
        self._saving = asyncio.Lock()
        self._flights: dict[str, HunkInFlight] = {}
        self._held = ""
        """The held hunk that the user is asked about. It is drawn, whatever is typed behind it."""
        self.problem = ""
        """Why the requested file is not shown; empty when it is, or none was requested."""
        self.on_change: Callable[[], None] = lambda: None
        """Called when another file, or none, is shown, or when the unsaved changes begin or end."""

    # The shown file.

    @property
    def path(self) -> str:
        """The file in the editor; empty when there is none."""
        return self.editor.path

    @property
    def dirty(self) -> bool:
        """Whether the editor has unsaved changes."""
        if not self.editor.path:
            return False
        return self.editor.content != (self._base.text if self._base is not None else "")

    @property
    def base(self) -> OpenFile | None:
        """The file as last read; None when there is none, or when it is not on disk yet."""
        return self._base

    @property
    def hands_on(self) -> bool:
        """Whether the user is at work in the editor, so that no other file may be shown."""
        return self.editor.busy or self.dirty

    async def open(self, path: str) -> bool:
        """Show ``path`` for the user. Unsaved changes of the current file are saved first; false when that
        fails, or when ``path`` cannot be shown."""
        if path == self.path:
            return True
        while self.dirty:  # also of what is typed while the save runs
            if not await self.save():
                return False
        return self._show(path)

    async def save(self) -> bool:
        """Write the editor's text to disk; true when the disk holds it now. What is typed meanwhile stays in
        the editor, unsaved. A failed save says why and changes no text."""
        async with self._saving:
            return not self.dirty or await self._save()

    async def saved(self) -> None:
        """Wait for a running save."""
        async with self._saving:
            pass

    async def _save(self) -> bool:
        if self.editor.read_only:
            # The file may have become read-only while there were unsaved changes: keep them.
            self._say(f"{self.path} is read-only: make it writable to save it", "warning")
            return False
        path, base = self.path, self._base
        if base is None:
            self._say(f"{path} is not on disk (yet): it cannot be saved", "warning")
            return False
        try:
            now = await self._files.save(base, self.editor.content)
        except FileProblem as problem:
            self._say(str(problem), "error")
            if self.path == path:
                self.read_again()
            return False
        if self._base is base:
            self._base = now
            self.on_change()
        elif self.path == path:
            # It was read again during the save: only the disk knows which text is newer.
            self.read_again()
        return True

    def _show(self, path: str) -> bool:
        try:
            opened = self._files.open(path)
        except FileProblem as problem:
            self.problem = str(problem)
            self._clear()
            self._say(self.problem, "warning")
            return False
        self.problem = ""
        self._base = opened
        self.editor.show(path, opened.text, read_only=opened.read_only)
        self.on_change()
        return True

    def _show_new(self, path: str) -> None:
        """Show an empty editor for a file that a hunk is about to create."""
        self.problem = ""
        self._base = None
        self.editor.show(path, "", read_only=True)
        self.on_change()

    def _clear(self) -> None:
        self._base = None
        self.editor.show("", "", read_only=True)
        self.on_change()

    def read_again(self) -> None:
        """The file may have changed on disk: merge the change into the editor; the user's lines win."""
        if not self.editor.path:
            return
        path = self.editor.path
        try:
            theirs = self._files.open(path)
        except FileProblem as problem:
            if self._base is None:
                return
            if self.dirty:
                self._say(f"{problem}; your unsaved text stays in the editor", "warning")
            else:
                self.problem = str(problem)
                self._clear()
            return
        mine = self.editor.content
        if self._base is None or mine == self._base.text:
            self.editor.read_only = theirs.read_only
            self._base = theirs
            self.editor.become(theirs.text)
        elif theirs.text != self._base.text:
            merged = self._files.merge(self._base.text, mine, theirs.text)
            self._base = theirs
            self.editor.become(merged.text)
            if merged.conflicts:
                self._say(f"{path} changed where you are typing: your unsaved text stands there", "warning")
        else:
            self._base = theirs
        self.on_change()

    # Hunks in flight.

    def opened(self, event: HunkOpened) -> None:
        """The model began a hunk: show its file, unless the user is at work in another."""
        flight = self._flights[event.hunk] = HunkInFlight(event.hunk, event.path, event.action)
        if not self._held and not self._draw(flight):
            self._say(f"{event.hunk} is being written in {event.path}", "info")

    def held(self, hunk: str) -> None:
        """The user is asked about a hunk: show it."""
        self._held = hunk
        if flight := self._flights.get(hunk):
            self._draw(flight)

    def _draw(self, flight: HunkInFlight) -> bool:
        """Draw a hunk over its file; false when the user is at work in another."""
        if flight.path != self.path:
            if self.hands_on:
                return False
            if flight.action == "add":
                self._show_new(flight.path)
            elif not self._show(flight.path):
                return True
        self.editor.draw_hunk(flight)
        return True

    def _settled(self, hunk: str) -> None:
        """A hunk is settled: if it was the held one, draw the next."""
        if hunk == self._held:
            self._held = ""
            if self._flights:
                self._draw(next(iter(self._flights.values())))

    def typed(self, event: HunkTyped) -> None:
        """The model typed a piece of a line."""
        if flight := self._flights.get(event.hunk):
            flight.feed(event.kind, event.text)
            if flight is self.editor.flight:
                self.editor.flight_moved()

    def aimed(self, event: HunkAimed) -> None:
        """The place where a hunk would land is known."""
        if flight := self._flights.get(event.hunk):
            flight.aim = (event.start, event.end)
            if flight is self.editor.flight:
                self.editor.flight_moved()

    def dropped(self, hunk: str) -> None:
        """A hunk will not land: remove it from the screen."""
        flight = self._flights.pop(hunk, None)
        if flight is not None and flight is self.editor.flight:
            self.editor.draw_hunk(None)
            if self._base is None and self.path == flight.path:
                self._clear()
        self._settled(hunk)

    def drop_all(self) -> None:
        """The turn was stopped: remove every open hunk from the screen."""
        self._flights.clear()
        self._held = ""
        flight = self.editor.flight
        self.editor.drop_pending()
        if flight is not None and self._base is None and self.path == flight.path:
            self._clear()

    # Hunks on disk.

    def landed(self, event: HunkLanded) -> None:
        """A hunk landed: take it into the editor, mark it, and show it unless the user is at work."""
        flight = self._flights.pop(event.hunk, None)
        path = event.moved_to or event.path
        if event.moved_to:
            self.marks.renamed(event.path, event.moved_to)
        if flight is not None and flight is self.editor.flight:
            self.editor.flight = None
        growth = flight.growth if flight else 0
        for other in self._flights.values():
            if other.path == path:
                other.displaced(event.end - growth, growth)
        self._placed(event.path, path, growth, event.start, event.end, event.hunk)
        self._settled(event.hunk)

    def undone(self, event: HunkUndone) -> None:
        """A hunk was undone."""
        held = self.marks.remove(event.hunk)
        growth = (event.end - event.start) - (held[1].end - held[1].start) if held else 0
        self._placed(event.path, event.path, growth, event.start, event.end, None)

    def redone(self, event: HunkRedone) -> None:
        """A hunk was redone."""
        self._placed(event.path, event.path, 0, event.start, event.end, event.hunk)

    def _placed(self, path: str, now: str, growth: int, start: int, end: int, hunk: str | None) -> None:
        """Lines ``start`` to ``end`` of file ``now`` (``path`` before a move) are new."""
        row = max(0, start - 1)
        shown = path == self.path
        if shown and now == path:
            self.read_again()
        elif shown and not self.dirty:
            self._show(now)
        elif not shown and growth:
            come = end - start
            self.marks.edited(now, row, max(0, come - growth), come)
        if hunk is not None and start:
            self.marks.set(now, Mark(hunk, row, max(end - 1, row)))
        if not shown and start and not self.hands_on:
            self._show(now)
        if self.path == now and start and not self.hands_on:
            self.editor.reveal(row)
        self.editor.flight_moved()

    def marked_here(self) -> Mark | None:
        """The landed hunk under the cursor."""
        return self.marks.at(self.path, self.editor.cursor_location[0]) if self.path else None

    async def go(self, step: int) -> None:
        """Go to the next (1) or previous (-1) landed hunk, in any file."""
        found = self.marks.neighbour(self.path, self.editor.cursor_location[0], step)
        if found is None:
            self._say("no hunk has landed yet", "info")
            return
        path, mark = found
        if await self.open(path):
            self.editor.reveal(mark.start)
            self._say(f"{mark.hunk} · {path}:{mark.start + 1}", "info")
