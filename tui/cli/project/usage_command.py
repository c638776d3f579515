"""``spark usage``: tokens and cost by day."""

from __future__ import annotations

from pathlib import Path

import click

from tui.cli.options import folder_option, json_option, opening_workspace
from tui.front.printing import say


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
def command(as_json: bool, days: int, here: bool, folder: Path) -> None:
    """Tokens and cost by day and model, in all projects. ~ marks what holds estimates."""
    from session.base.storage.line_files import StoreError
    from session.record.usage_log import read_usage
    from tui.front.exits import CONFIGURATION, leave
    from tui.front.words.usage_table import first_day, print_json, print_table, sums

    workspace = opening_workspace(folder)
    try:
        found = read_usage(workspace.folders.usage, first_day(days))
    except StoreError as problem:
        leave(str(problem), CONFIGURATION)
    rows = [row for row in found.rows if not here or row.project == str(workspace.root)]
    table = sums(rows)
    if as_json:
        print_json(table)
    elif table:
        print_table(table)
    else:
        say(f"nothing in the last {days} day{'' if days == 1 else 's'}", err=True)
    if found.skipped:
        say(f"spark: {found.skipped} damaged lines were passed over in {workspace.folders.usage}", err=True)
