"""``spark export``: a session's journal on standard output."""

from __future__ import annotations

from pathlib import Path

import click

from tui.commands.options import folder_option, opening_workspace, session_file
from tui.commands.shell_completion import sessions
from tui.printing import say_json


@click.command("export")
@click.argument("session", shell_complete=sessions)
@folder_option
def command(session: str, folder: Path) -> None:
    """Print the events of SESSION, one JSON object a line, each with `at`, the seconds since 1970."""

    from session.journal.reading import read_records
    from session.storage.line_files import StoreError
    from tui.exits import CONFIGURATION, leave

    try:
        for record in read_records(session_file(opening_workspace(folder), session)):
            say_json(record)
    except StoreError as problem:
        leave(str(problem), CONFIGURATION)
