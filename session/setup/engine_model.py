"""The model of an engine that a user runs: the one that it serves, and the window that it was started with.

llama.cpp tells its window in ``meta.n_ctx`` of the list of models and in ``/props``, vLLM in
``max_model_len``, Ollama in ``/api/ps`` once the model is loaded. Ollama cuts a longer request without a
word, so what it does not tell is taken to be its own default.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from session.base.text.sanitize import clean_line
from session.models.catalogue import Model
from session.setup.served_models import SettlesModel, pick
from session.wire.transport.errors import LinkError

if TYPE_CHECKING:
    from session.wire.transport.endpoint import Endpoint
    from session.wire.transport.model_list import ListedModel

OLLAMA_WINDOW = 4_096
"""The window of Ollama where nothing sets another."""
_SMALL = 8_192
_TAG = ":latest"
_MORE = "OLLAMA_CONTEXT_LENGTH=16384 ollama serve"


class EngineModel(SettlesModel):
    """Settles which model of its engine a session asks, and in which window."""

    async def settle(self) -> str:
        """Read what the engine serves, and ask for that from now on. Returns the model's name. Where it tells
        nothing, everything stays as it is: the first prompt tells what is wrong."""
        opening, before = self._opening, self._choice.model
        if opening.endpoint is None:
            return before.name
        try:
            rows = await served(opening.endpoint, ollama=opening.settings.provider == "ollama")
        except LinkError:
            return before.name
        found = self._found(tuple(rows), before.name)
        if self._choice.model is not before or found is None:
            return before.name  # the user chose one meanwhile, or there is none to choose
        model = opening.catalogue.model(found, opening.settings.provider)
        model = model.limited(rows[found].window, rows[found].output)
        if model != before:
            self._use(model)
        self._tell(model, before.name)
        if not opening.settings.model_named:
            self._keep(opening.settings.base_url, found, "the model")
        return found

    def _found(self, names: tuple[str, ...], wanted: str) -> str | None:
        """The name by which the engine has the model: the one that is wanted, or else its only one."""
        same = next((name for name in (wanted, wanted + _TAG) if name in names), None)
        return same if same or self._opening.settings.model_named else pick((), names)

    def _tell(self, model: Model, before: str) -> None:
        if not self._opening.settings.model_named and model.name != before:
            self._say("info", f"{clean_line(model.name)} answers: the server has it and no other model.")
        if self._opening.settings.provider == "ollama" and model.window < _SMALL:
            window = f"Ollama reads {model.window:,} tokens and leaves out the rest without a word"
            self._say("warning", f"{window}; for more: {_MORE}")


async def served(endpoint: Endpoint, *, ollama: bool = False) -> dict[str, ListedModel]:
    """The models of the engine at ``endpoint`` by name, with their windows. Raises LinkError."""
    from session.wire.transport.model_list import fetch_listed, fetch_object

    rows = {row.name: row for row in await fetch_listed(endpoint)}
    if all(row.window for row in rows.values()):
        return rows
    told = await fetch_object(endpoint, "/../api/ps" if ollama else "/../props")
    windows = _loaded(told) if ollama else dict.fromkeys(rows, _of_props(told))
    least = OLLAMA_WINDOW if ollama else 0
    return {name: replace(row, window=row.window or windows.get(name) or least) for name, row in rows.items()}


def _loaded(told: Mapping[str, Any]) -> dict[str, int]:
    """The windows of the models that Ollama has loaded."""
    models = told.get("models")
    rows = [row for row in models if isinstance(row, dict)] if isinstance(models, list) else []
    return {str(row.get("name")): _tokens(row.get("context_length")) for row in rows}


def _of_props(told: Mapping[str, Any]) -> int:
    """The window of llama.cpp's server."""
    settings = told.get("default_generation_settings")
    return _tokens(settings.get("n_ctx") if isinstance(settings, dict) else told.get("n_ctx"))


def _tokens(value: object) -> int:
    return value if type(value) is int and 0 < value < 100_000_000 else 0
