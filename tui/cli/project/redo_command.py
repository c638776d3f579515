"""``spark redo``: redoes an undone hunk."""

from __future__ import annotations

from pathlib import Path

import click

from tui.cli.options import folder_option


@click.command("redo")
@click.argument("hunk", required=False)
@folder_option
def command(hunk: str | None, folder: Path) -> None:
    """Redo HUNK (such as h12), or the hunk undone last."""
    from tui.cli.project.undo_redo import take_back

    take_back(folder, hunk, again=True)
