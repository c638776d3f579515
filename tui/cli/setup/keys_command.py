"""``spark keys``: what the terminal sends for each key."""

from __future__ import annotations

import sys

import click

from tui.front.exits import CONFIGURATION, leave


@click.command("keys")
def command() -> None:
    """Show the bytes that the terminal sends for each key, and the key spark reads them as; Ctrl+C ends."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        leave("keys come from a terminal, and there is none here", CONFIGURATION)
    from tui.screen.terminal.keylog import log_keys

    log_keys()
