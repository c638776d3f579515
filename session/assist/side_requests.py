"""The side requests of a session: whether one may go out now, and the asking.

They are for what nobody sent a prompt for, such as suggestions. So none goes out once nobody has typed for a
minute, while an answer is being written, or when the budget is spent; a prompt ends those that run.

Whether the user wants those that cost money is asked once, and the answer kept in the state folder.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncGenerator, Callable, Sequence
from enum import StrEnum
from pathlib import Path
from time import monotonic

from session.assist.side_account import SideAccount
from session.assist.side_model import SideModel
from session.base.events import Event, Notice, PromptSubmitted
from session.base.storage.private_files import replace_private
from session.base.tasks import BackgroundTasks
from session.base.text.sanitize import clean_line
from session.record.journal.recorder import Recorder
from session.record.turn_cost import Tally
from session.record.usage import Kind
from session.record.usage_log import UsageLog
from session.setup.model_choice import ModelChoice
from session.setup.opening import Opening
from session.setup.user_tables import SideSettings
from session.turn.money import MoneyBudget
from session.wire.link.connection import Connection
from session.wire.protocol.events import CONTENT, Finished, TokenUsage, WireEvent
from session.wire.protocol.items import Item, text_of
from session.wire.protocol.request import RequestProfile
from session.wire.transport.errors import LinkError, LinkProblem
from session.wire.transport.service import Route, Transport

FILE_NAME = "side-requests.json"


class SideAnswer:
    """The user's answer, in one file that all sessions share. A damaged file is no file."""

    def __init__(self, state: Path) -> None:
        self._file = state / FILE_NAME
        self._offered = self._keeps = False

    def given(self, setting: bool | None, *, priced: bool) -> bool:
        """Whether the requests go out: by the setting, else by the answer, else where they cost nothing."""
        kept = self._kept()
        self._keeps = setting is None and priced
        self._offered = kept is not None or not self._keeps
        if setting is not None:
            return setting
        return kept if kept is not None else not priced

    def offer(self, told: str, settings: SideSettings) -> str:
        """What the user is offered, once; empty afterwards. ``told`` names the model and its price."""
        if self._offered:
            return ""
        self._offered = True
        return (
            f"Suggestions while you type and reviews of what you save are off. They would ask {told}, for "
            f"${settings.dollars_per_hour:g} an hour at most ([side] in config.toml). "
            "Alt+S turns them on and off."
        )

    def answered(self, *, on: bool) -> None:
        """Keep the answer for the next sessions, where it is one about money. Where it cannot be kept, they
        ask again."""
        self._offered = True
        if not self._keeps:
            return
        with contextlib.suppress(OSError):
            replace_private(self._file, json.dumps({"on": on}).encode())

    def _kept(self) -> bool | None:
        try:
            answer = json.loads(self._file.read_text("utf-8"))
        except (OSError, ValueError):
            return None
        on = answer.get("on") if isinstance(answer, dict) else None
        return on if isinstance(on, bool) else None


AWAY_SECONDS = 60.0
"""Without a key for so long, nobody is there whom a suggestion could help."""
ELSEWHERE_SECONDS = 1800.0
"""For so long after the last key, saving in another program counts as typing."""
PAUSE_SECONDS = 20.0
"""How long no request goes out after one has failed."""
LONGEST_SECONDS = 300.0
"""After which an answer that nobody asked for is given up."""
_CHARACTERS_PER_TOKEN = 4
_MOST_PER_TOKEN = 32
"""Characters; an answer that has more for each token it may have does not keep to that."""
_MOST_TOKENS = 32_000
"""Of an answer for which no number is said."""
_NOT_OFFERED = frozenset({400, 404, 405, 415, 422, 501})
"""The HTTP statuses of a server that does not fill in the middle; others are failures that pass."""


class NotNow(StrEnum):
    """Why no request may go out now."""

    OFF = "off"
    OFFLINE = "no model"
    STARTING = "starting"
    ANSWERING = "an answer runs"
    AWAY = "nobody types"
    FAILED = "the last one failed"
    UNCLEAR = "not understood"
    SPENT = "spent"


