"""The session's server: the connection to it, the models that it serves, and the one for a user who named
none.

The models are found in the catalogue, or by asking the server. One that spark does not know is refused if the
server would refuse it, and else used with the values of ``[unknown_model]``. Some servers accept names that
they do not list, such as deployments and patterns: their rows say ``unlisted``. The same is assumed of a
server at another address than its row's.

The default is the fastest for coding that the key can use, by the server's list. The connection's states are
told as events.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date
from typing import TYPE_CHECKING, Literal

from session.base.events import ConnectionChanged, Event, Notice
from session.base.tasks import BackgroundTasks
from session.base.text.sanitize import clean_line
from session.base.text.wording import listed, spelled_like
from session.models.catalogue import Model
from session.record.journal.recorder import Recorder
from session.setup.default_model import DefaultModels, served_at
from session.setup.model_choice import ChoiceError, ModelChoice
from session.setup.opening import Opening
from session.wire.link.connection import Connection
from session.wire.protocol.request import RequestProfile
from session.wire.transport.errors import LinkError

if TYPE_CHECKING:
    from session.wire.transport.model_list import ListedModel


_HOW = "To choose another: /model NAME, --model NAME, or model = in config.toml"


def pick(order: Sequence[str], listed: Sequence[str], refused: str = "") -> str | None:
    """The first model of ``order`` that the server lists; without one its only model, if it has just one.

    ``refused`` is never picked, whether it is listed or not.
    """
    usable = [name for name in listed if name != refused]
    known = next((name for name in order if name in usable), None)
    return known or (usable[0] if len(usable) == 1 else None)


class SettlesModel:
    """Settles with the server which model a session asks."""

    def __init__(
        self, opening: Opening, choice: ModelChoice, recorder: Recorder, changed: Callable[[], None]
    ) -> None:
        """``changed`` is called when another model or window was chosen."""
        self._opening = opening
        self._choice = choice
        self._recorder = recorder
        self._changed = changed
        self._kept = DefaultModels(opening.workspace.folders.shared_state)

    def _use(self, model: Model) -> None:
        """Have ``model`` answer from now on."""
        self._choice.choose(model=model)
        self._changed()
        self._recorder.publish(self._choice.event())

    def _keep(self, place: str, name: str, what: str) -> None:
        """Remember for the next sessions that ``name`` is ``what`` at ``place``."""
        try:
            self._kept.keep(place, name, date.today())
        except OSError as problem:
            self._say("warning", f"{what} is not remembered: {problem.strerror}")

    def _say(self, level: Literal["info", "warning"], text: str) -> None:
        self._recorder.publish(Notice(level=level, text=text))


class DefaultModel(SettlesModel):
    """Settles the default model of one session."""

    @property
    def in_use(self) -> bool:
        """Whether spark chose the model that answers now."""
        settings = self._opening.settings
        return not settings.model_named and self._opening.local is None

    async def settle(self, refused: str = "") -> str:
        """Choose the default by the server's list, say so if it differs, and keep it for the next sessions.

        ``refused`` is a model that the server has just refused. Returns the model's name. Where there is no
        list, everything stays as it is: the first prompt tells what is wrong.
        """
        from session.wire.transport.model_list import fetch_listed

        opening, before = self._opening, self._choice.model.name
        if opening.endpoint is None:
            return before
        try:
            rows = await fetch_listed(opening.endpoint)
        except LinkError:
            return before
        settings, today = opening.settings, date.today()
        listed = {row.name: row for row in rows if row.usable(today)}
        found = pick(opening.catalogue.ranked(settings.provider), tuple(listed), refused)
        if self._choice.model.name != before or found is None:
            return before  # the user chose one meanwhile, or there is none to choose
        if found != before:
            model = opening.catalogue.model(found, settings.provider)
            if found not in opening.catalogue.models:
                model = model.limited(listed[found].window, listed[found].output)
            self._use(model)
            again = " ↑ brings the prompt back." if refused else ""
            whose = "account" if opening.plan_account else "key"
            faster = before in listed and before != refused
            first = f"Of this {whose}'s models it is the first choice"
            why = first if faster else f"This {whose} cannot use {before}"
            why = f"{why}: {found} answers.{again} {_HOW}"
            self._say("info", why)
        if (ends := listed[found].ends) is not None:
            self._say("warning", f"{found} is shut down on {ends:%d %B %Y}. {_HOW}")
        self._keep(served_at(settings, opening.plan_account), found, "the default model")
        return found


FRESH_SECONDS = 60.0
"""Seconds for which a list of models is shown without asking again."""
RETRY_SECONDS = 2.0
"""Seconds after which a server that did not give its list may be asked again."""
_MOST_NAMED = 6
"""Most models that a message names."""
_TAG = ":latest"
"""The tag that Ollama adds to a name without one."""


class ServedModels:
    """The models of one session's server, which is asked only when the list is needed."""

    def __init__(self, opening: Opening, tasks: BackgroundTasks) -> None:
        self._opening = opening
        self._tasks = tasks
        self._provider = opening.catalogue.provider(opening.settings.provider)
        self._listed: tuple[str, ...] = ()
        self._rows: dict[str, ListedModel] = {}
        self._asked_at = float("-inf")
        self._asking: asyncio.Task[str] | None = None

    def names(self) -> tuple[str, ...]:
        """The models that can be chosen: the server's list, or the catalogue's until that has arrived.

        Asks the server in the background if its list is old; needs a running event loop.
        """
        if self._opening.local is not None:
            return (self._opening.model.name,)
        if time.monotonic() - self._asked_at > FRESH_SECONDS:
            self._asked_at = time.monotonic()
            self._asking = self._tasks.start(self._look(), "listing the server's models")
        return self._known()

    def told(self, name: str) -> str:
        """The context length and price of a model in the catalogue, in a few words."""
        model = self._opening.catalogue.models.get(name)
        if model is None:
            return "not in the catalogue"
        price = f" · {model.price}" if model.price is not None else ""
        return f"{model.window:,} tokens{price}"

    async def instead_of(self, refused: str) -> tuple[str, ...]:
        """The models that can be asked in place of one that the server refuses, the nearest first.

        Nearest are those beside it in the order of speed, for a model that is not in it those with a similar
        name. None where spark chose the model and chooses the next one by itself (``DefaultModel``).
        """
        if self._opening.local is not None or await self._look():
            return ()  # without a list, the turn's own error says all that there is to say
        order, today = self._opening.catalogue.ranked(self._provider.name), date.today()
        usable = [name for name, row in self._rows.items() if row.usable(today) and name != refused]
        if not self._opening.settings.model_named and pick(order, usable, refused) is not None:
            return ()
        names = spelled_like(refused, usable)
        if refused in order:
            at = order.index(refused)
            names = sorted(order, key=lambda name: (abs(order.index(name) - at), order.index(name) < at))
        known = (name for name in usable if name in self._opening.catalogue.models)
        return tuple(dict.fromkeys(name for name in (*names, *order, *known, *usable) if name in usable))

    async def close(self) -> None:
        """Cancel a request for the list, and wait until it has ended."""
        if self._asking is not None:
            self._asking.cancel()
            await asyncio.wait({self._asking})

    async def find(self, name: str) -> tuple[Model, str]:
        """The model called ``name``, and lines for the user about it, perhaps none.

        Raises ChoiceError for a model that another provider serves, or that the server does not have.
        """
        here, catalogue, provider = self._opening.model, self._opening.catalogue, self._provider
        if name == here.name:
            return here, ""
        if self._opening.local is not None:
            raise ChoiceError(f"the engine has loaded {here.name}; start spark again with --local {name}")
        row = catalogue.models.get(name)
        if row is not None and row.provider == provider.name:
            doubt = self._listed and not self._lists(name)
            return catalogue.model(name, provider.name), self._doubt(name) if doubt else ""
        told = "" if self._lists(name) else await self._look_for(name, row)
        model = catalogue.model(name, provider.name)
        if row is not None:
            return model, told
        if (listed := self._rows.get(name) or self._rows.get(name + _TAG)) is not None:
            model = model.limited(listed.window, listed.output)
        return model, f"{told or self._found(name)}\n{_assumed(model)}"

    async def _look_for(self, name: str, row: Model | None) -> str:
        """Ask the server about a model that is not in its list.

        Returns an empty text if the server has it, or a line that says why it may have it. Raises
        ChoiceError if it does not have it.
        """
        problem = await self._look()
        if self._lists(name):
            return ""
        if row is not None:
            raise ChoiceError(f"{name} is served by {row.provider}; start spark again with --model {name}")
        if not self._listed:
            return f"{name} is unknown to spark, and it cannot be told whether the server has it: {problem}"
        if await self._has(name):
            return ""
        near = spelled_like(name, self._known())
        meant = f"; did you mean {' or '.join(near)}?" if near else ""
        if self._may_have_more:
            return self._doubt(name) + meant
        raise ChoiceError(
            f"{self._host} has no model {name}{meant or f'; it has {listed(self._listed, _MOST_NAMED)}'}"
        )

    @property
    def _may_have_more(self) -> bool:
        """Whether the server may have models that it does not list."""
        own = self._provider.base_url.rstrip("/")
        elsewhere = own and self._opening.settings.base_url.rstrip("/") != own
        return self._provider.unlisted or bool(elsewhere)

    @property
    def _host(self) -> str:
        return self._opening.endpoint.host if self._opening.endpoint is not None else self._provider.name

    def _known(self) -> tuple[str, ...]:
        rows = self._opening.catalogue.models.values()
        return self._listed or tuple(row.name for row in rows if row.provider == self._provider.name)

    def _lists(self, name: str) -> bool:
        return name in self._listed or name + _TAG in self._listed

    def _doubt(self, name: str) -> str:
        return f"{self._host} does not list {name}, and may refuse it"

    def _found(self, name: str) -> str:
        return f"{self._host} has {name}; spark does not know it"

    async def _look(self) -> str:
        """Ask for the server's list. Returns the problem, or an empty text."""
        from session.wire.transport.model_list import fetch_listed

        if self._opening.endpoint is None:
            return self._opening.missing
        try:
            rows = await fetch_listed(self._opening.endpoint)
        except LinkError as problem:
            self._asked_at = time.monotonic() - FRESH_SECONDS + RETRY_SECONDS
            return clean_line(problem.message)
        # A name with control characters can be neither shown nor typed.
        self._rows = {row.name: row for row in rows if row.name == clean_line(row.name) and not row.retired}
        self._listed = tuple(self._rows)
        self._asked_at = time.monotonic()
        return "" if self._listed else f"{self._host} lists no models"

    async def _has(self, name: str) -> bool:
        from session.wire.transport.model_list import has_model

        if self._opening.endpoint is None:
            return False
        try:
            return await has_model(self._opening.endpoint, name)
        except LinkError:
            return False  # the list arrived a moment ago, and does not name it


def _assumed(model: Model) -> str:
    """The values that are assumed of a model without a row, as a line for the user."""
    efforts = f"efforts {', '.join(model.efforts)}" if model.efforts else "no efforts"
    return (
        f"assumed of it: a window of {model.window:,} tokens, {model.output_reserve:,} of them for its "
        f"answer; edits as {model.edit_format}; {efforts}; "
        f'config.toml can say otherwise: [models."{model.name}"]'
    )


def open_connection(opening: Opening, choice: ModelChoice, profile: RequestProfile) -> Connection | None:
    """A connection for requests with ``profile``, not yet dialled; None if the server's address or key is
    missing."""
    if opening.endpoint is None:
        return None
    return Connection(
        replace(opening.endpoint, headers=choice.headers()),
        profile,
        service=opening.service,
        login=opening.login,
        host=opening.engine(),
    )


async def tell_states(connection: Connection, publish: Callable[[Event], None]) -> None:
    """Publish each state of the connection, until it is closed."""
    async for change in connection.states():
        message = clean_line(change.message) if change.message else None
        publish(ConnectionChanged(state=change.state.value, message=message, seconds=change.seconds))
