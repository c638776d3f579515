"""``spark demo``: the app on a sample project, with the built-in partner. No key, no network."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tui.cli.options import opening, theme_option
from tui.cli.prompt_argument import prompt_argument
from tui.front.exits import CONFIGURATION, leave
from tui.front.printing import say

if TYPE_CHECKING:
    from tui.app.run import Typed


@click.command("demo")
@prompt_argument()
@click.option(
    "--rate", default="1000", show_default=True, metavar="TOKENS_PER_S", help="How fast it answers."
)
@click.option("--model", default="spark-practice", show_default=True, help="Or spark-practice-text.")
@theme_option
def command(prompt: str | None, rate: str, model: str, theme: str | None, typed: Typed = ()) -> None:
    """Try spark on a sample project in a temporary folder: ask, watch hunks land, stop it, redirect it."""
    from tui.screen.terminal.startup import begin

    begin()
    from session.partner.demo import make_sample
    from session.partner.load_script import load
    from session.partner.server.process import ServingError, companion
    from tui.app.run import require_terminal, run_app

    require_terminal()
    folder = Path(tempfile.mkdtemp(prefix="spark-demo-"))
    notice = make_sample(folder)
    suggestions = [scenario.prompt for scenario in load().scenarios if scenario.prompt]
    try:
        with companion(rate) as url:
            # Every file in the folder is spark's own, so there is nothing to ask about.
            project = opening(folder, theme=theme, base_url=url, model=model, provider="partner", trust=True)
            code = run_app(project, prompt=prompt, notice=notice, suggestions=suggestions, typed=typed)
    except ServingError as problem:
        leave(str(problem), CONFIGURATION)
    say(f"the sample project stays in {folder}")
    raise SystemExit(code)
