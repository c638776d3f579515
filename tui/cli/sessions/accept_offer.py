"""Carries out an offer that the user took in the app, before the app opens again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from session.base.storage.folders import config_folder
from session.setup.model_offers import Offer, OfferKind
from session.setup.opening import Opening
from tui.cli.options import opening

if TYPE_CHECKING:
    from tui.app.run import Typed


def begin_with(
    offer: Offer, folder: Path, theme: str | None, given: dict[str, Any], typed: Typed = ()
) -> tuple[Opening, str | None]:
    """The project to open the app with for ``offer``, and a line to show there; ``given`` are the options of
    the command line, ``typed`` the keys pressed since. If a login fails, the app opens as before. After
    practice, exits with its exit code."""
    if offer.kind is OfferKind.PRACTISE:
        from tui.cli.sessions.demo_command import command as demo

        click.get_current_context().invoke(demo, theme=theme, typed=typed)
        raise AssertionError("the practice leaves by itself")
    if offer.kind is OfferKind.LOGIN:
        from tui.cli.setup.login_prompt import LoginError, log_in

        try:
            log_in(offer.provider, base_url=offer.base_url or None)
        except (LoginError, KeyboardInterrupt) as problem:
            return opening(folder, theme=theme, **given), str(problem) or "no key was given"
    if offer.kind in (OfferKind.LOCAL, OfferKind.PULL):
        name = offer.model if offer.kind is OfferKind.LOCAL else _pulled(offer.model)
        if name is None:
            return opening(folder, theme=theme, **given), f"{offer.model} was not pulled"
        here = {"local": name, "base_url": None, "provider": None, "model": None}
        return opening(folder, theme=theme, **(given | here)), _remark(offer)
    # Only a server that was found has an address here; the missing provider keeps its own.
    chosen = {"provider": offer.provider, "base_url": offer.base_url, "model": offer.model}
    given = given | {name: value for name, value in chosen.items() if value}
    return opening(folder, theme=theme, **given), _remark(offer)


def _pulled(short: str) -> str | None:
    """Download the model with this short name; returns its local name, or None if that failed."""
    from session.models.engine.model_hub import known_models
    from session.models.engine.model_store import SUFFIX
    from tui.cli.setup.local_command import pull_model

    try:
        click.get_current_context().invoke(pull_model, name=short, file=None, yes=False)
    except (SystemExit, KeyboardInterrupt):
        return None
    return next(each.file.removesuffix(SUFFIX) for each in known_models() if each.name == short)


def _remark(offer: Offer) -> str | None:
    """How to begin like this next time without being asked; None where there is nothing to say."""
    file = config_folder() / "config.toml"
    if offer.kind in (OfferKind.LOCAL, OfferKind.PULL):
        return f'{offer.detail}. To open so always, put into {file}: provider = "local" and model in [local]'
    if offer.kind is not OfferKind.SERVER:
        return None
    return (
        f"{offer.detail}. To open so always, put into {file}: "
        f'provider = "{offer.provider}" and model = "{offer.model}"'
    )
