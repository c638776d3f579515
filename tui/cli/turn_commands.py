"""Commands that run turns without the app: ``spark line``, a session in plain scrolling output; ``spark
exec``, one turn; ``spark run``, a command whose failure is offered to the model; ``spark acp``, the agent of
an editor.
"""

from __future__ import annotations

import os
import shlex
import shutil
import stat
import sys
import time
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tui.cli.options import (
    agent_options,
    editing_options,
    json_option,
    last_session_file,
    opening,
    opening_workspace,
    prompt_argument,
    typed_checks,
)
from tui.front.exits import CONFIGURATION, leave
from tui.front.printing import say

if TYPE_CHECKING:
    from session.checks.output import Failure


NOT_FOUND = 127
STOPPED = (130, 143)
"""The exit codes of a command that was interrupted or ended on purpose: there is nothing to mend."""
SHOWN = 5
"""Places of a failure that are listed."""
_ACP_PACKAGE = "'agent-client-protocol>=0.12.1,<0.13'"


@click.command("line")
@prompt_argument()
@click.option("-c", "--continue", "resume", is_flag=True, help="Resume this project's last session.")
@editing_options
def line_command(prompt: str | None, resume: bool, folder: Path, **given: Any) -> None:
    """The same session as plain scrolling output, for any terminal; submits PROMPT if given."""
    import asyncio

    from session.setup.model_offers import with_hint
    from tui.line.line import run_line

    project = asyncio.run(with_hint(opening(folder, **given)))
    journal, notice = last_session_file(project.workspace) if resume else (None, None)
    if notice:
        say(f"spark: {notice}", err=True)
    raise SystemExit(run_line(project, prompt, journal))


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
@click.option(
    "--fix",
    type=click.IntRange(0, 10),
    metavar="N",
    help="Run the checks after the turn, and send what is red back, up to N times; each attempt's own too.",
)
@editing_options
def exec_command(
    prompt: str,
    as_json: bool,
    attempts: int | None,
    commands: tuple[str, ...],
    judge_all: bool,
    fix: int | None,
    folder: Path,
    **given: Any,
) -> None:
    """Run one turn: the answer goes to standard output, hunks land as in the app.

    A PROMPT of - is read from standard input. With --attempts, leaves with 1 and lands nothing where no
    attempt passes; with --fix, leaves with 1 where the checks end red.
    """
    began = time.monotonic()
    from tui.screen.terminal.startup import load, loaded

    load()
    from tui.line.event_printers import json_printer, text_printer
    from tui.line.headless import Fixing, Racing, run_exec

    text = _standard_input() if prompt == "-" else prompt
    if not text.strip():
        raise click.UsageError("the prompt is empty")
    project = opening(folder, **given)
    loaded()
    if project.endpoint is None:
        import asyncio

        from session.setup.model_offers import with_hint

        leave(asyncio.run(with_hint(project)).missing, CONFIGURATION)
    judged: Racing | Fixing | None = None
    if attempts or judge_all or (commands and not fix):
        judged = Racing(attempts or 1, typed_checks(commands) or None, judge_all, fix)
    elif fix:
        judged = Fixing(fix, typed_checks(commands) or None)
    raise SystemExit(run_exec(project, text, json_printer(began) if as_json else text_printer(), judged))


def _standard_input() -> str:
    try:
        return sys.stdin.buffer.read().decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        raise click.UsageError(f"standard input is not UTF-8 (byte {problem.start})") from problem


@click.command("run", context_settings={"ignore_unknown_options": True})
@click.option(
    "--ask/--no-ask", default=None, help="Ask the model when it fails, or never; else you are asked."
)
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED, metavar="-- COMMAND...")
@editing_options
def run_command(command: tuple[str, ...], ask: bool | None, folder: Path, **given: Any) -> None:
    """Run COMMAND with its output live. Where it fails, the lines of the project that its output names are
    listed and, if you agree, sent to the model with the output cut to what matters.

    Leaves with the command's own exit code, also where the model was asked: run it again to see whether its
    change helped.
    """
    from session.checks.shell_run import run_live

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
    failure = _read_failure(shlex.join(command), code, output, folder)
    _tell_failure(failure)
    if not _agreed_to_ask(ask):
        raise SystemExit(code)
    _ask_model(failure, folder, given)
    raise SystemExit(code)


def _read_failure(line: str, code: int, output: str, folder: Path) -> Failure:
    from session.checks.output import ProjectPaths, read_failure

    workspace = opening_workspace(folder)
    paths = ProjectPaths(workspace.root, [Path.cwd()], workspace.files())
    return read_failure(line, code, output, paths.resolve)


def _tell_failure(failure: Failure) -> None:
    for place in failure.places[:SHOWN]:
        say(f"spark: {place}", err=True)
    more = len(failure.places) - SHOWN
    tail = f", and {more} more places" if more > 0 else ""
    say(f"spark: exit {failure.code}{tail}", err=True)


def _agreed_to_ask(ask: bool | None) -> bool:
    if ask is not None or not (sys.stdin.isatty() and sys.stderr.isatty()):
        return bool(ask)
    return click.confirm("Ask the model to find the cause and fix it?", default=False, err=True)


def _ask_model(failure: Failure, folder: Path, given: dict[str, Any]) -> None:
    from tui.line.event_printers import text_printer
    from tui.line.headless import run_exec

    project = opening(folder, **given)
    if project.endpoint is None:
        leave(project.missing, CONFIGURATION)
    run_exec(project, failure.prompt(), text_printer())


def unheard() -> str:
    """Why no client can be heard on standard input; empty where one can be."""
    if sys.stdin is None:
        return "spark acp is started by an editor, which it hears on standard input, and that is closed"
    mode = os.fstat(0).st_mode
    if stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or os.isatty(0):
        return ""
    return "spark acp is started by an editor: standard input must be a pipe, not a file"


@click.command("acp")
@agent_options
def acp_command(**given: Any) -> None:
    """Be the agent of an editor that speaks the Agent Client Protocol, on standard input and output.

    The editor starts this command, and names the folder of each session.
    """
    if find_spec("acp") is None:
        from session.base.text.wording import install_command

        leave(f"spark acp needs a package: {install_command(_ACP_PACKAGE)}", CONFIGURATION)
    problem = unheard()
    if problem:
        leave(problem, CONFIGURATION)
    from session.setup.config import Flags
    from tui.line.acp.run import run_agent

    run_agent(Flags(**given))
