"""``spark login``: store a provider's key where only its user can read it."""

from __future__ import annotations

import click

from tui.cli.options import json_option


@click.command("login")
@click.argument("provider", required=False)
@click.option("--list", "listing", is_flag=True, help="Say which providers have a key, and where from.")
@click.option("--no-check", is_flag=True, help="Store the key without asking the provider about it.")
@click.option("--file", "in_file", is_flag=True, help="Use the private file even where there is a keyring.")
@click.option("--base-url", metavar="URL", help="The address to check the key at.")
@json_option
def command(
    provider: str | None, listing: bool, no_check: bool, in_file: bool, base_url: str | None, as_json: bool
) -> None:
    """Ask for the key of PROVIDER (the one in use without it), check it, and store it.

    It is read without being shown, or from standard input where that is no terminal: a key never
    belongs on a command line. It goes to the system keyring where there is one (extra `keyring`),
    else to credentials.toml with mode 600.
    """
    from tui.cli.setup.login_prompt import LoginError, list_logins, log_in
    from tui.front.exits import CONFIGURATION, leave

    if listing:
        list_logins(as_json=as_json)
        return
    try:
        log_in(provider, base_url=base_url, check=not no_check, keyring=not in_file)
    except LoginError as problem:
        leave(str(problem), CONFIGURATION)
