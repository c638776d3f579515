"""``spark models``: the models that the key can use, and what spark knows of them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tui.cli.options import asking_options, json_option, opening
from tui.front.printing import say, say_json

if TYPE_CHECKING:
    from session.models.catalogue import Catalogue
    from session.setup.opening import Opening


@click.command("models")
@json_option
@click.option("--known", is_flag=True, help="All models of the catalogue; asks no server, needs no key.")
@click.option("--found", is_flag=True, help="The servers found on this machine, and their models.")
@asking_options
def command(as_json: bool, known: bool, found: bool, folder: Path, **given: Any) -> None:
    """List the models that the server offers for this key; * marks the current one, + those spark knows."""
    import asyncio

    from session.base.text.sanitize import clean_line
    from session.setup.model_offers import with_hint
    from session.wire.transport.errors import LinkError
    from tui.front.exits import CONFIGURATION, UNREACHABLE, exit_code, leave
    from tui.front.words.models_table import Listed, print_json, print_table

    project = opening(folder, **given)
    catalogue, used = project.catalogue, project.model.name
    if found:
        _list_found(catalogue, as_json)
        return
    if known:
        rows = [Listed(model, True, model.name == used) for model in catalogue.models.values()]
    else:
        if project.endpoint is None:
            missing = asyncio.run(with_hint(project)).missing
            leave(f"{missing}; spark models --known lists the catalogue", CONFIGURATION)
        try:
            names = asyncio.run(_names(project))
        except LinkError as problem:
            leave(clean_line(problem.message), exit_code("failed", problem.kind, refused=False))
        if not names:
            leave(f"{project.endpoint.host} lists no models", UNREACHABLE)
        provider = project.settings.provider
        rows = [
            Listed(
                project.model if name == used else catalogue.model(name, provider),
                name in catalogue.models,
                name == used,
            )
            for name in names
        ]
    (print_json if as_json else print_table)(rows)


async def _names(project: Opening) -> tuple[str, ...]:
    """The server's list of models; the embedded engine is started for it."""
    from session.wire.transport.model_list import fetch_models

    assert project.endpoint is not None
    engine = project.engine()
    if engine is None:
        return await fetch_models(project.endpoint)
    try:
        return await fetch_models(await engine.serve(lambda _: None))
    finally:
        await engine.close()


def _list_found(catalogue: Catalogue, as_json: bool) -> None:
    """Print the servers found on this machine: the provider to name, the model, and the program."""
    import asyncio

    from session.models.discovery import find_servers

    servers = asyncio.run(find_servers(catalogue))
    if not servers and not as_json:
        say("no model server answers on the usual ports of this machine", err=True)
    for server in servers:
        row = {"provider": server.provider, "base_url": server.base_url, "server": server.name}
        for model in server.models or ("",):
            if as_json:
                told = {**row, "model": model, "wants_key": server.wants_key}
                say_json(told)
            else:
                said = model or ("wants a key" if server.wants_key else "offers no model")
                say(f"{server.provider:<10} {said:<40} {server.told}")
