"""Suggests while the user types: told of every key, asks a model, and says what fits the text right now.

The suggestions of the last minutes: what is typed again is answered without a request.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import OrderedDict
from collections.abc import AsyncGenerator, Callable, Coroutine, Sequence
from dataclasses import dataclass, replace
from typing import Any

from session.assist.side_requests import NotNow, SideRequests
from session.assist.suggest.answer import LONGEST, read_insertion, read_rewrite
from session.assist.suggest.suggestion import Place, Suggestion, remaining
from session.assist.suggest.timing import ERASED_SECONDS, NOTHING, TYPED_SECONDS, Pace, Worth, worth
from session.assist.suggest.window import (
    RecentEdits,
    Surroundings,
    for_fim,
    for_insertion,
    for_rewrite,
    holds_secret,
    look_around,
    region_at,
)
from session.commands.context_commands import ContextCommands
from session.record.usage import Kind
from session.wire.instructions import suggest_instructions
from session.wire.protocol.events import Created, Finished, TextDelta
from session.wire.protocol.items import user_message

MOST = 40


@dataclass(frozen=True, slots=True)
class Found:
    """What is left of the answer for ``asked``; None where that was that there is nothing to suggest."""

    asked: Place
    left: Suggestion | None


class Memory:
    """The newest suggestions, by the place they were made for."""

    def __init__(self) -> None:
        self._made: OrderedDict[Place, Suggestion | None] = OrderedDict()

    def keep(self, place: Place, made: Suggestion | None) -> None:
        """Keep the answer for ``place``, which may be that there is nothing to suggest."""
        self._made.pop(place, None)
        self._made[place] = made
        if len(self._made) > MOST:
            self._made.popitem(last=False)

    def find(self, now: Place, shown: Place | None = None) -> Found | None:
        """What is left at ``now`` of an answer: of the one for the place ``shown`` if it still fits, so that
        nothing jumps; of the one for this very place; or of the newest that fits. None where nothing is
        known."""
        for place in (shown, now):
            if place is not None and (made := self._made.get(place)) is not None:
                left = remaining(made, now)
                if left is not None:
                    return Found(place, left)
        if now in self._made:
            return Found(now, None)
        for place, made in reversed(self._made.items()):
            if made is not None and (left := remaining(made, now)) is not None:
                return Found(place, left)
        return None

    def refuse(self, place: Place) -> None:
        """The user does not want what was suggested at ``place``."""
        for kept, made in list(self._made.items()):
            if made is not None and remaining(made, place) is not None:
                self._made[kept] = None

    def drop(self, place: Place) -> None:
        """The answer for ``place`` does not count: it was cut off."""
        self._made.pop(place, None)


MOST_TOKENS = 200
"""Output tokens of a suggestion, with the reasoning of models that cannot do without."""


GIVE_UP_SECONDS = 8.0
"""After which an answer is given up."""
_START_SECONDS = 0.05
"""Until the next try, while it is read what was spent."""
LOOK_SECONDS = 20.0
"""How long the surroundings are good for, where the cursor has gone far."""
FAR = 40
"""Rows."""


class Suggester:
    """All methods are called on the event loop, and cost microseconds but for :meth:`_ask`."""

    def __init__(
        self,
        side: SideRequests,
        context: ContextCommands,
        start: Callable[[Coroutine[Any, Any, None], str], None],
    ) -> None:
        """``start`` runs a task in the background."""
        self.shown: Suggestion | None = None
        """What fits the text right now."""
        self.on_change: Callable[[], None] = lambda: None
        """Called when another suggestion is shown, or none is any more."""
        self._side = side
        self._context = context
        self._start = start
        self._memory = Memory()
        self._pace = Pace()
        self._recent = RecentEdits()
        self._now: Place | None = None
        """The place at which one is wanted; None where none is."""
        self._from: Place | None = None
        """The place that the shown one was asked for."""
        self._erased = False
        self._timer: asyncio.TimerHandle | None = None
        self._waits = False
        """Whether the next one is asked for as soon as one of those that run has ended."""
        self._looked: _Looked | None = None
        self._looking = False

    # -- what the user does ----------------------------------------------------------------------

    def edited(self, path: str, row: int, old: Sequence[str], new: Sequence[str]) -> None:
        """The rows ``old`` of a file became ``new``, by whomever."""
        self._recent.edited(path, row, old, new)

    def typed(self, place: Place, *, erased: bool = False) -> None:
        """The user typed or deleted something, and the cursor is at ``place`` now."""
        self._cancel()
        self._now, self._erased = place, erased
        if not self._refresh():
            self._ask_in(ERASED_SECONDS if erased else TYPED_SECONDS)

    def moved(self, place: Place) -> None:
        """The cursor moved, or the text changed in another way: what does not fit there is not shown."""
        if self._now is None or place == self._now:
            return
        self._cancel()
        self._now = place
        if not self._refresh():
            self._now = None

    def stop(self) -> None:
        """Show nothing, and ask for nothing before the next key."""
        self._cancel()
        self._now = None
        self._show(None, None)

    def refuse(self) -> None:
        """The user does not want what is shown."""
        if self._now is not None:
            self._memory.refuse(self._now)
        self.stop()

    # -- asking ----------------------------------------------------------------------------------

    def _ask_in(self, seconds: float) -> None:
        self._timer = asyncio.get_running_loop().call_later(seconds, self._due)

    def _due(self) -> None:
        """Ask now, or as soon as the pace allows it."""
        self._timer = None
        place = self._now
        if place is None:
            return
        refusal = self._side.refusal(Kind.SUGGESTION)
        if refusal is NotNow.STARTING and self._side.account.reading:
            self._ask_in(_START_SECONDS)
        if refusal is not None:
            return
        loop = asyncio.get_running_loop()
        wanted = worth(place, erased=self._erased)
        if wanted is NOTHING or not self._known(place, loop.time()) or self._around is None:
            return
        if place.masked is None:
            return
        wait = self._pace.wait(loop.time())
        if wait is None:
            self._waits = True
        elif wait:
            self._ask_in(wait)
        else:
            self._pace.goes(loop.time())
            self._start(self._ask(place, wanted), "asking for a suggestion")

    async def _ask(self, place: Place, wanted: Worth) -> None:
        try:
            around = self._around
            if around is not None:
                # Nobody waits for so long: a server that hangs must not hold the next ones up.
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(GIVE_UP_SECONDS):
                        await (self._insertion if wanted.insertion else self._rewrite)(place, around)
        finally:
            self._pace.ended()
            if self._waits:
                self._waits = False
                if self._now is not None and not self._refresh():
                    self._due()

    async def _insertion(self, place: Place, around: Surroundings) -> None:
        said, whole = "", False
        text = for_fim(place) if self._side.model.fim else for_insertion(place, around)
        async with contextlib.aclosing(self._answer(text)) as answer:
            async for piece in answer:
                if piece is None:
                    whole = True
                else:
                    said = piece
                made = read_insertion(place, said, whole=whole)
                if made is not None or whole:
                    self._memory.keep(place, made)
                    self._refresh()
        if not whole:
            self._memory.drop(place)  # it gave way, and is not known to its end
            self._refresh()

    async def _rewrite(self, place: Place, around: Surroundings) -> None:
        region = region_at(place)
        if holds_secret(place, region):
            return
        said = ""
        async with contextlib.aclosing(self._answer(for_rewrite(place, region, around))) as answer:
            async for piece in answer:
                if piece is not None:
                    said = piece
                else:
                    self._memory.keep(place, read_rewrite(place, region, said))
                    self._refresh()

    async def _answer(self, text: str | tuple[str, str]) -> AsyncGenerator[str | None, None]:
        """The answer so far, after each piece; None once it is whole. ``text`` is the request, or the texts
        before and behind the gap."""
        profile = self._side.model.profile(suggest_instructions().text, name="suggest", most=MOST_TOKENS)
        said = ""
        fim = not isinstance(text, str)
        if fim:
            profile = replace(profile, model=self._side.model.fim_model.name)
        items = tuple(map(user_message, (text,) if isinstance(text, str) else text))
        events = self._side.ask(Kind.SUGGESTION, profile, items, fim=fim)
        async with contextlib.aclosing(events) as stream:
            async for event in stream:
                match event:
                    case Created():
                        said = ""
                    case TextDelta(text=piece):
                        said += piece
                        if len(said) > LONGEST:
                            return
                        yield said
                    case Finished(status="completed"):
                        yield None
                    case Finished(status="incomplete"):
                        # It was cut at its limit: its whole lines count, and what it had begun does not.
                        yield said[: said.rfind("\n") + 1]
                        yield None
                    case _:
                        pass

    @property
    def _around(self) -> Surroundings | None:
        """What is sent beside the text at the cursor; None where nothing of the file may be sent."""
        looked = self._looked
        if looked is None or looked.around is None:
            return None
        return replace(looked.around, recent=self._recent.text(looked.sendable))

    # -- what is shown ---------------------------------------------------------------------------

    def _refresh(self) -> bool:
        """Show what fits the text now; whether an answer is known for it."""
        if self._now is None:
            return False
        found = self._memory.find(self._now, self._from)
        if found is None:
            self._show(None, None)
            return False
        self._show(found.left, found.asked)
        return True

    def _show(self, suggestion: Suggestion | None, asked: Place | None) -> None:
        self._from = asked if suggestion is not None else None
        if suggestion != self.shown:
            self.shown = suggestion
            self.on_change()

    def _cancel(self) -> None:
        self._waits = False
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    # -- the file --------------------------------------------------------------------------------

    def _known(self, place: Place, now: float) -> bool:
        """Whether it is known that the file may be sent, and what is around it; if not, find out."""
        looked = self._looked
        fresh = looked is not None and looked.path == place.path and looked.removed == self._context.removed
        aged = looked is None or (now - looked.at > LOOK_SECONDS and abs(looked.row - place.row) > FAR)
        if (aged or not fresh) and not self._looking:
            self._looking = True
            self._start(self._look_around(place, now), "reading what is near a suggestion")
        return fresh

    async def _look_around(self, place: Place, now: float) -> None:
        removed = self._context.removed
        try:
            edited = self._recent.paths
            around, sendable = await asyncio.to_thread(look_around, self._context.sendable, place, edited)
        finally:
            self._looking = False
        self._looked = _Looked(place.path, place.row, now, removed, around, sendable)
        if around is not None and self._now is not None and not self._refresh():
            self._due()


@dataclass(frozen=True, slots=True)
class _Looked:
    """What was found out about a file when the cursor was at ``row``: its surroundings, None where nothing of
    it may be sent, and the lately edited files of which something may."""

    path: str
    row: int
    at: float
    removed: tuple[str, ...]
    around: Surroundings | None
    sendable: frozenset[str]
