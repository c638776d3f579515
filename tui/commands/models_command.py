"""``spark models``: what the key can use, and what spark knows of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from tui.options import json_option, model_options, opening


@click.command("models")
@json_option
@click.option("--known", is_flag=True, help="All models of the catalogue; asks no server, needs no key.")
@model_options
def command(as_json: bool, known: bool, folder: Path, **given: Any) -> None:
    """List the models that the server offers to this key; * marks the one in use, + those spark knows."""
    import asyncio

    from session.sanitize import clean_line
    from session.transport.errors import LinkError
    from session.transport.models import fetch_models
    from tui.exits import CONFIGURATION, UNREACHABLE, exit_code, leave
    from tui.models_table import Listed, print_json, print_table

    project = opening(folder, **given)
    catalogue, used = project.catalogue, project.model.name
    if known:
        rows = [Listed(model, True, model.name == used) for model in catalogue.models.values()]
    else:
        if project.endpoint is None:
            leave(f"{project.missing}; spark models --known lists the catalogue", CONFIGURATION)
        try:
            names = asyncio.run(fetch_models(project.endpoint))
        except LinkError as problem:
            leave(clean_line(problem.message), exit_code("failed", problem.kind, refused=False))
        if not names:
            leave(f"{project.endpoint.host} lists no models", UNREACHABLE)
        provider = project.settings.provider
        rows = [
            Listed(catalogue.model(name, provider), name in catalogue.models, name == used) for name in names
        ]
    (print_json if as_json else print_table)(rows)
