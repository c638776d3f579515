"""``spark undo``: undoes one hunk, whichever command landed it."""

from __future__ import annotations

from pathlib import Path

import click

from tui.cli.options import folder_option


@click.command("undo")
@click.argument("hunk", required=False)
@folder_option
def command(hunk: str | None, folder: Path) -> None:
    """Undo HUNK (such as h12), or the last landed hunk, and leave all others as they are."""
    from tui.cli.project.undo_redo import take_back

    take_back(folder, hunk, again=False)
