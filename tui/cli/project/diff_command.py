"""``spark diff``: what hunks changed, as a patch that ``git apply`` takes."""

from __future__ import annotations

from pathlib import Path

import click

from tui.cli.options import folder_option, opening_workspace
from tui.front.printing import say, say_patch


@click.command("diff")
@click.argument("hunks", nargs=-1, metavar="[HUNK]...")
@click.option("--session", metavar="ID", help="The hunks of this session; without it, of the last one.")
@click.option("--turn", type=click.IntRange(1), metavar="N", help="Only those of its turn N.")
@click.option("--last", type=click.IntRange(1), metavar="N", help="The last N hunks that are landed.")
@click.option("--stat", is_flag=True, help="Count the lines of each file.")
@folder_option
def command(
    hunks: tuple[str, ...], session: str | None, turn: int | None, last: int | None, stat: bool, folder: Path
) -> None:
    """Print what hunks changed, as a patch that git apply takes. Without HUNKs and options: what the last
    session changed. Hunks that were undone are left out."""
    from session.commands.diff_commands import DiffError, Which, diff
    from tui.front.exits import DONE, USAGE, leave

    if (hunks and (session or turn or last)) or (turn and last):
        raise click.UsageError("name hunks, or give one of --turn and --last, with or without --session")
    workspace = opening_workspace(folder)
    try:
        found = diff(workspace.ledger, Which(session, turn, last, hunks))
    except DiffError as problem:
        leave(str(problem), USAGE)
    for note in found.notes:
        say(f"spark: {note}", err=True)
    if stat:
        for line in found.stat:
            say(line)
    else:
        say_patch(found.patch)
    if not found.patch:
        say("spark: those hunks change nothing: they are undone, or took each other back", err=True)
    raise SystemExit(DONE)
