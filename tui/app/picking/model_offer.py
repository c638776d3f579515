"""Keeps a prompt that the server refused for its model, its key or its plan. In place of a refused model it
offers the nearest one that can answer."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from session.base.events import Event, PromptSubmitted, TurnEnded
from session.setup.model_choice import ChoiceError
from session.wire.transport.errors import LinkProblem
from tui.app.control.background import BackgroundTasks
from tui.app.control.overlay_control import OverlayControl
from tui.app.panes.layout import Panes
from tui.front.keys.key_order import hand_on

if TYPE_CHECKING:
    from session.session import Session
    from session.setup.model_offers import Offer

_REFUSED = LinkProblem.MODEL.value
_KEPT = (_REFUSED, LinkProblem.PLAN.value, LinkProblem.UNAUTHORIZED.value)
"""The codes of turns after which the prompt is in the composer again."""
_KEPT_ON_A_PLAN = (*_KEPT, LinkProblem.SERVER.value, LinkProblem.NO_WEBSOCKET.value)
"""The same while a plan pays, whose refusals have several codes."""


class ModelOffer:
    """Between the events of a session, the composer and the list of offers."""

    def __init__(
        self, panes: Panes, overlays: OverlayControl, background: BackgroundTasks, session: Session
    ) -> None:
        self._panes = panes
        self._overlays = overlays
        self._background = background
        self._session = session
        self._turn = self._prompt = ""

    def take(self, event: Event) -> None:
        """Follow the last prompt, and act where its model is refused."""
        if isinstance(event, PromptSubmitted):
            self._turn, self._prompt = event.turn, event.text
        elif isinstance(event, TurnEnded) and event.turn == self._turn and event.code in self._kept:
            if not self._panes.composer.draft.strip():
                self._panes.composer.put(self._prompt)
            if event.code == _REFUSED:
                self._background.start(self._offer(), "finding another model")

    @property
    def _kept(self) -> tuple[str, ...]:
        return _KEPT_ON_A_PLAN if self._session.models.plan else _KEPT

    async def _offer(self) -> None:
        """Show the models that can answer in place of the refused one, where the user chose that."""
        from session.setup.model_offers import Offer, OfferKind

        models, refused = self._session.models, self._session.models.model
        names = await models.served.instead_of(refused)
        if not names or self._session.running:
            return
        found = [Offer(OfferKind.MODEL, name, models.served.told(name), model=name) for name in names]

        async def find() -> Sequence[Offer]:
            return found

        whose = "account" if models.plan else "key"
        why = f"This {whose} cannot use {refused}. The model that you take gets your prompt."
        self._overlays.offer(find, why, partial(hand_on, self._panes.composer), self._taken, "Ask instead")

    def _taken(self, offer: Offer | None) -> None:
        if offer is not None:
            self._background.start(self._ask(offer.model), f"asking {offer.model}")

    async def _ask(self, model: str) -> None:
        """Choose ``model``, and send the prompt to it."""
        composer, status = self._panes.composer, self._panes.status
        try:
            told = await self._session.models.choose_model(model)
        except ChoiceError as problem:
            status.say(str(problem), "error")
            return
        if told:
            self._panes.chat.remark(told, "info")
        if not self._session.running and composer.draft.strip():
            prompt = composer.draft
            composer.put("")
            self._session.submit(prompt)
