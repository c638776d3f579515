"""Asks a model for the text of a place that the change alone does not tell, such as a new argument."""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import PurePosixPath

from context.code.languages import language_of
from context.code.uses import calls
from context.disk.source import Source, read
from context.project.snapshot import Snapshot
from context.text.secrets import redact
from session.assist.next_edit.causes import NextPlace
from session.assist.next_edit.move import Move
from session.assist.next_edit.signature import SignatureChange, fits
from session.assist.side_requests import NotNow, SideRequests
from session.assist.suggest.answer import Region, read_rewrite
from session.assist.suggest.suggestion import Insertion, Suggestion, place_at
from session.assist.suggest.window import for_rewrite, holds_secret, look_around
from session.base.tasks import BackgroundTasks
from session.record.usage import Kind
from session.wire.instructions import suggest_instructions
from session.wire.protocol.events import Created, Finished, TextDelta
from session.wire.protocol.items import user_message

MOST_TOKENS = 800
GIVE_UP_SECONDS = 15.0
_LOOKS, _LOOK_SECONDS = 200, 0.01
"""How often, and after how long, it is looked whether requests can go out."""
_MOST_TAKEN = 4
"""Places that were taken which the model is shown, the newest."""


class Filling:
    """The texts of the places of one chain, each asked for once. All methods are called on the event loop."""

    def __init__(self, side: SideRequests, tasks: BackgroundTasks, snapshot: Callable[[], Snapshot]) -> None:
        self._side = side
        self._tasks = tasks
        self._snapshot = snapshot
        self._asked: dict[NextPlace, asyncio.Task[None]] = {}
        self._texts: dict[NextPlace, tuple[str, ...]] = {}
        self._taken: list[NextPlace] = []

    def taken(self, place: NextPlace) -> None:
        """The user took a place: an example for the next ones."""
        self._taken = [*self._taken, place][-_MOST_TAKEN:]

    def start(self, place: NextPlace) -> None:
        """Ask for a place, unless that was done."""
        if place.new is None and place not in self._asked:
            self._asked[place] = self._tasks.start(self._fill(place), "asking for a next edit")

    async def text(self, place: NextPlace) -> tuple[str, ...] | None:
        """The lines that a place would be; None where there is no answer that fits."""
        if place.new is not None:
            return place.new
        self.start(place)
        await asyncio.wait({self._asked[place]})
        return self._texts.get(place)

    def stop(self) -> None:
        """Give up what is asked."""
        for task in self._asked.values():
            task.cancel()

    async def _fill(self, place: NextPlace) -> None:
        for _ in range(_LOOKS):
            refusal = self._side.refusal(Kind.NEXT_EDIT)
            if refusal is not NotNow.STARTING:
                break
            await asyncio.sleep(_LOOK_SECONDS)
        if refusal is not None:
            return
        asked = await asyncio.to_thread(_request, self._snapshot, place, tuple(self._taken))
        if asked is None:
            return
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(GIVE_UP_SECONDS):
                said = await self._answer(asked)
                if said is None:
                    return
                made = await asyncio.to_thread(_read, self._snapshot, place, said)
                if made is not None:
                    self._texts[place] = made

    async def _answer(self, text: str) -> str | None:
        """The whole answer; None where it did not come to its end."""
        profile = self._side.model.profile(suggest_instructions().text, name="suggest", most=MOST_TOKENS)
        said = ""
        events = self._side.ask(Kind.NEXT_EDIT, profile, (user_message(text),))
        async with contextlib.aclosing(events) as stream:
            async for event in stream:
                match event:
                    case Created():
                        said = ""
                    case TextDelta(text=piece):
                        said += piece
                    case Finished(status=status):
                        return said if status != "failed" else None
                    case _:
                        pass
        return None


def _lines(snapshot: Snapshot, place: NextPlace) -> tuple[NextPlace, Sequence[str]] | None:
    found = read(snapshot.root, place.path)
    now = place.in_lines(found.lines) if isinstance(found, Source) else None
    return (now, found.lines) if now is not None and isinstance(found, Source) else None


def _request(project: Callable[[], Snapshot], place: NextPlace, taken: Sequence[NextPlace]) -> str | None:
    """The request for a place; None where it may not be sent, or is gone. It reads files."""
    found = _lines(project(), place)
    if found is None:
        return None
    now, lines = found
    region = Region(now.line - 1, now.old)
    last = now.line + len(now.old) - 2
    cursor = place_at(now.path, lines, last, len(lines[last]))
    around, _ = look_around(project, cursor, ())
    if around is None or holds_secret(cursor, region):
        return None
    return for_rewrite(cursor, region, replace(around, recent=redact(_lately(place, taken)).text))


def _lately(place: NextPlace, taken: Sequence[NextPlace]) -> str:
    """The change that a place follows, and what it made of other places."""
    cause = place.cause
    if isinstance(cause, SignatureChange):
        parts = [f"-{cause.old.line}\n+{cause.new.line}"]
        if place.gone:
            parts.append(f"{place.gone} is no parameter any more: do without it")
    elif isinstance(cause, Move):
        parts = [f"{cause.name} was moved from {cause.old} to {cause.new}"]
    else:
        parts = [f"-{cause.old}\n+{cause.new}"]
    for each in taken:
        old, new = (f"-{line}" for line in each.old), (f"+{line}" for line in each.new or ())
        parts.append("\n".join([f"{each.path}:", *old, *new]))
    return "\n".join(parts)


def _read(project: Callable[[], Snapshot], place: NextPlace, said: str) -> tuple[str, ...] | None:
    """The lines that an answer makes of a place; None where they do not follow the change. It parses."""
    found = _lines(project(), place)
    if found is None:
        return None
    now, lines = found
    region = Region(now.line - 1, now.old)
    last = now.line + len(now.old) - 2
    made = read_rewrite(place_at(now.path, lines, last, len(lines[last])), region, said)
    if made is None:
        return None
    new = _whole(now, made)
    whole = [*lines[: now.line - 1], *new, *lines[now.line - 1 + len(now.old) :]]
    return new if _follows(now, lines, whole, len(new)) else None


def _whole(place: NextPlace, made: Suggestion) -> tuple[str, ...]:
    """All lines of the place, of which ``made`` changes some."""
    if isinstance(made, Insertion):
        at, count = made.place.row, 1
        new = tuple((made.place.left + made.text + made.place.right).split("\n"))
    else:
        at, count, new = made.first, len(made.old), made.new
    start = at - place.line + 1
    return (*place.old[:start], *new, *place.old[start + count :])


def _follows(place: NextPlace, before: Sequence[str], after: Sequence[str], count: int) -> bool:
    """Whether the lines do what the change asks for: as many calls as there were, which fit now; or no use of
    a parameter that is gone; or an import from the new file."""
    cause, row = place.cause, place.line - 1
    if isinstance(cause, Move):
        text = "\n".join(after[row : row + count])
        return cause.name in text and PurePosixPath(cause.new).stem in text
    language = language_of(place.path)
    if language is None or not isinstance(cause, SignatureChange):
        return False
    source = "\n".join(after)
    if place.gone:
        return not re.search(rf"\b{re.escape(place.gone)}\b", "\n".join(after[row : row + count]))
    old = [
        each
        for each in calls(language, "\n".join(before), cause.name)
        if row <= each.row < row + len(place.old)
    ]
    new = [each for each in calls(language, source, cause.name) if row <= each.row < row + count]
    return len(old) == len(new) and all(fits(each, cause.new.parameters) for each in new)
