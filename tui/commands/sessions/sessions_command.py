"""``spark sessions``: this project's sessions."""

from __future__ import annotations

import time
from pathlib import Path

import click

from tui.commands.options import folder_option, json_option, opening_workspace
from tui.printing import say, say_json


@click.command("sessions")
@json_option
@folder_option
def command(as_json: bool, folder: Path) -> None:
    """List this project's sessions, newest first."""
    from dataclasses import asdict

    from session.journal.session_list import list_sessions
    from session.text.sanitize import clean_line

    found = list_sessions(opening_workspace(folder).folders.sessions)
    for row in found.rows:
        if as_json:
            say_json(asdict(row))
            continue
        changed = time.strftime("%Y-%m-%d %H:%M", time.localtime(row.changed))
        turns = f"{row.turns} turn{'' if row.turns == 1 else 's'}"
        say(f"{row.name}  {changed}  {turns:>9}  {clean_line(row.title)[:60]}".rstrip())
    for problem in found.problems:
        say(f"spark: {clean_line(problem)}; it is left out", err=True)
    if not found.rows and not found.problems and not as_json:
        say("this project has no sessions yet; start one with: spark", err=True)
