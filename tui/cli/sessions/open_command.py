"""``spark [PROMPT]``: the app in this folder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tui.cli.options import editing_options, last_session_file, opening, theme_option
from tui.cli.prompt_argument import prompt_argument, refuse_mistyped

if TYPE_CHECKING:
    from session.setup.model_offers import Offer
    from session.setup.opening import Opening
    from tui.app.run import Typed


@click.command("open")
@prompt_argument()
@click.option("-c", "--continue", "resume", is_flag=True, help="Resume this project's last session.")
@theme_option
@editing_options
def command(prompt: str | None, resume: bool, theme: str | None, folder: Path, **given: Any) -> None:
    """Open the app in this folder, and submit PROMPT if given."""
    refuse_mistyped(prompt)
    from tui.screen.terminal.startup import begin

    begin()
    from tui.app.run import run_app

    project = opening(folder, theme=theme, **given)
    journal, notice = last_session_file(project.workspace) if resume else (None, None)

    def again(offer: Offer, typed: Typed) -> tuple[Opening, str | None]:
        from tui.cli.sessions.accept_offer import begin_with

        return begin_with(offer, folder, theme, given, typed)

    raise SystemExit(run_app(project, prompt=prompt, resume=journal, notice=notice, again=again))
