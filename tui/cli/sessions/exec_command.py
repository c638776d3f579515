"""``spark exec``: one turn without a terminal."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import click

from tui.cli.options import editing_options, json_option, opening, typed_checks
from tui.cli.prompt_argument import prompt_argument
from tui.front.exits import CONFIGURATION, leave


@click.command("exec")
@prompt_argument(required=True)
@json_option
@click.option(
    "--attempts",
    type=click.IntRange(1, 64),
    metavar="N",
    help="Ask N times at once; the first answer that passes the checks lands (docs/attempts.md).",
)
@click.option("--check", "commands", multiple=True, metavar="COMMAND", help="Judge attempts by COMMAND.")
@click.option("--all", "judge_all", is_flag=True, help="Judge all attempts; the shortest green one lands.")
@editing_options
def command(
    prompt: str,
    as_json: bool,
    attempts: int | None,
    commands: tuple[str, ...],
    judge_all: bool,
    folder: Path,
    **given: Any,
) -> None:
    """Run one turn: the answer goes to standard output, hunks land as in the app.

    A PROMPT of - is read from standard input. With --attempts, leaves with 1 and lands nothing where no
    attempt passes.
    """
    began = time.monotonic()
    from tui.screen.terminal.startup import load, loaded

    load()
    from tui.line.event_printers import json_printer, text_printer
    from tui.line.headless import Racing, run_exec

    text = _standard_input() if prompt == "-" else prompt
    if not text.strip():
        raise click.UsageError("the prompt is empty")
    project = opening(folder, **given)
    loaded()
    if project.endpoint is None:
        import asyncio

        from session.setup.model_offers import with_hint

        leave(asyncio.run(with_hint(project)).missing, CONFIGURATION)
    racing = None
    if attempts or commands or judge_all:
        racing = Racing(attempts or 1, typed_checks(commands) or None, judge_all)
    raise SystemExit(run_exec(project, text, json_printer(began) if as_json else text_printer(), racing))


def _standard_input() -> str:
    try:
        return sys.stdin.buffer.read().decode("utf-8")
    except UnicodeDecodeError as problem:
        raise click.UsageError(f"standard input is not UTF-8 (byte {problem.start})") from problem
