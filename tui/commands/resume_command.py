"""``spark resume``: an earlier session again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tui.options import model_options, opening, session_file, theme_option

if TYPE_CHECKING:
    from session.models.offers import Offer
    from session.opening import Opening
from tui.shell_words import sessions


@click.command("resume")
@click.argument("session", shell_complete=sessions, required=False)
@theme_option
@model_options
def command(session: str | None, theme: str | None, folder: Path, **given: Any) -> None:
    """Open SESSION again (a unique beginning of its name will do), or the last one."""
    from tui.starting import begin

    begin()
    from tui.screen import run_app

    project = opening(folder, theme=theme, **given)
    journal = session_file(project.workspace, session)

    def again(offer: Offer) -> tuple[Opening, str | None]:
        from tui.beginning import begin_with

        return begin_with(offer, folder, theme, given)

    raise SystemExit(run_app(project, resume=journal, again=again))
