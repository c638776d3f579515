"""Commands on models: ``spark models`` lists those that the key can use, ``spark usage`` their tokens and
cost by day, and ``spark login`` and ``spark logout`` store and remove a provider's key.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tui.cli.options import asking_options, folder_option, json_option, opening, opening_workspace
from tui.front.printing import say, say_json

if TYPE_CHECKING:
    from session.models.catalogue import Catalogue
    from session.setup.opening import Opening


@click.command("models")
@json_option
@click.option("--known", is_flag=True, help="All models of the catalogue; asks no server, needs no key.")
@click.option("--found", is_flag=True, help="The servers found on this machine, and their models.")
@asking_options
def models_command(as_json: bool, known: bool, found: bool, folder: Path, **given: Any) -> None:
    """List the models that the server offers for this key; * marks the current one, + those spark knows."""
    import asyncio

    from session.base.text.sanitize import clean_line
    from session.setup.model_offers import with_hint
    from session.wire.transport.errors import LinkError
    from tui.front.exits import CONFIGURATION, UNREACHABLE, exit_code, leave
    from tui.front.words.tables import Listed, print_models, print_models_json

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
            names = asyncio.run(_served_names(project))
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
    (print_models_json if as_json else print_models)(rows)


async def _served_names(project: Opening) -> tuple[str, ...]:
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


@click.command("usage")
@json_option
@click.option(
    "--days",
    type=click.IntRange(1, 3660),
    default=30,
    metavar="N",
    help="The last N days, of which today is one (30).",
)
@click.option("--here", is_flag=True, help="This project alone.")
@folder_option
def usage_command(as_json: bool, days: int, here: bool, folder: Path) -> None:
    """Tokens and cost by day and model, in all projects. ~ marks what holds estimates."""
    from session.base.storage.private_files import StoreError
    from session.record.usage_log import read_usage
    from tui.front.exits import CONFIGURATION, leave
    from tui.front.words.tables import first_day, print_usage, print_usage_json, sums

    workspace = opening_workspace(folder)
    try:
        found = read_usage(workspace.folders.usage, first_day(days))
    except StoreError as problem:
        leave(str(problem), CONFIGURATION)
    rows = [row for row in found.rows if not here or row.project == str(workspace.root)]
    table = sums(rows)
    if as_json:
        print_usage_json(table)
    elif table:
        print_usage(table)
    else:
        say(f"nothing in the last {days} day{'' if days == 1 else 's'}", err=True)
    if found.skipped:
        say(f"spark: {found.skipped} damaged lines were passed over in {workspace.folders.usage}", err=True)


@click.command("login")
@click.argument("provider", required=False)
@click.option("--list", "listing", is_flag=True, help="Say which providers have a key, and where from.")
@click.option("--no-check", is_flag=True, help="Store the key without asking the provider about it.")
@click.option("--file", "in_file", is_flag=True, help="Use the private file even where there is a keyring.")
@click.option("--base-url", metavar="URL", help="The address to check the key at.")
@click.option("--account", metavar="NAME", default="", help="A plan's account, by your name for it.")
@click.option("--port", type=click.IntRange(1, 65535), help="The port that the browser comes back to.")
@click.option("--no-browser", is_flag=True, help="Print the address and open no browser.")
@json_option
def login_command(
    provider: str | None,
    listing: bool,
    no_check: bool,
    in_file: bool,
    base_url: str | None,
    account: str,
    port: int | None,
    no_browser: bool,
    as_json: bool,
) -> None:
    """Ask for the key of PROVIDER (the one in use without it), check it, and store it.

    `spark login chatgpt` signs in with a ChatGPT plan instead, in the browser.

    It is read without being shown, or from standard input where that is no terminal: a key never
    belongs on a command line. It goes to the system keyring where there is one (extra `keyring`),
    else to credentials.toml with mode 600.
    """
    from tui.cli.login_prompt import LoginError, PlanOptions, list_logins, log_in
    from tui.front.exits import CONFIGURATION, leave

    if listing:
        list_logins(as_json=as_json)
        return
    try:
        plan = PlanOptions(account, port or 0, not no_browser)
        log_in(provider, base_url=base_url, check=not no_check, keyring=not in_file, plan=plan)
    except LoginError as problem:
        leave(str(problem), CONFIGURATION)


@click.command("logout")
@click.argument("provider", required=False)
@click.option("--account", metavar="NAME", default="", help="A plan's account; the one in use without it.")
def logout_command(provider: str | None, account: str) -> None:
    """Remove the stored key of PROVIDER (the one in use without it) from this machine.

    The sign-in with a plan is withdrawn, too.
    """
    from tui.cli.login_prompt import log_out

    log_out(provider, account)
