"""Commands on the sessions of the project: ``spark sessions`` lists and searches them, ``spark fork`` begins
one from another, ``spark export`` prints one, and ``spark replay`` plays one through the real panes, offline.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

import click

from tui.cli.options import (
    complete_sessions,
    folder_option,
    json_option,
    last_session_file,
    opening,
    opening_workspace,
    session_file,
    theme_option,
)
from tui.front.printing import say, say_json, say_line


@click.command("sessions")
@click.option("--search", metavar="TEXT", help="Show the lines of prompts and answers that hold TEXT.")
@json_option
@folder_option
def sessions_command(search: str | None, as_json: bool, folder: Path) -> None:
    """List this project's sessions, newest first."""
    from dataclasses import asdict

    from session.base.text.sanitize import clean_line
    from session.record.journal.session_list import SessionSummary, list_sessions
    from session.ways.following_link import look_elsewhere

    folders = opening_workspace(folder).folders
    home = folders.sessions
    found = list_sessions(home)
    running = {each.name: each for each in look_elsewhere(folders.live)} if search is None else {}
    known = {row.name for row in found.rows}
    # An open session in which no turn has begun is not listed, and may run a command all the same.
    new = [SessionSummary(each.name, each.since, each.since, 0, "") for each in running.values()]
    rows = (*(row for row in new if row.name not in known), *found.rows)
    for row in rows if search is None else ():
        here = running.get(row.name)
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
    if not rows and not found.problems and not as_json:
        say("this project has no sessions yet; start one with: spark", err=True)


def _search(file: Path, wanted: str, *, as_json: bool) -> int:
    """Print the lines of one session that hold ``wanted``; returns how many there are."""
    from dataclasses import asdict

    from session.base.storage.private_files import StoreError
    from session.base.text.sanitize import clean_line
    from session.record.archive import search_session

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


@click.command("fork")
@click.argument("session", shell_complete=complete_sessions, required=False)
@click.option("--turn", type=click.IntRange(min=1), metavar="N", help="Go on from the end of turn N.")
@click.option("--hunk", metavar="HUNK", help="Go on from a landed hunk, such as h3.")
@folder_option
def fork_command(session: str | None, turn: int | None, hunk: str | None, folder: Path) -> None:
    """Make a session that begins as SESSION does (or the last one), and print its name.

    The conversation is forked, files stay as they are. Open it with spark resume.
    """
    from session.base.storage.private_files import StoreError
    from session.record.fork import NoSuchPlaceError, fork_session
    from tui.front.exits import CONFIGURATION, USAGE, leave

    if turn is not None and hunk is not None:
        raise click.UsageError("give --turn or --hunk, not both")
    workspace = opening_workspace(folder)
    if session is None:
        file, notice = last_session_file(workspace)
        if notice:
            say_line(f"spark: {notice}", err=True)
    else:
        file = session_file(workspace, session)
    try:
        made = fork_session(file, turn=f"t{turn}" if turn is not None else None, hunk=hunk)
    except NoSuchPlaceError as problem:
        leave(str(problem), USAGE)
    except StoreError as problem:
        leave(str(problem), CONFIGURATION)
    say(made.stem)
    say_line(f"spark: open it with: spark resume {made.stem}", err=True)


@click.command("export")
@click.argument("session", shell_complete=complete_sessions)
@click.option(
    "--format",
    "form",
    type=click.Choice(("jsonl", "json", "markdown")),
    default="jsonl",
    show_default=True,
    help="The events as they happened, one object of turns, or a document to read.",
)
@folder_option
def export_command(session: str, form: str, folder: Path) -> None:
    """Print SESSION: its events, one JSON object a line, each with `at`, the seconds since 1970; or as a
    document."""

    from session.base.storage.private_files import StoreError
    from session.record.archive import markdown, read_turns
    from session.record.journal.reading import read_records
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


@click.command("replay")
@click.argument("session", shell_complete=complete_sessions, required=False)
@click.option(
    "--speed", type=click.FloatRange(0.25, 8.0), default=1.0, show_default=True, help="From 0.25 to 8."
)
@theme_option
@folder_option
def replay_command(session: str | None, speed: float, theme: str | None, folder: Path) -> None:
    """Play SESSION (its name, the beginning of it, or the file of its journal; by default the last one).

    No model is asked, and no file of the project is read or changed: texts come from the journal and the
    ledger. f makes a new session that goes on from the hunk that landed last.
    """
    from session.base.storage.error_log import log_faults_to
    from session.base.storage.private_files import StoreError
    from session.record.fork import fork_session
    from session.ways.recording import read_recording, recorded_files
    from tui.app.run import require_terminal
    from tui.front.event_loop import PROMPTLY, run
    from tui.front.exits import CONFIGURATION, leave
    from tui.screen.theme_choice import ThemeChoice

    require_terminal()
    project = opening(folder, theme=theme)
    if session is None:
        file, notice = last_session_file(project.workspace)
        if notice:
            say_line(f"spark: {notice}", err=True)
    elif os.sep in session or session.endswith(".jsonl"):
        file = Path(session).absolute()
    else:
        file = session_file(project.workspace, session)
    try:
        files = recorded_files(file)
        moments = read_recording(file, files.typed)
    except (StoreError, OSError) as problem:
        leave(str(problem), CONFIGURATION)
    from tui.app.picking.replay_app import ReplayApp, play

    def fork(hunk: str) -> Path:
        return fork_session(file, hunk=hunk)

    log_faults_to(project.workspace.folders.error_log)
    choice = ThemeChoice(project.workspace.folders.shared_state, project.settings.theme, os.environ)
    app = ReplayApp(
        file.stem,
        moments,
        files,
        theme=choice.first,
        speed=speed,
        fork=fork if file.parent.name == "sessions" else None,
    )
    run(play(app), PROMPTLY)
    for name in app.forks:
        say(name)
        say_line(f"spark: open it with: spark resume {name}", err=True)
    raise SystemExit(app.return_code or 0)
