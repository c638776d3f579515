"""The model of a user who named none: the fastest for coding that the key can use, by the server's list."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date

from session.base.events import Notice
from session.record.journal.recorder import Recorder
from session.setup.default_model import DefaultModels
from session.setup.model_choice import ModelChoice
from session.setup.opening import Opening
from session.wire.transport.errors import LinkError

_HOW = "To choose another: /model NAME, --model NAME, or model = in config.toml"


def pick(order: Sequence[str], listed: Sequence[str], refused: str = "") -> str | None:
    """The first model of ``order`` that the server lists; without one its only model, if it has just one.

    ``refused`` is never picked, whether it is listed or not.
    """
    usable = [name for name in listed if name != refused]
    known = next((name for name in order if name in usable), None)
    return known or (usable[0] if len(usable) == 1 else None)


class DefaultModel:
    """Settles the default model of one session."""

    def __init__(
        self, opening: Opening, choice: ModelChoice, recorder: Recorder, changed: Callable[[], None]
    ) -> None:
        """``changed`` is called when another model was chosen."""
        self._opening = opening
        self._choice = choice
        self._recorder = recorder
        self._changed = changed
        self._kept = DefaultModels(opening.workspace.folders.shared_state)

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
            self._choice.choose(model=model)
            self._changed()
            self._recorder.publish(self._choice.event())
            again = " ↑ brings the prompt back." if refused else ""
            faster = before in listed and before != refused
            why = "Of this key's models it is the first choice" if faster else f"This key cannot use {before}"
            why = f"{why}: {found} answers.{again} {_HOW}"
            self._recorder.publish(Notice(level="info", text=why))
        if (ends := listed[found].ends) is not None:
            text = f"{found} is shut down on {ends:%d %B %Y}. {_HOW}"
            self._recorder.publish(Notice(level="warning", text=text))
        try:
            self._kept.keep(settings.base_url, found, today)
        except OSError as problem:
            text = f"the default model is not remembered: {problem.strerror}"
            self._recorder.publish(Notice(level="warning", text=text))
        return found
