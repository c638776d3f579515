"""``spark logout``: removes a stored key."""

from __future__ import annotations

import click


@click.command("logout")
@click.argument("provider", required=False)
def command(provider: str | None) -> None:
    """Remove the stored key of PROVIDER (the one in use without it) from this machine."""
    from tui.cli.setup.login_prompt import log_out

    log_out(provider)
