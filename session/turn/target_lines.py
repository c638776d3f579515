"""Where a hunk in flight will land: found from its old text as it is typed, for front ends to draw.

Looking costs a search in a file, so it is done in the edit thread, one look at a time for each hunk.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass, field

from edits.hunk import LineKind
from edits.landing import Landing
from session.events import Event, HunkAimed
from session.text.sanitize import clean_line


@dataclass(slots=True)
class _Flight:
    """A hunk in flight: what is known of its old text so far."""

    path: str
    old: list[str] = field(default_factory=list)
    partial: str = ""
    place: tuple[int, int] | None = None
    looking: bool = False
    fixed: bool = False


class Aiming:
    """The hunks in flight of one turn, by their names."""

    def __init__(self, landing: Landing, thread: Executor, send: Callable[[Event], None], turn: str) -> None:
        self._landing = landing
        self._thread = thread
        self._send = send
        self._turn = turn
        self._flights: dict[str, _Flight] = {}
        self._looks: set[asyncio.Task[None]] = set()

    def opened(self, hunk: str, path: str) -> None:
        """``hunk`` has begun, in the file ``path``."""
        self._flights[hunk] = _Flight(path)

    def typed(self, hunk: str, kind: LineKind, text: str) -> None:
        """More of a line of ``hunk``; once its first new line comes, all that will be looked for is known."""
        flight = self._flights.get(hunk)
        if flight is None or flight.fixed:
            return
        if kind is LineKind.NEW:
            flight.fixed = bool(flight.old)
        else:
            *whole, flight.partial = (flight.partial + text).split("\n")
            flight.old += whole
            if not whole:
                return
        if flight.old and not flight.looking:
            flight.looking = True
            task = asyncio.create_task(self._look(hunk, flight, tuple(flight.old)))
            self._looks.add(task)
            task.add_done_callback(self._looks.discard)

    def closed(self, hunk: str) -> str | None:
        """``hunk`` is in flight no more; its path, if it was."""
        flight = self._flights.pop(hunk, None)
        return flight.path if flight else None

    def close(self) -> dict[str, str]:
        """Nothing is in flight any more; the paths of what was, by hunk."""
        left = {hunk: flight.path for hunk, flight in self._flights.items()}
        self._flights.clear()
        return left

    async def held(self, hunk: str, path: str, old: tuple[str, ...]) -> None:
        """Tell where a complete hunk that waits for the user would land, by the lines that it will look
        for: it may have been typed faster than any look, and hunks before it have landed since."""
        loop = asyncio.get_running_loop()
        place = await loop.run_in_executor(self._thread, self._landing.aim, path, old) if old else None
        if place is not None:
            self._tell(hunk, path, place)

    async def settled(self) -> None:
        """Wait for the looks that are under way."""
        await asyncio.gather(*self._looks)

    async def _look(self, hunk: str, flight: _Flight, old: tuple[str, ...]) -> None:
        loop = asyncio.get_running_loop()
        place = await loop.run_in_executor(self._thread, self._landing.aim, flight.path, old)
        flight.looking = False
        if self._flights.get(hunk) is not flight or place is None or place == flight.place:
            return
        flight.place = place
        self._tell(hunk, flight.path, place)

    def _tell(self, hunk: str, path: str, place: tuple[int, int]) -> None:
        start, end = place
        self._send(HunkAimed(turn=self._turn, hunk=hunk, path=clean_line(path), start=start, end=end))
