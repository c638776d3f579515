"""``spark line``: the session without a full screen."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from tui.commands.options import model_options, opening, session_file


@click.command("line")
@click.argument("prompt", required=False)
@click.option("-c", "--continue", "resume", is_flag=True, help="Resume this project's last session.")
@model_options
def command(prompt: str | None, resume: bool, folder: Path, **given: Any) -> None:
    """The same session as plain scrolling output, for any terminal; submits PROMPT if given."""
    import asyncio

    from session.model_choice.offers import with_hint
    from tui.scroll.line import run_line

    project = asyncio.run(with_hint(opening(folder, **given)))
    journal = session_file(project.workspace, None) if resume else None
    raise SystemExit(run_line(project, prompt, journal))
