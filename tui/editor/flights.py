"""The hunks that the model is typing, and the one of them that is drawn over its file."""

from __future__ import annotations

from functools import partial

from session.base.events import HunkAimed, HunkLanded, HunkOpened, HunkTyped
from tui.editor.shown_file import ShownFile
from tui.editor.virtual_lines import HunkInFlight


class Flights:
    """Draws hunks in the editor while they are typed, and the held one that the user is asked about."""

    def __init__(self, file: ShownFile) -> None:
        self._file = file
        self._editor = file.editor
        self._flights: dict[str, HunkInFlight] = {}
        self._held = ""
        """The held hunk that the user is asked about. It is drawn, whatever is typed behind it."""
        self._told: set[str] = set()
        """The hunks that the user was told of in place of seeing them, and not yet what became of them."""

    def opened(self, event: HunkOpened) -> None:
        """The model began a hunk: show its file, unless the user is at work in another."""
        flight = self._flights[event.hunk] = HunkInFlight(event.hunk, event.path, event.action)
        if not self._held:
            self._draw(flight)

    def held(self, hunk: str) -> None:
        """The user is asked about a hunk: show it."""
        self._held = hunk
        if flight := self._flights.get(hunk):
            self._draw(flight)

    def typed(self, event: HunkTyped) -> None:
        """The model typed a piece of a line."""
        if flight := self._flights.get(event.hunk):
            flight.feed(event.kind, event.text)
            self._moved(flight)

    def aimed(self, event: HunkAimed) -> None:
        """The place where a hunk would land is known."""
        if flight := self._flights.get(event.hunk):
            flight.aim = (event.start, event.end)
            self._moved(flight)

    def landed(self, event: HunkLanded) -> HunkInFlight | None:
        """A hunk landed: the others of its file are displaced by it. It is drawn until its text is there."""
        flight = self._flights.pop(event.hunk, None)
        if flight is not None:
            path, growth = event.moved_to or event.path, flight.growth
            self._tell_end(event.hunk, f"landed in {path}")
            for other in self._flights.values():
                if other.path == path:
                    other.displaced(event.end - growth, growth)
        return flight

    def dropped(self, hunk: str) -> None:
        """A hunk will not land: remove it from the screen."""
        flight = self._flights.pop(hunk, None)
        if flight is not None:
            self._tell_end(hunk, f"did not land in {flight.path}")
            self.erase(flight)
            self._file.order.add(partial(self._file.close_new, flight.path))
        self.settled(hunk)

    def erase(self, flight: HunkInFlight) -> None:
        """Do not draw a hunk any more."""
        if flight is self._editor.flight:
            self._editor.draw_hunk(None)

    def settled(self, hunk: str) -> None:
        """A hunk is settled: if it was the held one, draw the next."""
        if hunk == self._held:
            self._held = ""
            if self._flights:
                self._draw(next(iter(self._flights.values())))

    def drop_all(self) -> None:
        """The turn was stopped: remove every open hunk from the screen."""
        paths = {flight.path for flight in self._flights.values()}
        self._flights.clear()
        self._told.clear()
        self._held = ""
        self._editor.drop_pending()
        for path in paths:
            self._file.order.add(partial(self._file.close_new, path))

    def _moved(self, flight: HunkInFlight) -> None:
        if flight is self._editor.flight:
            self._editor.redraw()

    def _show(self, flight: HunkInFlight) -> None:
        flight.replaces = flight.action == "add" and self._editor.buffer.base is not None
        self._editor.draw_hunk(flight)

    def _draw(self, flight: HunkInFlight) -> None:
        """Draw a hunk over its file, once that is shown."""
        if flight.path == self._file.path and self._file.order.idle:  # else another file may be on its way
            self._show(flight)
            return

        def wanted() -> bool:
            return self._flights.get(flight.hunk) is flight and self._held in ("", flight.hunk)

        async def bring() -> None:
            if not wanted():
                return
            shown = await self._file.bring(flight.path, new=flight.action == "add")
            if not wanted():
                return
            if shown:
                self._show(flight)
            elif self._file.hands_on:
                self._told.add(flight.hunk)
                self._file.say(f"{flight.hunk} is being written in {flight.path}", "info")

        self._file.order.add(bring)

    def _tell_end(self, hunk: str, end: str) -> None:
        if hunk in self._told:
            self._told.remove(hunk)
            self._file.say(f"{hunk} {end}", "info")
