"""``spark export``: a session on standard output, as its journal or as a document."""

from __future__ import annotations

from pathlib import Path

import click

from tui.cli.options import folder_option, opening_workspace, session_file
from tui.cli.shell_completion import sessions
from tui.front.printing import say, say_json


@click.command("export")
@click.argument("session", shell_complete=sessions)
@click.option(
    "--format",
    "form",
    type=click.Choice(("jsonl", "json", "markdown")),
    default="jsonl",
    show_default=True,
    help="The events as they happened, one object of turns, or a document to read.",
)
@folder_option
def command(session: str, form: str, folder: Path) -> None:
    """Print SESSION: its events, one JSON object a line, each with `at`, the seconds since 1970; or as a
    document."""

    from session.base.storage.line_files import StoreError
    from session.record.journal.reading import read_records
    from session.record.past_turns import read_turns
    from session.record.session_markdown import markdown
    from tui.front.exits import CONFIGURATION, leave

    try:
        file = session_file(opening_workspace(folder), session)
        if form == "markdown":
            for piece in markdown(file):
                say(piece, end="")
        elif form == "json":
            say_json({"session": file.stem, "turns": [turn.as_json() for turn in read_turns(file)]})
        else:
            for record in read_records(file):
                say_json(record)
    except StoreError as problem:
        leave(str(problem), CONFIGURATION)
