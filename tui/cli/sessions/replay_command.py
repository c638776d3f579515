"""``spark replay``: plays a session's journal through the real panes, offline."""

from __future__ import annotations

import os
from pathlib import Path

import click

from tui.cli.options import folder_option, last_session_file, opening, session_file, theme_option
from tui.cli.shell_completion import sessions
from tui.front.printing import say, say_line


@click.command("replay")
@click.argument("session", shell_complete=sessions, required=False)
@click.option(
    "--speed", type=click.FloatRange(0.25, 8.0), default=1.0, show_default=True, help="From 0.25 to 8."
)
@theme_option
@folder_option
def command(session: str | None, speed: float, theme: str | None, folder: Path) -> None:
    """Play SESSION (its name, the beginning of it, or the file of its journal; by default the last one).

    No model is asked, and no file of the project is read or changed: texts come from the journal and the
    ledger. f makes a new session that goes on from the hunk that landed last.
    """
    from session.base.storage.error_log import log_faults_to
    from session.base.storage.line_files import StoreError
    from session.record.fork import fork_session
    from session.ways.recorded_texts import recorded_files
    from session.ways.recording import read_recording
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
