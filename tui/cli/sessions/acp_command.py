"""``spark acp``: the agent of an editor."""

from __future__ import annotations

import os
import stat
import sys
from importlib.util import find_spec
from typing import Any

import click

from tui.cli.options import agent_options
from tui.front.exits import CONFIGURATION, leave

_PACKAGE = "'agent-client-protocol>=0.12.1,<0.13'"


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
def command(**given: Any) -> None:
    """Be the agent of an editor that speaks the Agent Client Protocol, on standard input and output.

    The editor starts this command, and names the folder of each session.
    """
    if find_spec("acp") is None:
        from session.base.text.install_hint import install_command

        leave(f"spark acp needs a package: {install_command(_PACKAGE)}", CONFIGURATION)
    problem = unheard()
    if problem:
        leave(problem, CONFIGURATION)
    from session.setup.config import Flags
    from tui.line.acp.run import run_agent

    run_agent(Flags(**given))
