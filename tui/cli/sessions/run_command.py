"""``spark run``: run a command live; where it fails, offer what failed to the model."""

from __future__ import annotations

import shlex
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tui.cli.options import editing_options, opening, opening_workspace
from tui.front.exits import CONFIGURATION, leave
from tui.front.printing import say

if TYPE_CHECKING:
    from session.checks.debugging.failure import Failure

NOT_FOUND = 127
STOPPED = (130, 143)
"""The exit codes of a command that was interrupted or ended on purpose: there is nothing to mend."""
SHOWN = 5
"""Places that are listed."""


@click.command("run", context_settings={"ignore_unknown_options": True})
@click.option(
    "--ask/--no-ask", default=None, help="Ask the model when it fails, or never; else you are asked."
)
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED, metavar="-- COMMAND...")
@editing_options
def command(command: tuple[str, ...], ask: bool | None, folder: Path, **given: Any) -> None:
    """Run COMMAND with its output live. Where it fails, the lines of the project that its output names are
    listed and, if you agree, sent to the model with the output cut to what matters.

    Leaves with the command's own exit code, or with that of the turn where the model was asked.
    """
    from session.checks.debugging.shell_run import run_live

    if shutil.which(command[0]) is None:
        say(f"spark: {command[0]}: there is no such program", err=True)
        raise SystemExit(NOT_FOUND)
    try:
        code, output = run_live(command)
    except OSError as problem:
        say(f"spark: {command[0]}: {problem.strerror}", err=True)
        raise SystemExit(NOT_FOUND - 1) from problem
    if code in (0, *STOPPED):
        raise SystemExit(code)
    failure = _read(shlex.join(command), code, output, folder)
    _tell(failure)
    if not _agreed(ask):
        raise SystemExit(code)
    raise SystemExit(_ask_model(failure, folder, given))


def _read(line: str, code: int, output: str, folder: Path) -> Failure:
    from session.checks.debugging.failure import read_failure
    from session.checks.output import ProjectPaths

    workspace = opening_workspace(folder)
    paths = ProjectPaths(workspace.root, [Path.cwd()], workspace.files())
    return read_failure(line, code, output, paths.resolve)


def _tell(failure: Failure) -> None:
    for place in failure.places[:SHOWN]:
        say(f"spark: {place}", err=True)
    more = len(failure.places) - SHOWN
    tail = f", and {more} more places" if more > 0 else ""
    say(f"spark: exit {failure.code}{tail}", err=True)


def _agreed(ask: bool | None) -> bool:
    if ask is not None or not (sys.stdin.isatty() and sys.stderr.isatty()):
        return bool(ask)
    return click.confirm("Ask the model to find the cause and fix it?", default=False, err=True)


def _ask_model(failure: Failure, folder: Path, given: dict[str, Any]) -> int:
    from tui.line.event_printers import text_printer
    from tui.line.headless import run_exec

    project = opening(folder, **given)
    if project.endpoint is None:
        leave(project.missing, CONFIGURATION)
    return run_exec(project, failure.prompt(), text_printer())
