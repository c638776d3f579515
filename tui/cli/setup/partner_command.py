"""``spark partner``: the built-in practice server alone."""

from __future__ import annotations

from pathlib import Path

import click

from tui.front.exits import CONFIGURATION, UNREACHABLE, leave
from tui.front.printing import say


@click.command("partner")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=8417, show_default=True, help="0 takes a free one."
)
@click.option(
    "--rate", default="1000", show_default=True, metavar="TOKENS_PER_S", help="How fast it answers."
)
@click.option("--script", type=click.Path(path_type=Path), help="A script of your own (docs/partner.md).")
def command(port: int, rate: str, script: Path | None) -> None:
    """Serve scripted answers on a loopback WebSocket until Ctrl+C; its address is printed first."""
    from session.partner.server.process import ServingError, serve_until_stopped

    try:
        serve_until_stopped(port, rate, script, announce=lambda url: say(url))
    except ServingError as problem:
        leave(str(problem), UNREACHABLE if problem.address else CONFIGURATION)