class SideRequests:
    """See the module. All methods are called on the event loop."""

    def __init__(
        self,
        settings: SideSettings,
        model: SideModel,
        connection: Connection | None,
        log: UsageLog,
        recorder: Recorder,
        tasks: BackgroundTasks,
        busy: Callable[[], bool],
        money: MoneyBudget,
        wanted: SideAnswer,
    ) -> None:
        """``connection`` is None where no model can be asked; ``busy`` says whether an answer runs. ``money``
        is the budget of all requests, ``wanted`` whether the user wants these."""
        self._wanted = wanted
        self.enabled = wanted.given(settings.enabled, priced=model.priced)
        """Whether requests go out that the user did not ask for; see :meth:`switch`."""
        self.model = model
        self.account = SideAccount(settings, log, tasks, lambda line: self._tell(line, "warning"), money)
        self._connection = connection
        self._busy = busy
        self._publish = recorder.publish
        self._key = -ELSEWHERE_SECONDS
        """When the last key was pressed."""
        self._typed = -AWAY_SECONDS
        """When the user was last known to work."""
        self._paused_until = 0.0
        self._running: dict[asyncio.Task[None], Kind] = {}
        self._told = ""
        """The line that the user was told last."""
        recorder.subscribe(self._take, PromptSubmitted)

    # -- whether one may go ----------------------------------------------------------------------

    def typed(self) -> None:
        """A key was pressed: requests may be worth it for the next minute."""
        self._typed = self._key = monotonic()
        if not self.enabled and (offer := self._wanted.offer(self.model.told, self.account.limits)):
            self._tell(offer, "info")

    def worked_elsewhere(self) -> None:
        """The user saved a file in another program. A program that saves for ever keeps nobody there."""
        if monotonic() - self._key < ELSEWHERE_SECONDS:
            self._typed = monotonic()

    def refusal(self, kind: Kind) -> NotNow | None:
        """Why no request of this kind may go out now; None where one may. The first call has it read what was
        spent already, and is told ``STARTING`` until that is known."""
        if self._connection is None:
            return NotNow.OFFLINE
        self.account.read()
        if not self.account.known:
            return NotNow.STARTING
        if not kind.asked_for:
            if not self.enabled:
                return NotNow.OFF
            if self._busy():
                return NotNow.ANSWERING
            if monotonic() - self._typed > AWAY_SECONDS:
                return NotNow.AWAY
            if monotonic() < self._paused_until:
                return NotNow.FAILED
        if reached := self.account.reached():
            self._tell(f"suggestions and reviews stop: {reached}", "warning")
            return NotNow.SPENT
        return None

    def switch(self, *, on: bool) -> None:
        """Let requests go out; or end those that run, and let none go that the user did not ask for."""
        self.enabled = on
        self._wanted.answered(on=on)
        self._paused_until, self._told = 0.0, ""
        if on:
            self.typed()
        else:
            self._stop_running()
        self.account.on_change()

    # -- asking ----------------------------------------------------------------------------------

    async def ask(
        self, kind: Kind, profile: RequestProfile, items: Sequence[Item], *, fim: bool = False
    ) -> AsyncGenerator[WireEvent, None]:
        """Ask for the answer to ``items``, the whole input; with ``fim``, in the provider's dialect that
        fills in the middle.

        The profile comes from :meth:`SideModel.profile`. There are no events where :meth:`refusal` has a
        reason; and no ``Finished`` at their end where the request gave way to a prompt, or failed, which the
        user is told. What it took is counted in any case. Close the generator to give it up.
        """
        connection = self._connection
        if connection is None or self.refusal(kind) is not None:
            return
        price = self.model.price_of(profile.model)
        sent = _length(profile, items) // _CHARACTERS_PER_TOKEN
        most = profile.max_output_tokens or 0
        kept = self.account.reserve(sent + most, price.cost(sent, 0, most) if price is not None else 0.0)
        queue: asyncio.Queue[WireEvent | None] = asyncio.Queue()
        route = Route(Transport.SSE, self.model.fim) if fim else None
        at_once = kind is Kind.SUGGESTION
        answer = connection.ask_in_parallel(profile, items, route=route, at_once=at_once)
        pump = asyncio.ensure_future(self._pump(kind, profile, answer, queue, fim=fim))
        self._running[pump] = kind
        pump.add_done_callback(lambda task: self._running.pop(task, None))
        said, counted = 0, None
        try:
            while (event := await queue.get()) is not None:
                if isinstance(event, CONTENT):
                    said += len(event.text)
                elif isinstance(event, Finished):
                    counted = event.usage
                yield event
        finally:
            pump.cancel()
            tally = Tally(kind, profile.model, price, plan=self.model.plan)
            _count(tally, counted, sent, said // _CHARACTERS_PER_TOKEN)
            self.account.count(kind, tally.event(), kept)

    async def _pump(
        self,
        kind: Kind,
        profile: RequestProfile,
        answer: AsyncGenerator[WireEvent, None],
        queue: asyncio.Queue[WireEvent | None],
        *,
        fim: bool,
    ) -> None:
        """Move the events of an answer to ``queue``; None is the last in it, however it ends."""
        room = (profile.max_output_tokens or _MOST_TOKENS) * _MOST_PER_TOKEN
        limit = None if kind.asked_for else LONGEST_SECONDS
        try:
            async with asyncio.timeout(limit), contextlib.aclosing(answer) as events:
                async for event in events:
                    room -= len(event.text) if isinstance(event, CONTENT) else 0
                    if room < 0:
                        raise _endless("is longer than was asked for")
                    queue.put_nowait(event)
        except TimeoutError:
            self._failed(profile, _endless("does not end"))
        except LinkError as problem:
            if fim and (problem.kind is LinkProblem.REFUSED or problem.status in _NOT_OFFERED):
                self.model.fim = ""  # the model was not made for it: it is asked in words
            else:
                self._failed(profile, problem)
        finally:
            queue.put_nowait(None)

    def _failed(self, profile: RequestProfile, problem: LinkError) -> None:
        if problem.kind is LinkProblem.MODEL and self.model.model.name == profile.model:
            self.model.refused(profile.model)
            if self.model.model.name != profile.model:
                return  # the next one goes to the model that answers
        self._paused_until = monotonic() + PAUSE_SECONDS
        self._tell(f"no suggestions for a while: {problem.message}", "info")

    def _take(self, event: Event) -> None:
        """A prompt is submitted: its answer comes first."""
        if isinstance(event, PromptSubmitted):
            self._stop_running()

    def _stop_running(self) -> None:
        for task, kind in list(self._running.items()):
            if not kind.asked_for:
                task.cancel()

    def _tell(self, line: str, level: str) -> None:
        """Tell the user once, until there is something else to tell."""
        if line != self._told:
            self._told = line
            self._publish(Notice(level=level, text=clean_line(line)))

    async def close(self) -> None:
        """End the requests that run, and write down what all took."""
        running = list(self._running)
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        await self.account.close()


def _endless(what: str) -> LinkError:
    return LinkError(LinkProblem.SERVER, f"The answer {what}.")


def _count(tally: Tally, counted: TokenUsage | None, sent: int, said: int) -> None:
    if counted is not None:
        tally.count(counted)
    else:
        tally.estimate(sent, said)


def _length(profile: RequestProfile, items: Sequence[Item]) -> int:
    """Characters of a request."""
    return len(profile.instructions) + sum(len(text_of(item)) for item in items)


def side_requests(
    opening: Opening,
    session: str,
    choice: ModelChoice,
    connection: Connection | None,
    recorder: Recorder,
    tasks: BackgroundTasks,
    money: MoneyBudget,
    *,
    busy: Callable[[], bool],
) -> SideRequests:
    """The side requests of the session called ``session``; ``connection`` is None where it asks no model."""
    workspace = opening.workspace
    return SideRequests(
        opening.settings.side,
        SideModel(opening, session, choice),
        connection,
        UsageLog(
            workspace.folders.usage,
            project=str(workspace.root),
            session=session,
            provider=opening.settings.provider,
        ),
        recorder,
        tasks,
        busy,
        money,
        SideAnswer(workspace.folders.shared_state),
    )
