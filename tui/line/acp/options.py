"""What a client can set in a session: whether hunks ask first, the model, its effort and its tier."""

from __future__ import annotations

from acp.schema import (
    SessionConfigOptionSelect,
    SessionConfigSelectOption,
    SessionMode,
    SessionModeState,
)

from session.base.text.wording import spelled_like
from session.session import Session

LAND, ASK = "land", "ask"
_MODES = (
    (LAND, "Land at once", "Hunks land as they stream; each can be undone."),
    (ASK, "Ask first", "Every hunk waits for your OK."),
)
_STANDARD = "standard"


class OptionError(ValueError):
    """There is no such option or value; the message names those that there are."""


def modes(session: Session) -> SessionModeState:
    """The modes, and the one in use."""
    return SessionModeState(
        current_mode_id=ASK if session.review else LAND,
        available_modes=[SessionMode(id=id_, name=name, description=told) for id_, name, told in _MODES],
    )


def options(session: Session) -> list[SessionConfigOptionSelect]:
    """The options of the coming turns. Clients that know options do not show the modes, so the mode is one
    of them too."""
    models = session.models
    names = dict.fromkeys((models.model, *models.served.names()))
    chosen = [
        SessionConfigOptionSelect(
            id="mode",
            name="Edits",
            category="mode",
            type="select",
            current_value=ASK if session.review else LAND,
            options=[
                SessionConfigSelectOption(value=id_, name=name, description=told)
                for id_, name, told in _MODES
            ],
        ),
        _select("model", "Model", "model", models.model, tuple(names)),
    ]
    if models.efforts:
        efforts = tuple(dict.fromkeys(("auto", *models.efforts)))
        chosen.append(_select("effort", "Effort", "thought_level", models.effort, efforts))
    if len(models.tiers) > 1:
        tiers = tuple(tier or _STANDARD for tier in models.tiers)
        chosen.append(_select("tier", "Service tier", "model_config", models.tier or _STANDARD, tiers))
    return chosen


async def choose(session: Session, option: str, value: object) -> str:
    """Set an option; returns lines for the user, perhaps none. Raises OptionError, or ChoiceError for a model
    or effort that cannot be used."""
    known = {each.id: each for each in options(session)}
    if option not in known:
        raise OptionError(f"there is no option {option!r}; the options: {', '.join(known)}")
    if not isinstance(value, str):
        raise OptionError(f"the option {option!r} takes one of its values, as a string")
    if option == "model":
        return await _choose_model(session, value)
    values = [each.value for each in known[option].options if isinstance(each, SessionConfigSelectOption)]
    if value not in values:
        raise OptionError(f"{option} is one of: {', '.join(values)}; not {value!r}")
    if option == "mode":
        session.review = value == ASK
        return ""
    if option == "effort":
        return session.models.choose(effort=value)
    return session.models.choose(tier="" if value == _STANDARD else value)


async def _choose_model(session: Session, name: str) -> str:
    """Use a model that is offered; where the server lists none, the word of whoever asks is taken, and the
    lines say so."""
    models = session.models
    await models.served.find(name)  # the list may not have been there yet
    listed = models.served.names()
    if listed and name not in (models.model, *listed):
        near = spelled_like(name, listed)
        meant = f"; did you mean {' or '.join(near)}?" if near else ""
        raise OptionError(f"no model {name!r} is offered{meant}; /model {name} asks for it all the same")
    return await models.choose_model(name)


def _select(
    id_: str, name: str, category: str, current: str, values: tuple[str, ...]
) -> SessionConfigOptionSelect:
    return SessionConfigOptionSelect.model_validate(
        {
            "id": id_,
            "name": name,
            "category": category,
            "type": "select",
            "currentValue": current,
            "options": [{"value": value, "name": value} for value in values],
        }
    )
