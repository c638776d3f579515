"""``spark models``: what the key can use."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from tui.options import json_option, model_options, opening


@click.command("models")
@json_option
@model_options
def command(as_json: bool, folder: Path, **given: Any) -> None:
    """List the models that the server offers to this key; * marks the one in use, + those spark knows."""
    import asyncio
    import json

    from session.sanitize import clean_line
    from session.transport.errors import LinkError
    from session.transport.models import fetch_models
    from tui.exits import CONFIGURATION, UNREACHABLE, exit_code, leave

    project = opening(folder, **given)
    if project.endpoint is None:
        leave(project.missing, CONFIGURATION)
    try:
        names = asyncio.run(fetch_models(project.endpoint))
    except LinkError as problem:
        leave(clean_line(problem.message), exit_code("failed", problem.kind, refused=False))
    if not names:
        leave(f"{project.endpoint.host} lists no models", UNREACHABLE)
    for name in names:
        known = name in project.catalogue.models
        used = name == project.model.name
        if as_json:
            click.echo(json.dumps({"model": name, "known": known, "used": used}, ensure_ascii=False))
        else:
            click.echo(f"{'*' if used else '+' if known else ' '} {clean_line(name)}")
