"""``spark fork``: a new session that goes on from a turn or a hunk of another."""

from __future__ import annotations

from pathlib import Path

import click

from tui.cli.options import folder_option, last_session_file, opening_workspace, session_file
from tui.cli.shell_completion import sessions
from tui.front.printing import say, say_line


@click.command("fork")
@click.argument("session", shell_complete=sessions, required=False)
@click.option("--turn", type=click.IntRange(min=1), metavar="N", help="Go on from the end of turn N.")
@click.option("--hunk", metavar="HUNK", help="Go on from a landed hunk, such as h3.")
@folder_option
def command(session: str | None, turn: int | None, hunk: str | None, folder: Path) -> None:
    """Make a session that begins as SESSION does (or the last one), and print its name.

    The conversation is forked, files stay as they are. Open it with spark resume.
    """
    from session.base.storage.line_files import StoreError
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
