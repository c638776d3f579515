"""``spark sessions``: this project's sessions."""

from __future__ import annotations

import time
from pathlib import Path

import click

from tui.cli.options import folder_option, json_option, opening_workspace
from tui.front.printing import say, say_json, say_line


@click.command("sessions")
@click.option("--search", metavar="TEXT", help="Show the lines of prompts and answers that hold TEXT.")
@json_option
@folder_option
def command(search: str | None, as_json: bool, folder: Path) -> None:
    """List this project's sessions, newest first."""
    from dataclasses import asdict

    from session.base.text.sanitize import clean_line
    from session.record.journal.session_list import list_sessions
    from session.ways.following_opening import look_elsewhere

    folders = opening_workspace(folder).folders
    home = folders.sessions
    found = list_sessions(home)
    running = {each.name: each for each in look_elsewhere(folders.live)} if search is None else {}
    for row in found.rows if search is None else ():
        here = running.pop(row.name, None)
        if as_json:
            say_json({**asdict(row), "open": asdict(here) if here is not None else None})
            continue
        changed = time.strftime("%Y-%m-%d %H:%M", time.localtime(row.changed))
        turns = f"{row.turns} turn{'' if row.turns == 1 else 's'}"
        say(f"{row.name}  {changed}  {turns:>9}  {clean_line(row.title)[:60]}".rstrip())
        if here is not None:
            say(f"  open in {here.where}")
    hits = 0
    for row in found.rows if search is not None else ():
        hits += _search(home / f"{row.name}.jsonl", search or "", as_json=as_json)
    if search is not None and not hits and not as_json:
        say_line(f"spark: no session holds {search!r}", err=True)
    for problem in found.problems:
        say(f"spark: {clean_line(problem)}; it is left out", err=True)
    if not found.rows and not found.problems and not as_json:
        say("this project has no sessions yet; start one with: spark", err=True)


def _search(file: Path, wanted: str, *, as_json: bool) -> int:
    """Print the lines of one session that hold ``wanted``; returns how many there are."""
    from dataclasses import asdict

    from session.base.storage.line_files import StoreError
    from session.base.text.sanitize import clean_line
    from session.record.session_search import search_session

    count = 0
    try:
        for found in search_session(file, wanted):
            count += 1
            if as_json:
                say_json(asdict(found))
            else:
                say(f"{found.session}  {found.turn:<4} {found.who:<5}  {clean_line(found.line)}")
    except StoreError as problem:
        say_line(f"spark: {problem}; it is left out", err=True)
    return count
