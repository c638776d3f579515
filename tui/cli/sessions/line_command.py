"""``spark line``: the session without a full screen."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from tui.cli.options import editing_options, last_session_file, opening
from tui.cli.prompt_argument import prompt_argument
from tui.front.printing import say


@click.command("line")
@prompt_argument()
@click.option("-c", "--continue", "resume", is_flag=True, help="Resume this project's last session.")
@editing_options
def command(prompt: str | None, resume: bool, folder: Path, **given: Any) -> None:
    """The same session as plain scrolling output, for any terminal; submits PROMPT if given."""
    import asyncio

    from session.setup.model_offers import with_hint
    from tui.line.line import run_line

    project = asyncio.run(with_hint(opening(folder, **given)))
    journal, notice = last_session_file(project.workspace) if resume else (None, None)
    if notice:
        say(f"spark: {notice}", err=True)
    raise SystemExit(run_line(project, prompt, journal))
