"""``spark resume``: continues an earlier session."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tui.cli.options import editing_options, last_session_file, opening, session_file, theme_option
from tui.cli.shell_completion import sessions

if TYPE_CHECKING:
    from session.setup.model_offers import Offer
    from session.setup.opening import Opening
    from tui.app.run import Typed


@click.command("resume")
@click.argument("session", shell_complete=sessions, required=False)
@theme_option
@editing_options
def command(session: str | None, theme: str | None, folder: Path, **given: Any) -> None:
    """Continue SESSION (a unique prefix of its name is enough), or the last one."""
    from tui.screen.terminal.startup import begin

    begin()
    from tui.app.run import run_app

    project = opening(folder, theme=theme, **given)
    notice = None
    if session is None:
        journal, notice = last_session_file(project.workspace)
    else:
        journal = session_file(project.workspace, session)

    def again(offer: Offer, typed: Typed) -> tuple[Opening, str | None]:
        from tui.cli.sessions.accept_offer import begin_with

        return begin_with(offer, folder, theme, given, typed)

    raise SystemExit(run_app(project, resume=journal, notice=notice, again=again))
